/* door: a listener with a limited number of places for connections, and which connection loses its
 * place when another one needs it.
 *
 * Ingest, CQL and the control socket each have a door, and add their protocol.
 *
 *     accepted ─ came() ─▶ door_enter ─▶ login pending ── login done ─▶ served ─▶ door_leave
 *                            │ full        └ too slow, or too much memory: evict()
 *                            └ another's place is taken: evict(); no place can be: false
 *
 * No connection is refused while a place is free.  When none is free, the address that has most
 * places loses one: that of its connection that was idle for longest, among connections that would
 * lose nothing before those that would lose a name (enum door_claim).  So many idle connections, or
 * senders that lost power, keep no client out, and one address cannot displace another one's
 * connections.  An address has no fixed share, because a whole network may be behind it (NAT).
 * Each loopback connection counts as an address of its own.
 *
 * All operations on places and clocks take constant time.  Engine thread. */
#ifndef DAYBOOK_DOOR_DOOR_H
#define DAYBOOK_DOOR_DOOR_H

#include <sys/queue.h>

#include "base/log.h"
#include "base/metrics.h"
#include "base/quota.h"
#include "base/world/network.h"
#include "base/world/world.h"

struct door;
struct door_address;

/* Times that several doors set their clocks to (door_clock). */
enum {
    DOOR_SLOW_READER_MS = 60000,       /* that answers may wait until the peer reads them */
    DOOR_LINGER_MS = 5000              /* that a client that was refused has to close */
};

/* What a connection would lose with its place. */
enum door_claim {
    DOOR_IDLE,                         /* nothing but the connection */
    DOOR_NAMED,                        /* its name: a producer or a user */
    DOOR_OWED,                         /* an answer that is not sent yet: it keeps the place */
    DOOR_CLAIMS
};

/* One connection's place, in its owner's memory; zeros at first. */
struct door_slot {
    struct door *door;                 /* NULL: the connection has no place */
    struct connection *connection;
    struct network_address peer;
    /* private */
    struct door_address *address;
    enum door_claim claim;
    TAILQ_ENTRY(door_slot) of_door, of_address;    /* by claim; idle for longest is first */
    bool is_login_pending;
    size_t login_bytes;
    TAILQ_ENTRY(door_slot) of_logins;
    struct timer clock;
    int64_t clock_ms;                  /* the time it was set to; 0: it does not run */
};

struct door_options {
    const char *name;                  /* in events: "cql" */
    struct network *network;           /* NULL: without door_listen */
    struct world *world;
    uint32_t slots_max;
    /* A connection was accepted: call door_enter for it, or close it. */
    void (*came)(void *context, struct connection *connection);
    void *context;
    /* Another connection gets the place: close this one and call door_leave, before returning. */
    void (*evict)(struct door_slot *slot);
    /* The time that door_clock set is over; the clock does not run any more. */
    void (*late)(struct door_slot *slot);
    size_t login_bytes_max;            /* bytes of memory of all connections before login */
    struct metric *connections;        /* a gauge, or NULL */
    struct metric *connections_max;    /* a gauge of the limit, or NULL */
    struct metric *evicted;            /* a counter, or NULL */
};

TAILQ_HEAD(door_slots, door_slot);
TAILQ_HEAD(door_addresses, door_address);
LIST_HEAD(door_chain, door_address);

/* In its owner's memory; private but for `count`. */
struct door {
    struct door_options options;
    struct listener *listener;
    uint32_t slots_max;
    uint32_t count;                    /* connections that have a place */
    struct door_slots slots[DOOR_CLAIMS];
    struct door_address *local;        /* loopback and unix sockets */
    struct door_addresses *levels;     /* the other addresses, by the number of their places */
    uint32_t level_max;                /* the highest level that is not empty */
    struct door_chain *chains;         /* the other addresses, by a hash */
    uint64_t seed;
    struct door_slots logins;          /* in the order in which they came */
    struct quota login_quota;
    struct log_group full;             /* events that clients cause */
    struct log_group refused;
    struct log_group logins_full;
};

/* Where a door listens. */
struct door_place {
    const char *address;               /* HOST:PORT */
    uint32_t slots_max;                /* a lower limit than the door's options; 0: the same */
    /* Other machines may reach it although no client has to log in. */
    bool is_open_to_all;
    const char *remedy;                /* for the error text: how to allow that; NULL: a default */
};

void door_open(struct door *door, const struct door_options *options);
/* ERROR_USAGE, too, when the address that the listener is bound to is not loopback, whatever its
 * name, and the place is not open to all.  `*address_out` is valid until door_stop. */
must_check int door_listen(struct door *door, const struct door_place *place,
                           const char **address_out, struct error *err);
must_check int door_listen_unix(struct door *door, const char *path, struct error *err);
/* Lower the number of places to `slots_max`, but not below a small minimum. */
void door_limit(struct door *door, uint32_t slots_max);
/* Whether only clients of this machine can reach it; true of a door that does not listen. */
bool door_is_local(const struct door *door);
/* Stop listening; connections that have places keep them. */
void door_stop(struct door *door);
/* All connections have left. */
void door_close(struct door *door);

/* Give `connection` a place, and set keepalive, so that a peer that lost power is noticed.  Another
 * connection may lose its place for it.  False: all connections wait for answers. */
must_check bool door_enter(struct door *door, struct door_slot *slot,
                           struct connection *connection);
/* Give the place back, stop its clock and end its charge; a slot without a place is fine. */
void door_leave(struct door_slot *slot);
/* The connection was used and has this claim: it is now idle for the shortest time. */
void door_use(struct door_slot *slot, enum door_claim claim);
/* The connection has this claim; without effect if it had it before. */
void door_claim(struct door_slot *slot, enum door_claim claim);
/* Have `late` called after `ms` milliseconds unless another time is set before; 0: not at all.
 * Setting the same time again does not restart the clock. */
void door_clock(struct door_slot *slot, int64_t ms);

/* The connection has to log in.  Until then its memory is charged to one small quota of all such
 * connections; when that is full, the connection that came first is evicted.  Without effect on a
 * connection that has to log in already. */
void door_login_pending(struct door_slot *slot);
/* The connection now holds `bytes` of memory.  The call may evict it: it has no place then. */
void door_login_charge(struct door_slot *slot, size_t bytes);
/* The connection has logged in: the charge ends. */
void door_login_done(struct door_slot *slot);

/* Append the number of places that are taken, and a line for each of the first connections: its
 * peer, its claim, and how many bytes were not sent yet. */
void door_dump(const struct door *door, struct buffer *text);

enum { DOOR_PEER_TEXT = 64 };

/* The peer's address, for events: "10.0.0.5", or "local" for a unix socket's. */
void door_peer_text(const struct door_slot *slot, char text_out[DOOR_PEER_TEXT]);
/* A number for its address, where something is shared fairly among addresses; each loopback
 * connection has its own. */
uint64_t door_slot_address(const struct door_slot *slot);

/* How many connections each door may have. */
struct door_shares {
    uint32_t control, ingest, cql;
};

/* Lower the maxima in `shares` to what `descriptors`, for all doors, allow: an eighth for the
 * control socket, half of the rest for ingest, and what is left for CQL; each at least a small
 * minimum. */
void door_share(uint64_t descriptors, struct door_shares *shares);
#endif

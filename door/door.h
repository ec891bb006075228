/* door: accepts connections up to a limit, and chooses the connection that loses its place to a new
 * one.
 *
 * Ingest, CQL and the control socket each have a door.
 *
 *     accepted ─ came() ─▶ door_enter ─▶ login pending ── login done ─▶ served ─▶ door_leave
 *                            │ full        └ too much memory before login: evict()
 *                            └ another connection loses its place: evict(); none can: false
 *
 * No connection is refused while a place is free.  When no place is free, the address that has most
 * places loses one.  It loses the place of its connection that was idle for longest; an unnamed
 * connection loses its place before a named one (enum door_claim).  If no address has more than one
 * place, or all connections of that address wait for answers, the door's longest idle connection
 * loses its place.  A new connection from the address with most places displaces only connections
 * of that address; if all of these wait for answers, it is refused.  Thus idle connections, also of
 * peers that lost power, keep no client out.  An address has no fixed share, because a whole
 * network may have the same address (NAT).  Each loopback connection counts as an address of its
 * own.
 *
 * All operations on places and clocks take constant time.  All functions run on the engine
 * thread. */
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
    DOOR_SLOW_READER_MS = 60000,       /* how long answers may wait for a client to read them */
    DOOR_LINGER_MS = 5000              /* how long a refused client may take to close */
};

/* What a connection would lose with its place. */
enum door_claim {
    DOOR_IDLE,                         /* nothing but the connection */
    DOOR_NAMED,                        /* a session of a producer, CQL client or command */
    DOOR_OWED,                         /* an answer not sent yet: the connection keeps its place */
    DOOR_CLAIMS
};

/* The place of a connection.  Allocated by its owner; begins as zeros. */
struct door_slot {
    struct door *door;                 /* NULL: the connection has no place */
    struct connection *connection;
    struct network_address peer;
    /* private */
    struct door_address *address;
    enum door_claim claim;
    TAILQ_ENTRY(door_slot) of_door, of_address;    /* by claim; the longest idle is first */
    bool is_login_pending;
    size_t login_bytes;
    TAILQ_ENTRY(door_slot) of_logins;
    struct timer clock;
    int64_t clock_ms;                  /* the time set by door_clock; 0: the clock does not run */
};

struct door_options {
    const char *name;                  /* in events: "cql" */
    struct network *network;           /* NULL: without door_listen */
    struct world *world;
    uint32_t slots_max;
    /* A connection was accepted: call door_enter for it, or close it. */
    void (*came)(void *context, struct connection *connection);
    void *context;
    /* The connection loses its place: close it, and call door_leave before returning. */
    void (*evict)(struct door_slot *slot);
    /* The time set by door_clock is over; the clock does not run any more. */
    void (*late)(struct door_slot *slot);
    size_t login_bytes_max;            /* bytes of memory of all connections before login */
    struct metric *connections;        /* a gauge of the connections, or NULL */
    struct metric *connections_max;    /* a gauge of their limit, or NULL */
    struct metric *evicted;            /* a counter of calls of `evict`, or NULL */
};

TAILQ_HEAD(door_slots, door_slot);
TAILQ_HEAD(door_addresses, door_address);
LIST_HEAD(door_chain, door_address);

/* Allocated by its owner; private, except that `count` may be read. */
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
    struct door_slots logins;          /* logins that are pending, oldest first */
    struct quota login_quota;
    struct log_group full;             /* limits log lines that clients cause; so do the next two */
    struct log_group refused;
    struct log_group logins_full;
};

/* Where a door listens. */
struct door_place {
    const char *address;               /* HOST:PORT */
    uint32_t slots_max;                /* lowers the limit of the door's options; 0: does not */
    /* Other machines may connect, because clients log in or the operator allows it without. */
    bool is_open_to_all;
    const char *remedy;                /* for the error text: what to do; NULL: a default */
};

void door_open(struct door *door, const struct door_options *options);
/* Listen at `place`.  Also ERROR_USAGE when the place is not open to all and the address that the
 * listener is bound to is not loopback.  `*address_out` is valid until door_stop. */
must_check int door_listen(struct door *door, const struct door_place *place,
                           const char **address_out, struct error *err);
must_check int door_listen_unix(struct door *door, const char *path, struct error *err);
/* Lower the number of places to `slots_max`, but not below 4.  No connection has a place yet. */
void door_limit(struct door *door, uint32_t slots_max);
/* Whether only clients of this machine can connect; true if the door does not listen. */
bool door_is_local(const struct door *door);
/* Stop listening; connections that have places keep them. */
void door_stop(struct door *door);
/* Stop listening and free the door's memory; no connection has a place any more. */
void door_close(struct door *door);

/* Give `connection` a place; another connection may lose its place for that.  Also set keepalive,
 * so that a peer that lost power is noticed.  False: no place is free, and all connections that
 * might lose theirs wait for answers. */
must_check bool door_enter(struct door *door, struct door_slot *slot,
                           struct connection *connection);
/* Give the place back, stop its clock, and end the charge before login.  No effect on a slot
 * without a place. */
void door_leave(struct door_slot *slot);
/* The connection was used, so it is now idle for the shortest time; and it has this claim. */
void door_use(struct door_slot *slot, enum door_claim claim);
/* Set the claim; if it changes, the connection was also used (door_use). */
void door_claim(struct door_slot *slot, enum door_claim claim);
/* Set the clock: `late` is called after `ms` milliseconds, unless another time is set before.  0
 * stops the clock.  Setting the time that is set already does not restart it. */
void door_clock(struct door_slot *slot, int64_t ms);

/* The connection has to log in.  Until then its memory is charged to one small quota of all such
 * connections.  When the quota is full, the oldest of these connections is evicted.  No effect on a
 * connection whose login is pending already. */
void door_login_pending(struct door_slot *slot);
/* The connection now has `bytes` of memory.  The call may evict connections, also this one: its
 * slot then has no place.  No effect on a connection whose login is not pending. */
void door_login_charge(struct door_slot *slot, size_t bytes);
/* The connection has logged in: the charge ends. */
void door_login_done(struct door_slot *slot);

/* Append the number of places that are taken, and a line for each of the first connections: its
 * peer, its claim, and how many bytes were not sent yet. */
void door_dump(const struct door *door, struct buffer *text);

enum { DOOR_PEER_TEXT = 64 };

/* The peer's address, for log lines: "10.0.0.5", or "local" for a unix socket. */
void door_peer_text(const struct door_slot *slot, char text_out[DOOR_PEER_TEXT]);
/* A number of the connection's address, for what is shared fairly among addresses.  Each loopback
 * connection has a number of its own. */
uint64_t door_slot_address(const struct door_slot *slot);

/* The maximum number of connections of each door. */
struct door_shares {
    uint32_t control, ingest, cql;
};

/* Divide `descriptors` among the doors, and lower the maxima in `shares` to their parts.  The parts
 * are an eighth for the control socket, half of the rest for ingest, and what is left for CQL, but
 * each at least 4. */
void door_share(uint64_t descriptors, struct door_shares *shares);
#endif

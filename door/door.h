/* door: what listens, which connections have its places, and which one gives its place up.
 *
 * The ingest door, the CQL door and the control socket each have one, and add what is spoken there.
 *
 *     accepted ─ came() ─▶ door_enter ─▶ guest ── it is known who it is ─▶ served ─▶ door_leave
 *                            │ full        └ too slow, or too much memory: evict()
 *                            └ another's place is taken: evict(); no place can be: false
 *
 * No connection is refused while a place is free.  When none is, the address that has most places
 * gives one up: that of its connection which was idle for longest, of those that would lose nothing
 * first.  So a crowd of idle connections, or senders that lost power, keep no client out, and one
 * address cannot displace another's.  There is no fixed share: behind one address may be a whole
 * network (NAT).  Loopback counts as many addresses, of one place each.
 *
 * Places are taken and given back, clocks started and stopped, in constant time.  Engine thread. */
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

/* What a door's clocks are set to, unless it says otherwise (door_clock). */
enum {
    DOOR_SLOW_READER_MS = 60000,       /* for which answers may wait for their reader */
    DOOR_LINGER_MS = 5000              /* which a client that was refused may take to hang up */
};

/* What a connection would lose with its place. */
enum door_claim {
    DOOR_IDLE,                         /* nothing but itself */
    DOOR_NAMED,                        /* who it is: a producer, a user */
    DOOR_OWED,                         /* an answer that the server owes it: the place stays its */
    DOOR_CLAIMS
};

/* One connection's, in its owner's memory; zeroed at first. */
struct door_slot {
    struct door *door;                 /* NULL: it has no place */
    struct connection *connection;
    struct network_address peer;
    /* private */
    struct door_address *address;
    enum door_claim claim;
    TAILQ_ENTRY(door_slot) of_door, of_address;    /* by claim, the longest idle one first */
    bool is_guest;
    size_t guest_bytes;
    TAILQ_ENTRY(door_slot) of_guests;
    struct timer clock;
    int64_t clock_ms;                  /* what it was set to; 0: it does not run */
};

struct door_options {
    const char *name;                  /* as events name it: "cql" */
    struct network *network;           /* NULL: without door_listen */
    struct world *world;
    uint32_t slots_max;
    /* A connection was accepted: enter it or close it. */
    void (*came)(void *context, struct connection *connection);
    void *context;
    /* The place is needed: close the connection and door_leave, within the call. */
    void (*evict)(struct door_slot *slot);
    /* The clock that door_clock set has run down; it does not run any more. */
    void (*late)(struct door_slot *slot);
    size_t guest_bytes_max;            /* memory of all connections that are not known yet */
    struct metric *connections;        /* a gauge, or NULL */
    struct metric *connections_max;    /* a gauge of how many there may be, or NULL */
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
    struct door_addresses *levels;     /* the other addresses, by how many places they have */
    uint32_t level_max;                /* the highest that is not empty */
    struct door_chain *chains;         /* the same, by a hash of the address */
    uint64_t seed;
    struct door_slots guests;          /* the one that came first is first */
    struct quota guest_quota;
    struct log_group full;             /* events that clients cause */
    struct log_group refused;
    struct log_group guests_full;
};

/* Where a door stands. */
struct door_place {
    const char *address;               /* HOST:PORT */
    uint32_t slots_max;                /* fewer than the door has otherwise; 0: those */
    /* It may be reached from other machines though no client has to log in; */
    bool is_open_to_all;
    const char *remedy;                /* what to do where that is wanted; NULL: nothing to say */
};

void door_open(struct door *door, const struct door_options *options);
/* ERROR_USAGE, too, when the address that it is bound to is not loopback, whatever its name, and
 * the place is not open to all.  `*address_out` is valid until the door stops to listen. */
must_check int door_listen(struct door *door, const struct door_place *place,
                           const char **address_out, struct error *err);
must_check int door_listen_unix(struct door *door, const char *path, struct error *err);
/* It has so many places, if that is fewer than before, and at least a few. */
void door_limit(struct door *door, uint32_t slots_max);
/* Whether clients of this machine alone reach it; true of one that does not listen. */
bool door_is_local(const struct door *door);
/* Accept no more; those that came may stay. */
void door_stop(struct door *door);
/* All have left. */
void door_close(struct door *door);

/* A place for `connection`, with keepalive, so that a peer that lost power is noticed; another may
 * lose its for it.  False: the door is full of connections that are owed answers. */
must_check bool door_enter(struct door *door, struct door_slot *slot,
                           struct connection *connection);
/* Give the place back, with its clock and guest's memory; one without a place is fine. */
void door_leave(struct door_slot *slot);
/* Bytes came, or the claim is another: it is the one used last. */
void door_use(struct door_slot *slot, enum door_claim claim);
/* The claim is this; if it was, nothing changes. */
void door_claim(struct door_slot *slot, enum door_claim claim);
/* `late` is called in `ms` unless another time is set meanwhile; 0: not at all.  Setting the same
 * time again does not start the clock anew. */
void door_clock(struct door_slot *slot, int64_t ms);

/* While it is not known who a connection is, what it holds is charged to one small account of all
 * such connections; when that is full the one that came first goes.  One that is a guest already
 * stays where it is. */
void door_guest(struct door_slot *slot);
/* What it holds by now; it may be evicted by the call, and has no place then. */
void door_guest_hold(struct door_slot *slot, size_t bytes);
void door_guest_known(struct door_slot *slot);

/* Append how many places are taken, and a line for each of the first connections: the peer, what it
 * would lose with its place, and what the network has not sent yet. */
void door_dump(const struct door *door, struct buffer *text);

enum { DOOR_PEER_TEXT = 64 };

/* The peer's address, for events: "10.0.0.5", or "local" for a unix socket's. */
void door_peer_text(const struct door_slot *slot, char text_out[DOOR_PEER_TEXT]);
/* Whom it counts for where something is shared by address: of loopback each connection is one. */
uint64_t door_slot_address(const struct door_slot *slot);

/* How many connections each door may have of what descriptors are left to the doors. */
struct door_shares {
    uint32_t control, ingest, cql;
};

/* Of the maxima in `shares`, as many as `descriptors` (for all doors) allow: an eighth is the
 * control socket's, and half of the rest the ingest door's, none less than a few. */
void door_share(uint64_t descriptors, struct door_shares *shares);
#endif

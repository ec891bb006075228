/* door: accepts connections up to a limit, and at the limit evicts a connection for a new one.
 *
 * Ingest, CQL, HTTP and the control socket each have a door.  A connection that counts toward the
 * limit has a place.
 *
 *     accepted ─ came() ─▶ door_enter ─▶ login pending ── login done ─▶ served ─▶ door_leave
 *                            │ full        └ too much memory before login: evict()
 *                            └ another connection loses its place: evict(); none can: false
 *
 * A full door evicts the longest idle connection of the address that has most places; unnamed
 * connections are evicted before named ones (enum door_claim).  If that address has one place, or
 * all its connections wait for answers, the longest idle connection of the whole door is evicted.
 * A new connection from the address with most places displaces only connections of that address.
 * A whole network may have the same address (NAT), so an address has no fixed share.  Each loopback
 * connection counts as an address of its own.
 *
 * All functions run on the engine thread. */
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

enum {
    DOOR_SLOW_READER_MS = 60000,       /* time for a client to read answers */
    DOOR_LINGER_MS = 5000              /* time for a refused client to close its connection */
};

/* What a connection would lose with its place. */
enum door_claim {
    DOOR_IDLE,                         /* nothing */
    DOOR_NAMED,                        /* the session of a producer, client or command */
    DOOR_OWED,                         /* an answer: the connection is not displaced */
    DOOR_CLAIMS
};

/* Allocated by its owner; begins as zeros. */
struct door_slot {
    struct door *door;                 /* NULL: the connection has no place */
    struct connection *connection;
    struct network_address peer;
    /* private */
    struct door_address *address;
    enum door_claim claim;
    TAILQ_ENTRY(door_slot) of_door, of_address;    /* longest idle first */
    bool is_login_pending;
    size_t login_bytes;
    TAILQ_ENTRY(door_slot) of_logins;
    struct timer clock;
    int64_t clock_ms;                  /* 0: stopped */
};

struct door_options {
    const char *name;                  /* in events: "cql" */
    struct network *network;           /* NULL: the door never listens */
    struct world *world;
    uint32_t slots_max;
    /* Call door_enter for the connection, or close it. */
    void (*came)(void *context, struct connection *connection);
    void *context;
    /* Close the connection, and call door_leave before returning. */
    void (*evict)(struct door_slot *slot);
    /* The time of door_clock is over. */
    void (*late)(struct door_slot *slot);
    size_t login_bytes_max;            /* of all connections before login */
    struct metric *connections;        /* or NULL, like the next two */
    struct metric *connections_max;
    struct metric *evicted;
};

TAILQ_HEAD(door_slots, door_slot);
TAILQ_HEAD(door_addresses, door_address);
LIST_HEAD(door_chain, door_address);

/* Private, except that `count` may be read. */
struct door {
    struct door_options options;
    struct listener *listener;
    uint32_t slots_max;
    uint32_t count;
    struct door_slots slots[DOOR_CLAIMS];
    struct door_address *local;        /* loopback and unix sockets */
    struct door_addresses *levels;     /* other addresses by number of places */
    uint32_t level_max;
    struct door_chain *chains;         /* other addresses by hash */
    uint64_t seed;
    struct door_slots logins;          /* pending, oldest first */
    struct quota login_quota;
    struct log_group full;
    struct log_group refused;
    struct log_group clients_refused;
    struct log_group logins_full;
};

/* Where a door listens; not the place of a connection. */
struct door_place {
    const char *address;               /* HOST:PORT */
    uint32_t slots_max;                /* a lower limit than that of the options; 0: none */
    bool is_open_to_all;               /* other machines may connect */
    const char *remedy;                /* what to do, for the error text; NULL: a default */
};

void door_open(struct door *door, const struct door_options *options);
/* ERROR_USAGE also when the bound address is not loopback and place->is_open_to_all is false.
 * `*address_out` is valid until door_stop. */
must_check int door_listen(struct door *door, const struct door_place *place,
                           const char **address_out, struct error *err);
must_check int door_listen_unix(struct door *door, const char *path, struct error *err);
/* Lower the limit to `slots_max`, but not below 4.  No connection may have a place. */
void door_limit(struct door *door, uint32_t slots_max);
/* Whether only this machine can connect; true if the door does not listen. */
bool door_is_local(const struct door *door);
/* Stop listening.  Connections keep their places. */
void door_stop(struct door *door);
/* No connection may have a place. */
void door_close(struct door *door);

/* Take a place for `connection`; another connection may be evicted.  False: none can be evicted. */
must_check bool door_enter(struct door *door, struct door_slot *slot,
                           struct connection *connection);
/* Give the place back.  There is no effect if the connection has none. */
void door_leave(struct door_slot *slot);
/* Note that the connection was used, and set its claim. */
void door_use(struct door_slot *slot, enum door_claim claim);
/* Set the claim.  A change also counts as use. */
void door_claim(struct door_slot *slot, enum door_claim claim);
/* Call `late` after `ms` milliseconds; 0 stops the clock.  A call with the same `ms` as before does
 * not restart the clock. */
void door_clock(struct door_slot *slot, int64_t ms);

/* Note that the connection has not logged in.  These connections share one small quota of memory;
 * when it is full, the oldest of them is evicted. */
void door_login_pending(struct door_slot *slot);
/* Charge the `bytes` of memory that the connection now has.  May evict connections, also this one.
 * There is no effect after login. */
void door_login_charge(struct door_slot *slot, size_t bytes);
/* The connection has logged in, so its charge ends. */
void door_login_done(struct door_slot *slot);

/* Log, at most once a minute, that a connection with a place is refused.  `detail` may quote the
 * client, and may be NULL. */
void door_log_refused(const struct door_slot *slot, const char *reason, const char *detail);

void door_dump(const struct door *door, struct buffer *text);

enum { DOOR_PEER_TEXT = 64 };

/* "10.0.0.5", or "local" for a unix socket. */
void door_address_text(const struct network_address *address, char text_out[DOOR_PEER_TEXT]);
void door_peer_text(const struct door_slot *slot, char text_out[DOOR_PEER_TEXT]);
/* A number that stands for the peer's address.  Each loopback connection has its own number. */
uint64_t door_slot_address(const struct door_slot *slot);

struct door_shares {
    uint32_t control, http, ingest, cql;
};

/* Lower the maxima in `*shares` to parts of `descriptors`, each at least 4: an eighth for the
 * control socket, and a third of the rest for each other door.  What a door's maximum leaves of its
 * part is shared by the doors after it, in the order control, ingest, HTTP, CQL. */
void door_share(uint64_t descriptors, struct door_shares *shares);
#endif

/* native_door: the door for clients of CQL's native protocol; port 9042 unless another is given.
 *
 * docs/PROTOCOL.md "CQL door" says what is served, refused and limited.  All functions are called
 * on the engine thread. */
#ifndef DAYBOOK_QUERY_NATIVE_NATIVE_DOOR_H
#define DAYBOOK_QUERY_NATIVE_NATIVE_DOOR_H

#include "base/world/network.h"
#include "door/door.h"
#include "query/cql/session/cql.h"

struct native_door;
struct native_passwords;

enum { NATIVE_CONNECTIONS_MAX = 16384, NATIVE_BYTES_MAX = 128 << 20 };

/* A member of 0 means the default, which is the last part of its comment. */
struct native_limits {
    uint32_t connections_max;            /* NATIVE_CONNECTIONS_MAX */
    size_t bytes_max;                    /* bytes of all requests under way; NATIVE_BYTES_MAX */
    size_t connection_bytes_max;         /* bytes of one connection's requests; 32 MiB, or
                                          * `bytes_max` if that is less */
    size_t answer_bytes_max;             /* bytes of all unread answers; NATIVE_BYTES_MAX */
    int64_t slow_reader_ms;              /* time in which a slow reader must read something; 60 s */
    int64_t linger_ms;                   /* from the last answer to hanging up; 5 s */
    int64_t login_ms;                    /* time for a login, not counting the check of its
                                          * password; 10 s */
    size_t login_bytes_max;              /* memory of all clients before their login; 2 MiB */
};

struct native_options {
    struct cql *cql;                     /* these five outlive the door */
    struct world *world;
    struct network *network;
    struct metrics *metrics;
    struct store *store;                 /* counts the door's memory; NULL: it is not counted */
    struct native_passwords *passwords;  /* outlives the door; NULL: no login is needed */
    bool read_only;                      /* every session only reads (cql_session.h) */
    struct native_limits limits;
};

/* The door becomes the listener of `cql` (cql_on_schema_change, cql_on_room). */
struct native_door *native_door_new(const struct native_options *options);

/* Listen at `place`; call this at most once.  `*address_out` is valid until the door closes.  If
 * the door needs no password and other machines can reach it, it is read-only, and `place` must say
 * that it is open to all; otherwise ERROR_USAGE. */
must_check int native_door_listen(struct native_door *door, const struct door_place *place,
                                  const char **address_out, struct error *err);
/* Replace the passwords of the options: logins whose check begins from now on are checked against
 * `passwords`.  The caller may then give up its reference to the former passwords. */
void native_door_set_passwords(struct native_door *door, struct native_passwords *passwords);
/* Take ownership of an accepted `connection`: serve it, or close it if the door is full or
 * closing. */
void native_door_attach(struct native_door *door, struct connection *connection);

/* Take no more connections and requests, and stop the struct cql (cql_stop).  When the requests
 * under way have been answered, hang up, free the door, and call `closed`. */
void native_door_close(struct native_door *door, void (*closed)(void *context), void *context);
void native_door_dump(const struct native_door *door, struct buffer *text);
#endif

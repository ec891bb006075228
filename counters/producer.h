/* producer: a table of the producers and of the last batches of each.
 *
 * A producer is a sender with a UUID that numbers its batches from 1.  Its epoch never decreases:
 * a connection with a lower epoch is refused.  The table keeps a content hash and counts of the
 * last PRODUCER_WINDOW batches.
 *
 * In a full table, a new producer displaces another one that has no connection and no batch in
 * flight.  Of producers with fewer than two batches the newest is displaced, so that very many new
 * producers displace only each other.  Otherwise the longest silent one is displaced, but never
 * one with two or more batches within the last day. */
#ifndef DAYBOOK_COUNTERS_PRODUCER_H
#define DAYBOOK_COUNTERS_PRODUCER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/hash128.h"
#include "base/uuid.h"

enum {
    PRODUCER_WINDOW = 64,              /* batches; a power of two, part of the disk format */
    PRODUCERS_MAX = 1 << 17,           /* each takes 0.1 to 4 KB of memory */
    PRODUCERS_KEPT = 1024,             /* places reserved for `daybook load` */
    PRODUCERS_EVICTED_MAX = 1 << 16,   /* ids of displaced producers */
    PRODUCER_SILENT_DAYS = 30          /* a producer that was silent this long may be removed */
};

struct producer_batch {
    uint64_t sequence;                 /* 0: an empty place */
    struct hash128 hash;
    uint64_t accepted;
    uint64_t rejected;
    int64_t applied_us;                /* by the store's clock */
    bool is_durable;
    void *waiting;                     /* answers to copies of the batch, which wait until it
                                        * is durable (ingest_commit.c); NULL: none */
};

struct producer {
    uint8_t id[UUID_SIZE];
    uint64_t epoch;
    uint64_t last;                     /* the highest recorded batch; 0: none */
    void *owner;                       /* the connection, or NULL */
    /* private */
    struct producer_table *table;
    struct producer_list *list;        /* `few`, `silent` or NULL */
    TAILQ_ENTRY(producer) link;
    int64_t silent_since_us;           /* valid in `silent` */
    struct producer_batch *window;
    uint32_t window_size;
};

struct producer_table;
TAILQ_HEAD(producer_list, producer);

struct producer_table *producer_table_new(void);
void producer_table_free(struct producer_table *table);        /* NULL is fine */
struct producer *producer_find(const struct producer_table *table, const uint8_t id[UUID_SIZE]);
/* Call this when all producers have been read from the store. */
void producer_table_opened(struct producer_table *table);
/* The id must not be in the table.  The producer is valid until producer_forget.  NULL: the table
 * is full. */
struct producer *producer_add(struct producer_table *table, const uint8_t id[UUID_SIZE],
                              uint64_t epoch);
/* Whether at most `kept` places are free. */
bool producer_table_is_full(const struct producer_table *table, uint32_t kept);
uint32_t producer_table_count(const struct producer_table *table);
size_t producer_table_bytes(const struct producer_table *table);
/* Whether the producer may be removed: it has no owner, and all its batches are durable. */
bool producer_may_go(struct producer *producer);
/* producer_may_go must be true. */
void producer_forget(struct producer_table *table, struct producer *producer);

/* Set the owner; `connection` NULL: none. */
void producer_own(struct producer *producer, void *connection, int64_t now_us);
void producer_durable(struct producer *producer, uint64_t sequence, int64_t now_us);

/* Find up to `capacity` producers that may be removed and have sent nothing since `before_us`.
 * Returns how many were found. */
uint32_t producer_list_silent(const struct producer_table *table, int64_t before_us,
                              struct producer **found, uint32_t capacity);
/* The producer that a new one displaces, or NULL.  Takes bounded time. */
struct producer *producer_evictable(const struct producer_table *table, int64_t now_us);
/* Note the id of a displaced producer.  A later id may overwrite it. */
void producer_mark_evicted(struct producer_table *table, const uint8_t id[UUID_SIZE]);
bool producer_was_evicted(const struct producer_table *table, const uint8_t id[UUID_SIZE]);

/* Compute the new id of a sender whose producer `id` was removed after the batch `last`.  The new
 * id depends only on `id` and `last`. */
void producer_successor(const uint8_t id[UUID_SIZE], uint64_t last, uint8_t id_out[UUID_SIZE]);

enum producer_verdict {
    PRODUCER_NEXT,
    PRODUCER_KNOWN,                    /* within the window */
    PRODUCER_OLD,                      /* before the window */
    PRODUCER_GAP                       /* greater than producer->last + 1 */
};
enum producer_verdict producer_verdict_of(const struct producer *producer, uint64_t sequence);

/* NULL: not in the window.  Valid until the next producer_record. */
struct producer_batch *producer_batch_of(struct producer *producer, uint64_t sequence);
/* Record a batch, and return the recorded copy.  Batches must be recorded in order, except while
 * the store is being opened. */
struct producer_batch *producer_record(struct producer *producer,
                                       const struct producer_batch *batch);
/* Undo producer_record for the last batch, which could not be applied. */
void producer_retract(struct producer *producer, uint64_t sequence);
#endif

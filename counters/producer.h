/* producer: who numbers its batches, and which of them are known.
 *
 * Pure bookkeeping: no loop, no store.  A producer is known by a UUID; its epoch says which of its
 * lives is speaking; its batches are numbered from 1.  The last PRODUCER_WINDOW of them are
 * remembered with a hash of their content and their counts, in memory and in the table `producer`,
 * one row each, written in the batch's own frame (producer_rows.h).
 *
 * Only so many are known at a time.  When they are, one gives its place to the next: of those with
 * a single batch the one that came last, so that a crowd of new ones displaces itself; else, of
 * those without a connection, the one that is silent for longest; never one of whose batches two
 * or more came within a day. */
#ifndef DAYBOOK_COUNTERS_PRODUCER_H
#define DAYBOOK_COUNTERS_PRODUCER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/hash128.h"
#include "base/uuid.h"

enum {
    PRODUCER_WINDOW = 64,              /* batches remembered; a power of two, part of the format */
    PRODUCERS_MAX = 1 << 17,           /* known at once; each takes 0.1 to 4 KB of memory */
    PRODUCERS_KEPT = 1024,             /* of these, for `daybook load` */
    PRODUCERS_EVICTED_MAX = 1 << 16,   /* of which it is remembered that they were known */
    PRODUCER_SILENT_DAYS = 30          /* one that sent nothing for so long may be forgotten */
};

struct producer_batch {
    uint64_t sequence;                 /* 0: an empty place */
    struct hash128 hash;
    uint64_t accepted;
    uint64_t rejected;
    int64_t applied_us;                /* by the store's clock */
    bool is_durable;
    void *waiting;                     /* the door's: who is to be told once it is durable */
};

struct producer {
    uint8_t id[UUID_SIZE];
    uint64_t epoch;
    uint64_t last;                     /* the highest batch applied, durable or not; 0: none */
    void *owner;                       /* the connection that speaks for it; NULL: none */
    /* private */
    struct producer_table *table;
    struct producer_list *list;        /* that it is in; NULL: none */
    TAILQ_ENTRY(producer) link;
    int64_t silent_since_us;           /* by the store's clock, while it is in `silent` */
    struct producer_batch *window;     /* grows to PRODUCER_WINDOW, a power of two */
    uint32_t window_size;
};

struct producer_table;
TAILQ_HEAD(producer_list, producer);

struct producer_table *producer_table_new(void);
void producer_table_free(struct producer_table *table);        /* NULL is fine */
struct producer *producer_find(const struct producer_table *table, const uint8_t id[UUID_SIZE]);
/* All that are known were recorded, in any order: bring them into the order in which they came. */
void producer_table_opened(struct producer_table *table);
/* One that is not there yet; valid until it is forgotten.  NULL when PRODUCERS_MAX are known. */
struct producer *producer_add(struct producer_table *table, const uint8_t id[UUID_SIZE],
                              uint64_t epoch);
/* Whether all but `kept` places are taken. */
bool producer_table_is_full(const struct producer_table *table, uint32_t kept);
uint32_t producer_table_count(const struct producer_table *table);
size_t producer_table_bytes(const struct producer_table *table);       /* of memory */
/* Whether it has no owner, and its batches are all durable. */
bool producer_may_go(struct producer *producer);
/* Remove one that may go. */
void producer_forget(struct producer_table *table, struct producer *producer);

/* `connection` speaks for it from now on; NULL: none does. */
void producer_own(struct producer *producer, void *connection, int64_t now_us);
/* Its batch is durable. */
void producer_durable(struct producer *producer, uint64_t sequence, int64_t now_us);

/* Up to `capacity` of those that may be forgotten and have been silent since before `before_us`. */
uint32_t producer_list_silent(const struct producer_table *table, int64_t before_us,
                              struct producer **found, uint32_t capacity);
/* The one that gives its place to another; NULL: none does.  It looks at a few only. */
struct producer *producer_evictable(const struct producer_table *table, int64_t now_us);
/* It is evicted: what was sent for it must not be taken for a new one's.  Of PRODUCERS_EVICTED_MAX
 * it is remembered until the process ends; of more, of the later ones. */
void producer_mark_evicted(struct producer_table *table, const uint8_t id[UUID_SIZE]);
bool producer_was_evicted(const struct producer_table *table, const uint8_t id[UUID_SIZE]);

/* Who goes on for one that was forgotten behind its batch `last`: an id that follows from both, so
 * that whoever goes on twice is one producer, too. */
void producer_successor(const uint8_t id[UUID_SIZE], uint64_t last, uint8_t id_out[UUID_SIZE]);

/* What the number of a batch means. */
enum producer_verdict {
    PRODUCER_NEXT,                     /* to be applied */
    PRODUCER_KNOWN,                    /* a copy of one that is remembered */
    PRODUCER_OLD,                      /* a copy of one that is not remembered any more */
    PRODUCER_GAP                       /* past producer->last + 1 */
};
enum producer_verdict producer_verdict_of(const struct producer *producer, uint64_t sequence);

/* The remembered batch; NULL when it is none.  Valid until the next producer_record. */
struct producer_batch *producer_batch_of(struct producer *producer, uint64_t sequence);
/* Remember `batch` as applied; from the table's rows in any order, or the next one. */
struct producer_batch *producer_record(struct producer *producer,
                                       const struct producer_batch *batch);
/* Take back the last batch, which was not applied after all. */
void producer_retract(struct producer *producer, uint64_t sequence);
#endif

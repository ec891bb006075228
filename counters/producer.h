/* producer: a table of the producers and of the last batches of each.
 *
 * A producer is a sender that numbers its batches from 1.  It is identified by a UUID, and gives an
 * epoch, which never decreases: a connection with a lower epoch than an earlier one is refused. For
 * each of the producer's last PRODUCER_WINDOW batches a hash of the content and the counts of lines
 * are kept in this table.  Each batch also has a row in the store's table `producer`, which is
 * written in the frame of the batch (producer_rows.h).  This module uses neither the loop nor the
 * store.
 *
 * This table has PRODUCERS_MAX places.  When they are taken, a new producer displaces another one
 * that has no connection and no batch in flight.  Producers with fewer than two batches are
 * displaced first, beginning with the one whose last batch is newest, so that very many new
 * producers displace only each other.  If there are none, the
 * producer that has been silent for longest is displaced.  A producer that has sent two or more
 * batches within the last day is never displaced. */
#ifndef DAYBOOK_COUNTERS_PRODUCER_H
#define DAYBOOK_COUNTERS_PRODUCER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/hash128.h"
#include "base/uuid.h"

enum {
    PRODUCER_WINDOW = 64,              /* batches; a power of two, part of the disk format */
    PRODUCERS_MAX = 1 << 17,           /* in the table; each takes 0.1 to 4 KB of memory */
    PRODUCERS_KEPT = 1024,             /* the part of them reserved for `daybook load` */
    PRODUCERS_EVICTED_MAX = 1 << 16,   /* evicted producers whose ids are kept */
    PRODUCER_SILENT_DAYS = 30          /* a producer silent for so long may be removed */
};

struct producer_batch {
    uint64_t sequence;                 /* 0: an empty place */
    struct hash128 hash;
    uint64_t accepted;
    uint64_t rejected;
    int64_t applied_us;                /* by the store's clock */
    bool is_durable;
    void *waiting;                     /* for ingest: the answer to send when it is durable */
};

struct producer {
    uint8_t id[UUID_SIZE];
    uint64_t epoch;
    uint64_t last;                     /* the highest recorded batch, durable or not; 0: none */
    void *owner;                       /* the producer's connection; NULL: none */
    /* private */
    struct producer_table *table;
    struct producer_list *list;        /* the list that the producer is in; NULL: none */
    TAILQ_ENTRY(producer) link;
    int64_t silent_since_us;           /* by the store's clock; valid in the list `silent` */
    struct producer_batch *window;     /* the last batches */
    uint32_t window_size;              /* places: 0, or a power of two up to PRODUCER_WINDOW */
};

struct producer_table;
TAILQ_HEAD(producer_list, producer);

struct producer_table *producer_table_new(void);
void producer_table_free(struct producer_table *table);        /* NULL is fine */
struct producer *producer_find(const struct producer_table *table, const uint8_t id[UUID_SIZE]);
/* Sort the producers by the times of their last batches.  Called when all producers have been read
 * from the store. */
void producer_table_opened(struct producer_table *table);
/* Add a producer that is not in the table.  It is valid until producer_forget.  NULL: the table has
 * PRODUCERS_MAX producers. */
struct producer *producer_add(struct producer_table *table, const uint8_t id[UUID_SIZE],
                              uint64_t epoch);
/* Whether at most `kept` places are free. */
bool producer_table_is_full(const struct producer_table *table, uint32_t kept);
uint32_t producer_table_count(const struct producer_table *table);
size_t producer_table_bytes(const struct producer_table *table);       /* of memory */
/* Whether the producer may be removed: it has no owner, and all its batches are durable. */
bool producer_may_go(struct producer *producer);
/* Remove a producer that may be removed. */
void producer_forget(struct producer_table *table, struct producer *producer);

/* From now on `connection` is the owner of the producer; NULL: it has no owner. */
void producer_own(struct producer *producer, void *connection, int64_t now_us);
/* The batch `sequence` is durable. */
void producer_durable(struct producer *producer, uint64_t sequence, int64_t now_us);

/* Write to `found` up to `capacity` producers that may be removed and have sent nothing since
 * `before_us`.  Returns their number. */
uint32_t producer_list_silent(const struct producer_table *table, int64_t before_us,
                              struct producer **found, uint32_t capacity);
/* The producer that a new one displaces; NULL: none was found.  Only some producers are considered,
 * so that the call takes a bounded time. */
struct producer *producer_evictable(const struct producer_table *table, int64_t now_us);
/* Keep the id of a producer that is evicted (displaced): if it sends again, its batches must not be
 * taken for those of a new producer.  At most PRODUCERS_EVICTED_MAX ids are kept, until the process
 * ends; a later id may replace an earlier one. */
void producer_mark_evicted(struct producer_table *table, const uint8_t id[UUID_SIZE]);
bool producer_was_evicted(const struct producer_table *table, const uint8_t id[UUID_SIZE]);

/* Compute the new id of a sender whose producer `id` was removed after the batch `last`.  The new
 * id depends on `id` and `last` only, so a sender that asks for it once more gets the same one. */
void producer_successor(const uint8_t id[UUID_SIZE], uint64_t last, uint8_t id_out[UUID_SIZE]);

/* What the number of a batch means. */
enum producer_verdict {
    PRODUCER_NEXT,                     /* to be applied */
    PRODUCER_KNOWN,                    /* the number of a batch within the window */
    PRODUCER_OLD,                      /* the number of a batch before the window */
    PRODUCER_GAP                       /* greater than producer->last + 1 */
};
enum producer_verdict producer_verdict_of(const struct producer *producer, uint64_t sequence);

/* The batch `sequence`; NULL when the window does not have it.  Valid until the next call of
 * producer_record. */
struct producer_batch *producer_batch_of(struct producer *producer, uint64_t sequence);
/* Record a copy of `batch` and return the copy.  `batch` is the producer's next batch; only while
 * the store is being opened may batches come in any order. */
struct producer_batch *producer_record(struct producer *producer,
                                       const struct producer_batch *batch);
/* Remove the last batch, which was recorded but could not be applied. */
void producer_retract(struct producer *producer, uint64_t sequence);
#endif

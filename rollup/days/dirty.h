/* dirty: the set, in memory, of days whose figure or ledger is not up to date.  The table dirty_day
 * has the marks of these days, and those of evicted days (dirty_evicted.h).
 *
 *                 mark          taken off the queue
 *   (not there) ───────▶ queued ───────────────────▶ waiting
 *                         ▲  ▲     mark, or due       │   │
 *                         │  └────────────────────────┘   │ cleared: published,
 *                         │                               ▼ nothing owed
 *                         └────────── mark ─────────── leaving ──durable──▶ (not there)
 *
 * A day is *queued* when its row must be computed, and *waiting* while its row is being computed
 * (DIRTY_UNWRITTEN).  A day is also *waiting* until its publication, or while its restatement is
 * put off.
 *
 * The refresh takes a day off the queue before it reads the day's stats.  A mark that comes during
 * the read puts the day back; the refresh must not clear it.  A day that was cleared is *leaving*
 * until the frame that cleared it is durable.  The day stays in the set until then: readers trust
 * the durable row of every day that is not in the set.  Functions ignore leaving days unless their
 * comments say otherwise.
 *
 * A changed rate marks a *range* of days by one mark, because the commit hook must not read which
 * of these days have clicks.  Ranges are processed before days. */
#ifndef DAYBOOK_ROLLUP_DAYS_DIRTY_H
#define DAYBOOK_ROLLUP_DAYS_DIRTY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buffer.h"
#include "base/uuid.h"
#include "rollup/days/rollup.h"

/* Why a figure changed; the names are written to disk. */
enum dirty_cause {
    CAUSE_LATE_CLICKS, CAUSE_RATE, CAUSE_VOID, CAUSE_CORRECTION, CAUSE_REPAIR, CAUSE_EXPIRY,
    CAUSE_COUNT
};
const char *dirty_cause_name(enum dirty_cause cause);
bool dirty_cause_parse(struct bytes name, enum dirty_cause *cause_out);

/* One row of dirty_day. */
struct dirty_mark {
    uint8_t id[UUID_SIZE];
    uint8_t cause;                     /* an enum dirty_cause */
    bool has_change;
    uint8_t change[UUID_SIZE];         /* the id of the row in `change` that caused the mark */
};

enum { DIRTY_MARKS_MAX = 64 };         /* marks of a day; later marks do not name their change */

#define DIRTY_UNWRITTEN UINT64_MAX     /* the day's row is being computed and is not in a batch
                                        * yet */

/* The row of an open day as the refresh last wrote it.  The struct is small because there may be
 * millions of open days. */
struct dirty_row {
    uint64_t clicks;
    int64_t gross;
    int64_t rate;
    uint8_t gross_scale;
    uint8_t rate_scale;
    bool is_priced;
    bool is_kept;
};

struct dirty_day {
    /* These members fit in one cache line.  Repeating a mark without a change on a queued day
     * accesses only them and the key, which is at the end. */
    uint64_t hash;                     /* private */
    int64_t last_us;                   /* time of the last mark whose cause is not `rate`; without
                                        * such a mark: of the first mark */
    uint64_t order;                    /* of a queued day: its place, ascending along the queue; of
                                        * a leaving day: the number of the batch that cleared it; of
                                        * a waiting day: DIRTY_UNWRITTEN, or a batch number: the
                                        * day's row is in this batch or an earlier one */
    int32_t day;
    uint16_t key_size;                 /* private, as are the next two */
    uint16_t reseller_at;
    uint16_t reseller_size;
    bool is_queued;
    bool is_leaving;                   /* only the set changes it; a leaving day has no marks */
    uint8_t unnamed;                   /* private.  Bit c: the day has a mark of cause c that names
                                        * no row of `change` */
    uint32_t mark_count;
    uint32_t mark_capacity;            /* private: capacity of `marks`; 0: `mark` is used instead */

    uint64_t touched;                  /* when the day last became queued or waiting, in the
                                        * sequence of dirty_set_order; unlike `order` never a batch
                                        * number */
    TAILQ_ENTRY(dirty_day) link;
    struct dirty_day *peer_next, *peer_previous;   /* days of the same reseller, in no order */
    int64_t first_us;                  /* when the first mark of any cause came */
    int64_t owed_us;                   /* since when a restatement is put off; 0: none is put off */
    union {                            /* private: dirty_day_marks */
        struct dirty_mark mark;
        struct dirty_mark *marks;
    };
    struct dirty_row row;              /* private: dirty_day_row */
    uint8_t key[];                     /* private: dirty_day_key */
};

struct dirty_range {
    struct bytes reseller;
    int32_t from;
    int32_t until;                     /* RATE_DAY_END: without end */
    uint64_t order;                    /* from the same sequence as the `order` of queued days */
    struct dirty_mark mark;
    uint64_t failed_in;                /* number of the last refresh that could not process the
                                        * range; 0: none */
    TAILQ_ENTRY(dirty_range) link;
};

struct dirty_set;

struct dirty_set *dirty_set_new(void);
void dirty_set_free(struct dirty_set *set);                  /* NULL is fine */

void dirty_set_dump(const struct dirty_set *set, struct buffer *text);

uint32_t dirty_set_queued(const struct dirty_set *set);
uint32_t dirty_set_count(const struct dirty_set *set);       /* queued and waiting days */
bool dirty_set_is_behind(struct dirty_set *set);
size_t dirty_set_bytes(const struct dirty_set *set);

/* ad_click's partition key of the day, and the reseller in it. */
struct bytes dirty_day_key(const struct dirty_day *day);
struct bytes dirty_day_reseller(const struct dirty_day *day);
const struct dirty_mark *dirty_day_marks(const struct dirty_day *day);   /* day->mark_count items */
/* dirty_day_keep_row keeps a copy of `figure`, the present row of an open day; NULL: none is kept
 * any more.  dirty_day_row returns the kept figure, whose reseller is a view of the day's key;
 * false: none is kept. */
void dirty_day_keep_row(struct dirty_day *day, const struct day_figure *figure);
bool dirty_day_row(const struct dirty_day *day, struct day_figure *figure_out);

/* The next order; all orders given so far are lower.  Days that become queued or waiting, ranges,
 * and removals (dirty_set_cleared) get their orders from one sequence. */
uint64_t dirty_set_order(const struct dirty_set *set);

/* The order of the last removal of a day (dirty_set_clear, dirty_set_let_go) or a range; 0: there
 * was none.  If it is at least a dirty_set_order that the caller has noted, days were removed
 * since. */
uint64_t dirty_set_cleared(const struct dirty_set *set);

uint64_t dirty_hash(struct bytes key);

/* Mark the day of an ad_click partition key; `hash` is its dirty_hash; `change` may be NULL.
 * Returns NULL when the key is not that of a day.  If the mark is new, *mark_out points to it until
 * the set changes, and the caller must give it an id and write its row; otherwise *mark_out is
 * NULL. */
struct dirty_day *dirty_set_mark(struct dirty_set *set, struct bytes key, uint64_t hash,
                                 enum dirty_cause cause, const uint8_t *change, int64_t now_us,
                                 struct dirty_mark **mark_out);
/* Fetch memory into the CPU's cache: dirty_set_prefetch_slot fetches the slot of a hash in the hash
 * table; dirty_set_prefetch_day reads the slot and fetches the day in it.  Between the two calls
 * for a hash, make calls for several other hashes. */
void dirty_set_prefetch_slot(const struct dirty_set *set, uint64_t hash);
void dirty_set_prefetch_day(const struct dirty_set *set, uint64_t hash);

/* Add a mark that was read from the table; a mark that the day already has changes nothing.
 * `first_us`: when the mark was made.  Returns NULL if the reseller's name is longer than a key may
 * be. */
struct dirty_day *dirty_set_load(struct dirty_set *set, struct bytes reseller, int32_t day,
                                 const struct dirty_mark *mark, int64_t first_us);

/* The day; NULL: it is not in the set.  dirty_set_look finds leaving days too. */
struct dirty_day *dirty_set_find(const struct dirty_set *set, struct bytes key);
const struct dirty_day *dirty_set_look(const struct dirty_set *set, struct bytes reseller,
                                       int32_t day);
struct dirty_day *dirty_set_first_queued(struct dirty_set *set);       /* the others follow by
                                                                        * ->link */
struct dirty_day *dirty_set_first_waiting(struct dirty_set *set);      /* the others follow by
                                                                        * ->link */
void dirty_set_queue(struct dirty_set *set, struct dirty_day *day);
/* Make a queued day waiting while its row is being computed.  The caller sets ->order when the row
 * is written. */
void dirty_set_wait(struct dirty_set *set, struct dirty_day *day);
void dirty_set_wait_longest(struct dirty_set *set, struct dirty_day *day);
/* Remove a waiting day from the set; its marks stay in the table (dirty_evicted.h). */
void dirty_set_let_go(struct dirty_set *set, struct dirty_day *day);
/* dirty_set_clear makes the day a leaving one: batch number `batch` clears it.  The number must not
 * be lower than in an earlier call.  dirty_set_forget frees the days that `batch` or an earlier
 * batch cleared. */
void dirty_set_clear(struct dirty_set *set, struct dirty_day *day, uint64_t batch);
void dirty_set_forget(struct dirty_set *set, uint64_t batch);

/* Whether the day's durable row may be wrong, if batches up to number `batch` are durable. */
bool dirty_day_is_behind(const struct dirty_day *day, uint64_t batch);

/* The first of a reseller's days, leaving days included; NULL: there is none.  The next one is
 * ->peer_next. */
struct dirty_day *dirty_set_first_of(const struct dirty_set *set, struct bytes reseller);
/* Call `each` once for every reseller that has days, leaving days included.  `each` must not change
 * the set. */
void dirty_set_each_reseller(const struct dirty_set *set,
                             void (*each)(void *context, struct bytes reseller), void *context);

struct dirty_range *dirty_set_add_range(struct dirty_set *set, struct bytes reseller, int32_t from,
                                        int32_t until, const struct dirty_mark *mark);
struct dirty_range *dirty_set_first_range(struct dirty_set *set);      /* the oldest; the others
                                                                        * follow by ->link */
/* False: no range has the day.  True: a range has it, or there are too many ranges to check all. */
bool dirty_set_may_have_range(const struct dirty_set *set, struct bytes reseller, int32_t day);
void dirty_set_clear_range(struct dirty_set *set, struct dirty_range *range);
/* Give the range the next order, so that it is processed after all other ranges. */
void dirty_set_postpone_range(struct dirty_set *set, struct dirty_range *range);

/* Append ad_click's partition key of a day. */
void dirty_put_key(struct buffer *key, struct bytes reseller, int32_t day);
#endif

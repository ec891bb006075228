/* day_marks: the days that are out of date, in memory and as rows of a stream's table of marks.
 *
 *     a click, a rate ──day_marks_add──▶ dirty (dirty.h)  and  a row in the batch that brings it
 *
 * A day that is marked already for the same cause and change gets no second row.  Marks are deleted
 * by their ids, so the deletion of old marks never deletes a newer mark.  All functions run on the
 * engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_DAY_MARKS_H
#define DAYBOOK_ROLLUP_DAYS_DAY_MARKS_H

#include "base/timeuuid.h"
#include "base/world/world.h"
#include "rollup/click_stream.h"
#include "rollup/days/dirty.h"
#include "storage/cell/write_batch.h"
#include "storage/engine/store.h"

struct day_marks {
    struct store *store;
    const struct click_stream *stream;
    struct dirty_set *dirty;           /* owned */
    uint8_t maker[TIMEUUID_MAKER_SIZE];        /* random bytes that all ids of these marks share */
    int64_t last_us;
};

void day_marks_init(struct day_marks *marks, struct store *store,
                    const struct click_stream *stream, struct random *random);
void day_marks_release(struct day_marks *marks);

/* Add to `batch` the row of a mark for the days from `day` up to before `until`, and give the mark
 * its id. */
void day_marks_write(struct day_marks *marks, struct write_batch *batch, struct bytes reseller,
                     int32_t day, int32_t until, struct dirty_mark *mark, int64_t now_us);

/* Mark the day of a click's partition key, in memory and in `batch`; `change` may be NULL. */
void day_marks_add(struct day_marks *marks, struct write_batch *batch, struct bytes key,
                   enum dirty_cause cause, const uint8_t *change, int64_t now_us);
/* Mark all days from `from` up to before `until`. */
void day_marks_add_range(struct day_marks *marks, struct write_batch *batch,
                         struct bytes reseller, int32_t from, int32_t until,
                         enum dirty_cause cause, const uint8_t *change, int64_t now_us);

/* day_marks_add of a key whose dirty_hash is known.  Called once for each partition of a block. */
static inline void day_marks_add_hashed(struct day_marks *marks, struct write_batch *batch,
                                        struct bytes key, uint64_t hash, enum dirty_cause cause,
                                        const uint8_t *change, int64_t now_us)
{
    struct dirty_mark *mark;
    struct dirty_day *day = dirty_set_mark(marks->dirty, key, hash, cause, change, now_us, &mark);
    if (mark != NULL)
        day_marks_write(marks, batch, dirty_day_reseller(day), day->day, day->day + 1, mark,
                        now_us);
}

/* A row of the table of marks: of one day, or of a range of days (dirty.h). */
struct mark_row {
    int32_t day;
    int32_t until;                     /* the day after the last one; RATE_DAY_END: without end */
    struct dirty_mark mark;
};
/* ERROR_CORRUPT: the row is no mark. */
must_check int day_marks_read(const struct table *table, const struct page_row *row,
                              struct mark_row *mark_out, struct error *err);
/* Add to the set a mark of one day that was read from the table (dirty_set_load). */
must_check int day_marks_load(struct dirty_set *set, struct bytes reseller,
                              const struct mark_row *row, struct error *err);
#endif

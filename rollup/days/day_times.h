/* day_times: clicks and gross of a (reseller, day) by hour or by minute, added up from its clicks.
 *
 * Hours and minutes are those of the stream's time zone (calendar.h).  A click belongs to the day
 * in its key, even if its time is on another day.  So the times of a day add up to its figure:
 *
 *     figure of the day = all times + clicks without a time + clicks that have expired
 *
 *     key 2013-11-28   00:00 ... 23:00; 11-29 00:00, if a click with this key has that time
 *     key 2013-11-29                    11-29 00:00 ...
 *
 * All functions run on the engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_DAY_TIMES_H
#define DAYBOOK_ROLLUP_DAYS_DAY_TIMES_H

#include "rollup/days/rollup.h"

enum { DAY_TIMES_MAX = 50000 };

struct day_time {
    int64_t at_ms;                     /* the start of the span */
    uint64_t clicks;
    struct decimal gross;
};

/* For the caller to read after `done`, until the next day_times_read. */
struct day_times {
    struct day_time *times;            /* by descending time; spans without clicks are left out */
    uint32_t count;
    uint64_t untimed;                  /* clicks whose time is null or not from TIME_MS_MIN to
                                        * TIME_MS_MAX; only tables of users have such clicks */
    uint64_t expired;                  /* expired clicks, of which only seals remain (seal.h) */
    /* Called after each page of clicks was added up, with the context of the read; a negative
     * status ends the read.  Set by the caller; NULL: none. */
    int (*look)(void *context, struct error *err);
};

/* `unit_ms`: HOUR_MS or MINUTE_MS.  Store and rollup outlive the result. */
struct day_times *day_times_new(struct store *store, struct rollup *rollup, int64_t unit_ms);
void day_times_free(struct day_times *times);          /* no read is under way; NULL is fine */
size_t day_times_bytes(const struct day_times *times); /* memory that grows with the data */

/* Read the durable clicks of a day.  `reseller` is copied.  `done` is called once, perhaps before
 * the call returns.  ERROR_LIMIT: the clicks lie in over DAY_TIMES_MAX spans, or a sum has too many
 * digits. */
void day_times_read(struct day_times *times, struct bytes reseller, int32_t day, store_done done,
                    void *context);
#endif

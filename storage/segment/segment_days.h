/* segment_days: how many rows a segment has of each day, by its partitions' keys.
 *
 * The day of a partition is the last component of its key, if that is a day ("2013-11-28"), and
 * else DAY_NONE.  The day depends on the key alone, so that it is the same in all runs. */
#ifndef DAYBOOK_STORAGE_SEGMENT_SEGMENT_DAYS_H
#define DAYBOOK_STORAGE_SEGMENT_SEGMENT_DAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "storage/schema/schema.h"

#define DAY_NONE INT32_MIN

struct day_rows {
    int32_t day;
    uint64_t rows;
};

struct segment_days {
    struct day_rows *days;             /* ascending by day; owned */
    uint32_t count;
    uint32_t capacity;
    uint32_t last;                     /* private: the index in `days` of the last add */
};

int32_t segment_days_of_key(const struct table *table, struct bytes key);

void segment_days_release(struct segment_days *days);
void segment_days_add(struct segment_days *days, int32_t day, uint64_t rows);
/* NULL: there are no rows of that day. */
const struct day_rows *segment_days_find(const struct segment_days *days, int32_t day);
/* Whether both segments have rows of the same day. */
bool segment_days_meet(const struct segment_days *a, const struct segment_days *b);
#endif

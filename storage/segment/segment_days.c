/* segment_days: days are kept in a sorted array.  The place of the last add is tried first, because
 * partitions that follow one another are often of the same day. */
#include "storage/segment/segment_days.h"

#include <string.h>

#include "base/calendar.h"
#include "base/memory.h"

int32_t segment_days_of_key(const struct table *table, struct bytes key)
{
    struct bytes text;
    int32_t day;
    check(table->partition_count > 0);
    uint32_t last = table->partition_count - 1;
    if (type_key_component(key, table->partition_count, last, &text) < 0 ||
        !calendar_day_parse(text, &day))
        return DAY_NONE;
    return day;
}

void segment_days_release(struct segment_days *days)
{
    memory_free(days->days);
    *days = (struct segment_days){0};
}

static uint32_t place_of(const struct segment_days *days, int32_t day)
{
    uint32_t low = 0;
    uint32_t high = days->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (days->days[middle].day < day)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void segment_days_add(struct segment_days *days, int32_t day, uint64_t rows)
{
    uint32_t at = days->last;
    if (at >= days->count || days->days[at].day != day)
        at = place_of(days, day);
    days->last = at;
    if (at < days->count && days->days[at].day == day) {
        days->days[at].rows += rows;
        return;
    }
    days->days = memory_make_room(days->days, days->count, &days->capacity, sizeof *days->days);
    memmove(&days->days[at + 1], &days->days[at], (days->count - at) * sizeof *days->days);
    days->days[at] = (struct day_rows){day, rows};
    days->count++;
}

const struct day_rows *segment_days_find(const struct segment_days *days, int32_t day)
{
    uint32_t at = place_of(days, day);
    return at < days->count && days->days[at].day == day ? &days->days[at] : NULL;
}

bool segment_days_meet(const struct segment_days *a, const struct segment_days *b)
{
    uint32_t i = 0;
    uint32_t j = 0;
    while (i < a->count && j < b->count) {
        if (a->days[i].day == b->days[j].day)
            return true;
        if (a->days[i].day < b->days[j].day)
            i++;
        else
            j++;
    }
    return false;
}

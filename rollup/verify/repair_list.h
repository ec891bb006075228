/* repair_list: the differences that a verification repairs at its end: days and counters.
 *
 * Entries are copied, and keep the order in which they were noted. */
#ifndef DAYBOOK_ROLLUP_VERIFY_REPAIR_LIST_H
#define DAYBOOK_ROLLUP_VERIFY_REPAIR_LIST_H

#include "rollup/click_stream.h"
#include "rollup/days/dirty.h"

struct repair_day {
    struct bytes reseller;
    int32_t day;
    struct dirty_mark mark;
};

struct repair_counter {
    const struct click_stream_counter *of;
    struct bytes key;
    int64_t delta;
};

struct repair_list {
    struct arena *arena;
    struct repair_day *days;
    uint32_t day_count, day_capacity;
    struct repair_counter *counters;
    uint32_t counter_count, counter_capacity;
};

struct repair_list *repair_list_new(void);
void repair_list_free(struct repair_list *list);

void repair_list_note_day(struct repair_list *list, struct bytes reseller, int32_t day);
/* `delta` is to be added to the counter of `key`.  `counter` outlives the list. */
void repair_list_note_counter(struct repair_list *list, const struct click_stream_counter *counter,
                              struct bytes key, int64_t delta);
bool repair_list_is_empty(const struct repair_list *list);
#endif

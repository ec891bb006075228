/* repair_list: see the header. */
#include "rollup/verify/repair_list.h"

#include "base/arena.h"
#include "base/memory.h"

enum { ARENA_CHUNK = 64 * 1024 };

struct repair_list *repair_list_new(void)
{
    struct repair_list *list = memory_zeroed(1, sizeof(*list));
    list->arena = arena_new(ARENA_CHUNK);
    return list;
}

void repair_list_free(struct repair_list *list)
{
    if (list == NULL)
        return;
    memory_free(list->days);
    memory_free(list->counters);
    arena_free(list->arena);
    memory_free(list);
}

void repair_list_note_day(struct repair_list *list, struct bytes reseller, int32_t day)
{
    list->days =
        memory_make_room(list->days, list->day_count, &list->day_capacity, sizeof(*list->days));
    list->days[list->day_count++] =
        (struct repair_day){.reseller = arena_copy(list->arena, reseller), .day = day};
}

void repair_list_note_counter(struct repair_list *list, const struct click_stream_counter *counter,
                              struct bytes key, int64_t delta)
{
    check(counter != NULL);
    list->counters = memory_make_room(list->counters, list->counter_count, &list->counter_capacity,
                                      sizeof(*list->counters));
    list->counters[list->counter_count++] =
        (struct repair_counter){counter, arena_copy(list->arena, key), delta};
}

bool repair_list_is_empty(const struct repair_list *list)
{
    return list->day_count == 0 && list->counter_count == 0;
}

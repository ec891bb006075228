/* The list holds numbers of cells instead of pointers, because the array `made` may move.  Number n
 * is `read[n]` if n is below `read_count`, and otherwise `made[n - read_count]`. */
#include "query/cql/write/cql_live_list.h"

#include <stdlib.h>
#include <string.h>

#include "storage/cell/mutation.h"

enum { COPIES_A_LOOK = 64 }; /* numbers that can be copied in the time that one comparison takes */

struct numbering {
    const struct cql_live_list *list;
    const struct cell *made;
};

static const struct cell *cell_of(const struct numbering *numbering, uint32_t number)
{
    const struct cql_live_list *list = numbering->list;
    return number < list->read_count ? &list->read[number]
                                     : &numbering->made[number - list->read_count];
}

struct cql_live_list cql_live_list_of(const struct column *column, const struct cell *read,
                                      uint32_t read_count)
{
    return (struct cql_live_list){
        .column = column, .read = read, .read_count = read_count, .count = read_count};
}

const struct cell *cql_live_list_cell(const struct cql_live_list *list, const struct cell *made,
                                      uint32_t at)
{
    check(at < list->count);
    struct numbering numbering = {list, made};
    return cell_of(&numbering, list->numbers == NULL ? at : list->numbers[at]);
}

static int compare_paths(const struct cql_live_list *list, const struct cell *left,
                         const struct cell *right)
{
    return type_compare(type_path(list->column->type), left->path, right->path);
}

static int order_numbers(const void *a, const void *b, void *context)
{
    const struct numbering *numbering = context;
    return compare_paths(numbering->list, cell_of(numbering, *(const uint32_t *)a),
                         cell_of(numbering, *(const uint32_t *)b));
}

static uint32_t gather(const struct numbering *numbering, uint32_t made_count, struct arena *arena,
                       uint32_t **numbers_out)
{
    const struct cql_live_list *list = numbering->list;
    uint32_t count = 0;
    uint32_t *numbers = NULL;
    for (uint32_t i = list->seen; i < made_count; i++) {
        if (numbering->made[i].column_id != list->column->id)
            continue;
        if (numbers == NULL)
            numbers = arena_alloc(arena, (made_count - i) * sizeof(*numbers), 8);
        numbers[count++] = list->read_count + i;
    }
    arena_count(arena, made_count - list->seen);
    if (count > 1)
        qsort_r(numbers, count, sizeof(*numbers), order_numbers, (void *)(uintptr_t)numbering);
    *numbers_out = numbers;
    return count;
}

static void make_room(struct cql_live_list *list, uint32_t more, struct arena *arena)
{
    if (list->numbers != NULL && list->count + more <= list->capacity)
        return;
    uint32_t capacity = list->count + more + list->count / 2;
    uint32_t *numbers = arena_alloc(arena, capacity * sizeof(*numbers), 8);
    for (uint32_t i = 0; i < list->count; i++)
        numbers[i] = list->numbers == NULL ? i : list->numbers[i];
    list->numbers = numbers;
    list->spare = arena_alloc(arena, capacity * sizeof(*numbers), 8);
    list->capacity = capacity;
}

static uint32_t place_of(const struct numbering *numbering, uint32_t from, const struct cell *cell)
{
    const struct cql_live_list *list = numbering->list;
    uint32_t until = list->count;
    while (from < until) {
        uint32_t middle = from + (until - from) / 2;
        if (compare_paths(list, cell_of(numbering, list->numbers[middle]), cell) < 0)
            from = middle + 1;
        else
            until = middle;
    }
    return from;
}

static bool stands_before(const struct cell *made, const struct cell *there)
{
    bool is_newer =
        made->timestamp_us == TIMESTAMP_SERVER && there->timestamp_us != TIMESTAMP_SERVER;
    return is_newer || row_cell_reconcile(there, made) > 0;
}

static uint32_t copy_numbers(struct cql_live_list *list, uint32_t to, uint32_t from, uint32_t until)
{
    memcpy(list->spare + to, list->numbers + from, (until - from) * sizeof(*list->spare));
    return to + (until - from);
}

static void merge(struct cql_live_list *list, const struct numbering *numbering,
                  const uint32_t *fresh, uint32_t fresh_count)
{
    uint32_t from = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < fresh_count; i++) {
        const struct cell *cell = cell_of(numbering, fresh[i]);
        uint32_t place = place_of(numbering, from, cell);
        uint32_t standing = fresh[i];
        kept = copy_numbers(list, kept, from, place);
        from = place;
        const struct cell *there =
            place < list->count ? cell_of(numbering, list->numbers[place]) : NULL;
        if (there != NULL && compare_paths(list, there, cell) == 0) {
            standing = stands_before(cell, there) ? fresh[i] : list->numbers[place];
            from++;
        }
        if ((cell_of(numbering, standing)->flags & CELL_TOMBSTONE) == 0)
            list->spare[kept++] = standing;
    }
    kept = copy_numbers(list, kept, from, list->count);
    uint32_t *merged = list->spare;
    list->spare = list->numbers;
    list->numbers = merged;
    list->count = kept;
}

void cql_live_list_take(struct cql_live_list *list, const struct cell *made, uint32_t made_count,
                        struct arena *arena)
{
    struct numbering numbering = {list, made};
    uint32_t *fresh;
    uint32_t count = gather(&numbering, made_count, arena, &fresh);
    list->seen = made_count;
    if (count == 0)
        return;
    make_room(list, count, arena);
    arena_count(arena, count + list->count / COPIES_A_LOOK);
    merge(list, &numbering, fresh, count);
}

/* report_totals: see the header.  A heap sorts the rows while they are printed, so that no loop
 * turn sorts all of them. */
#include "query/report/report_totals.h"

#include "base/heap.h"
#include "base/key_map.h"
#include "base/memory.h"

struct report_totals {
    struct command_output *output;
    size_t kept_bytes;
    struct key_map *numbers;
    struct report_row *rows; /* by number */
    uint32_t capacity;
    struct heap left; /* numbers of the rows that report_totals_next did not return yet */
    uint32_t left_capacity;
};

struct report_totals *report_totals_new(struct command_output *output)
{
    struct report_totals *totals = memory_zeroed(1, sizeof(*totals));
    totals->output = output;
    totals->numbers = key_map_new();
    return totals;
}

void report_totals_free(struct report_totals *totals)
{
    if (totals == NULL)
        return;
    key_map_free(totals->numbers);
    memory_free(totals->rows);
    memory_free(totals->left.items);
    memory_free(totals);
}

static int keep_rows(struct report_totals *totals, struct error *err)
{
    size_t bytes = key_map_bytes(totals->numbers) + totals->capacity * sizeof(*totals->rows) +
                   totals->left_capacity * sizeof(*totals->left.items);
    int64_t change = (int64_t)bytes - (int64_t)totals->kept_bytes;
    if (change != 0 && !command_keep(totals->output, change))
        return error_set(err, ERROR_LIMIT, COMMAND_NO_ROOM);
    totals->kept_bytes = bytes;
    return 0;
}

/* The heap's items are numbers, because rows move when the array grows. */
static struct report_row *row_at(const struct report_totals *totals, const void *item)
{
    return &totals->rows[(uintptr_t)item];
}

static bool is_before(const void *context, const void *a, const void *b)
{
    const struct report_row *left = row_at(context, a);
    const struct report_row *right = row_at(context, b);
    return left->period != right->period ? left->period > right->period
                                         : left->at_ms > right->at_ms;
}

int report_totals_add(struct report_totals *totals, const struct report_row *row, struct error *err)
{
    const int64_t key[] = {row->period, row->at_ms};
    uint32_t count = key_map_count(totals->numbers);
    uint32_t number = key_map_add(totals->numbers, bytes_of(key, sizeof(key)));
    int rc = 0;
    if (number == count) {
        totals->rows =
            memory_make_room(totals->rows, number, &totals->capacity, sizeof(*totals->rows));
        totals->rows[number] = (struct report_row){.period = row->period, .at_ms = row->at_ms};
        totals->left.items = memory_make_room(totals->left.items, number, &totals->left_capacity,
                                              sizeof(*totals->left.items));
        heap_push(&totals->left, is_before, totals, (void *)(uintptr_t)number);
        rc = keep_rows(totals, err);
    }
    if (rc == 0 && (rc = report_sum_add(&totals->rows[number].sum, &row->sum)) != 0)
        error_set(err, rc, "a sum has too many digits");
    return rc;
}

const struct report_row *report_totals_next(struct report_totals *totals)
{
    if (totals->left.count == 0)
        return NULL;
    return row_at(totals, heap_pop(&totals->left, is_before, totals));
}

/* Days are read in two phases: first their stats and rows, then their ledger entries.
 *
 * Days of one reseller that lie close together share a slice.  If a slice cannot be read, only its
 * days get the error as their status; `done` gets the first failure. */
#include "rollup/days/day_reader.h"

#include <stdlib.h>

#include "base/murmur3.h"
#include "storage/cell/partition_index.h"
#include "storage/engine/store_rows.h"
#include "base/memory.h"

enum {
    GAP_DAYS_MAX = 31, /* days at most this far apart share a slice */
    ARENA_CHUNK = 256 * 1024
};

struct slice_read {
    struct day_reader *reader;
    uint32_t start;
    uint32_t end;
    uint32_t next; /* the first day whose row may still follow */
};

/* ---- life ---- */

struct day_reader *day_reader_new(struct store *store, const struct click_stream *stream,
                                  const int32_t *sealed_to)
{
    struct day_reader *reader = memory_zeroed(1, sizeof(*reader));
    reader->store = store;
    reader->stream = stream;
    reader->sealed_to = sealed_to;
    reader->arena = arena_new(ARENA_CHUNK);
    /* The memory is not zeroed, because most readings use few of the days. */
    reader->days = memory_alloc(DAY_READER_MAX * sizeof(*reader->days));
    return reader;
}

void day_reader_clear(struct day_reader *reader)
{
    for (uint32_t i = 0; i < reader->count; i++)
        stats_release(&reader->days[i].sum.stats);
    reader->count = 0;
    reader->err.code = 0;
    arena_reset(reader->arena);
}

void day_reader_free(struct day_reader *reader)
{
    day_reader_clear(reader);
    memory_free(reader->days);
    arena_free(reader->arena);
    memory_free(reader);
}

static struct day_facts *add_day(struct day_reader *reader, struct bytes reseller, int32_t day)
{
    check(reader->count < DAY_READER_MAX);
    struct day_facts *facts = &reader->days[reader->count];
    const struct day_facts *last = reader->count > 0 ? facts - 1 : NULL;
    bool is_same = last != NULL && bytes_equal(last->reseller, reseller);
    reader->count++;
    *facts = (struct day_facts){
        .reseller = is_same ? last->reseller : arena_copy(reader->arena, reseller),
        .token = is_same ? last->token : murmur3_token(reseller.data, reseller.size),
        .day = day};
    return facts;
}

struct day_facts *day_reader_add_key(struct day_reader *reader, struct bytes key,
                                     struct bytes reseller, int32_t day)
{
    struct day_facts *facts = add_day(reader, reseller, day);
    facts->key = arena_copy(reader->arena, key);
    return facts;
}

struct day_facts *day_reader_add(struct day_reader *reader, struct bytes reseller, int32_t day)
{
    struct buffer key = {0};
    dirty_put_key(&key, reseller, day);
    struct day_facts *facts = day_reader_add_key(reader, buffer_view(&key), reseller, day);
    buffer_release(&key);
    return facts;
}

struct day_facts *day_reader_add_settled(struct day_reader *reader, struct bytes reseller,
                                         const struct day_figure *row)
{
    struct day_facts *facts = add_day(reader, reseller, row->day);
    facts->is_settled = true;
    facts->has_row = true;
    facts->row = *row;
    facts->row.reseller = facts->reseller;
    return facts;
}

/* ---- phases ---- */

static void phase_begin(struct day_reader *reader, void (*next)(struct day_reader *reader))
{
    reader->next_phase = next;
    reader->reads = 1;
}

static void phase_step(struct day_reader *reader)
{
    check(reader->reads > 0);
    if (--reader->reads == 0)
        reader->next_phase(reader);
}

/* ---- slices ---- */

static void slice_done(void *context, int status, const struct error *err)
{
    const struct slice_read *read = context;
    struct day_reader *reader = read->reader;
    error_keep(&reader->err, status, err);
    for (uint32_t i = read->start; status < 0 && i < read->end; i++)
        reader->days[i].status = status;
    phase_step(reader);
}

/* The day of a row; NULL: the day was not added.  Days and rows both descend. */
static struct day_facts *slice_find(struct slice_read *read, int32_t day)
{
    struct day_facts *days = read->reader->days;
    while (read->next < read->end && days[read->next].day > day)
        read->next++;
    return read->next < read->end && days[read->next].day == day ? &days[read->next] : NULL;
}

static int slice_figure(void *context, const struct table *table, const struct page_row *row,
                        struct error *err)
{
    struct day_figure figure;
    int rc = figure_read(table, row, &figure, err);
    struct day_facts *day = rc == 0 ? slice_find(context, figure.day) : NULL;
    if (day != NULL) {
        day->has_row = true;
        day->row = figure;
        day->row.reseller = day->reseller;
    }
    return rc;
}

static int slice_entry(void *context, const struct table *table, const struct page_row *row,
                       struct error *err)
{
    struct ledger_entry entry;
    int rc = ledger_read_new(table, row, &entry, err);
    struct day_facts *day = rc == 0 ? slice_find(context, entry.new.day) : NULL;
    if (day != NULL) {
        day->has_last = true;
        day->last = entry;
        day->last.new.reseller = day->reseller;
    }
    return rc;
}

static void slice_start(struct day_reader *reader, uint32_t start, uint32_t end, bool is_ledger)
{
    const struct slice_read read = {reader, start, end, start};
    struct day_slice_text text;
    struct bytes reseller = reader->days[start].reseller;
    uint32_t table_id =
        is_ledger ? reader->stream->ledger_table_id : reader->stream->figures_table_id;
    struct read_request request = store_rows_request(table_id, &reseller, READ_APPLIED);
    int32_t from = reader->days[end - 1].day;
    int32_t to = reader->days[start].day;
    request.slice = is_ledger ? ledger_slice(from, to, &text) : figure_slice(from, to, &text);
    /* A day's entries ascend in time, and only the last one is needed. */
    request.slice.reversed = is_ledger;
    request.one_of_each = is_ledger;
    reader->reads++;
    store_rows_read(reader->store, &request, is_ledger ? slice_entry : slice_figure, slice_done,
                    arena_copy_item(reader->arena, &read, sizeof(read)));
}

static bool is_published(const struct day_facts *day)
{
    return day->has_row && day->row.state != DAY_OPEN;
}

/* A slice is read from amount_by_day if a row of its days is not known yet, and from the ledger if
 * one of its days is published. */
static void start_slices(struct day_reader *reader, bool is_ledger)
{
    uint32_t start = 0;
    while (start < reader->count) {
        const struct day_facts *first = &reader->days[start];
        bool wanted = is_ledger ? is_published(first) : !first->has_row;
        uint32_t end = start + 1;
        while (end < reader->count && bytes_equal(reader->days[end].reseller, first->reseller) &&
               reader->days[end - 1].day - reader->days[end].day <= GAP_DAYS_MAX) {
            const struct day_facts *next = &reader->days[end];
            wanted = wanted || (is_ledger ? is_published(next) : !next->has_row);
            end++;
        }
        if (wanted)
            slice_start(reader, start, end, is_ledger);
        start = end;
    }
}

static void sum_read(void *context, int status, const struct error *err)
{
    struct day_facts *day = context;
    error_keep(&day->reader->err, status, err);
    if (status < 0)
        day->status = status;
    phase_step(day->reader);
}

static void start_sums(struct day_reader *reader)
{
    for (uint32_t i = 0; i < reader->count; i++) {
        struct day_facts *day = &reader->days[i];
        if (day->is_settled)
            continue;
        reader->reads++;
        day->reader = reader;
        day->sum = (struct seal_sum){.done = sum_read, .context = day};
        seal_sum_read(reader->store, reader->stream, day->key, day->day <= *reader->sealed_to,
                      READ_APPLIED, &day->sum);
    }
}

/* ---- reading ---- */

static void read_done(struct day_reader *reader)
{
    const struct error err = reader->err;
    reader->done(reader->context, err.code, &err);
}

static void read_ledger(struct day_reader *reader)
{
    phase_begin(reader, read_done);
    start_slices(reader, true);
    phase_step(reader);
}

static int compare_days(const void *a, const void *b)
{
    const struct day_facts *left = a;
    const struct day_facts *right = b;
    int order = partition_index_order(left->token, left->reseller, right->token, right->reseller);
    return order != 0 ? order : (left->day < right->day) - (left->day > right->day);
}

/* The order is checked first, because days are mostly sorted already, and moving them is
 * expensive. */
static void sort_days(struct day_reader *reader)
{
    bool is_sorted = true;
    for (uint32_t i = 1; i < reader->count && is_sorted; i++)
        is_sorted = compare_days(&reader->days[i - 1], &reader->days[i]) <= 0;
    if (!is_sorted)
        qsort(reader->days, reader->count, sizeof(*reader->days), compare_days);
}

/* If all rows are known and open, the order of the days does not matter. */
static bool all_are_open(const struct day_reader *reader)
{
    for (uint32_t i = 0; i < reader->count; i++)
        if (!reader->days[i].has_row || reader->days[i].row.state != DAY_OPEN)
            return false;
    return true;
}

void day_reader_read(struct day_reader *reader, bool has_rows, store_done done, void *context)
{
    check(reader->reads == 0 && done != NULL);
    reader->done = done;
    reader->context = context;
    if (has_rows || !all_are_open(reader))
        sort_days(reader);
    phase_begin(reader, read_ledger);
    start_sums(reader);
    if (!has_rows)
        start_slices(reader, false);
    phase_step(reader);
}

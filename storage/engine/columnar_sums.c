/* The rows of one entry, or of a memtable's partition, are a piece.  It is added quickly only if
 * every row has a value, all of one scale, and their sum fits 64 bits; else row by row.
 *
 * A number is valid within one dictionary or memtable.  So before the next dictionary or memtable
 * begins, all sums are given to the caller and cleared. */
#include "storage/engine/columnar_sums.h"

#include <string.h>

#include "base/memory.h"
#include "storage/segment/columnar_dictionary.h"
#include "storage/segment/columnar_page.h"

/* The sum of COLUMNAR_PAGE_ROWS_MAX values from -SUMMED_MAX to SUMMED_MAX - 1 fits 64 bits.
 * is_plain needs a power of two. */
#define SUMMED_MAX (UINT64_C(1) << 46)

enum {
    NUMBER_NONE = 0, /* the slot of rows without a string; number n has slot n + 1 */
    NUMBERS_FIRST = 1024
};

struct place_sum {
    int64_t sum;
    uint64_t rows;
};

/* `sum` is the sum of `rows` values, all of scale `scale`; all other rows are in `others`.  The
 * struct is small, because there are many numbers. */
struct number_sum {
    int64_t sum;
    uint64_t rows;
    struct partition_stats *others; /* owned; NULL: none */
    uint8_t scale;
};

struct columnar_sums {
    const struct table *table;
    uint32_t by;     /* index of the column to group by; UINT32_MAX: none */
    uint32_t amount; /* index of the summed column; UINT32_MAX: none */
    struct segment *segment;
    struct columnar_dictionary *strings; /* of the segment; NULL before its first page */
    struct columnar_page page;
    uint32_t page_loaded; /* UINT32_MAX: none */
    struct buffer encoded;
    struct place_sum *places; /* of one entry; all zero between entries */
    struct columnar_rows rows;
    const struct bytes *codes;  /* strings by code, of the memtable being summed; NULL: none */
    struct number_sum *numbers; /* by number plus one */
    uint32_t capacity;
    uint32_t used; /* slots from here on are zero */
};

struct columnar_sums *columnar_sums_new(const struct table *table, uint32_t by_column)
{
    struct columnar_sums *sums = memory_zeroed(1, sizeof *sums);
    sums->table = table;
    sums->by = UINT32_MAX;
    sums->amount = columnar_rows_stats_column(table);
    for (uint32_t i = 0; by_column != 0 && i < block_column_count(table); i++)
        if (block_column_of(table, i)->id == by_column)
            sums->by = i;
    check((sums->by != UINT32_MAX) == (by_column != 0));
    columnar_page_init(&sums->page, table);
    sums->page.wanted = (sums->by != UINT32_MAX ? UINT64_C(1) << sums->by : 0) |
                        (sums->amount != UINT32_MAX ? UINT64_C(1) << sums->amount : 0);
    sums->page_loaded = UINT32_MAX;
    sums->places = memory_zeroed(COLUMNAR_PAGE_ROWS_MAX, sizeof *sums->places);
    columnar_rows_init(&sums->rows, table);
    return sums;
}

static void segment_end(struct columnar_sums *sums)
{
    columnar_dictionary_close(sums->strings);
    sums->strings = NULL;
    if (sums->segment != NULL)
        segment_unref(sums->segment);
    sums->segment = NULL;
    sums->page_loaded = UINT32_MAX;
}

static void numbers_clear(struct columnar_sums *sums)
{
    for (uint32_t i = 0; i < sums->used; i++) {
        struct number_sum *number = &sums->numbers[i];
        if (number->others != NULL)
            stats_release(number->others);
        memory_free(number->others);
        *number = (struct number_sum){0};
    }
    sums->used = 0;
    sums->codes = NULL;
}

void columnar_sums_free(struct columnar_sums *sums)
{
    if (sums == NULL)
        return;
    segment_end(sums);
    numbers_clear(sums);
    memory_free(sums->numbers);
    memory_free(sums->places);
    columnar_page_release(&sums->page);
    columnar_rows_release(&sums->rows);
    buffer_release(&sums->encoded);
    memory_free(sums);
}

void columnar_sums_segment(struct columnar_sums *sums, struct segment *segment)
{
    check(sums->used == 0);
    segment_end(sums);
    sums->segment = segment_ref(segment);
}

/* ---- by number ---- */

static struct number_sum *number_slot(struct columnar_sums *sums, uint64_t number)
{
    if (number >= sums->capacity) {
        check(number < UINT32_MAX / 2);
        uint32_t capacity = number < NUMBERS_FIRST / 2 ? NUMBERS_FIRST : (uint32_t)number * 2;
        sums->numbers = memory_resize(sums->numbers, capacity * sizeof *sums->numbers);
        memset(sums->numbers + sums->capacity, 0,
               (capacity - sums->capacity) * sizeof *sums->numbers);
        sums->capacity = capacity;
    }
    if (number >= sums->used)
        sums->used = (uint32_t)number + 1;
    return &sums->numbers[number];
}

static int number_string(struct columnar_sums *sums, uint32_t number, struct bytes *string_out,
                         struct error *err)
{
    *string_out = (struct bytes){0};
    if (number == NUMBER_NONE)
        return 0;
    if (sums->codes != NULL) {
        *string_out = sums->codes[number - 1];
        return 0;
    }
    columnar_dictionary_trim(sums->strings);
    return columnar_dictionary_get(sums->strings, sums->page.dictionary,
                                   block_column_of(sums->table, sums->by)->id, number - 1,
                                   string_out, err);
}

static struct partition_stats plain_stats(uint64_t rows, int64_t total, uint8_t scale)
{
    return (struct partition_stats){
        .rows = rows, .scale_count = 1, .inline_sum = {scale, rows, total}};
}

static struct partition_stats number_total(const struct number_sum *number)
{
    struct partition_stats total = {0};
    if (number->rows > 0)
        total = plain_stats(number->rows, number->sum, number->scale);
    if (number->others != NULL)
        stats_add(&total, number->others);
    return total;
}

int columnar_sums_end(struct columnar_sums *sums, columnar_sums_group group, void *context,
                      struct error *err)
{
    int rc = 0;
    for (uint32_t number = 0; rc == 0 && number < sums->used; number++) {
        struct bytes string;
        struct partition_stats total = number_total(&sums->numbers[number]);
        if (total.rows > 0 && (rc = number_string(sums, number, &string, err)) == 0)
            group(context, string, &total);
        stats_release(&total);
    }
    numbers_clear(sums);
    return rc;
}

/* ---- a piece of rows ---- */

/* True: the rows may be added quickly, and *sum_out is their sum. */
static bool is_plain(const struct columnar_vector *amount, uint32_t from, uint32_t count,
                     int64_t *sum_out)
{
    if (amount->absent != NULL && memchr(amount->absent + from, 1, count) != NULL)
        return false;
    const uint8_t *scales = amount->scales + from;
    if (count > COLUMNAR_PAGE_ROWS_MAX || memcmp(scales, scales + 1, count - 1) != 0)
        return false;
    uint64_t bits = 0;
    uint64_t sum = 0;
    for (uint32_t row = from; row < from + count; row++) {
        uint64_t value = (uint64_t)amount->integers[row];
        bits |= value + SUMMED_MAX;
        sum += value;
    }
    *sum_out = (int64_t)sum;
    return bits < 2 * SUMMED_MAX;
}

static bool has_value(const struct columnar_vector *amount, uint32_t row)
{
    return amount != NULL && (amount->absent == NULL || amount->absent[row] == 0);
}

static struct partition_stats *number_others(struct number_sum *number)
{
    if (number->others == NULL)
        number->others = memory_zeroed(1, sizeof *number->others);
    return number->others;
}

static void number_add(struct number_sum *number, struct place_sum place, uint8_t scale)
{
    int64_t sum;
    if (number->rows == 0)
        number->scale = scale;
    if (number->scale == scale && !__builtin_add_overflow(number->sum, place.sum, &sum)) {
        number->sum = sum;
        number->rows += place.rows;
        return;
    }
    struct partition_stats more = plain_stats(place.rows, place.sum, scale);
    stats_add(number_others(number), &more);
}

static void piece_sum(const struct columnar_vector *amount, uint32_t from, uint32_t count,
                      struct partition_stats *sum)
{
    int64_t total;
    if (amount == NULL) {
        sum->rows += count;
    } else if (is_plain(amount, from, count, &total)) {
        struct partition_stats more = plain_stats(count, total, amount->scales[from]);
        stats_add(sum, &more);
    } else {
        sum->rows += count;
        for (uint32_t row = from; row < from + count; row++)
            if (has_value(amount, row))
                stats_add_value(sum, amount->integers[row], amount->scales[row]);
    }
}

/* `numbers` is by code; NULL: codes are numbers. */
static void piece_group_slowly(struct columnar_sums *sums, const struct columnar_vector *by,
                               const int64_t *numbers, const struct columnar_vector *amount,
                               uint32_t from, uint32_t count)
{
    for (uint32_t row = from; row < from + count; row++) {
        bool is_absent = by->absent != NULL && by->absent[row] != 0;
        uint64_t number =
            numbers != NULL && !is_absent ? (uint64_t)numbers[by->codes[row]] : by->codes[row];
        struct number_sum *slot = number_slot(sums, is_absent ? NUMBER_NONE : number + 1);
        if (has_value(amount, row))
            number_add(slot, (struct place_sum){amount->integers[row], 1}, amount->scales[row]);
        else
            number_others(slot)->rows++;
    }
}

/* Sums by place first, because the few strings of an entry have places that lie together in
 * memory. */
static void entry_group(struct columnar_sums *sums, uint32_t index,
                        const struct columnar_vector *by, const struct columnar_vector *amount)
{
    const struct columnar_page_entry *entry = &sums->page.entries[index];
    const struct columnar_page_list *list = &sums->page.lists[sums->by];
    const int64_t *numbers = list->numbers + list->starts[index];
    uint32_t end = entry->first + entry->rows;
    int64_t total;
    if ((by->absent != NULL && memchr(by->absent + entry->first, 1, entry->rows) != NULL) ||
        amount == NULL || !is_plain(amount, entry->first, entry->rows, &total)) {
        piece_group_slowly(sums, by, numbers, amount, entry->first, entry->rows);
        return;
    }
    for (uint32_t row = entry->first; row < end; row++) {
        struct place_sum *place = &sums->places[by->codes[row]];
        place->sum += amount->integers[row];
        place->rows++;
    }
    uint32_t places = list->starts[index + 1] - list->starts[index];
    for (uint32_t i = 0; i < places; i++) {
        struct place_sum place = sums->places[i];
        if (place.rows > 0)
            number_add(number_slot(sums, (uint64_t)numbers[i] + 1), place,
                       amount->scales[entry->first]);
        sums->places[i] = (struct place_sum){0};
    }
}

/* ---- segments ---- */

static int corrupt(const struct columnar_sums *sums, uint32_t page, const char *what,
                   struct error *err)
{
    return error_set(err, ERROR_CORRUPT, "segment %llu: page %u: %s",
                     (unsigned long long)segment_info(sums->segment)->id, (unsigned)page, what);
}

static int numbers_check(struct columnar_sums *sums, uint32_t page, struct error *err)
{
    const struct columnar_page_list *list = &sums->page.lists[sums->by];
    if (sums->strings == NULL) {
        int rc = columnar_dictionary_open(sums->segment, &sums->strings, err);
        if (rc != 0)
            return rc;
    }
    int64_t count = columnar_dictionary_count(sums->strings, sums->page.dictionary,
                                              block_column_of(sums->table, sums->by)->id);
    for (uint32_t i = 0; i < list->count; i++)
        if (list->numbers[i] >= count)
            return corrupt(sums, page, "the dictionary has no such string", err);
    return 0;
}

static int page_read(struct columnar_sums *sums, uint32_t page, struct error *err)
{
    int rc = segment_read_page(sums->segment, page, NULL, &sums->encoded, err);
    if (rc == 0)
        rc = columnar_page_decode(&sums->page, buffer_view(&sums->encoded), err);
    return rc == 0 && sums->by != UINT32_MAX ? numbers_check(sums, page, err) : rc;
}

/* If the page has another dictionary, `group` first gets the sums of the previous dictionary. */
static int page_load(struct columnar_sums *sums, uint32_t page, columnar_sums_group group,
                     void *context, struct error *err)
{
    if (sums->page_loaded == page)
        return 0;
    uint32_t before = sums->page.dictionary;
    sums->page_loaded = UINT32_MAX;
    int rc = page_read(sums, page, err);
    if (rc != 0)
        return rc;
    uint32_t loaded = sums->page.dictionary;
    sums->page.dictionary = before;
    if (loaded != before)
        rc = columnar_sums_end(sums, group, context, err);
    sums->page.dictionary = loaded;
    sums->page_loaded = rc == 0 ? page : UINT32_MAX;
    return rc;
}

static const struct columnar_vector *amount_of(const struct columnar_sums *sums,
                                               const struct columnar_rows *rows)
{
    return sums->amount == UINT32_MAX ? NULL : &rows->vectors[sums->amount];
}

int columnar_sums_partition(struct columnar_sums *sums, const struct segment_partition *partition,
                            struct partition_stats *sum_out, columnar_sums_group group,
                            void *context, struct error *err)
{
    uint64_t rows = 0;
    *sum_out = (struct partition_stats){0};
    for (uint32_t piece = 0; piece < partition->page_count; piece++) {
        uint32_t page = partition->page_first + piece;
        uint32_t index = piece == 0 ? partition->entry : 0;
        int rc = page_load(sums, page, group, context, err);
        if (rc == 0 && index >= sums->page.entry_count)
            rc = corrupt(sums, page, "no such entry", err);
        if (rc != 0)
            return rc;
        const struct columnar_page_entry *entry = &sums->page.entries[index];
        const struct columnar_vector *amount = amount_of(sums, &sums->page.rows);
        if (sums->by == UINT32_MAX)
            piece_sum(amount, entry->first, entry->rows, sum_out);
        else
            entry_group(sums, index, &sums->page.rows.vectors[sums->by], amount);
        rows += entry->rows;
    }
    return rows == partition->rows
               ? 0
               : corrupt(sums, partition->page_first, "rows do not add up", err);
}

/* ---- memtables ---- */

void columnar_sums_rows(struct columnar_sums *sums, const struct columnar_memtable *memtable,
                        uint32_t partition, uint64_t frame, struct partition_stats *sum_out)
{
    *sum_out = (struct partition_stats){0};
    columnar_memtable_rows(memtable, partition, frame, &sums->rows);
    const struct columnar_vector *amount = amount_of(sums, &sums->rows);
    if (sums->rows.rows == 0)
        return;
    if (sums->by == UINT32_MAX) {
        piece_sum(amount, 0, sums->rows.rows, sum_out);
        return;
    }
    const struct columnar_vector *by = &sums->rows.vectors[sums->by];
    sums->codes = by->strings;
    piece_group_slowly(sums, by, NULL, amount, 0, sums->rows.rows);
}

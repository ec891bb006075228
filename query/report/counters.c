/* counters: `daybook counters`: prints clicks per ad, per reseller, or per reseller and day.
 *
 * clicks_per_reseller_per_day is not stored: its rows are made from the current figures, including
 * days whose clicks have expired.  All tables show the state after the last durable frame. */
#include "query/report/counters.h"

#include <inttypes.h>
#include <string.h>

#include "query/query.h"
#include "query/report/report_figures.h"
#include "rollup/streams/streams.h"
#include "storage/cell/stream.h"
#include "storage/schema/type.h"
#include "rollup/days/dirty.h"
#include "base/calendar.h"
#include "base/heap.h"
#include "base/memory.h"

enum { KEY_KEY = 0x20001, KEY_TOP, KEY_FORMAT };
struct top_entry {
    uint64_t clicks;
    struct bytes key; /* serialized; the bytes of a kept entry's key follow the entry */
};

enum {
    PAGE_ROWS = 2000,
    COUNTER_TABLES = 3,
    /* Memory of an entry without its key: a pointer in the heap, the struct, and malloc's
     * overhead. */
    ENTRY_BYTES = sizeof(void *) + sizeof(struct top_entry) + 16,
    TOP_KEEP_STEP = 64 << 10,
    COUNTER_KEYS_MAX = 2
};

struct counter_table {
    const char *name;
    uint32_t table_id;
    uint32_t key_count;
    const char *keys[COUNTER_KEYS_MAX];
    bool is_figures;
};

static const struct counter_table counter_tables[COUNTER_TABLES] = {
    {"clicks_per_ad", TABLE_CLICKS_PER_AD, 1, {"ad_id"}, false},
    {"clicks_per_reseller", TABLE_CLICKS_PER_RESELLER, 1, {"reseller_id"}, false},
    {"clicks_per_reseller_per_day", TABLE_AD_CLICK, 2, {"reseller_id", "day"}, true},
};

struct counters_options {
    const struct counter_table *table; /* NULL: all, summed */
    const char *keys[COUNTER_KEYS_MAX];
    uint32_t key_count;
    uint32_t top; /* 0: all */
    enum table_format format;
};

struct counters {
    const struct query *query;
    const struct counters_options *options;
    struct command_output *output;
    struct query_answer answer;
    struct table_column columns[COUNTER_KEYS_MAX + 1];
    const struct counter_table *table; /* being read; NULL: none is left */
    uint32_t table_index;
    struct buffer position;
    struct buffer key; /* the only partition to read; empty: all */
    struct buffer figure_key;
    struct report_figures figures;
    struct heap top; /* of top_entry, smallest first */
    uint32_t top_capacity;
    size_t top_bytes;
    size_t kept_bytes; /* bytes that command_keep has reserved for the heap's entries */
    uint64_t keys_seen;
    uint64_t clicks_seen;
    int status;
    struct error err;
};

/* ---- options ---- */

static error_t parse_table(const char *name, struct counters_options *options,
                           struct argp_state *state)
{
    if (options->table != NULL)
        return command_refuse(state, "'%s' is one word too many", name);
    for (uint32_t i = 0; i < COUNTER_TABLES; i++) {
        if (strcmp(name, counter_tables[i].name) == 0) {
            options->table = &counter_tables[i];
            return 0;
        }
    }
    return command_refuse(state,
                          "there is no counter table '%s'; there are clicks_per_ad, "
                          "clicks_per_reseller and clicks_per_reseller_per_day",
                          name);
}

static error_t finish_options(const struct counters_options *options, struct argp_state *state)
{
    if (options->table == NULL && (options->key_count > 0 || options->top > 0))
        return command_refuse(state, "--key and --top need a table");
    if (options->table != NULL && options->key_count > options->table->key_count) {
        return command_refuse(state, "the key of %s has %" PRIu32 " part%s", options->table->name,
                              options->table->key_count, options->table->key_count == 1 ? "" : "s");
    }
    return 0;
}

static error_t counters_parse(int key, char *argument, struct argp_state *state)
{
    struct counters_options *options = state->input;
    switch (key) {
    case KEY_KEY:
        if (options->key_count == COUNTER_KEYS_MAX)
            return command_refuse(state, "--key is given at most twice: a reseller and a day");
        options->keys[options->key_count++] = argument;
        return 0;
    case KEY_TOP:
        return command_number(argument, 1, COUNTERS_TOP_MAX, &options->top)
                   ? 0
                   : command_refuse(state, "--top takes a number from 1 to %d, not '%s'",
                                    COUNTERS_TOP_MAX, argument);
    case KEY_FORMAT:
        return query_answer_format(argument, &options->format, state);
    case ARGP_KEY_ARG:
        return parse_table(argument, options, state);
    case ARGP_KEY_END:
        return finish_options(options, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option counters_argp_options[] = {
    {"key", KEY_KEY, "K", 0,
     "Only this ad or reseller; of clicks_per_reseller_per_day a reseller, given again a day", 0},
    {"top", KEY_TOP, "N", 0, "Only the N with the most clicks, most first", 0},
    {"format", KEY_FORMAT, "F", 0, "table (unless given), csv, csv-safe, json or md", 0},
    {0},
};

static const struct argp counters_argp = {
    .options = counters_argp_options,
    .parser = counters_parse,
    .args_doc = "[TABLE]",
    .doc = "Print the clicks counted per ad, per reseller, or per reseller and day."
           "\vTABLE is clicks_per_ad, clicks_per_reseller or clicks_per_reseller_per_day; without "
           "it each is summed up.  Without --top the order is the store's; of resellers and days, "
           "resellers ascending, days descending.\n\n"
           "Examples:\n"
           "  daybook counters\n"
           "  daybook counters clicks_per_ad --top 10\n"
           "  daybook counters clicks_per_reseller_per_day --key supaboobs --key 2013-11-28\n"
           "  daybook counters clicks_per_ad --format csv > ads.csv",
};

/* ---- rows ---- */

static int put_row(struct counters *counters, struct bytes key, uint64_t clicks)
{
    struct bytes cells[COUNTER_KEYS_MAX + 1];
    char number[24];
    uint32_t count = counters->options->table->key_count;
    for (uint32_t i = 0; i < count; i++) {
        int rc = type_key_component(key, count, i, &cells[i]);
        if (rc != 0)
            return rc;
    }
    cells[count] = query_answer_number(clicks, number);
    (void)query_answer_row(&counters->answer, cells);
    return 0;
}

/* Of entries with equal clicks, the one with the larger key is smaller, so that the heap keeps
 * smaller keys. */
static bool is_smaller(const void *context, const void *a, const void *b)
{
    const struct top_entry *left = a;
    const struct top_entry *right = b;
    (void)context;
    return left->clicks != right->clicks ? left->clicks < right->clicks
                                         : bytes_compare(right->key, left->key) < 0;
}

static int top_keep(struct counters *counters)
{
    if (counters->top_bytes <= counters->kept_bytes)
        return 0;
    if (!command_keep(counters->output, TOP_KEEP_STEP))
        return error_set(&counters->err, ERROR_LIMIT, COMMAND_NO_ROOM);
    counters->kept_bytes += TOP_KEEP_STEP;
    return 0;
}

static int top_add(struct counters *counters, struct bytes key, uint64_t clicks)
{
    struct heap *top = &counters->top;
    const struct top_entry entry = {clicks, key};
    bool is_full = top->count == counters->options->top;
    if (is_full && !is_smaller(NULL, top->items[0], &entry))
        return 0;
    if (is_full) {
        struct top_entry *least = heap_pop(top, is_smaller, NULL);
        counters->top_bytes -= ENTRY_BYTES + least->key.size;
        memory_free(least);
    } else {
        top->items = memory_make_room(top->items, (uint32_t)top->count, &counters->top_capacity,
                                      sizeof(*top->items));
    }
    struct top_entry *kept = memory_alloc(sizeof(*kept) + key.size);
    memcpy(kept + 1, key.data, key.size);
    *kept = (struct top_entry){clicks, bytes_of(kept + 1, key.size)};
    counters->top_bytes += ENTRY_BYTES + key.size;
    heap_push(top, is_smaller, NULL, kept);
    return top_keep(counters);
}

static bool is_selected(const struct counters *counters, struct bytes key)
{
    const struct counters_options *options = counters->options;
    for (uint32_t i = 0; i < options->key_count; i++) {
        struct bytes part;
        if (type_key_component(key, counters->table->key_count, i, &part) != 0 ||
            !bytes_equal(part, bytes_text(options->keys[i]))) {
            return false;
        }
    }
    return true;
}

static int count_key(struct counters *counters, struct bytes key, uint64_t clicks)
{
    if (clicks == 0 || !is_selected(counters, key))
        return 0;
    counters->keys_seen++;
    counters->clicks_seen += clicks;
    if (counters->options->table == NULL)
        return 0;
    if (counters->options->top > 0)
        return top_add(counters, key, clicks);
    return put_row(counters, key, clicks);
}

/* ---- the end ---- */

static void counters_free(struct counters *counters)
{
    for (size_t i = 0; i < counters->top.count; i++)
        memory_free(counters->top.items[i]);
    memory_free(counters->top.items);
    query_answer_release(&counters->answer);
    buffer_release(&counters->position);
    buffer_release(&counters->key);
    buffer_release(&counters->figure_key);
    memory_free(counters);
}

static void counters_fail(struct counters *counters, int status)
{
    struct command_output *output = counters->output;
    struct error kept = {0};
    error_keep(&kept, status, counters->err.text[0] != '\0' ? &counters->err : NULL);
    counters_free(counters);
    command_fail(output, command_exit_of(status), "counters: %s", kept.text);
}

static void counters_end(struct counters *counters)
{
    struct command_output *output = counters->output;
    struct heap *top = &counters->top;
    size_t count = top->count;
    int rc = 0;
    while (top->count > 0) {
        void *least = heap_pop(top, is_smaller, NULL);
        top->items[top->count] = least;
    }
    top->count = count;
    for (size_t i = 0; i < count && rc == 0; i++) {
        const struct top_entry *entry = top->items[i];
        rc = put_row(counters, entry->key, entry->clicks);
    }
    if (rc != 0) {
        counters_fail(counters, rc);
        return;
    }
    query_answer_end(&counters->answer);
    counters_free(counters);
    output->finish(output, EXIT_DONE);
}

static void put_sum(struct counters *counters)
{
    char keys[24];
    char clicks[24];
    struct bytes cells[] = {bytes_text(counters->table->name),
                            query_answer_number(counters->keys_seen, keys),
                            query_answer_number(counters->clicks_seen, clicks)};
    (void)query_answer_row(&counters->answer, cells);
    counters->keys_seen = counters->clicks_seen = 0;
}

/* ---- pages ---- */

static void counters_read(void *context);

static void next_table(struct counters *counters)
{
    counters->table = NULL;
    if (counters->options->table == NULL && ++counters->table_index < COUNTER_TABLES)
        counters->table = &counter_tables[counters->table_index];
}

/* An empty `position` ends the table. */
static void page_taken(struct counters *counters, int status, const struct error *err,
                       struct bytes position)
{
    counters->status = status;
    if (status != 0 && err != NULL)
        counters->err = *err;
    buffer_set(&counters->position, position);
    if (status == 0 && position.size == 0) {
        if (counters->options->table == NULL)
            put_sum(counters);
        next_table(counters);
    }
    query_answer_wait(&counters->answer, counters_read, counters);
}

static void counter_page(void *context, int status, const struct error *err,
                         const struct read_page *page)
{
    struct counters *counters = context;
    struct bytes position = {0};
    for (uint32_t i = 0; status == 0 && i < page->row_count; i++) {
        struct bytes clicks;
        if (store_row_value(page->table, &page->rows[i], COUNTER_CLICKS, &clicks))
            status = count_key(counters, page->rows[i].key, (uint64_t)type_value_bigint(clicks));
    }
    if (status == 0)
        position = page->position;
    page_taken(counters, status, err, position);
}

static bool figure_given(void *context, const struct day_figure *figure)
{
    struct counters *counters = context;
    buffer_clear(&counters->figure_key);
    dirty_put_key(&counters->figure_key, figure->reseller, figure->day);
    counters->status = count_key(counters, buffer_view(&counters->figure_key), figure->clicks);
    return counters->status == 0 && query_answer_has_room(&counters->answer);
}

static void figures_paused(void *context, struct figure_reading *reading)
{
    struct counters *counters = context;
    counters->figures.reading = reading;
    report_figures_wait(&counters->figures);
}

static void figures_given(void *context, int status, const struct error *err)
{
    struct counters *counters = context;
    if (status == 0) {
        status = counters->status;
        err = &counters->err;
    }
    page_taken(counters, status, err, bytes_of("", 0));
}

/* Sums and the entries of --top are printed after the last figure, so the figures may be read in
 * any order. */
static void read_figures(struct counters *counters)
{
    const struct counters_options *options = counters->options;
    struct bytes reseller = bytes_text(options->key_count > 0 ? options->keys[0] : "");
    struct figure_query query = {.resellers = &reseller,
                                 .reseller_count = options->key_count > 0,
                                 .day_from = DAY_MIN,
                                 .day_to = DAY_MAX,
                                 .is_current = true,
                                 .in_any_order = options->table == NULL || options->top > 0};
    if (options->key_count > 1 && calendar_day_parse(bytes_text(options->keys[1]), &query.day_from))
        query.day_to = query.day_from;
    if (!query.in_any_order)
        query.paused = figures_paused;
    rollup_figures(streams_find(counters->query->streams, NULL), &query, figure_given,
                   figures_given, counters);
}

static int read_next_page(struct counters *counters, struct error *err)
{
    struct store *store = counters->query->store;
    struct bytes position = buffer_view(&counters->position);
    struct bytes key = buffer_view(&counters->key);
    if (counters->table->is_figures) {
        read_figures(counters);
        return 0;
    }
    struct read_request request = {.table_id = counters->table->table_id,
                                   .is_scan = key.size == 0,
                                   .key = key,
                                   .slice = stream_slice_all(),
                                   .position = position,
                                   .row_limit = PAGE_ROWS,
                                   .view = READ_DURABLE};
    return store_read(store, &request, counter_page, counters, err);
}

static void counters_read(void *context)
{
    struct counters *counters = context;
    struct error err = {0};
    counters->output->drained = NULL;
    if (counters->status != 0) {
        counters_fail(counters, counters->status);
    } else if (counters->table == NULL) {
        counters_end(counters);
    } else {
        /* If read_next_page returns 0, the last page may have come, and `counters` may be freed
         * already. */
        int rc = read_next_page(counters, &err);
        if (rc != 0) {
            counters->err = err;
            counters_fail(counters, rc);
        }
    }
}

/* ---- the command ---- */

static void begin_sums(struct counters *counters)
{
    static const struct table_column columns[] = {
        {"table", TABLE_TEXT}, {"keys", TABLE_NUMBER}, {"clicks", TABLE_NUMBER}};
    query_answer_begin(&counters->answer, counters->output, counters->options->format, columns, 3);
    counters->table = &counter_tables[0];
}

static void begin_table(struct counters *counters)
{
    const struct counters_options *options = counters->options;
    uint32_t count = options->table->key_count;
    counters->table = options->table;
    for (uint32_t i = 0; i < count; i++)
        counters->columns[i] = (struct table_column){options->table->keys[i], TABLE_TEXT};
    counters->columns[count] = (struct table_column){"clicks", TABLE_NUMBER};
    for (uint32_t i = 0; options->key_count == count && i < count; i++)
        type_key_put_component(&counters->key, count, bytes_text(options->keys[i]));
    query_answer_begin(&counters->answer, counters->output, options->format, counters->columns,
                       count + 1);
}

static void counters_run(void *room, const struct command_request *request,
                         struct command_output *output)
{
    struct counters *counters = memory_zeroed(1, sizeof(*counters));
    counters->query = room;
    counters->options = request->options;
    counters->output = output;
    counters->figures =
        (struct report_figures){.answer = &counters->answer, .status = &counters->status};
    if (counters->options->table == NULL)
        begin_sums(counters);
    else
        begin_table(counters);
    counters_read(counters);
}

const struct command counters_command = {
    .name = "counters",
    .summary = "print clicks per ad, per reseller, per reseller and day",
    .argp = &counters_argp,
    .options_size = sizeof(struct counters_options),
    .run = counters_run};

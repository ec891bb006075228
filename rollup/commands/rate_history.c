/* rate_history: see the header.
 *
 * The rows of `change` come in the order of their months' tokens, so they are sorted here.  A heap
 * sorts them while they are printed, so that no loop turn sorts all of them. */
#include "rollup/commands/rate_history.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/cli/command_text.h"
#include "base/heap.h"
#include "base/memory.h"
#include "base/timeuuid.h"
#include "rollup/days/rollup_private.h"
#include "storage/engine/store_rows.h"

enum { ARENA_CHUNK = 64 * 1024, PRINTED_MAX = 1000, COLUMN_COUNT = 8 };

struct history_entry {
    uint32_t number; /* its place among all entries, for a stable order */
    int64_t at_us;
    struct bytes reseller, day, old, new, actor, command, note;
};

struct history {
    struct rollup *rollup;
    const char *reseller;
    struct command_output *output;
    struct arena *arena; /* of the entries and their texts */
    struct heap left;    /* of struct history_entry */
    uint32_t left_capacity;
    uint32_t count;
    uint64_t left_out; /* changed rates that the rows of `change` do not name */
    size_t kept_bytes;
    struct buffer text;
    struct table_print *print;
    struct timer time_slice;
    struct error err;
};

static void history_finish(struct history *history)
{
    struct command_output *output = history->output;

    output->drained = NULL;
    if (history->err.code == 0)
        table_print_finish(history->print);
    else
        table_print_abandon(history->print);
    command_text_flush(output, &history->text, true);
    int exit_status = command_report(output, history->err.code, &history->err);
    if (exit_status == EXIT_DONE && history->count == 0 && history->left_out == 0)
        command_printf(output, COMMAND_ERR, "no rate was changed\n");
    if (exit_status == EXIT_DONE && history->left_out > 0)
        command_printf(
            output, COMMAND_ERR,
            "daybook: note: %" PRIu64 " rates of changes with many rates%s are not named "
            "here, as a change keeps the first ones only\n",
            history->left_out, history->reseller != NULL ? ", perhaps of other resellers," : "");
    memory_free(history->left.items);
    buffer_release(&history->text);
    arena_free(history->arena);
    rollup_leave(history->rollup);
    memory_free(history);
    output->finish(output, exit_status);
}

/* ---- reading ---- */

static bool is_before(const void *context, const void *a, const void *b)
{
    const struct history_entry *left = a;
    const struct history_entry *right = b;

    (void)context;
    return left->at_us != right->at_us ? left->at_us < right->at_us : left->number < right->number;
}

/* Take the first line off `*lines`. */
static struct bytes take_line(struct bytes *lines)
{
    const uint8_t *end = lines->size > 0 ? memchr(lines->data, '\n', lines->size) : NULL;
    size_t size = end != NULL ? (size_t)(end - lines->data) : lines->size;
    struct bytes line = bytes_of(lines->data, size);

    size += end != NULL;
    *lines = bytes_of(lines->data + size, lines->size - size);
    return line;
}

static bool is_digit_or_point(uint8_t c)
{
    return (c >= '0' && c <= '9') || c == '.';
}

/* A line of a change of clicks, and the line that counts omitted lines, have no rate. */
static bool is_rate(struct bytes value)
{
    size_t digits = 0;

    if (bytes_equal(value, bytes_text("(none)")))
        return true;
    while (digits < value.size && is_digit_or_point(value.data[digits]))
        digits++;
    return digits > 0 &&
           (digits == value.size || (digits + 1 == value.size && value.data[digits] == '%'));
}

/* A key is the reseller, a blank and the day. */
static bool split_key(struct bytes key, struct history_entry *entry)
{
    if (key.size < DAY_TEXT_SIZE + 2 || key.data[key.size - DAY_TEXT_SIZE - 1] != ' ')
        return false;
    entry->reseller = bytes_of(key.data, key.size - DAY_TEXT_SIZE - 1);
    entry->day = bytes_of(key.data + key.size - DAY_TEXT_SIZE, DAY_TEXT_SIZE);
    return true;
}

/* The number in a line that counts the lines left out; 0: `key` is another line. */
static uint64_t count_left_out(struct bytes key)
{
    static const char beginning[] = CHANGE_LINES_LEFT_OUT;
    const size_t skipped = sizeof beginning - 1;
    uint64_t count = 0;

    if (key.size <= skipped || memcmp(key.data, beginning, skipped) != 0)
        return 0;
    for (size_t i = skipped; i < key.size && key.data[i] >= '0' && key.data[i] <= '9'; i++)
        count = 10 * count + (uint64_t)(key.data[i] - '0');
    return count;
}

static void add_entry(struct history *history, const struct history_entry *found)
{
    struct history_entry *entry = arena_copy_item(history->arena, found, sizeof *found);
    struct bytes *const texts[] = {&entry->reseller, &entry->day,     &entry->old, &entry->new,
                                   &entry->actor,    &entry->command, &entry->note};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i]->data != NULL)
            *texts[i] = arena_copy(history->arena, *texts[i]);
    entry->number = history->count++;
    history->left.items = memory_make_room(history->left.items, (uint32_t)history->left.count,
                                           &history->left_capacity, sizeof *history->left.items);
    heap_push(&history->left, is_before, NULL, entry);
}

static int keep_entries(struct history *history, struct error *err)
{
    size_t bytes =
        arena_held(history->arena) + history->left_capacity * sizeof *history->left.items;
    int64_t change = (int64_t)bytes - (int64_t)history->kept_bytes;

    if (change != 0 && !command_keep(history->output, change))
        return error_set(err, ERROR_LIMIT, COMMAND_NO_ROOM);
    history->kept_bytes = bytes;
    return 0;
}

static int take_change(void *context, const struct table *table, const struct page_row *row,
                       struct error *err)
{
    struct history *history = context;
    struct history_entry entry = {.number = 0};
    struct bytes id;
    struct bytes keys = {0};
    struct bytes olds = {0};
    struct bytes news = {0};

    if (!store_row_value(table, row, CHANGE_ID, &id) || id.size != UUID_SIZE ||
        !store_row_value(table, row, CHANGE_KEYS, &keys))
        return 0;
    (void)store_row_value(table, row, CHANGE_OLD, &olds);
    (void)store_row_value(table, row, CHANGE_NEW, &news);
    (void)store_row_value(table, row, CHANGE_ACTOR, &entry.actor);
    (void)store_row_value(table, row, CHANGE_COMMAND, &entry.command);
    (void)store_row_value(table, row, CHANGE_NOTE, &entry.note);
    entry.at_us = timeuuid_us(id.data);
    bool is_of_rates = false;
    while (keys.size > 0) {
        struct bytes key = take_line(&keys);

        entry.old = take_line(&olds);
        entry.new = take_line(&news);
        if (is_of_rates && keys.size == 0 && bytes_equal(entry.new, bytes_text("...")))
            history->left_out += count_left_out(key);
        if (!split_key(key, &entry) || !is_rate(entry.old) || !is_rate(entry.new))
            continue;
        is_of_rates = true;
        if (history->reseller == NULL || bytes_equal(entry.reseller, bytes_text(history->reseller)))
            add_entry(history, &entry);
    }
    return keep_entries(history, err);
}

/* ---- printing ---- */

static void print_entry(struct history *history, const struct history_entry *entry)
{
    const struct bytes texts[] = {entry->reseller, entry->day,     entry->old, entry->new,
                                  entry->actor,    entry->command, entry->note};
    struct table_cells cells = {.count = 0};

    calendar_time_format(entry->at_us / 1000, table_print_cell(&cells, false));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        buffer_append_bytes(table_print_cell(&cells, texts[i].data == NULL), texts[i]);
    table_print_cells(history->print, &cells);
}

static void history_drained(void *context)
{
    struct history *history = context;

    history->output->drained = NULL;
    rollup_fire_in(history->rollup, &history->time_slice, 0);
}

static void print_some(struct timer *timer)
{
    struct history *history = timer->context;

    if (command_must_wait(history->output, history_drained, history))
        return;
    for (uint32_t i = 0; i < PRINTED_MAX && history->left.count > 0; i++)
        print_entry(history, heap_pop(&history->left, is_before, NULL));
    command_text_flush(history->output, &history->text, false);
    if (history->left.count > 0)
        rollup_fire_in(history->rollup, &history->time_slice, 0);
    else
        history_finish(history);
}

static void changes_read(void *context, int status, const struct error *err)
{
    struct history *history = context;

    if (error_keep(&history->err, status, err) < 0)
        history_finish(history);
    else
        rollup_fire_in(history->rollup, &history->time_slice, 0);
}

void rate_history_run(struct rollup *rollup, const char *reseller, enum table_format format,
                      struct command_output *output)
{
    static const struct table_column columns[COLUMN_COUNT] = {
        {"at", TABLE_TEXT},      {"reseller_id", TABLE_TEXT}, {"effective_since", TABLE_TEXT},
        {"old", TABLE_TEXT},     {"new", TABLE_TEXT},         {"actor", TABLE_TEXT},
        {"command", TABLE_TEXT}, {"note", TABLE_TEXT}};
    const struct read_request read = store_rows_request(TABLE_CHANGE, NULL, READ_DURABLE);
    struct history *history = memory_zeroed(1, sizeof *history);

    history->rollup = rollup;
    history->reseller = reseller;
    history->output = output;
    history->arena = arena_new(ARENA_CHUNK);
    history->print = table_print_new(format, columns, COLUMN_COUNT, &history->text);
    history->time_slice = (struct timer){.fire = print_some, .context = history};
    store_rows_read(rollup->store, &read, take_change, changes_read, history);
}

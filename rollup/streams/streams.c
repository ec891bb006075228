/* Streams are opened one after the other, and closed in reverse order.
 *
 * A TRUNCATE gives a table another number.  The hook sees this change of the schema, and resolves
 * the tables of every stream again.  The same frame sets `unmarked` in the definition's row, so
 * that the days of all rows are marked again (stream_marking.c).
 *
 * A call of streams_apply that is under way refers to streams by number.  So during such a call
 * streams may be added only at the end, and none may be removed. */
#include "rollup/streams/streams_private.h"

#include "storage/engine/store_rows.h"
#include "rollup/streams/stream_check.h"
#include "base/arena.h"
#include "base/memory.h"

enum { ARENA_CHUNK = 16 * 1024, FIGURES_WINDOW_MIN = 256 * 1024 };

struct stream_opening {
    struct stream_definition definition;
    struct bytes unmarked;
};

/* ---- the hook ---- */

static int resolve(struct stream_entry *stream, const struct schema *schema, struct error *err)
{
    return stream_definition_resolve(stream->definition, schema, &stream->resolved, err);
}

static void take_schema(struct streams *streams, struct stream_entry *stream,
                        struct write_batch *batch)
{
    const struct click_stream before = stream->resolved;
    const struct click_stream *now = &stream->resolved;
    struct error err = {0};
    int rc = resolve(stream, store_schema(streams->store), &err);
    check(rc == 0); /* cql_schema.c refuses changes after which a definition would be wrong */
    bool has_rates = before.rates.table_id == now->rates.table_id;
    if (has_rates && before.clicks.table_id == now->clicks.table_id)
        return;
    if (!has_rates)
        live_rates_forget(&stream->rollup->rates);
    stream_definition_write_unmarked(stream->definition->name, STREAM_ALL_UNMARKED, batch->schema,
                                     batch);
    stream_marking_start(stream, STREAM_ALL_UNMARKED, NULL, NULL);
}

static void streams_hook(void *context, struct write_batch *batch)
{
    struct streams *streams = context;
    struct change_lines lines = {0};
    for (uint32_t i = 0; i < streams->count; i++) {
        struct stream_entry *stream = streams->all[i];
        if (batch->schema != NULL && stream->definition != NULL)
            take_schema(streams, stream, batch);
        rollup_take_batch(stream->rollup, batch, &lines);
    }
    if (streams->count > 0)
        rollup_write_lines(streams->all[0]->rollup, batch, &lines);
    change_lines_release(&lines);
}

static bool is_of_stream(const struct streams *streams, const struct schema *schema,
                         uint32_t table_id, const struct table **table_out,
                         const struct click_stream **stream_out)
{
    *table_out = schema_table(schema, table_id);
    if (*table_out == NULL || ((*table_out)->flags & TABLE_STREAM) == 0)
        return false;
    *stream_out = streams_user(streams, table_id);
    return *stream_out != NULL;
}

static int streams_check(void *context, const struct write_batch *batch, struct error *err)
{
    struct streams *streams = context;
    const struct schema *schema = store_schema(streams->store);
    const struct click_stream *stream;
    const struct table *table;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < batch->block_count; i++) {
        const struct block *block = batch->blocks[i];
        if (!block->is_checked && is_of_stream(streams, schema, block->table_id, &table, &stream))
            rc = stream_check_block(stream, table, block, err);
    }
    for (uint32_t i = 0; rc == 0 && i < batch->mutation_count; i++) {
        const struct mutation *mutation = &batch->mutations[i];
        if (is_of_stream(streams, schema, mutation->table_id, &table, &stream))
            rc = stream_check(stream, table, mutation, err);
    }
    return rc;
}

/* ---- opening ---- */

static void streams_free(struct streams *streams)
{
    store_set_commit_hook(streams->store, NULL, NULL);
    store_set_commit_check(streams->store, NULL, NULL);
    day_lock_queues_free(streams->locks);
    arena_free(streams->arena);
    memory_free(streams);
}

static void open_next(struct streams *streams);

static void opened_one(void *context, int status, const struct error *err)
{
    struct streams *streams = context;
    error_keep(&streams->err, status, err);
    open_next(streams);
}

static void opening_done(struct streams *streams)
{
    store_done opened = streams->opened;
    const struct error err = streams->err;
    streams->opened = NULL;
    arena_reset(streams->arena);
    opened(streams->opened_context, err.code, &err);
}

static void rates_loaded(void *context, int status, const struct error *err)
{
    struct streams *streams = context;
    const struct stream_opening *found = &streams->found[streams->found_next - 1];
    struct stream_entry *stream = streams->all[streams->count - 1];
    struct bytes unmarked = found->unmarked;
    if (unmarked.size > 0 && unmarked.data[0] != 'c' && unmarked.data[0] != 'f')
        unmarked = STREAM_ALL_UNMARKED;
    /* A server marks the remaining rows beside its other work; another process marks them before
     * its command begins. */
    bool has_unmarked = status == 0 && unmarked.size > 0;
    if (has_unmarked && !streams->options.rollup.is_automatic) {
        stream_marking_start(stream, unmarked, opened_one, streams);
        return;
    }
    if (has_unmarked)
        stream_marking_start(stream, unmarked, NULL, NULL);
    opened_one(streams, status, err);
}

static void entry_free(struct stream_entry *stream)
{
    stream_definition_free(stream->definition);
    memory_free(stream);
}

static int open_rollup(struct streams *streams, struct stream_entry *stream, store_done opened,
                       void *context, struct error *err)
{
    const struct stream_definition *definition = stream->definition;
    struct rollup_options options = streams->options.rollup;
    options.figures = &streams->figures;
    options.stream = click_stream_builtin();
    if (definition != NULL) {
        int rc = resolve(stream, store_schema(streams->store), err);
        if (rc < 0)
            return rc;
        options.stream = &stream->resolved;
        options.defined_name = definition->name;
        options.keep_days = 0;
        if (definition->texts[STREAM_ZONE][0] != '\0')
            options.zone = definition->texts[STREAM_ZONE];
    }
    return rollup_open(&options, opened, context, &stream->rollup, err);
}

int streams_add(struct streams *streams, const struct stream_definition *definition,
                store_done opened, void *context, struct error *err)
{
    check(definition == NULL || streams_named(streams, definition->name) == NULL);
    if (streams->count == STREAMS_MAX)
        return error_set(err, ERROR_LIMIT, "a directory has at most %d streams", STREAMS_MAX);
    struct stream_entry *stream = memory_zeroed(1, sizeof(*stream));
    stream->definition = definition != NULL ? stream_definition_copy(definition) : NULL;
    streams->all[streams->count++] = stream;
    int rc = open_rollup(streams, stream, opened, context, err);
    if (rc < 0) {
        streams->count--;
        entry_free(stream);
    }
    return rc;
}

static void open_next(struct streams *streams)
{
    struct error err = {0};
    if (streams->err.code < 0 || streams->found_next == streams->found_count) {
        opening_done(streams);
        return;
    }
    const struct stream_opening *found = &streams->found[streams->found_next++];
    int rc = streams_add(streams, &found->definition, rates_loaded, streams, &err);
    if (rc < 0)
        opened_one(streams, rc, &err);
}

static int take_definition(void *context, const struct table *table, const struct page_row *row,
                           struct error *err)
{
    struct streams *streams = context;
    if (streams->found_count == STREAMS_MAX)
        return error_set(err, ERROR_CORRUPT, "there are more than %d streams", STREAMS_MAX);
    struct stream_opening *found = &streams->found[streams->found_count++];
    return stream_definition_read(table, row, streams->arena, &found->definition, &found->unmarked,
                                  err);
}

static void builtin_opened(void *context, int status, const struct error *err)
{
    struct streams *streams = context;
    const struct read_request request =
        store_rows_request(TABLE_DEFINED_STREAM, NULL, READ_APPLIED);
    if (status < 0)
        opened_one(streams, status, err);
    else
        store_rows_read(streams->store, &request, take_definition, opened_one, streams);
}

int streams_open(const struct streams_options *options, store_done opened, void *context,
                 struct streams **streams_out, struct error *err)
{
    struct streams *streams = memory_zeroed(1, sizeof(*streams));
    streams->store = options->rollup.store;
    streams->world = options->rollup.world;
    streams->options = *options;
    streams->figures =
        (struct quota){.limit = options->figures_bytes > 0 ? options->figures_bytes
                                                           : STREAMS_FIGURES_BYTES_DEFAULT,
                       .little = FIGURES_WINDOW_MIN};
    streams->locks = day_lock_queues_new();
    streams->arena = arena_new(ARENA_CHUNK);
    streams->found = arena_alloc(streams->arena, STREAMS_MAX * sizeof(*streams->found), 16);
    streams->opened = opened;
    streams->opened_context = context;
    store_set_commit_hook(streams->store, streams_hook, streams);
    store_set_commit_check(streams->store, streams_check, streams);
    *streams_out = streams;
    int rc = streams_add(streams, NULL, builtin_opened, streams, err);
    if (rc < 0) {
        streams_free(streams);
        *streams_out = NULL;
    }
    return rc;
}

/* ---- closing ---- */

static void entry_closed(void *context, int status, const struct error *err)
{
    struct stream_entry *stream = context;
    store_done closed = stream->closed;
    void *closed_context = stream->closed_context;
    entry_free(stream);
    closed(closed_context, status, err);
}

static void entry_close(struct stream_entry *stream, store_done closed, void *context)
{
    stream->closed = closed;
    stream->closed_context = context;
    stream_marking_hurry(stream);
    rollup_close(stream->rollup, entry_closed, stream);
}

static void closed_one(void *context, int status, const struct error *err)
{
    struct streams *streams = context;
    streams->is_closing_one = false;
    error_keep(&streams->err, status, err);
    streams_close_if_idle(streams);
}

void streams_close_if_idle(struct streams *streams)
{
    if (streams->closed == NULL || streams->calls > 0 || streams->changes_under_way > 0 ||
        streams->is_closing_one)
        return;
    if (streams->count > 0) {
        streams->is_closing_one = true;
        entry_close(streams->all[--streams->count], closed_one, streams);
        return;
    }
    store_done closed = streams->closed;
    void *context = streams->closed_context;
    const struct error err = streams->err;
    streams_free(streams);
    closed(context, err.code, &err);
}

void streams_close(struct streams *streams, store_done closed, void *context)
{
    check(streams->closed == NULL);
    streams->err.code = 0;
    streams->closed = closed;
    streams->closed_context = context;
    streams_close_if_idle(streams);
}

/* ---- streams that come and go ---- */

static uint32_t number_of(const struct streams *streams, const char *name)
{
    uint32_t number = 0;
    while (number < streams->count && strcmp(streams_number(streams, number)->name, name) != 0)
        number++;
    return number;
}

int streams_remove(struct streams *streams, const char *name, store_done closed, void *context,
                   struct error *err)
{
    uint32_t number = number_of(streams, name);
    check(number > 0 && number < streams->count);
    struct stream_entry *stream = streams->all[number];
    if (stream->rollup->users > 0 || streams->changes_under_way > 0)
        return error_set(err, ERROR_BUSY,
                         "a command is at work that stream %s has to wait for; try again", name);
    memmove(&streams->all[number], &streams->all[number + 1],
            (streams->count - number - 1) * sizeof(streams->all[0]));
    streams->count--;
    entry_close(stream, closed, context);
    return 0;
}

/* ---- commands ---- */

struct rollup *streams_enter(const struct streams *streams, const char *name,
                             struct command_output *output)
{
    struct rollup *rollup = streams_find(streams, name);
    if (rollup == NULL)
        command_fail(output, EXIT_WRONG_USAGE,
                     "there is no stream '%s'; daybook stream list tells which there are", name);
    else
        rollup_enter(rollup);
    return rollup;
}

/* ---- small answers ---- */

struct stream_entry *streams_named(const struct streams *streams, const char *name)
{
    uint32_t number = number_of(streams, name != NULL ? name : click_stream_builtin()->name);
    return number < streams->count ? streams->all[number] : NULL;
}

struct rollup *streams_find(const struct streams *streams, const char *name)
{
    const struct stream_entry *stream = streams_named(streams, name);
    return stream != NULL ? stream->rollup : NULL;
}

struct rollup *streams_at(const struct streams *streams, uint32_t index)
{
    return index < streams->count ? streams->all[index]->rollup : NULL;
}

static bool uses(const struct click_stream *stream, uint32_t table_id)
{
    bool is_used = stream->clicks.table_id == table_id || stream->rates.table_id == table_id ||
                   stream->figures_table_id == table_id || stream->ledger_table_id == table_id ||
                   stream->dirty_table_id == table_id;
    for (uint32_t i = 0; i < stream->counter_count; i++)
        is_used |= stream->counters[i].table_id == table_id;
    return is_used;
}

const struct click_stream *streams_user(const struct streams *streams, uint32_t table_id)
{
    for (uint32_t i = 0; i < streams->count; i++)
        if (uses(streams_number(streams, i), table_id))
            return streams_number(streams, i);
    return NULL;
}

int streams_definition(const struct streams *streams, const char *name,
                       const struct stream_definition **definition_out)
{
    const struct stream_entry *stream = streams_named(streams, name);
    *definition_out = stream != NULL ? stream->definition : NULL;
    return *definition_out != NULL ? 0 : ERROR_NOT_FOUND;
}

void streams_dump(const struct streams *streams, struct buffer *text)
{
    for (uint32_t i = 0; i < streams->count; i++)
        rollup_dump(streams->all[i]->rollup, text);
}

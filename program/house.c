/* house: see the header.
 *
 * What decides correctness is the order: rollup's hook stands before the first click can come, so
 * no click is without its dirty day; and at the end ingest is closed before the rollup, the rollup
 * before the store, so whatever was acknowledged has its figure and is synced.  There is one cql:
 * it holds writes back while the schema changes, whichever door either comes by. */
#include "program/house.h"

#include <errno.h>
#include <stdlib.h>

#include "query/cql/index/cql_index.h"
#include "base/memory.h"
#include "program/version.h"
#include "query/commands/query_commands.h"
#include "rollup/commands/rollup_commands.h"

void house_done(void *context, int status, const struct error *err)
{
    struct house_waiter *waiter = context;
    if (status != 0 && err != NULL)
        waiter->err = *err;
    waiter->status = status;
}

int house_wait(struct house *house, struct house_waiter *waiter, struct error *err)
{
    while (waiter->status == HOUSE_WAITING) {
        bool is_alive = loop_step(house->loop);
        check(is_alive || waiter->status != HOUSE_WAITING);
    }
    if (waiter->status != 0) {
        return error_set(err, waiter->status, "%s",
                         waiter->err.code != 0 ? waiter->err.text : error_text(waiter->status));
    }
    return 0;
}

/* ---- memory ---- */

enum {
    DOOR_SHARE = 8,     /* of the account: an eighth, */
    OPEN_DAYS_SHARE = 4 /* a quarter: a million open days of a stream at the default */
};

size_t house_door_share(const struct house *house)
{
    return house->account_limit / DOOR_SHARE;
}

static size_t at_most(size_t bytes, size_t limit)
{
    return bytes < limit ? bytes : limit;
}

/* ---- commands ---- */

static void add_commands(struct house *house, const struct command *commands, uint32_t count,
                         void *room)
{
    check(house->entry_count + count <= HOUSE_COMMANDS_MAX);
    for (uint32_t i = 0; i < count; i++)
        house->entries[house->entry_count++] = (struct control_entry){&commands[i], room};
}

static void furnish(struct house *house)
{
    uint32_t count;
    const struct command *commands = query_commands(&count);
    house->query = (struct query){.store = house->store,
                                  .streams = house->streams,
                                  .backup = house->backup,
                                  .metrics = house->metrics,
                                  .directory_id = engine_directory_id(house->store),
                                  .zone = house->settings.zone,
                                  .currency = house->settings.currency,
                                  .version = DAYBOOK_VERSION,
                                  .dump = dump_write,
                                  .dump_context = &house->dump};
    house->dump =
        (struct dump){.store = house->store, .streams = house->streams, .ingest = house->ingest};
    add_commands(house, commands, count, &house->query);
    house->model =
        (struct model){.store = house->store, .cql = house->cql, .streams = house->streams};
    commands = model_commands(&count);
    add_commands(house, commands, count, &house->model);
    commands = rollup_commands(&count);
    add_commands(house, commands, count, house->streams);
    for (uint32_t i = 0; ingest_command(i) != NULL; i++)
        add_commands(house, ingest_command(i), 1, house->ingest);
}

/* ---- opening ---- */

static void print_notice(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "daybook: note: %s\n", text);
}

static int open_store(struct house *house, const struct house_options *options, struct error *err)
{
    struct engine_options engine = {.read_only = options->is_read_only,
                                    .salvage = options->salvages,
                                    .memory_limit = house->account_limit,
                                    .archive_bytes = options->archive_bytes,
                                    .metrics = house->metrics,
                                    .notice = print_notice};
    const struct table_definition *builtin[DIRECTORY_TABLES_MAX];
    uint32_t count = directory_tables(builtin);
    int rc = engine_open(house->world, &engine, builtin, count, &house->store, err);
    if (rc == ERROR_NOT_FOUND && options->is_made) {
        rc = directory_open_new(house->world, &engine, &house->store, err);
        /* Somebody else may have made it between the two. */
        rc = rc == ERROR_EXISTS
                 ? engine_open(house->world, &engine, builtin, count, &house->store, err)
                 : rc;
    }
    return rc;
}

static int open_streams(struct house *house, const struct house_options *options, struct error *err)
{
    struct house_waiter waiter = {.status = HOUSE_WAITING};
    uint32_t keep_days = (uint32_t)strtoul(house->settings.keep_days, NULL, 10);
    struct streams_options streams = {
        .store = house->store,
        .world = house->world,
        .metrics = house->metrics,
        .zone = house->settings.zone,
        .keep_days = keep_days,
        .open_days_bytes = house->account_limit / OPEN_DAYS_SHARE,
        .figures_bytes = at_most(house_door_share(house), STREAMS_FIGURES_BYTES_DEFAULT),
        .is_automatic = options->is_automatic};
    int rc = streams_open(&streams, house_done, &waiter, &house->streams, err);
    return rc == 0 ? house_wait(house, &waiter, err) : rc;
}

/* What ingest must know of clicks that bring ids along. */
static void take_click_ids(struct house *house)
{
    const struct table *clicks = schema_table(store_schema(house->store), TABLE_AD_CLICK);
    const struct type *type = schema_column(clicks, AD_CLICK_CLICK_ID)->type;
    house->stream.click_id_column_id = AD_CLICK_CLICK_ID;
    house->stream.click_id_type = type_builtin(type->kind);
    house->stream.per_ad = (struct ingest_counter){TABLE_CLICKS_PER_AD, COUNTER_CLICKS};
    house->stream.per_reseller = (struct ingest_counter){TABLE_CLICKS_PER_RESELLER, COUNTER_CLICKS};
}

static int open_ingest(struct house *house, const struct house_options *options, struct error *err)
{
    struct house_waiter waiter = {.status = HOUSE_WAITING};
    size_t share = house_door_share(house);
    house->stream = (struct ingest_stream){.name = "clicks",
                                           .table_id = TABLE_AD_CLICK,
                                           .column_ids = {[FIELD_RESELLER] = AD_CLICK_RESELLER_ID,
                                                          [FIELD_DAY] = AD_CLICK_DAY,
                                                          [FIELD_TIME] = AD_CLICK_TIME,
                                                          [FIELD_AD] = AD_CLICK_AD_ID,
                                                          [FIELD_AMOUNT] = AD_CLICK_AMOUNT},
                                           .day_derived_column_id = AD_CLICK_DAY_DERIVED,
                                           .zone = rollup_zone(streams_find(house->streams, NULL))};
    if (directory_has_click_ids(&house->settings))
        take_click_ids(house);
    struct ingest_options ingest = {
        .store = house->store,
        .world = house->world,
        .network = options->network,
        .metrics = house->metrics,
        .streams = &house->stream,
        .stream_count = 1,
        .limits = {.strings_max = share,
                   .input_max = at_most(share, INGEST_INPUT_MAX),
                   .answers_max = at_most(share / 2, INGEST_ANSWERS_MAX)}};
    int rc = ingest_open(&ingest, house_done, &waiter, &house->ingest, err);
    return rc == 0 ? house_wait(house, &waiter, err) : rc;
}

/* CREATE INDEX is all or nothing, also where a crash came between. */
static int drop_unbuilt_indexes(struct house *house, const struct house_options *options,
                                struct error *err)
{
    struct schema *changed =
        options->is_read_only ? NULL : cql_index_without_unbuilt(store_schema(house->store));
    if (changed == NULL)
        return 0;
    struct house_waiter waiter = {.status = HOUSE_WAITING};
    struct write_batch *batch = write_batch_new();
    batch->schema = changed;
    int rc = store_apply(house->store, batch, house_done, &waiter, err);
    rc = rc == 0 ? house_wait(house, &waiter, err) : rc;
    write_batch_free(batch);
    schema_unref(changed);
    return rc;
}

static void make_cql(struct house *house)
{
    struct cql_options options = {.store = house->store,
                                  .streams = house->streams,
                                  .world = house->world,
                                  .host_id = engine_directory_id(house->store),
                                  .metrics = house->metrics,
                                  .work_bytes_max = house_door_share(house)};
    house->cql = cql_new(&options);
}

static int open_rooms(struct house *house, const struct house_options *options, struct error *err)
{
    int rc = open_store(house, options, err);
    if (rc != 0)
        return rc;
    house->backup = backup_new(house->store, house->world, house->metrics);
    directory_settings_read(engine_properties(house->store), &house->settings);
    rc = open_streams(house, options, err);
    rc = rc == 0 ? open_ingest(house, options, err) : rc;
    rc = rc == 0 ? drop_unbuilt_indexes(house, options, err) : rc;
    if (rc == 0) {
        make_cql(house);
        furnish(house);
    }
    return rc;
}

int house_open(const struct house_options *options, struct house **house_out, struct error *err)
{
    struct house *house = memory_zeroed(1, sizeof(*house));
    *house_out = NULL;
    house->loop = options->loop;
    house->account_limit =
        (options->memory_limit > 0 ? options->memory_limit : HOUSE_MEMORY_DEFAULT) -
        HOUSE_MEMORY_BESIDE;
    house->metrics = metrics_new();
    loop_show_times(house->loop, house->metrics);
    int rc =
        world_uv_open(options->path, options->is_made, loop_uv(house->loop), &house->world, err);
    rc = rc == -ENOENT ? ERROR_NOT_FOUND : rc;
    rc = rc == 0 ? open_rooms(house, options, err) : rc;
    if (rc != 0) {
        directory_explain(options->path, rc, err);
        int closed = house_close(house, NULL);
        (void)closed; /* the first error is the one to tell */
        return rc;
    }
    *house_out = house;
    return 0;
}

/* ---- closing ---- */

int house_close(struct house *house, struct error *err)
{
    int rc = 0;
    if (house->cql != NULL)
        cql_free(house->cql);
    if (house->ingest != NULL) {
        struct house_waiter waiter = {.status = HOUSE_WAITING};
        ingest_close(house->ingest, house_done, &waiter);
        rc = house_wait(house, &waiter, err);
    }
    if (house->streams != NULL) {
        struct house_waiter waiter = {.status = HOUSE_WAITING};
        streams_close(house->streams, house_done, &waiter);
        int status = house_wait(house, &waiter, rc == 0 ? err : NULL);
        rc = rc == 0 ? status : rc;
    }
    if (house->backup != NULL) {
        struct house_waiter waiter = {.status = HOUSE_WAITING};
        backup_close(house->backup, house_done, &waiter);
        int status = house_wait(house, &waiter, rc == 0 ? err : NULL);
        rc = rc == 0 ? status : rc;
    }
    if (house->store != NULL) {
        struct house_waiter waiter = {.status = HOUSE_WAITING};
        store_close(house->store, house_done, &waiter);
        int status = house_wait(house, &waiter, rc == 0 ? err : NULL);
        rc = rc == 0 ? status : rc;
    }
    if (house->world != NULL)
        world_uv_close(house->world);
    loop_show_times(house->loop, NULL);
    metrics_free(house->metrics);
    memory_free(house);
    return rc;
}

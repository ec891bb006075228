/* instance: see the header.
 *
 * The rollup sets its commit hook before ingest opens, so that every click marks its day dirty.
 * Ingest closes before the rollup, because the rollup's last refresh needs all clicks.  The rollup
 * closes before the store, because that refresh writes to the store.  The CQL door and commands
 * share one struct cql, because it delays writes while the schema changes. */
#include "program/instance.h"

#include <errno.h>
#include <stdlib.h>

#include "query/cql/index/cql_index.h"
#include "base/log.h"
#include "base/memory.h"
#include "program/version.h"
#include "query/commands/query_commands.h"
#include "rollup/commands/rollup_commands.h"

void instance_done(void *context, int status, const struct error *err)
{
    struct instance_waiter *waiter = context;
    if (status != 0 && err != NULL)
        waiter->err = *err;
    waiter->status = status;
}

int instance_wait(struct loop *loop, struct instance_waiter *waiter, struct error *err)
{
    while (waiter->status == INSTANCE_WAITING) {
        bool is_alive = loop_step(loop);
        check(is_alive || waiter->status != INSTANCE_WAITING);
    }
    if (waiter->status != 0) {
        return error_set(err, waiter->status, "%s",
                         waiter->err.code != 0 ? waiter->err.text : error_text(waiter->status));
    }
    return 0;
}

/* ---- memory ---- */

enum { DOOR_SHARE = 8, OPEN_DAYS_SHARE = 4 };

size_t instance_door_share(const struct instance *instance)
{
    return instance->account_limit / DOOR_SHARE;
}

static size_t at_most(size_t bytes, size_t limit)
{
    return bytes < limit ? bytes : limit;
}

/* ---- commands ---- */

static void add_commands(struct instance *instance,
                         const struct command *(*command_at)(uint32_t index), void *context)
{
    for (uint32_t i = 0; command_at(i) != NULL; i++) {
        check(instance->entry_count < INSTANCE_COMMANDS_MAX);
        instance->entries[instance->entry_count++] = (struct command_entry){command_at(i), context};
    }
}

static void register_commands(struct instance *instance)
{
    instance->query = (struct query){.store = instance->store,
                                     .streams = instance->streams,
                                     .backup = instance->backup,
                                     .metrics = instance->metrics,
                                     .directory_id = engine_directory_id(instance->store),
                                     .zone = instance->settings.zone,
                                     .currency = instance->settings.currency,
                                     .version = DAYBOOK_VERSION,
                                     .dump = dump_write,
                                     .dump_context = &instance->dump};
    instance->dump = (struct dump){
        .store = instance->store, .streams = instance->streams, .ingest = instance->ingest};
    instance->model = (struct model){
        .store = instance->store, .cql = instance->cql, .streams = instance->streams};
    add_commands(instance, query_commands_at, &instance->query);
    add_commands(instance, model_commands_at, &instance->model);
    add_commands(instance, rollup_commands_at, instance->streams);
    add_commands(instance, ingest_command, instance->ingest);
}

/* ---- opening ---- */

static void print_notice(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "daybook: note: %s\n", text);
}

static void log_notice(void *context, const char *text)
{
    (void)context;
    log_announce(LOG_WARNING, "note", log_text("text", text));
}

static int open_store(struct instance *instance, const struct instance_options *options,
                      struct error *err)
{
    struct engine_options engine = {.read_only = options->is_read_only,
                                    .salvage = options->salvages,
                                    .memory_limit = instance->account_limit,
                                    .archive_bytes = options->archive_bytes,
                                    .metrics = instance->metrics,
                                    .notice =
                                        options->notes_are_logged ? log_notice : print_notice};
    const struct table_definition *builtin[DIRECTORY_TABLES_MAX];
    uint32_t count = directory_tables(builtin);
    int rc = engine_open(instance->world, &engine, builtin, count, &instance->store, err);
    if (rc == ERROR_NOT_FOUND && options->create_if_missing) {
        rc = directory_open_new(instance->world, &engine, &instance->store, err);
        /* Another process may have made the directory between the two calls. */
        rc = rc == ERROR_EXISTS
                 ? engine_open(instance->world, &engine, builtin, count, &instance->store, err)
                 : rc;
    }
    return rc;
}

static int open_streams(struct instance *instance, const struct instance_options *options,
                        struct error *err)
{
    struct instance_waiter waiter = {.status = INSTANCE_WAITING};
    uint32_t keep_days = (uint32_t)strtoul(instance->settings.keep_days, NULL, 10);
    struct streams_options streams = {
        .rollup = {.store = instance->store,
                   .world = instance->world,
                   .metrics = instance->metrics,
                   .zone = instance->settings.zone,
                   .keep_days = keep_days,
                   .open_days_bytes = instance->account_limit / OPEN_DAYS_SHARE,
                   .is_automatic = options->is_automatic},
        .figures_bytes = at_most(instance_door_share(instance), STREAMS_FIGURES_BYTES_DEFAULT)};
    int rc = streams_open(&streams, instance_done, &waiter, &instance->streams, err);
    return rc == 0 ? instance_wait(instance->loop, &waiter, err) : rc;
}

static void take_click_ids(struct instance *instance)
{
    const struct table *clicks = schema_table(store_schema(instance->store), TABLE_AD_CLICK);
    const struct type *type = schema_column(clicks, AD_CLICK_CLICK_ID)->type;
    instance->stream.click_id_column_id = AD_CLICK_CLICK_ID;
    instance->stream.click_id_type = type_builtin(type->kind);
    instance->stream.per_ad = (struct ingest_counter){TABLE_CLICKS_PER_AD, COUNTER_CLICKS};
    instance->stream.per_reseller =
        (struct ingest_counter){TABLE_CLICKS_PER_RESELLER, COUNTER_CLICKS};
}

static int open_ingest(struct instance *instance, const struct instance_options *options,
                       struct error *err)
{
    struct instance_waiter waiter = {.status = INSTANCE_WAITING};
    size_t share = instance_door_share(instance);
    instance->stream =
        (struct ingest_stream){.name = "clicks",
                               .table_id = TABLE_AD_CLICK,
                               .column_ids = {[FIELD_RESELLER] = AD_CLICK_RESELLER_ID,
                                              [FIELD_DAY] = AD_CLICK_DAY,
                                              [FIELD_TIME] = AD_CLICK_TIME,
                                              [FIELD_AD] = AD_CLICK_AD_ID,
                                              [FIELD_AMOUNT] = AD_CLICK_AMOUNT},
                               .day_derived_column_id = AD_CLICK_DAY_DERIVED,
                               .zone = rollup_zone(streams_find(instance->streams, NULL))};
    if (directory_has_click_ids(&instance->settings))
        take_click_ids(instance);
    struct ingest_options ingest = {
        .store = instance->store,
        .world = instance->world,
        .network = options->network,
        .metrics = instance->metrics,
        .streams = &instance->stream,
        .stream_count = 1,
        .limits = {.strings_max = share,
                   .input_max = at_most(share, INGEST_INPUT_MAX),
                   .answers_max = at_most(share / 2, INGEST_ANSWERS_MAX)}};
    instance->ingest = ingest_open(&ingest, instance_done, &waiter);
    return instance_wait(instance->loop, &waiter, err);
}

static int drop_unbuilt_indexes(struct instance *instance, const struct instance_options *options,
                                struct error *err)
{
    struct schema *changed =
        options->is_read_only ? NULL : cql_index_without_unbuilt(store_schema(instance->store));
    if (changed == NULL)
        return 0;
    struct instance_waiter waiter = {.status = INSTANCE_WAITING};
    struct write_batch *batch = write_batch_new();
    batch->schema = changed;
    int rc = store_apply(instance->store, batch, instance_done, &waiter, err);
    rc = rc == 0 ? instance_wait(instance->loop, &waiter, err) : rc;
    write_batch_free(batch);
    schema_unref(changed);
    return rc;
}

static void make_cql(struct instance *instance)
{
    struct cql_options options = {.store = instance->store,
                                  .streams = instance->streams,
                                  .world = instance->world,
                                  .host_id = engine_directory_id(instance->store),
                                  .metrics = instance->metrics,
                                  .work_bytes_max = instance_door_share(instance)};
    instance->cql = cql_new(&options);
}

static int open_parts(struct instance *instance, const struct instance_options *options,
                      struct error *err)
{
    int rc = open_store(instance, options, err);
    if (rc != 0)
        return rc;
    instance->backup = backup_new(instance->store, instance->world, instance->metrics);
    directory_settings_read(engine_properties(instance->store), &instance->settings);
    rc = open_streams(instance, options, err);
    rc = rc == 0 ? open_ingest(instance, options, err) : rc;
    rc = rc == 0 ? drop_unbuilt_indexes(instance, options, err) : rc;
    if (rc == 0) {
        make_cql(instance);
        register_commands(instance);
    }
    return rc;
}

static void add_metrics(struct instance *instance)
{
    metrics_add(instance->metrics, METRIC_GAUGE, "process_start_time_seconds", "",
                "When the process began to open its directory, since 1970.")
        ->value = world_wall_us(instance->world) / 1000000;
    metrics_add(instance->metrics, METRIC_GAUGE, "daybook_memory_limit_bytes", "",
                "What --memory allows the process to take.")
        ->value = (int64_t)(instance->account_limit + INSTANCE_MEMORY_BESIDE);
}

int instance_open(const struct instance_options *options, struct instance **instance_out,
                  struct error *err)
{
    struct instance *instance = memory_zeroed(1, sizeof(*instance));
    *instance_out = NULL;
    instance->loop = options->loop;
    instance->account_limit =
        (options->memory_limit > 0 ? options->memory_limit : INSTANCE_MEMORY_DEFAULT) -
        INSTANCE_MEMORY_BESIDE;
    instance->metrics = metrics_new();
    loop_show_times(instance->loop, instance->metrics);
    int rc = world_uv_open(options->path, options->create_if_missing, loop_uv(instance->loop),
                           &instance->world, err);
    rc = rc == -ENOENT ? ERROR_NOT_FOUND : rc;
    if (rc == 0) {
        add_metrics(instance);
        rc = open_parts(instance, options, err);
    }
    if (rc != 0) {
        directory_explain(options->path, rc, err);
        int closed = instance_close(instance, NULL);
        (void)closed; /* the first error is reported */
        return rc;
    }
    *instance_out = instance;
    return 0;
}

/* ---- closing ---- */

/* `rc` is the first error of the parts closed before. */
static int wait_for_close(struct instance *instance, struct instance_waiter *waiter, int rc,
                          struct error *err)
{
    int status = instance_wait(instance->loop, waiter, rc == 0 ? err : NULL);
    *waiter = (struct instance_waiter){.status = INSTANCE_WAITING};
    return rc == 0 ? status : rc;
}

int instance_close(struct instance *instance, struct error *err)
{
    struct instance_waiter waiter = {.status = INSTANCE_WAITING};
    int rc = 0;
    if (instance->cql != NULL)
        cql_free(instance->cql);
    if (instance->ingest != NULL) {
        ingest_close(instance->ingest, instance_done, &waiter);
        rc = wait_for_close(instance, &waiter, rc, err);
    }
    if (instance->streams != NULL) {
        streams_close(instance->streams, instance_done, &waiter);
        rc = wait_for_close(instance, &waiter, rc, err);
    }
    if (instance->backup != NULL) {
        backup_close(instance->backup, instance_done, &waiter);
        rc = wait_for_close(instance, &waiter, rc, err);
    }
    if (instance->store != NULL) {
        store_close(instance->store, instance_done, &waiter);
        rc = wait_for_close(instance, &waiter, rc, err);
    }
    if (instance->world != NULL)
        world_uv_close(instance->world);
    loop_show_times(instance->loop, NULL);
    metrics_free(instance->metrics);
    memory_free(instance);
    return rc;
}

/* ingest_fixture: a real store with the clicks stream and the ingest room on it, in a directory of
 * its own, and what a command said. */
#ifndef DAYBOOK_TESTS_INGEST_FIXTURE_H
#define DAYBOOK_TESTS_INGEST_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <uv.h>

#include "base/memory.h"
#include "ingest/connection/ingest.h"
#include "storage/engine/engine.h"
#include "tests/unit/clicks_fixture.h"

static uv_loop_t loop;
static struct network *network;
static struct world *world;
static struct metrics *metrics;
static struct store *store;
static struct ingest *ingest;
static char root[] = "/tmp/daybook-ingest-XXXXXX";

static void count_done(void *context, int status, const struct error *err)
{
    int *count = context;

    cr_assert(status == 0, "%s", err == NULL ? "" : err->text);
    ++*count;
}

static void run_until(const int *flag)
{
    while (*flag == 0)
        uv_run(&loop, UV_RUN_ONCE);
}

static struct ingest_limits limits;        /* of the next system_open */

static void system_open(bool creates)
{
    struct ingest_options options = {
        .metrics = metrics, .streams = &clicks_stream, .stream_count = 1, .limits = limits};
    struct engine_options engine_options = {.metrics = metrics};
    const struct table_definition *tables[8] = {&clicks_definition};
    uint32_t count;
    const struct table_definition *const *own = ingest_tables(&count);
    struct error err = {0};
    int opened = 0;

    for (uint32_t i = 0; i < count; i++)
        tables[i + 1] = own[i];
    cr_assert(world_uv_open(root, true, &loop, &world, &err) == 0, "%s", err.text);
    if (creates) {
        struct schema *schema = schema_new();

        cr_assert(schema_add_keyspace(schema, "daybook", &err) == 0);
        cr_assert(schema_add_keyspace(schema, "daybook_system", &err) == 0);
        for (uint32_t i = 0; i <= count; i++)
            cr_assert(schema_add_table(schema, tables[i], &err) == 0, "%s", err.text);
        cr_assert(engine_create(world, schema, bytes_of("", 0), &err) == 0, "%s", err.text);
        schema_unref(schema);
    }
    cr_assert(engine_open(world, &engine_options, tables, count + 1, &store, &err) == 0, "%s",
              err.text);
    options.store = store;
    options.world = world;
    options.network = network;
    ingest = ingest_open(&options, count_done, &opened);
    run_until(&opened);
}

static void system_close(void)
{
    int closed = 0;

    ingest_close(ingest, count_done, &closed);
    run_until(&closed);
    closed = 0;
    store_close(store, count_done, &closed);
    run_until(&closed);
    world_uv_close(world);
}

static void setup(void)
{
    cr_assert(mkdtemp(root) != NULL);
    cr_assert(uv_loop_init(&loop) == 0);
    network = network_uv_new(&loop);
    metrics = metrics_new();
    system_open(true);
}

static void teardown(void)
{
    char command[200];

    system_close();
    network_uv_free(network);
    metrics_free(metrics);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect(uv_loop_close(&loop) == 0);
    snprintf(command, sizeof command, "rm -rf %s", root);
    cr_expect(system(command) == 0);
}

struct result {
    struct command_output output;
    struct buffer text[2]; /* out, err */
    int exit_status;
    int finished;
};

static void result_write(struct command_output *output, enum command_stream stream,
                         struct bytes bytes)
{
    struct result *result = (struct result *)output;

    buffer_append_bytes(&result->text[stream - 1], bytes);
}

static inline bool result_is_full(struct command_output *output)
{
    (void)output;
    return false;
}

static void result_finish(struct command_output *output, int exit_status)
{
    struct result *result = (struct result *)output;

    result->exit_status = exit_status;
    result->finished++;
}
#endif

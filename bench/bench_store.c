/* bench_store: see bench_store.h. */
#include "bench/bench_store.h"

#include "base/memory.h"
#include "storage/engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void must(int rc, const char *what, const struct error *err)
{
    if (rc != 0) {
        fprintf(stderr, "%s: %s\n", what, err->text);
        exit(EXIT_FAILURE);
    }
}

static struct schema *schema_of(const struct table_definition *const *tables, uint32_t count)
{
    struct schema *schema = schema_new();
    struct error err = {0};
    must(schema_add_keyspace(schema, "daybook", &err), "schema", &err);
    must(schema_add_keyspace(schema, "daybook_system", &err), "schema", &err);
    for (uint32_t i = 0; i < count; i++) {
        if (schema_keyspace(schema, tables[i]->keyspace) == NULL)
            must(schema_add_keyspace(schema, tables[i]->keyspace, &err), "schema", &err);
        must(schema_add_table(schema, tables[i], &err), "schema", &err);
    }
    return schema;
}

static void open_engine(struct bench_store *bench, const char *path, bool read_only)
{
    struct engine_options options = {.read_only = read_only};
    struct error err = {0};
    uint32_t count;
    const struct table_definition *const *tables = tables_builtin(&count);
    must(engine_open(bench->world, &options, tables, count, &bench->store, &err), path, &err);
}

void bench_store_create(struct bench_store *bench, const char *path,
                        const struct table_definition *const *tables, uint32_t table_count)
{
    struct schema *schema = schema_of(tables, table_count);
    struct error err = {0};
    must(world_uv_open(path, true, NULL, &bench->world, &err), path, &err);
    must(engine_create(bench->world, schema, (struct bytes){0}, &err), path, &err);
    schema_unref(schema);
    open_engine(bench, path, false);
}

void bench_store_open(struct bench_store *bench, const char *path)
{
    struct error err = {0};
    must(world_uv_open(path, false, NULL, &bench->world, &err), path, &err);
    open_engine(bench, path, true);
}

void bench_store_step(struct bench_store *bench)
{
    bench->world->executor->step(bench->world->executor);
}

void bench_store_wait(struct bench_store *bench, const bool *done)
{
    while (!*done)
        bench_store_step(bench);
}

void bench_store_done(void *context, int status, const struct error *err)
{
    must(status, "the store", err);
    *(bool *)context = true;
}

void bench_store_close(struct bench_store *bench)
{
    bool done = false;
    store_close(bench->store, bench_store_done, &done);
    bench_store_wait(bench, &done);
    world_uv_close(bench->world);
}

void bench_store_compact(struct bench_store *bench)
{
    struct error err = {0};
    bool done = false;
    must(engine_compact(bench->store, bench_store_done, &done, &err), "compact", &err);
    bench_store_wait(bench, &done);
}

uint64_t bench_store_bytes(struct bench_store *bench, uint32_t table_id)
{
    uint32_t count;
    struct engine_table_status *tables = engine_table_status(bench->store, &count);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += tables[i].table_id == table_id ? tables[i].segment_bytes : 0;
    memory_free(tables);
    return bytes;
}

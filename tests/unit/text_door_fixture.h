/* text_door_fixture: the text door over real sockets, on a store that answers when told to. */
#ifndef DAYBOOK_TESTS_TEXT_DOOR_FIXTURE_H
#define DAYBOOK_TESTS_TEXT_DOOR_FIXTURE_H

#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <uv.h>

#include "base/memory.h"
#include "ingest/connection/ingest.h"
#include "tests/lib/network_client.h"
#include "tests/unit/clicks_fixture.h"

/* ---- a store that remembers what was applied ---- */

enum { PENDING_MAX = 4096 };

struct fake_store {
    struct store store;
    struct schema *schema;
    bool holds_back; /* batches become durable with fake_sync only */
    bool is_full;
    int failure; /* what apply answers; 0: nothing */
    void (*drain)(void *context);
    void *drain_context;
    store_waiting_changed waiting_changed;
    void *waiting_context;
    struct {
        store_done done;
        void *context;
    } pending[PENDING_MAX];
    uint32_t pending_count;
    uint32_t apply_us; /* what applying a batch takes */
    /* with holds_reads, the test itself answers the lookup of a file; one at a time */
    bool holds_reads;
    store_page held_page;
    void *held_context;
    struct memory_held held;
    /* of what was applied */
    uint32_t applied;
    uint64_t clicks;
    uint32_t inserts[32];    /* mutations by table */
    struct buffer contents;  /* of rejects, a line each */
    struct buffer producers; /* packed producer rows, for a reopening */
    uint32_t producer_rows;
};

static struct fake_store *fake_of(struct store *store)
{
    return (struct fake_store *)store;
}

static void fake_keep(struct fake_store *fake, const struct mutation *mutation)
{
    const struct row *row;

    /* Of what is deleted a test asks nothing. */
    if (mutation->item_count == 0)
        return;
    row = &mutation->items[0].row;
    fake->inserts[mutation->table_id]++;
    for (uint32_t i = 0; i < row->cell_count; i++) {
        if (mutation->table_id != TABLE_REJECT || row->cells[i].column_id != REJECT_CONTENT)
            continue;
        buffer_append_bytes(&fake->contents, row->cells[i].value);
        buffer_put_u8(&fake->contents, '\n');
    }
    if (mutation->table_id == TABLE_PRODUCER) {
        mutation_pack(mutation, &fake->producers);
        fake->producer_rows++;
    }
}

static int fake_apply(struct store *store, struct write_batch *batch,
                      struct store_expectation *expectations, uint32_t expectation_count,
                      store_done done, void *context, struct error *err)
{
    struct fake_store *fake = fake_of(store);

    (void)expectations;
    cr_assert_eq(expectation_count, 0);
    if (fake->is_full)
        return error_set(err, ERROR_FULL, "full");
    if (fake->failure != 0)
        return error_set(err, fake->failure, "broken");
    if (fake->apply_us > 0)
        usleep(fake->apply_us);
    fake->applied++;
    for (uint32_t i = 0; i < batch->block_count; i++)
        fake->clicks += batch->blocks[i]->rows;
    for (uint32_t i = 0; i < batch->mutation_count; i++)
        fake_keep(fake, &batch->mutations[i]);
    if (done == NULL)
        return 0;
    if (!fake->holds_back) {
        done(context, 0, NULL);
        return 0;
    }
    cr_assert(fake->pending_count < PENDING_MAX);
    fake->pending[fake->pending_count].done = done;
    fake->pending[fake->pending_count++].context = context;
    return 0;
}

/* The rows of the table of producers; nothing of any other. */
static int fake_read(struct store *store, const struct read_request *request, store_page page,
                     void *context, struct error *err)
{
    struct fake_store *fake = fake_of(store);

    if (fake->holds_reads && request->table_id == TABLE_LOADED_FILE) {
        cr_assert(fake->held_page == NULL, "one lookup at a time");
        fake->held_page = page;
        fake->held_context = context;
        return 0;
    }
    struct arena *arena = arena_new(1 << 16);
    struct reader reader = reader_of(buffer_view(&fake->producers));
    struct page_row *rows = memory_zeroed(fake->producer_rows + 1, sizeof *rows);
    struct read_page result = {.table = schema_table(fake->schema, request->table_id),
                               .rows = rows};

    while (request->table_id == TABLE_PRODUCER && result.row_count < fake->producer_rows) {
        struct mutation mutation;

        cr_assert(mutation_unpack(&reader, fake->schema, arena, NULL, &mutation, err) == 0);
        rows[result.row_count++] =
            (struct page_row){.key = mutation.key, .row = mutation.items[0].row};
    }
    page(context, 0, NULL, &result);
    memory_free(rows);
    arena_free(arena);
    return 0;
}

static const struct schema *fake_schema(struct store *store)
{
    return fake_of(store)->schema;
}

static void fake_on_drain(struct store *store, void (*drain)(void *context), void *context)
{
    fake_of(store)->drain = drain;
    fake_of(store)->drain_context = context;
}

static void fake_on_waiting(struct store *store, store_waiting_changed changed, void *context)
{
    fake_of(store)->waiting_changed = changed;
    fake_of(store)->waiting_context = context;
}

static int64_t fake_now_us(struct store *store)
{
    (void)store;
    return INT64_C(1385654400000000);
}

static struct store_clock fake_clock(struct store *store)
{
    return (struct store_clock){.wall_us = fake_now_us(store)};
}

static const struct store_ops fake_ops = {
    .apply = fake_apply,
    .read = fake_read,
    .schema = fake_schema,
    .on_drain = fake_on_drain,
    .on_waiting = fake_on_waiting,
    .now_us = fake_now_us,
    .clock = fake_clock,
};

/* Everything applied so far becomes durable, or fails. */
static void fake_sync(struct fake_store *fake, int status)
{
    uint32_t count = fake->pending_count;

    fake->pending_count = 0;
    for (uint32_t i = 0; i < count; i++)
        fake->pending[i].done(fake->pending[i].context, status, NULL);
}

/* ---- the room and its clients ---- */

static uv_loop_t loop;
static struct network *network;
static struct world *world;
static struct metrics *metrics;
static struct fake_store fake;
static struct ingest *ingest;
static size_t ahead_min; /* of the room's limits */
static char root[] = "/tmp/daybook-text-door-XXXXXX";

static void count_done(void *context, int status, const struct error *err)
{
    int *count = context;

    cr_assert(status == 0, "%s", err == NULL ? "" : err->text);
    ++*count;
}

static void room_open(void)
{
    struct ingest_options options = {
        .store = &fake.store,
        .world = world,
        .network = network,
        .metrics = metrics,
        .streams = &clicks_stream,
        .stream_count = 1,
        .limits = {.linger_ms = 200, .slow_reader_ms = 300, .ahead_min = ahead_min},
    };
    int opened = 0;

    ingest = ingest_open(&options, count_done, &opened);
    cr_assert(opened == 1);
}

static void room_close(void)
{
    int closed = 0;

    ingest_close(ingest, count_done, &closed);
    while (closed == 0) {
        fake_sync(&fake, 0);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    cr_expect_eq(fake.held.bytes[MEMORY_HELD_PRODUCERS], 0);
    cr_expect_eq(fake.held.bytes[MEMORY_HELD_STRINGS], 0);
}

static void setup(void)
{
    struct error err = {0};
    uint32_t count;
    const struct table_definition *const *tables = ingest_tables(&count);

    cr_assert(mkdtemp(root) != NULL);
    cr_assert(uv_loop_init(&loop) == 0);
    network = network_uv_new(&loop);
    metrics = metrics_new();
    cr_assert(world_uv_open(root, false, &loop, &world, &err) == 0, "%s", err.text);
    fake.store = (struct store){.ops = &fake_ops, .held = &fake.held};
    fake.schema = schema_new();
    cr_assert(schema_add_keyspace(fake.schema, "daybook", &err) == 0);
    cr_assert(schema_add_keyspace(fake.schema, "daybook_system", &err) == 0);
    cr_assert(schema_add_table(fake.schema, &clicks_definition, &err) == 0, "%s", err.text);
    for (uint32_t i = 0; i < count; i++)
        cr_assert(schema_add_table(fake.schema, tables[i], &err) == 0, "%s", err.text);
    room_open();
}

static void teardown(void)
{
    room_close();
    cr_expect(fake.drain == NULL, "the room takes its hook back");
    metrics_free(metrics);
    schema_unref(fake.schema);
    buffer_release(&fake.contents);
    buffer_release(&fake.producers);
    network_uv_free(network);
    world_uv_close(world);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect(uv_loop_close(&loop) == 0);
    rmdir(root);
}

static void client_open(struct network_client *client)
{
    ingest_attach(ingest, network_client_open(client, network));
}

static void turn(int turns)
{
    for (int i = 0; i < turns; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
}

static void client_wait_end(struct network_client *client)
{
    while (!client->has_ended)
        uv_run(&loop, UV_RUN_ONCE);
}

static void client_close(struct network_client *client)
{
    network_client_close(client, &loop);
    turn(3);
}

/* A line that is taken. */
#define GOOD "r1,2013-11-28,1385654400123,ad42,0.005\n"
#endif

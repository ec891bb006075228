/* make_golden_rollup: DIR/rollup, a directory that a rollup has worked in, and DIR/rollup.txt,
 * which says what is in its tables.
 *
 * To be run once for a format, when it is new; what it wrote is then never changed.  Days of two
 * resellers, published; the first of them sealed, its clicks gone; figures in row segments with
 * spans; and behind the segments, in the log, a stream over a user's own tables, whose rows of
 * before nobody has marked yet. */
#include <stdio.h>

#include "rollup/days/seal_pass.h"
#include "rollup/streams/streams.h"
#include "tests/lib/golden.h"
#include "tests/sim/sim_world.h"

struct life {
    struct engine_fixture engine;
    struct sim_world *sim;
    struct metrics *metrics;
    struct streams *streams;
};

static void set_done(void *context, int status, const struct error *err)
{
    (void)err;
    check(status == 0);
    *(bool *)context = true;
}

static void set_sealed(void *context, int status, const struct error *err,
                       const struct seal_totals *totals)
{
    (void)err;
    check(status == 0 && totals->days > 0);
    *(bool *)context = true;
}

static void step_until(struct life *life, const bool *is_done)
{
    struct executor *executor = life->engine.world->executor;
    while (!*is_done)
        check(executor->step(executor));
}

static void life_open(struct life *life)
{
    struct error err = {0};
    bool is_done = false;
    int64_t time_ms;
    check(calendar_time_parse(bytes_text("2013-12-10T12:00:00Z"), &time_ms));
    life->sim = sim_world_new(1);
    sim_world_set_wall_us(life->sim, time_ms * 1000);
    check(engine_fixture_open_in(&life->engine, sim_world_interface(life->sim), &err) == 0);
    life->metrics = metrics_new();
    const struct streams_options options = {.rollup = {.store = life->engine.store,
                                                       .world = life->engine.world,
                                                       .metrics = life->metrics,
                                                       .keep_days = GOLDEN_KEEP_DAYS}};
    check(streams_open(&options, set_done, &is_done, &life->streams, &err) == 0);
    step_until(life, &is_done);
}

static void life_close(struct life *life)
{
    bool is_done = false;
    streams_close(life->streams, set_done, &is_done);
    step_until(life, &is_done);
    engine_fixture_close(&life->engine);
    metrics_free(life->metrics);
}

static void apply(struct life *life, struct write_batch *batch)
{
    bool is_done = false;
    streams_apply(life->streams, batch, NULL, 0, set_done, &is_done);
    step_until(life, &is_done);
}

static void write_clicks(struct life *life)
{
    static const struct click clicks[] = {
        {"r1", "2013-11-28", 1385605012000, "ad1", "0.01"},
        {"r1", "2013-11-28", 1385605012000, "ad1", "0.005"},
        {"r1", "2013-11-28", 1385605099000, "ad2", "1.5"},
        {"r1", "2013-12-01", 1385864212000, "ad2", "0.25"},
        {"r2", "2013-12-03", 1386037012000, "ad1", "0.02"},
    };
    struct write_batch *batch = write_batch_new();
    struct block *block =
        engine_fixture_block(life->engine.store, clicks, sizeof clicks / sizeof clicks[0]);
    write_batch_add_block(batch, block);
    apply(life, batch);
    block_free(block);
    write_batch_free(batch);
}

static void write_rate(struct life *life, const char *reseller, int64_t percent)
{
    const struct table *table = schema_table(store_schema(life->engine.store), TABLE_RESELLER);
    struct write_batch *batch = write_batch_new();
    const struct column_value values[] = {
        {RESELLER_ID, false, bytes_text(reseller)},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text("2013-11-01")},
        {RESELLER_REWARD_PERCENT, false, write_batch_decimal(batch, decimal_from(percent, 2))},
    };
    write_batch_insert(batch, table, values, 3);
    apply(life, batch);
    write_batch_free(batch);
}

static void publish_and_seal(struct life *life)
{
    const struct change_row change = {.door = "command", .actor = "golden", .command = "seal"};
    struct rollup *rollup = streams_find(life->streams, NULL);
    bool is_done = false;
    rollup_refresh_now(rollup, true, set_done, &is_done);
    step_until(life, &is_done);
    is_done = false;
    check(seal_pass_begin(rollup, &change, false, set_sealed, &is_done, NULL) == 0);
    step_until(life, &is_done);
}

static void write_night(struct life *life, const char *night, const char *room, int64_t cents)
{
    const struct table *table =
        schema_table_named(store_schema(life->engine.store), "hotel", "nights");
    struct write_batch *batch = write_batch_new();
    const struct column_value values[] = {
        {1, false, bytes_text("globe")},
        {2, false, bytes_text(night)},
        {3, false, bytes_text(room)},
        {5, false, write_batch_decimal(batch, decimal_from(cents, 2))}};
    write_batch_insert(batch, table, values, 4);
    apply(life, batch);
    write_batch_free(batch);
}

static void write_share(struct life *life)
{
    const struct table *table =
        schema_table_named(store_schema(life->engine.store), "hotel", "commission");
    struct write_batch *batch = write_batch_new();
    const struct column_value values[] = {
        {1, false, bytes_text("globe")},
        {2, false, bytes_text("2013-01-01")},
        {3, false, write_batch_decimal(batch, decimal_from(10, 2))}};
    write_batch_insert(batch, table, values, 3);
    apply(life, batch);
    write_batch_free(batch);
}

static void add_tables(struct life *life)
{
    static const struct column_definition nights[] = {
        {1, "agent", "text", COLUMN_PARTITION, false},
        {2, "night", "text", COLUMN_PARTITION, false},
        {3, "room", "text", COLUMN_CLUSTERING, false},
        {4, "booked", "timestamp", COLUMN_REGULAR, false},
        {5, "price", "decimal", COLUMN_REGULAR, false},
    };
    static const struct column_definition commission[] = {
        {1, "agent", "text", COLUMN_PARTITION, false},
        {2, "since", "text", COLUMN_CLUSTERING, false},
        {3, "share", "decimal", COLUMN_REGULAR, false},
    };
    const struct table_definition of_nights = {0, "hotel", "nights", "", 0, nights, 5};
    const struct table_definition of_commission = {0, "hotel", "commission", "", 0, commission, 3};
    struct write_batch *batch = write_batch_new();
    batch->schema = schema_copy(store_schema(life->engine.store));
    check(schema_add_keyspace(batch->schema, "hotel", NULL) == 0);
    check(schema_add_table(batch->schema, &of_nights, NULL) == 0);
    check(schema_add_table(batch->schema, &of_commission, NULL) == 0);
    apply(life, batch);
    schema_unref(batch->schema);
    write_batch_free(batch);
}

/* Its tables and its row are durable, and the program ends. */
static void define_stream(struct life *life)
{
    static const struct stream_definition hotel = {
        .name = "hotel",
        .texts = {"hotel.nights", "agent", "night", "booked", "room", "price", "hotel.commission",
                  "agent", "since", "share", "", "", "", "EUR", ""}};
    struct write_batch *batch = write_batch_new();
    struct schema *schema = schema_copy(store_schema(life->engine.store));
    check(stream_definition_make(&hotel, schema, batch, NULL) == 0);
    batch->schema = schema;
    apply(life, batch);
    schema_unref(schema);
    write_batch_free(batch);
}

int main(int argc, char **argv)
{
    char path[512];
    struct life life = {
        .engine.options = {.log_file_size = 64 << 10, .log_first_file_size = 64 << 10}};
    if (argc != 2) {
        fprintf(stderr, "usage: make_golden_rollup DIR\n");
        return 1;
    }
    life_open(&life);
    write_clicks(&life);
    write_rate(&life, "r1", 25);
    write_rate(&life, "r2", 10);
    publish_and_seal(&life);
    add_tables(&life);
    write_night(&life, "2013-11-28", "a", 7500);
    write_night(&life, "2013-11-28", "b", 8025);
    engine_fixture_flush(&life.engine);
    write_night(&life, "2013-11-29", "a", 10000);
    write_share(&life);
    define_stream(&life);
    struct buffer text = golden_rollup_describe(&life.engine);
    life_close(&life);
    snprintf(path, sizeof path, "%s/rollup", argv[1]);
    golden_save(sim_world_disk(life.sim), path);
    snprintf(path, sizeof path, "%s/rollup.txt", argv[1]);
    golden_write(path, buffer_view(&text));
    buffer_release(&text);
    sim_world_free(life.sim);
    return 0;
}

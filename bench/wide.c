/* wide: measures nanoseconds and bytes per click, from a block to a merged segment.
 *
 *     wide [-n millions] [-d days] [-m millions in a memtable] [-s] [-p directory]
 *
 * There are 1,000 resellers (weights 1/n), each with 200 of 50,000 ads (weights 1/n).  Amounts are
 * whole cents with a log-normal distribution.  Clicks are in order of time or, with -s, shuffled
 * over all days, in blocks of 1,000 rows.  Every stage that reads rows checks their number and sum
 * against the generated clicks. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "storage/memtable/columnar_memtable.h"
#include "storage/segment/columnar_segment.h"
#include "tests/lib/segment_alone.h"

enum {
    RESELLERS = 1000,
    RESELLER_ADS = 200,
    ADS = 50000,
    BLOCK_ROWS = 1000,
    ROUND_BLOCKS = 8, /* made before they are applied; few, so that they stay in the CPU's cache */
    SEGMENTS_MAX = 64,
    DAY_FIRST = 20666 /* 2026-08-01 */
};

static const struct column columns[] = {
    {.id = 1, .name = "reseller_id", .kind = COLUMN_PARTITION},
    {.id = 2, .name = "day", .kind = COLUMN_PARTITION, .position = 1},
    {.id = 3, .name = "time", .kind = COLUMN_CLUSTERING, .descending = true},
    {.id = 4, .name = "ad_id", .kind = COLUMN_CLUSTERING, .position = 1},
    {.id = 5, .name = "click_id", .kind = COLUMN_CLUSTERING, .position = 2},
    {.id = 6, .name = "amount", .kind = COLUMN_REGULAR},
    {.id = 7, .name = "day_derived", .kind = COLUMN_REGULAR, .position = 1},
};

struct options {
    uint64_t rows;
    uint64_t memtable_rows;
    uint32_t days;
    bool is_shuffled;
    const char *path;
};

struct generator {
    const struct options *options;
    uint64_t state;
    uint64_t made;
    int64_t sum;
    double reseller_weights[RESELLERS]; /* cumulative, like the next */
    double ad_weights[RESELLER_ADS];
    uint32_t *partition_codes; /* by reseller and day: code in the block plus one; 0: none */
    uint32_t *ad_codes;
};

static uint64_t random_next(struct generator *generator)
{
    uint64_t z = generator->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double random_unit(struct generator *generator)
{
    return (double)(random_next(generator) >> 11) * 0x1p-53;
}

static uint32_t random_pick(struct generator *generator, const double *weights, uint32_t count)
{
    double at = random_unit(generator) * weights[count - 1];
    uint32_t low = 0;
    for (uint32_t high = count - 1; low < high;) {
        uint32_t middle = (low + high) / 2;
        if (weights[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void weights_fill(double *weights, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        weights[i] = sum += 1.0 / (i + 1.0);
}

static uint32_t partition_code(struct generator *generator, struct block *block, uint32_t reseller,
                               uint32_t day)
{
    uint32_t *code = &generator->partition_codes[reseller * generator->options->days + day];
    if (*code != 0)
        return *code - 1;
    char id[32];
    char day_text[DAY_TEXT_SIZE + 1];
    struct buffer key = {0};
    snprintf(id, sizeof id, "reseller-%04u", reseller);
    calendar_day_format(DAY_FIRST + (int32_t)day, day_text);
    type_key_put_component(&key, 2, bytes_text(id));
    type_key_put_component(&key, 2, bytes_text(day_text));
    *code = block_dictionary_add(&block->partitions, buffer_view(&key)) + 1;
    buffer_release(&key);
    return *code - 1;
}

static uint32_t ad_code(struct generator *generator, struct block *block, uint32_t ad)
{
    if (generator->ad_codes[ad] == 0) {
        char id[32];
        snprintf(id, sizeof id, "ad-%07u", ad);
        generator->ad_codes[ad] =
            block_dictionary_add(&block->columns[1].dictionary, bytes_text(id)) + 1;
    }
    return generator->ad_codes[ad] - 1;
}

static void block_fill(struct generator *generator, struct block *block)
{
    const struct options *options = generator->options;
    double span_ms = (double)options->days * (double)DAY_MS;
    memset(generator->partition_codes, 0, (size_t)RESELLERS * options->days * sizeof(uint32_t));
    memset(generator->ad_codes, 0, ADS * sizeof(uint32_t));
    block_clear(block);
    for (uint32_t row = 0; row < BLOCK_ROWS; row++) {
        double part = options->is_shuffled ? random_unit(generator)
                                           : (double)generator->made / (double)options->rows;
        uint64_t time = (uint64_t)(part * span_ms);
        uint32_t day = (uint32_t)(time / (uint64_t)DAY_MS);
        uint32_t reseller = random_pick(generator, generator->reseller_weights, RESELLERS);
        uint32_t ad = random_pick(generator, generator->ad_weights, RESELLER_ADS);
        double normal = sqrt(-2 * log(random_unit(generator) + 1e-300)) *
                        cos(6.283185307 * random_unit(generator));
        int64_t cents = (int64_t)(0.45 * exp(0.6 * normal) * 100 + 0.5);
        cents = cents > 0 ? cents : 1;
        block->partition_codes[row] = partition_code(generator, block, reseller, day);
        block->columns[0].integers[row] = DAY_FIRST * DAY_MS + (int64_t)time;
        block->columns[1].codes[row] = ad_code(generator, block, (reseller * 7919 + ad * 31) % ADS);
        block->columns[2].integers[row] = cents;
        block->columns[2].scales[row] = 2;
        block->rows++;
        block_set_absent(block, &block->columns[3], row);
        generator->sum += cents;
        generator->made++;
    }
}

static void fail(const struct error *err)
{
    fprintf(stderr, "wide: %s\n", err->text);
    exit(3);
}

static void report(const char *stage, uint64_t rows, int64_t us, double bytes)
{
    printf("%-8s %10.1f M rows  %7.1f ns/row  %6.1f M rows/s  %6.3f bytes/row\n", stage,
           (double)rows / 1e6, (double)us * 1e3 / (double)rows, (double)rows / (double)us,
           bytes / (double)rows);
}

static uint64_t memtable_write(const struct columnar_memtable *memtable, const struct table *table,
                               struct world *world, struct segment_info *info)
{
    struct error err;
    struct columnar_segment_writer *writer;
    struct columnar_rows rows;
    columnar_rows_init(&rows, table);
    if (columnar_segment_writer_open(world, table, info, 0, &writer, &err) != 0)
        fail(&err);
    for (uint32_t i = 0; i < columnar_memtable_partition_count(memtable); i++) {
        uint32_t partition = columnar_memtable_order(memtable)[i];
        columnar_memtable_rows(memtable, partition, UINT64_MAX, &rows);
        if (columnar_segment_writer_begin(
                writer, columnar_memtable_partition_token(memtable, partition),
                columnar_memtable_partition_key(memtable, partition), rows.rows, &err) != 0 ||
            columnar_segment_writer_rows(writer, &rows, &err) != 0 ||
            columnar_segment_writer_end(writer, &err) != 0)
            fail(&err);
    }
    if (columnar_segment_writer_finish(writer, info, &err) != 0)
        fail(&err);
    columnar_segment_writer_close(writer);
    columnar_rows_release(&rows);
    return info->size;
}

/* Decode every partition, and check its rows against the statistics in the segment's directory. */
static void segment_scan(struct segment *segment, const struct table *table, int64_t *sum,
                         uint64_t *rows_read)
{
    struct error err;
    struct columnar_segment_reader *reader = columnar_segment_reader_new(segment, table);
    struct columnar_rows rows;
    columnar_rows_init(&rows, table);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    for (uint32_t i = 0; i < segment_partition_count(segment); i++) {
        const struct segment_partition *partition = segment_directory_at(cursor, i);
        if (columnar_segment_reader_rows(reader, partition, UINT32_MAX, &rows, &err) != 0)
            fail(&err);
        int64_t partition_sum = 0;
        for (uint32_t row = 0; row < rows.rows; row++)
            partition_sum += rows.vectors[2].integers[row];
        check(partition->stats->rows == rows.rows &&
              stats_sums(partition->stats)->sum == partition_sum);
        *sum += partition_sum;
        *rows_read += rows.rows;
    }
    segment_cursor_give(segment, cursor);
    columnar_rows_release(&rows);
    columnar_segment_reader_free(reader);
}

static bool raise_all(void *context, int64_t token, struct bytes key)
{
    (void)context;
    (void)token;
    (void)key;
    return true;
}

struct cli_run {
    struct world *world;
    struct table table;
    struct generator generator;
    struct arena *arena;
    struct columnar_memtable *memtable;
    struct segment *segments[SEGMENTS_MAX];
    uint32_t segment_count;
    uint64_t segment_bytes;
    uint64_t memtable_bytes;
    int64_t apply_us;
    int64_t write_us;
};

static int64_t now_us(const struct cli_run *run)
{
    return run->world->clock->monotonic_us(run->world->clock);
}

static void memtable_seal(struct cli_run *run)
{
    struct error err;
    struct segment_info info = {.id = run->segment_count + 1,
                                .table_id = run->table.id,
                                .kind = SEGMENT_COLUMNAR,
                                .frame_first = run->segment_count + 1,
                                .frame_last = run->segment_count + 1};
    check(run->segment_count < SEGMENTS_MAX);
    run->memtable_bytes += arena_used(run->arena);
    int64_t start = now_us(run);
    columnar_memtable_freeze(run->memtable);
    run->segment_bytes += memtable_write(run->memtable, &run->table, run->world, &info);
    run->write_us += now_us(run) - start;
    if (segment_open_alone(run->world, &info, &run->segments[run->segment_count++], &err) != 0)
        fail(&err);
    columnar_memtable_free(run->memtable);
    arena_reset(run->arena);
    run->memtable = columnar_memtable_new(&run->table, run->arena);
}

static void load(struct cli_run *run)
{
    const struct options *options = run->generator.options;
    struct block *blocks[ROUND_BLOCKS];
    for (uint32_t i = 0; i < ROUND_BLOCKS; i++)
        blocks[i] = block_new(&run->table, BLOCK_ROWS);
    uint64_t frame = 0;
    while (run->generator.made < options->rows) {
        for (uint32_t i = 0; i < ROUND_BLOCKS; i++)
            block_fill(&run->generator, blocks[i]);
        int64_t start = now_us(run);
        for (uint32_t i = 0; i < ROUND_BLOCKS; i++) {
            frame += i % 4 == 0;
            columnar_memtable_apply(run->memtable, blocks[i], frame, (int64_t)frame * 1000);
        }
        run->apply_us += now_us(run) - start;
        if (columnar_memtable_row_count(run->memtable) >= options->memtable_rows)
            memtable_seal(run);
    }
    if (columnar_memtable_row_count(run->memtable) > 0)
        memtable_seal(run);
    for (uint32_t i = 0; i < ROUND_BLOCKS; i++)
        block_free(blocks[i]);
}

static void scan_all(struct cli_run *run, struct segment **segments, uint32_t count,
                     const char *stage, uint64_t bytes)
{
    int64_t sum = 0;
    uint64_t rows = 0;
    int64_t start = now_us(run);
    for (uint32_t i = 0; i < count; i++)
        segment_scan(segments[i], &run->table, &sum, &rows);
    report(stage, rows, now_us(run) - start, (double)bytes);
    check(rows == run->generator.made && sum == run->generator.sum);
}

static void merge_all(struct cli_run *run)
{
    struct error err;
    struct segment *merged;
    struct segment_info info = {.id = SEGMENTS_MAX + 1,
                                .table_id = run->table.id,
                                .kind = SEGMENT_COLUMNAR,
                                .frame_first = 1,
                                .frame_last = run->segment_count};
    const struct columnar_segment_rules rules = {.may_raise = raise_all};
    int64_t start = now_us(run);
    if (columnar_segment_merge(run->world, &run->table, run->segments, run->segment_count, &info,
                               &rules, &info, &err) != 0 ||
        segment_open_alone(run->world, &info, &merged, &err) != 0)
        fail(&err);
    report("merge", info.rows, now_us(run) - start, (double)info.size);
    scan_all(run, &merged, 1, "decode", info.size);
    segment_remove_at_close(merged);
    segment_unref(merged);
}

static void table_build(struct table *table, struct column *built)
{
    memcpy(built, columns, sizeof columns);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        built[i].type = type_builtin(TYPE_TEXT);
    built[2].type = type_builtin(TYPE_TIMESTAMP);
    built[4].type = type_builtin(TYPE_BIGINT);
    built[5].type = type_builtin(TYPE_DECIMAL);
    built[6].type = type_builtin(TYPE_BOOLEAN);
    *table = (struct table){.id = 1000,
                            .keyspace = "daybook",
                            .name = "ad_click",
                            .flags = TABLE_OF_EVENTS,
                            .columns = built,
                            .column_count = sizeof columns / sizeof columns[0],
                            .partition_count = 2,
                            .clustering_count = 3};
}

static void options_parse(int argc, char **argv, struct options *options)
{
    *options = (struct options){.rows = 8000000, .memtable_rows = 4000000, .path = "bench-data"};
    for (int option; (option = getopt(argc, argv, "n:d:m:p:s")) != -1;)
        if (option == 'n')
            options->rows = strtoull(optarg, NULL, 10) * 1000000;
        else if (option == 'd')
            options->days = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 'm')
            options->memtable_rows = strtoull(optarg, NULL, 10) * 1000000;
        else if (option == 'p')
            options->path = optarg;
        else if (option == 's')
            options->is_shuffled = true;
        else
            exit(2);
    if (options->days == 0)
        options->days = options->rows > 2000000 ? (uint32_t)(options->rows / 2000000) : 1;
}

int main(int argc, char **argv)
{
    struct options options;
    struct cli_run run = {0};
    struct column built[sizeof columns / sizeof columns[0]];
    struct error err;
    options_parse(argc, argv, &options);
    table_build(&run.table, built);
    if (world_uv_open(options.path, true, NULL, &run.world, &err) != 0)
        fail(&err);
    if (run.world->disk->make_directory(run.world->disk, "segments") != 0)
        return 3;
    run.generator.options = &options;
    run.generator.state = 1;
    weights_fill(run.generator.reseller_weights, RESELLERS);
    weights_fill(run.generator.ad_weights, RESELLER_ADS);
    run.generator.partition_codes = memory_zeroed((size_t)RESELLERS * options.days, 4);
    run.generator.ad_codes = memory_zeroed(ADS, 4);
    run.arena = arena_new(8 << 20);
    run.memtable = columnar_memtable_new(&run.table, run.arena);
    load(&run);
    report("apply", run.generator.made, run.apply_us, (double)run.memtable_bytes);
    report("encode", run.generator.made, run.write_us, (double)run.segment_bytes);
    scan_all(&run, run.segments, run.segment_count, "decode", run.segment_bytes);
    merge_all(&run);
    for (uint32_t i = 0; i < run.segment_count; i++) {
        segment_remove_at_close(run.segments[i]);
        segment_unref(run.segments[i]);
    }
    columnar_memtable_free(run.memtable);
    arena_free(run.arena);
    memory_free(run.generator.partition_codes);
    memory_free(run.generator.ad_codes);
    world_uv_close(run.world);
    return 0;
}

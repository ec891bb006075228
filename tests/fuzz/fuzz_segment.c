/* fuzz_segment: a segment file is the input; it is opened by what its own footer says of it (as a
 * manifest would), and every partition of it read. */
#include "storage/segment/columnar_segment.h"
#include "storage/segment/row_segment.h"
#include "storage/segment/segment_format.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/segment_alone.h"
#include "tests/sim/sim_world.h"

enum { ROWS_MAX = 1 << 20 };

/* Whatever the span says, it is an answer. */
static void ask_span(const struct segment *segment, const struct table *table,
                     const struct row *row)
{
    struct slice slice = {.start = {row->clustering, BOUND_BEFORE},
                          .end = {row->clustering, BOUND_AFTER}};
    (void)row_segment_may_meet(segment, table, &slice);
}

static void read_packed(struct segment *segment, const struct table *table)
{
    struct segment_cursor *cursor = segment_cursor_take(segment);
    for (uint32_t i = 0; i < segment_partition_count(segment); i++) {
        const struct segment_partition *partition = segment_directory_at(cursor, i);
        for (int reversed = 0; reversed < 2; reversed++) {
            struct slice slice = stream_slice_all();
            struct stream *stream = NULL;
            struct unfiltered item;
            slice.reversed = reversed != 0;
            int rc = row_segment_stream(segment, table, partition->token, partition->key, &slice,
                                        &stream, NULL);
            while (rc == 0 && stream != NULL && stream->next(stream, &item, NULL) == 1)
                if (item.kind == UNFILTERED_ROW)
                    ask_span(segment, table, &item.row);
            stream_close(stream);
        }
    }
    segment_cursor_give(segment, cursor);
}

static void read_columnar(struct segment *segment, const struct table *table)
{
    struct columnar_segment_reader *reader = columnar_segment_reader_new(segment, table);
    struct columnar_rows rows;
    columnar_rows_init(&rows, table);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    for (uint32_t i = 0; i < segment_partition_count(segment); i++) {
        const struct segment_partition *partition = segment_directory_at(cursor, i);
        if (columnar_segment_reader_rows(reader, partition, ROWS_MAX, &rows, NULL) == 0) {
            struct partition_stats stats = {0};
            columnar_rows_stats(&rows, &stats);
            check(stats.rows == rows.rows);
            stats_release(&stats);
        }
        for (uint32_t piece = 0; piece < partition->page_count && piece < 4; piece++)
            (void)!columnar_segment_reader_piece(reader, partition, piece, &rows, NULL);
    }
    segment_cursor_give(segment, cursor);
    columnar_rows_release(&rows);
    columnar_segment_reader_free(reader);
}

static void read_segment(struct world *world, const struct segment_info *info,
                         const struct table *table)
{
    struct segment *segment = NULL;
    struct error err = {0};
    int rc = segment_open_alone(world, info, &segment, &err);
    if (rc != 0) {
        check(err.text[0] != '\0');
        return;
    }
    bool is_ranked = (table->flags & TABLE_OF_EVENTS) != 0;
    if (info->kind == SEGMENT_ROW)
        read_packed(segment, table);
    else if (is_ranked)
        read_columnar(segment, table);
    segment_unref(segment);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct segment_footer footer;
    if (size < 2 * SEGMENT_BLOCK ||
        segment_format_read_footer(data + size - SEGMENT_BLOCK, size, &footer, NULL) != 0) {
        return 0;
    }
    const struct table *table = schema_table(fuzz_schema(), footer.info.table_id);
    if (table == NULL)
        return 0;
    char path[64];
    struct sim_world *sim = sim_world_new(1);
    struct world *world = sim_world_interface(sim);
    check(world->disk->make_directory(world->disk, "segments") == 0);
    segment_path(footer.info.id, path);
    fuzz_put_file(world, path, bytes_of(data, size), 0);
    read_segment(world, &footer.info, table);
    sim_world_free(sim);
    return 0;
}

/* Makes the rows of a page, either from sealed runs and the capture (the rows that reads_capture.c
 * copied of the open memtable), or from the open memtable alone.
 *
 * A page ends after row_limit rows or READ_PAGE_BYTES_MAX, or where the capture ends.  If a page of
 * the open memtable alone would need over READ_CAPTURE_ITEMS_MAX items, reads_open discards its
 * rows and returns false.  The values of such a page stay in the memtable, and do not count towards
 * READ_PAGE_BYTES_MAX. */
#include "counters/counter_cell.h"
#include "base/memory.h"
#include "storage/engine/reads_private.h"
#include "storage/segment/row_segment.h"

enum {
    PAGE_ROWS_SURE = 2, /* rows given whatever their size: a static row, and another */
    PASSED_MAX = 32     /* with one_of_each: after so many rows whose first clustering value was
                         * already given, seek past that value */
};

/* ---- rows ---- */

static void resolve_counters(struct row *row, struct arena *arena)
{
    struct cell *cells = (struct cell *)(uintptr_t)row->cells;
    for (uint32_t i = 0; i < row->cell_count; i++) {
        if ((cells[i].flags & CELL_COUNTER) != 0) {
            struct buffer value = {0};
            type_value_put_bigint(&value, counter_cell_value(cells[i].value));
            cells[i].value = arena_copy(arena, buffer_view(&value));
            buffer_release(&value);
        }
    }
}

static struct page_row *next_row(struct read_job *read)
{
    read->rows =
        memory_make_room(read->rows, read->row_count, &read->row_capacity, sizeof(struct page_row));
    return &read->rows[read->row_count];
}

/* The memory to which the row points must live as long as the page. */
static void add_row(struct read_job *read, int64_t token, struct bytes key)
{
    struct page_row *added = &read->rows[read->row_count++];
    added->token = token;
    added->key = key;
    if (read->request.one_of_each && added->row.clustering.count > 0)
        read->given = added->row.clustering.values[0];
}

/* Set read->given to the first clustering value of the previous page's last row, if that page ended
 * within this partition; else to none. */
static void given_begin(struct read_job *read, int64_t token, struct bytes key)
{
    const struct read_position *position = &read->position;
    bool goes_on = position->is_set && position->kind == AFTER_ROW && position->token == token &&
                   bytes_equal(position->key, key) && position->clustering.count > 0;
    read->given = goes_on ? position->clustering.values[0] : bytes_of(NULL, 0);
}

static bool is_another(const struct read_job *read, const struct row *row)
{
    return read->given.data != NULL && row->clustering.count > 0 &&
           bytes_equal(row->clustering.values[0], read->given);
}

static bool page_is_full(const struct read_job *read)
{
    return read->row_count == read->request.row_limit ||
           (read->row_count >= PAGE_ROWS_SURE &&
            arena_held(read->arena) - read->counted > READ_PAGE_BYTES_MAX);
}

/* ---- of sealed runs and the capture, on a lane ---- */

/* The next partition, of sealed runs or of the capture.  False: there is none, or the horizon is
 * reached (the first partition that was not captured). */
static bool next_partition(struct read_job *read, struct partition_reader *reader, int64_t token,
                           struct bytes key, bool after, int64_t *token_out, struct bytes *key_out)
{
    reads_captured_seek(read, token, key);
    while (after && reads_captured(read, 0, token, key) != NULL)
        read->captured_at++;
    const struct captured *captured =
        read->captured_at < read->captured_count ? &read->captured[read->captured_at] : NULL;
    bool found = partition_reader_seek(reader, token, key, after, token_out, key_out);
    if (captured != NULL && (!found || partition_index_order(captured->token, captured->key,
                                                             *token_out, *key_out) < 0)) {
        *token_out = captured->token;
        *key_out = captured->key;
        found = true;
    }
    return found &&
           (!read->has_horizon || partition_index_order(*token_out, *key_out, read->horizon_token,
                                                        read->horizon_key) < 0);
}

static struct slice behind_given(const struct read_job *read, struct slice slice)
{
    const struct read_position position = {.kind = AFTER_ROW,
                                           .clustering = {.count = 1, .values = {read->given}}};
    return read_position_rest(&position, slice);
}

/* Each page decodes the rows of its partition as a whole.  So after READ_FOLDED_MAX rows, folding
 * continues for as long as the decoding took.  A large partition then needs few pages, and a job
 * takes at most twice as long. */
static bool folds(const struct read_job *read)
{
    if (read->request.fold == NULL)
        return false;
    return read->folded == 0 || read->folded % READ_FOLDED_MAX != 0 ||
           world_monotonic_us(read->reads->env->world) < read->fold_until_us;
}

/* 1: the page is full.  After PASSED_MAX consecutive skipped rows, stop, set *is_left_out, and cut
 * the slice to the rows behind the first clustering value of the skipped rows. */
static int read_slice(struct read_job *read, struct partition_reader *reader, int64_t token,
                      struct bytes kept, struct slice *slice, int64_t now_s, bool *is_left_out)
{
    struct stream *extra[4];
    uint32_t extra_count = 0;
    uint32_t passed = 0;
    struct captured *captured;
    struct world *world = read->reads->env->world;
    int64_t began_us = world_monotonic_us(world);
    *is_left_out = false;
    reads_captured_seek(read, token, kept);
    while ((captured = reads_captured(read, extra_count, token, kept)) != NULL) {
        check(extra_count < 4);
        extra[extra_count++] = reads_captured_stream(read, captured, slice);
    }
    struct stream *stream;
    int rc = partition_reader_stream(reader, token, kept, slice, extra, extra_count, read->appended,
                                     &stream, &read->err);
    if (rc != 0 || stream == NULL)
        return rc;
    int64_t opened_us = world_monotonic_us(world);
    read->fold_until_us = opened_us + (opened_us - began_us);
    if (!read->request.with_deleted)
        stream = stream_live(stream, now_s);
    struct unfiltered item;
    while ((rc = stream->next(stream, &item, &read->err)) == 1) {
        if (item.kind != UNFILTERED_ROW)
            continue;
        if (read->request.one_of_each && is_another(read, &item.row)) {
            *is_left_out = ++passed == PASSED_MAX;
            if (*is_left_out)
                break;
            continue;
        }
        passed = 0;
        if (folds(read)) {
            const struct page_row row = {.token = token, .key = kept, .row = item.row};
            read->request.fold(read->request.fold_context, read->table, &row);
            read->folded++;
            continue;
        }
        struct page_row *next = next_row(read);
        row_copy(&item.row, read->arena, &next->row);
        resolve_counters(&next->row, read->arena);
        add_row(read, token, kept);
        if (page_is_full(read))
            break;
    }
    stream->close(stream);
    if (*is_left_out)
        *slice = behind_given(read, *slice);
    return *is_left_out ? 0 : rc;
}

/* 1: the page is full. */
static int read_partition(struct read_job *read, struct partition_reader *reader, int64_t token,
                          struct bytes key, const struct slice *slice, int64_t now_s)
{
    struct bytes kept = arena_copy(read->arena, key);
    struct slice rest = *slice;
    bool is_left = true;
    int rc = 0;
    given_begin(read, token, kept);
    while (rc == 0 && is_left)
        rc = read_slice(read, reader, token, kept, &rest, now_s, &is_left);
    return rc;
}

static int read_parts(struct read_job *read, struct partition_reader *reader, int64_t now_s)
{
    int rc = 0;
    for (uint32_t i = 0; i < read->part_end && rc == 0; i++) {
        const struct read_part *part = &read->parts[i];
        rc = read_partition(read, reader, part->token, part->key, &part->slice, now_s);
    }
    if (rc == 0 && read->part_end < read->part_count) {
        const struct read_part *last = &read->parts[read->part_end - 1];
        read_position_put(&read->position_out, AFTER_PARTITION, last->token, last->key, NULL);
    }
    return rc;
}

static struct slice slice_left(const struct read_job *read, int64_t token, struct bytes key)
{
    const struct read_position *position = &read->position;
    bool goes_on = position->is_set && position->kind != AFTER_PARTITION &&
                   token == position->token && bytes_equal(key, position->key);
    return goes_on ? read_position_rest(position, read->request.slice) : read->request.slice;
}

static int read_scan(struct read_job *read, struct partition_reader *reader, int64_t now_s)
{
    struct bytes key;
    bool after;
    int64_t token = reads_scan_start(read, &key, &after);
    int64_t next_token;
    struct bytes next_key;
    int rc = 0;
    while (rc == 0 && next_partition(read, reader, token, key, after, &next_token, &next_key) &&
           !reads_is_past(read, next_token)) {
        token = next_token;
        key = next_key;
        const struct slice slice = slice_left(read, token, key);
        rc = read_partition(read, reader, token, key, &slice, now_s);
        after = true;
    }
    if (rc == 0 && read->has_horizon) {
        read_position_put(&read->position_out, AFTER_PARTITION, token, key, NULL);
        if (!after)
            rc = error_set(&read->err, ERROR_LIMIT, "a scan made no progress");
    }
    return rc;
}

void reads_run(struct job *job)
{
    struct read_job *read = (struct read_job *)job;
    int64_t now_s = world_wall_us(read->reads->env->world) / 1000000;
    struct partition_reader *reader = partition_reader_new(&read->view, read->table);
    int rc =
        read->request.is_scan ? read_scan(read, reader, now_s) : read_parts(read, reader, now_s);
    partition_reader_free(reader);
    if (rc == 1)
        store_position_after(&read->rows[read->row_count - 1], false, &read->position_out);
    read->status = rc < 0 ? rc : 0;
}

/* ---- of the open memtable alone, on the engine thread ---- */

/* Whether the segment may have rows of the read; decided without reading the segment. */
static bool segment_matters(const struct read_job *read, const struct segment *segment)
{
    const struct read_part *part = &read->parts[0];
    return read->part_count > 0 && segment_may_have(segment, part->token) &&
           row_segment_may_meet(segment, read->table, &part->slice);
}

void reads_reduce(struct read_job *read)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < read->view.segment_count; i++) {
        struct segment *segment = read->view.segments[i];
        if (segment_matters(read, segment))
            read->view.segments[count++] = segment;
        else
            segment_unref(segment);
    }
    read->view.segment_count = count;
}

static bool memtable_matters(const struct read_job *read, const struct memtable *memtable)
{
    if (read->part_count != 1)
        return row_memtable_has_table(memtable->rows, read->table->id);
    return row_memtable_has(memtable->rows, read->table->id, read->parts[0].token,
                            read->parts[0].key);
}

bool reads_is_open_only(struct read_job *read)
{
    if ((read->table->flags & (TABLE_OF_EVENTS | TABLE_COUNTER)) != 0)
        return false;
    if (read->part_count == 1)
        reads_reduce(read);
    for (uint32_t i = 0; i < read->view.frozen_count; i++)
        if (memtable_matters(read, read->view.frozen[i]))
            return false;
    return read->view.segment_count == 0;
}

/* Only the engine thread writes the open memtable, so values are not copied.  A row's array of
 * cells is copied only if a cell is deleted or expired. */
struct open_read {
    struct read_job *read;
    int64_t now_s;
    uint32_t items;
};

static bool open_read_is_over(const struct open_read *open)
{
    return open->items > READ_CAPTURE_ITEMS_MAX || page_is_full(open->read);
}

/* False: the row is not live. */
static bool open_read_row(struct open_read *open, const struct row *row)
{
    struct read_job *read = open->read;
    struct row *next = &next_row(read)->row;
    if (!read->request.with_deleted)
        return row_live(read->table, row, open->now_s, read->arena, next);
    *next = *row;
    return true;
}

static void open_read_partition(struct open_read *open, int64_t token, struct bytes key,
                                const struct slice *slice)
{
    struct read_job *read = open->read;
    struct stream *stream = row_memtable_stream(read->viewed->rows, read->table, token, key, slice,
                                                read->view.frame, read->arena);
    struct unfiltered item;
    given_begin(read, token, key);
    if (stream != NULL)
        row_memtable_stream_limit(stream, &open->items, READ_CAPTURE_ITEMS_MAX + 1);
    while (stream != NULL && !open_read_is_over(open)) {
        if (read->request.one_of_each && read->given.data != NULL)
            open->items += row_memtable_stream_pass(stream, read->given);
        if (stream->next(stream, &item, NULL) != 1)
            break;
        open->items += item.kind != UNFILTERED_ROW;
        if (item.kind == UNFILTERED_ROW && open_read_row(open, &item.row))
            add_row(read, token, key);
    }
    stream_close(stream);
}

static void open_read_scan(struct open_read *open)
{
    struct read_job *read = open->read;
    struct bytes key;
    bool after;
    int64_t token = reads_scan_start(read, &key, &after);
    for (; !open_read_is_over(open) && reads_open_seek(read, token, key, after, &token, &key) &&
           !reads_is_past(read, token);
         after = true) {
        const struct slice slice = slice_left(read, token, key);
        open->items++;
        open_read_partition(open, token, key, &slice);
    }
}

bool reads_open(struct read_job *read)
{
    struct open_read open = {read, world_wall_us(read->reads->env->world) / 1000000, 0};
    read->viewed = memtable_ref(read->reads->memtables->open);
    if (read->request.is_scan)
        open_read_scan(&open);
    for (uint32_t i = 0; i < read->part_count && !open_read_is_over(&open); i++) {
        const struct read_part *part = &read->parts[i];
        open_read_partition(&open, part->token, part->key, &part->slice);
    }
    if (page_is_full(read)) {
        store_position_after(&read->rows[read->row_count - 1], false, &read->position_out);
    } else if (open.items > READ_CAPTURE_ITEMS_MAX) {
        memtable_unref(read->viewed);
        read->viewed = NULL;
        read->row_count = 0;
        return false;
    }
    return true;
}

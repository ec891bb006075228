/* columnar_segment_merge: rows of several runs are merged partition by partition, piece by piece.
 *
 * Rows with equal clustering (equals) must be written in the order of the inputs, because this
 * order gives their ranks.  So all equals must be in one batch.  Each input that has more pages has
 * a last loaded row; the least of these rows is the *cutoff*.  A batch is made of all loaded rows
 * that sort before the cutoff, or of all rows when no input has more pages.  Rows that are not yet
 * loaded cannot sort before the cutoff.
 *
 *     input 0   ....a..b....c|        c is its last loaded row, and it has more pages
 *     input 1   ..d.......e.....f     it has no more pages
 *     cutoff    c: the rows before c are a batch; equals of c wait for the next page of input 0
 *
 * A batch is the rows of each input in turn, sorted stably.  An input holds at most two pages,
 * unless the equals of one row fill more than a page.
 *
 * Rows that deletions hide are removed after the sort, so that the other equals keep their
 * ranks. */
#include "storage/segment/columnar_segment.h"

#include "base/memory.h"
#include "storage/segment/columnar_purge.h"

struct merge_input {
    struct segment *segment;
    struct columnar_segment_reader *reader;
    struct segment_cursor *cursor;
    uint32_t position;
    const struct segment_partition *partition; /* NULL: the input lacks the partition */
    uint32_t piece;
    struct columnar_rows rows; /* read and not yet written; codes are the writer's
                                * numbers */
};

struct merge {
    const struct columnar_segment_rules *rules;
    struct columnar_segment_writer *writer;
    struct merge_input *inputs;
    uint32_t input_count;
    struct columnar_rows piece;
    struct columnar_rows batch;
    uint32_t *numbers; /* by code of a piece, the writer's number */
    uint32_t numbers_capacity;
    bool raises;                  /* rows of the present partition get their batch's newest
                                   * timestamp */
    struct columnar_purge *purge; /* of the present partition; NULL: nothing of it is purged */
};

static const struct segment_partition *merge_next(struct merge *merge, uint64_t *rows_out)
{
    const struct segment_partition *least = NULL;
    for (uint32_t i = 0; i < merge->input_count; i++) {
        struct merge_input *input = &merge->inputs[i];
        input->partition = input->position < segment_partition_count(input->segment)
                               ? segment_directory_at(input->cursor, input->position)
                               : NULL;
        if (input->partition != NULL &&
            (least == NULL ||
             segment_directory_compare(input->partition, least->token, least->key) < 0))
            least = input->partition;
    }
    *rows_out = 0;
    for (uint32_t i = 0; least != NULL && i < merge->input_count; i++) {
        struct merge_input *input = &merge->inputs[i];
        if (input->partition == NULL ||
            segment_directory_compare(input->partition, least->token, least->key) != 0) {
            input->partition = NULL;
            continue;
        }
        input->position++;
        input->piece = 0;
        columnar_rows_clear(&input->rows);
        *rows_out += input->partition->rows;
    }
    return least;
}

static bool has_more(const struct merge_input *input)
{
    return input->partition != NULL && input->piece < input->partition->page_count;
}

static void piece_translate(struct merge *merge)
{
    for (uint32_t i = 0; i < merge->piece.column_count; i++) {
        struct columnar_vector *vector = &merge->piece.vectors[i];
        if (vector->kind != VECTOR_CODE)
            continue;
        if (vector->string_count >= merge->numbers_capacity) {
            merge->numbers_capacity = vector->string_count + 1;
            merge->numbers =
                memory_resize(merge->numbers, merge->numbers_capacity * sizeof *merge->numbers);
        }
        /* Absent rows have code 0 even where there is no string. */
        merge->numbers[0] = 0;
        for (uint32_t code = 0; code < vector->string_count; code++)
            merge->numbers[code] =
                columnar_segment_writer_number(merge->writer, i, vector->strings[code]);
        for (uint32_t row = 0; row < merge->piece.rows; row++)
            vector->codes[row] = merge->numbers[vector->codes[row]];
    }
}

static int input_read(struct merge *merge, struct merge_input *input, struct error *err)
{
    int rc = columnar_segment_reader_piece(input->reader, input->partition, input->piece,
                                           &merge->piece, err);
    if (rc != 0)
        return rc;
    input->piece++;
    piece_translate(merge);
    rc = columnar_rows_append(&input->rows, &merge->piece, 0, merge->piece.rows);
    return rc == 0 ? 0 : error_set(err, rc, "too many equal rows in one partition");
}

/* The input whose last row is the cutoff; NULL: none has more pages. */
static struct merge_input *find_cutoff(struct merge *merge)
{
    struct merge_input *least = NULL;
    for (uint32_t i = 0; i < merge->input_count; i++) {
        struct merge_input *input = &merge->inputs[i];
        if (has_more(input) &&
            (least == NULL || columnar_rows_compare(&input->rows, input->rows.rows - 1,
                                                    &least->rows, least->rows.rows - 1) < 0))
            least = input;
    }
    return least;
}

/* The number of rows before the cutoff; `cutoff` NULL: all rows. */
static uint32_t rows_before(const struct columnar_rows *rows, const struct merge_input *cutoff)
{
    if (cutoff == NULL)
        return rows->rows;
    uint32_t low = 0;
    uint32_t high = rows->rows;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (columnar_rows_compare(rows, middle, &cutoff->rows, cutoff->rows.rows - 1) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void timestamps_raise(struct columnar_rows *rows)
{
    for (uint32_t i = 0; rows->timestamps_us != NULL && i < rows->rows; i++)
        if (i == 0 || rows->timestamps_us[i] > rows->timestamp_us)
            rows->timestamp_us = rows->timestamps_us[i];
    rows->timestamps_us = NULL;
}

static void timestamps_restamp(const struct columnar_segment_rules *rules,
                               struct columnar_rows *rows)
{
    if (rows->timestamps_us == NULL) {
        rows->timestamp_us = rules->restamp(rules->context, rows->timestamp_us);
        return;
    }
    for (uint32_t i = 0; i < rows->rows; i++)
        rows->timestamps_us[i] = rules->restamp(rules->context, rows->timestamps_us[i]);
    rows->timestamp_us = rows->timestamps_us[0];
}

static int batch_fill(struct merge *merge, const struct merge_input *cutoff, struct error *err)
{
    uint32_t sources = 0;
    columnar_rows_clear(&merge->batch);
    for (uint32_t i = 0; i < merge->input_count; i++) {
        struct columnar_rows *rows = &merge->inputs[i].rows;
        uint32_t count = rows_before(rows, cutoff);
        if (count == 0)
            continue;
        int rc = columnar_rows_append(&merge->batch, rows, 0, count);
        if (rc != 0)
            return error_set(err, rc, "too many rows in one batch of a merge");
        columnar_rows_drop(rows, count);
        sources++;
    }
    columnar_segment_writer_strings(merge->writer, &merge->batch);
    if (sources > 1)
        columnar_rows_sort(&merge->batch);
    return 0;
}

/* *written_out counts the rows before the cutoff, including purged ones. */
static int batch_write(struct merge *merge, const struct merge_input *cutoff, uint32_t *written_out,
                       struct error *err)
{
    int rc = batch_fill(merge, cutoff, err);
    *written_out = merge->batch.rows;
    if (rc == 0 && merge->purge != NULL)
        rc = columnar_purge_rows(merge->purge, &merge->batch, err);
    if (rc != 0)
        return rc;
    if (merge->raises)
        timestamps_raise(&merge->batch);
    if (merge->rules->restamp != NULL && merge->batch.rows > 0)
        timestamps_restamp(merge->rules, &merge->batch);
    return columnar_segment_writer_append(merge->writer, &merge->batch, err);
}

/* Reading may move the writer's strings, so the rows of all inputs get them again. */
static int inputs_fill(struct merge *merge, struct error *err)
{
    for (uint32_t i = 0; i < merge->input_count; i++) {
        struct merge_input *input = &merge->inputs[i];
        if (has_more(input) && input->rows.rows == 0) {
            int rc = input_read(merge, input, err);
            if (rc != 0)
                return rc;
        }
    }
    for (uint32_t i = 0; i < merge->input_count; i++)
        columnar_segment_writer_strings(merge->writer, &merge->inputs[i].rows);
    return 0;
}

static int pieces_merge(struct merge *merge, struct error *err)
{
    const struct columnar_segment_rules *rules = merge->rules;
    int rc = 0;
    while (rc == 0) {
        if (rules->check_end != NULL)
            rc = rules->check_end(rules->context, err);
        if (rc == 0)
            rc = inputs_fill(merge, err);
        if (rc != 0)
            break;
        struct merge_input *cutoff = find_cutoff(merge);
        uint32_t written = 0;
        rc = batch_write(merge, cutoff, &written, err);
        if (cutoff == NULL)
            break;
        if (rc == 0 && written == 0)
            rc = input_read(merge, cutoff, err);
    }
    return rc;
}

static int partition_merge(struct merge *merge, const struct segment_partition *partition,
                           uint64_t rows, struct error *err)
{
    const struct columnar_segment_rules *rules = merge->rules;
    struct stream *deletions = NULL;
    int64_t token = partition->token;
    int rc = 0;
    merge->raises =
        rules->may_raise != NULL && rules->may_raise(rules->context, token, partition->key);
    if (rules->deletions != NULL)
        rc = rules->deletions(rules->context, token, partition->key, &deletions, err);
    if (rc != 0)
        return rc;
    merge->purge = deletions != NULL ? columnar_purge_new(deletions) : NULL;
    rc = columnar_segment_writer_begin(merge->writer, token, partition->key, rows, err);
    if (rc == 0)
        rc = pieces_merge(merge, err);
    columnar_purge_free(merge->purge);
    merge->purge = NULL;
    return rc == 0 ? columnar_segment_writer_end(merge->writer, err) : rc;
}

static void merge_init(struct merge *merge, const struct table *table, struct segment **inputs,
                       uint32_t input_count, const struct columnar_segment_rules *rules)
{
    check(input_count > 0);
    *merge = (struct merge){.rules = rules, .input_count = input_count};
    merge->inputs = memory_zeroed(input_count, sizeof *merge->inputs);
    for (uint32_t i = 0; i < input_count; i++) {
        merge->inputs[i].segment = inputs[i];
        merge->inputs[i].cursor = segment_cursor_take(inputs[i]);
        merge->inputs[i].reader = columnar_segment_reader_new(inputs[i], table);
        columnar_rows_init(&merge->inputs[i].rows, table);
    }
    columnar_rows_init(&merge->piece, table);
    columnar_rows_init(&merge->batch, table);
}

static void merge_release(struct merge *merge)
{
    for (uint32_t i = 0; i < merge->input_count; i++) {
        segment_cursor_give(merge->inputs[i].segment, merge->inputs[i].cursor);
        columnar_segment_reader_free(merge->inputs[i].reader);
        columnar_rows_release(&merge->inputs[i].rows);
    }
    memory_free(merge->inputs);
    memory_free(merge->numbers);
    columnar_rows_release(&merge->piece);
    columnar_rows_release(&merge->batch);
    columnar_segment_writer_close(merge->writer);
}

int columnar_segment_merge(struct world *world, const struct table *table, struct segment **inputs,
                           uint32_t input_count, const struct segment_info *info,
                           const struct columnar_segment_rules *rules,
                           struct segment_info *info_out, struct error *err)
{
    struct merge merge;
    merge_init(&merge, table, inputs, input_count, rules);
    int rc = columnar_segment_writer_open(world, table, info, rules->page_rows, &merge.writer, err);
    while (rc == 0) {
        uint64_t rows;
        const struct segment_partition *partition = merge_next(&merge, &rows);
        if (partition == NULL)
            break;
        if (rules->takes == NULL || rules->takes(rules->context, partition->token, partition->key))
            rc = partition_merge(&merge, partition, rows, err);
    }
    if (rc == 0)
        rc = columnar_segment_writer_finish(merge.writer, info_out, err);
    merge_release(&merge);
    return rc;
}

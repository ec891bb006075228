/* columnar_purge: one pass over rows and deletions, which are both in clustering order:
 *
 *     deletions    [------ 7 ------)          x 9
 *     rows        a@5  b@5  c@8         d@5   x@5   y@5
 *     gone             b                      x
 *
 * A deletion hides a row that it covers, if its timestamp (the number) is at least the row's. */
#include "storage/segment/columnar_purge.h"

#include "base/memory.h"

struct columnar_purge {
    struct stream *deletions;
    struct unfiltered head;
    bool has_head;
    bool is_begun;
    struct deletion open;
    uint8_t *gone; /* by row of the present call: whether it is hidden */
    uint32_t capacity;
};

struct columnar_purge *columnar_purge_new(struct stream *deletions)
{
    check(deletions != NULL);
    struct columnar_purge *purge = memory_zeroed(1, sizeof *purge);
    purge->deletions = deletions;
    purge->open = DELETION_NONE;
    return purge;
}

void columnar_purge_free(struct columnar_purge *purge)
{
    if (purge == NULL)
        return;
    stream_close(purge->deletions);
    memory_free(purge->gone);
    memory_free(purge);
}

static int head_next(struct columnar_purge *purge, struct error *err)
{
    if (purge->has_head && purge->head.kind == UNFILTERED_BOUND)
        purge->open = purge->head.after;
    int rc = purge->deletions->next(purge->deletions, &purge->head, err);
    purge->has_head = rc == 1;
    purge->is_begun = true;
    return rc < 0 ? rc : 0;
}

/* 1: the row is hidden, 0: it is not. */
static int row_is_hidden(struct columnar_purge *purge, const struct unfiltered *row,
                         struct error *err)
{
    const struct table *table = purge->deletions->table;
    int64_t timestamp_us = row->row.marker.timestamp_us;
    int order = -1;
    while (purge->has_head && (order = stream_position_compare(table, &purge->head, row)) < 0) {
        int rc = head_next(purge, err);
        if (rc != 0)
            return rc;
    }
    return row_deletion_hides(purge->deletions->partition_deletion, timestamp_us) ||
           row_deletion_hides(purge->open, timestamp_us) ||
           (purge->has_head && order == 0 &&
            row_deletion_hides(purge->head.row.deletion, timestamp_us));
}

/* Mark the hidden rows; 1: there are some, 0: none, or an error. */
static int rows_mark(struct columnar_purge *purge, const struct columnar_rows *rows,
                     struct error *err)
{
    struct slice slice = stream_slice_all();
    struct stream *stream = columnar_rows_stream(rows, &slice);
    struct unfiltered row;
    int rc = 0;
    bool any = false;
    for (uint32_t i = 0; rc >= 0 && (rc = stream->next(stream, &row, err)) == 1; i++) {
        rc = row_is_hidden(purge, &row, err);
        purge->gone[i] = rc == 1;
        any |= rc == 1;
    }
    stream_close(stream);
    return rc < 0 ? rc : any;
}

int columnar_purge_rows(struct columnar_purge *purge, struct columnar_rows *rows, struct error *err)
{
    int rc = purge->is_begun ? 0 : head_next(purge, err);
    if (rc != 0)
        return rc;
    if (rows->rows > purge->capacity) {
        purge->capacity = rows->rows;
        memory_free(purge->gone);
        purge->gone = memory_alloc(purge->capacity);
    }
    rc = rows_mark(purge, rows, err);
    if (rc == 1)
        columnar_rows_remove(rows, purge->gone);
    return rc < 0 ? rc : 0;
}

static bool is_bound_to_a_rank(const struct table *table, const struct row *row)
{
    bool only_deletes = row->marker.timestamp_us == TIMESTAMP_NONE && row->cell_count == 0 &&
                        row->complex_count == 0;
    struct bytes rank = row->clustering.values[table->clustering_count - 1];
    return !only_deletes && (row->is_static || type_value_bigint(rank) >= 0);
}

int columnar_purge_may(struct stream *overwrites, struct error *err)
{
    struct unfiltered item;
    int rc;
    bool may = true;
    while (may && (rc = overwrites->next(overwrites, &item, err)) == 1)
        may = item.kind == UNFILTERED_BOUND || !is_bound_to_a_rank(overwrites->table, &item.row);
    stream_close(overwrites);
    return !may ? 0 : rc < 0 ? rc : 1;
}

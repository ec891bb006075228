/* row_merge: every rule takes the maximum under a total order, so that merges may be repeated,
 * reordered and regrouped.  The higher write timestamp wins; at a tie the rules are those of
 * Cassandra (CASSANDRA-14592).  A marker or cell is *expiring* with a TTL, and *lasting* without
 * one:
 *
 *   deletions   the deletion that was made later (local_s) wins
 *   markers     expiring beats lasting, then the later expiry, then the smaller TTL
 *   cells       a tombstone or expiring cell beats a lasting one (an expiring cell will be a
 *               tombstone later: if the lasting value won until then, an answer would change
 *               without a write), a tombstone beats an expiring one, then the later expiry, the
 *               smaller TTL, and the larger value by unsigned bytes
 *   counters    are joined (counters/counter_cell.h) under the higher timestamp
 *
 * A deletion hides what was written at or before its timestamp.  Of range, row and complex deletion
 * the strongest counts and hides the weaker ones.  With a row deletion @5 and a column m:
 *
 *   range @7          ----------------x    the row's @5 is dropped, m's @9 stays
 *   m deletion @9     ----------------------x
 *   cells             m[a]@8 hidden   n@8 stays   m[b]@10 stays
 *
 * Deletions and merges of counters do not commute: a deletion @7 hides (+1 @5), but nothing of the
 * merged cell of (+1 @5) and (+2 @9).  Therefore a DELETE of a counter at T makes no tombstone, but
 * a cell of generation T without shards (counters/counter_cell.h). */
#include <string.h>

#include "counters/counter_cell.h"
#include "base/arena.h"
#include "storage/cell/row.h"

/* ---- the rules ---- */

static int order_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

bool row_deletion_supersedes(struct deletion a, struct deletion b)
{
    if (a.timestamp_us == TIMESTAMP_NONE || a.timestamp_us != b.timestamp_us)
        return a.timestamp_us > b.timestamp_us;
    return a.local_s > b.local_s;
}

bool row_deletion_hides(struct deletion deletion, int64_t timestamp_us)
{
    return timestamp_us <= deletion.timestamp_us && deletion.timestamp_us != TIMESTAMP_NONE;
}

int row_liveness_reconcile(struct liveness a, struct liveness b)
{
    int order = order_i64(b.timestamp_us, a.timestamp_us);

    if (order == 0)
        order = (b.ttl_s > 0) - (a.ttl_s > 0);
    if (order == 0)
        order = order_i64(b.expiry_s, a.expiry_s);
    return order != 0 ? order : order_i64(a.ttl_s, b.ttl_s);
}

static int cell_rank(const struct cell *cell)
{
    if ((cell->flags & CELL_TOMBSTONE) != 0)
        return 2;
    return cell->ttl_s > 0 ? 1 : 0;
}

int row_cell_reconcile(const struct cell *a, const struct cell *b)
{
    int order = order_i64(b->timestamp_us, a->timestamp_us);

    if (order == 0)
        order = cell_rank(b) - cell_rank(a);
    if (order == 0)
        order = order_i64(b->expiry_s, a->expiry_s);
    if (order == 0)
        order = order_i64(a->ttl_s, b->ttl_s);
    if (order == 0)
        order = bytes_compare(b->value, a->value);
    if (order == 0)
        order = b->flags - a->flags;
    /* Paths can be equal in their type's order and differ by bytes: decimals 1.0 and 1.00. */
    return order != 0 ? order : bytes_compare(b->path, a->path);
}

/* ---- merging ---- */

struct merge {
    const struct table *table;
    struct arena *arena;
    bool is_static;
    struct deletion active;           /* of range and row deletion the stronger */
    struct complex_deletion *complex; /* stronger than `active`; by column id */
    uint32_t complex_count;
    /* Of the last cell: its column, and the deletion over it. */
    uint32_t column_id;
    const struct column *column;
    struct deletion column_deletion;
};

struct cell_list {
    struct cell *cells;
    uint32_t count;
};

static uint32_t complex_find(const struct complex_deletion *complex, uint32_t count,
                             uint32_t column_id)
{
    uint32_t start = 0;
    uint32_t end = count;

    while (start < end) {
        uint32_t middle = start + (end - start) / 2;
        if (complex[middle].column_id < column_id)
            start = middle + 1;
        else
            end = middle;
    }
    return start;
}

/* NULL: the merged row, static or not, cannot have the column. */
static const struct column *merge_find_column(const struct merge *merge, uint32_t column_id)
{
    const struct column *column = schema_column(merge->table, column_id);
    enum column_kind kind = merge->is_static ? COLUMN_STATIC : COLUMN_REGULAR;

    return column != NULL && column->kind == kind ? column : NULL;
}

static void merge_set_column(struct merge *merge, uint32_t column_id)
{
    if (column_id == merge->column_id)
        return;
    uint32_t place = complex_find(merge->complex, merge->complex_count, column_id);
    merge->column_id = column_id;
    merge->column = merge_find_column(merge, column_id);
    merge->column_deletion = merge->active;
    if (place < merge->complex_count && merge->complex[place].column_id == column_id)
        merge->column_deletion = merge->complex[place].deletion;
}

static bool merge_keeps(struct merge *merge, const struct cell *cell)
{
    merge_set_column(merge, cell->column_id);
    if (merge->column == NULL || type_is_complex(merge->column->type) != (cell->path.data != NULL))
        return false;
    return !row_deletion_hides(merge->column_deletion, cell->timestamp_us);
}

static int merge_order(struct merge *merge, const struct cell *a, const struct cell *b)
{
    if (a->column_id != b->column_id)
        return a->column_id < b->column_id ? -1 : 1;
    if (a->path.data == NULL)
        return 0;
    merge_set_column(merge, a->column_id);
    return type_compare(type_path(merge->column->type), a->path, b->path);
}

static void counters_join(struct merge *merge, struct cell *into, const struct cell *other)
{
    struct buffer joined = {0};

    counter_cell_merge(into->value, other->value, &joined);
    into->value = arena_copy(merge->arena, buffer_view(&joined));
    buffer_release(&joined);
    if (other->timestamp_us > into->timestamp_us)
        into->timestamp_us = other->timestamp_us;
}

/* `cell` sorts at or after the last cell of the list. */
static void merge_emit(struct merge *merge, struct cell_list *list, const struct cell *cell)
{
    struct cell *last = list->count > 0 ? &list->cells[list->count - 1] : NULL;

    if (last == NULL || merge_order(merge, last, cell) != 0)
        list->cells[list->count++] = *cell;
    else if ((last->flags & cell->flags & CELL_COUNTER) != 0)
        counters_join(merge, last, cell);
    else if (row_cell_reconcile(last, cell) > 0)
        *last = *cell;
}

static struct cell_list cell_list_new(struct merge *merge, size_t capacity)
{
    return (struct cell_list){arena_array(merge->arena, capacity, sizeof(struct cell)), 0};
}

/* Merges by halves, so that a cell is moved log2(versions) times. */
static struct cell_list merge_cells(struct merge *merge, const struct row *const *versions,
                                    uint32_t count)
{
    if (count == 1) {
        struct cell_list kept = cell_list_new(merge, versions[0]->cell_count);
        for (uint32_t i = 0; i < versions[0]->cell_count; i++)
            if (merge_keeps(merge, &versions[0]->cells[i]))
                merge_emit(merge, &kept, &versions[0]->cells[i]);
        return kept;
    }
    struct cell_list a = merge_cells(merge, versions, count / 2);
    struct cell_list b = merge_cells(merge, versions + count / 2, count - count / 2);
    if (a.count == 0 || b.count == 0)
        return a.count == 0 ? b : a;
    struct cell_list merged = cell_list_new(merge, (size_t)a.count + b.count);
    uint32_t a_index = 0;
    uint32_t b_index = 0;
    while (a_index < a.count || b_index < b.count) {
        bool take_a =
            b_index == b.count ||
            (a_index < a.count && merge_order(merge, &a.cells[a_index], &b.cells[b_index]) <= 0);
        merge_emit(merge, &merged, take_a ? &a.cells[a_index++] : &b.cells[b_index++]);
    }
    return merged;
}

static void merge_complex_deletion(struct merge *merge, const struct complex_deletion *found)
{
    const struct column *column = merge_find_column(merge, found->column_id);

    if (column == NULL || !type_is_complex(column->type) ||
        !row_deletion_supersedes(found->deletion, merge->active))
        return;
    uint32_t place = complex_find(merge->complex, merge->complex_count, found->column_id);
    struct complex_deletion *at = &merge->complex[place];
    if (place < merge->complex_count && at->column_id == found->column_id) {
        if (row_deletion_supersedes(found->deletion, at->deletion))
            *at = *found;
        return;
    }
    memmove(at + 1, at, (merge->complex_count - place) * sizeof *at);
    *at = *found;
    merge->complex_count++;
}

static void merge_complex_deletions(struct merge *merge, const struct row *const *versions,
                                    uint32_t count)
{
    size_t capacity = 0;

    for (uint32_t i = 0; i < count; i++)
        capacity += versions[i]->complex_count;
    if (capacity == 0)
        return;
    merge->complex = arena_array(merge->arena, capacity, sizeof *merge->complex);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < versions[i]->complex_count; c++)
            merge_complex_deletion(merge, &versions[i]->complex[c]);
}

/* Equal clusterings can differ by bytes.  The least by bytes is taken, whatever the order of the
 * versions. */
static bool clustering_bytes_less(const struct clustering *a, const struct clustering *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        int order = bytes_compare(a->values[i], b->values[i]);
        if (order != 0)
            return order < 0;
    }
    return false;
}

void row_merge(const struct table *table, const struct row *const *versions, uint32_t version_count,
               struct deletion range, struct arena *arena, struct row *merged_out)
{
    check(version_count > 0);
    const struct clustering *clustering = &versions[0]->clustering;
    struct liveness marker = LIVENESS_NONE;
    struct deletion deletion = DELETION_NONE;

    for (uint32_t i = 0; i < version_count; i++) {
        const struct row *version = versions[i];
        check(version->is_static == versions[0]->is_static);
        if (clustering_bytes_less(&version->clustering, clustering))
            clustering = &version->clustering;
        if (row_liveness_reconcile(marker, version->marker) > 0)
            marker = version->marker;
        if (row_deletion_supersedes(version->deletion, deletion))
            deletion = version->deletion;
    }
    if (!row_deletion_supersedes(deletion, range))
        deletion = DELETION_NONE;
    /* No column has id 0, so the first cell's column is looked up. */
    struct merge merge = {.table = table, .arena = arena, .is_static = versions[0]->is_static};
    merge.active = deletion.timestamp_us != TIMESTAMP_NONE ? deletion : range;
    if (row_deletion_hides(merge.active, marker.timestamp_us))
        marker = LIVENESS_NONE;
    merge_complex_deletions(&merge, versions, version_count);
    struct cell_list cells = merge_cells(&merge, versions, version_count);
    *merged_out = (struct row){.is_static = merge.is_static,
                               .clustering = *clustering,
                               .marker = marker,
                               .deletion = deletion,
                               .complex = merge.complex,
                               .complex_count = merge.complex_count,
                               .cells = cells.cells,
                               .cell_count = cells.count};
}

/* ---- reading ---- */

static bool cell_is_live(const struct cell *cell, int64_t now_s)
{
    if ((cell->flags & CELL_TOMBSTONE) != 0)
        return false;
    if ((cell->flags & CELL_COUNTER) != 0 && counter_cell_shard_count(cell->value) == 0)
        return false;
    return cell->ttl_s == 0 || now_s < cell->expiry_s;
}

static bool is_plain(const struct merge *merge, const struct cell *cell)
{
    const struct column *column = merge_find_column(merge, cell->column_id);
    return cell->flags == 0 && cell->ttl_s == 0 && cell->path.data == NULL && column != NULL &&
           !type_is_complex(column->type);
}

static uint32_t cells_live_first(struct merge *merge, const struct row *row, int64_t now_s)
{
    uint32_t count = 0;
    while (count < row->cell_count &&
           (is_plain(merge, &row->cells[count]) ||
            (cell_is_live(&row->cells[count], now_s) && merge_keeps(merge, &row->cells[count]))))
        count++;
    return count;
}

/* The first *count cells are live, and the next is not.  *count becomes the number of live
 * cells. */
static const struct cell *cells_filter(struct merge *merge, const struct row *row, int64_t now_s,
                                       struct arena *arena, uint32_t *count)
{
    struct cell *cells = arena_array(arena, row->cell_count, sizeof *cells);
    memcpy(cells, row->cells, *count * sizeof *cells);
    for (uint32_t i = *count + 1; i < row->cell_count; i++)
        if (cell_is_live(&row->cells[i], now_s) && merge_keeps(merge, &row->cells[i]))
            cells[(*count)++] = row->cells[i];
    return cells;
}

bool row_live(const struct table *table, const struct row *row, int64_t now_s, struct arena *arena,
              struct row *live_out)
{
    struct merge merge = {.table = table, .is_static = row->is_static, .active = DELETION_NONE};
    struct liveness marker = row->marker;
    uint32_t count = cells_live_first(&merge, row, now_s);

    if (marker.ttl_s > 0 && now_s >= marker.expiry_s)
        marker = LIVENESS_NONE;
    const struct cell *cells = row->cells;
    if (count < row->cell_count)
        cells = cells_filter(&merge, row, now_s, arena, &count);
    if (live_out != row)
        *live_out = *row;
    live_out->marker = marker;
    live_out->deletion = DELETION_NONE;
    live_out->complex = NULL;
    live_out->complex_count = 0;
    live_out->cells = cells;
    live_out->cell_count = count;
    return marker.timestamp_us != TIMESTAMP_NONE || count > 0;
}

struct deletion row_deletion_purge(struct deletion deletion, int64_t before_us)
{
    return deletion.timestamp_us < before_us ? DELETION_NONE : deletion;
}

bool row_purge(const struct table *table, const struct row *row, int64_t now_s, int64_t before_us,
               struct arena *arena, struct row *kept_out)
{
    struct merge merge = {.table = table, .is_static = row->is_static, .active = DELETION_NONE};
    struct complex_deletion *complex = arena_array(arena, row->complex_count, sizeof *complex);
    struct cell *cells = arena_array(arena, row->cell_count, sizeof *cells);
    *kept_out = *row;
    kept_out->deletion = row_deletion_purge(row->deletion, before_us);
    if (row->marker.ttl_s > 0 && now_s >= row->marker.expiry_s &&
        row->marker.timestamp_us < before_us)
        kept_out->marker = LIVENESS_NONE;
    kept_out->complex = complex;
    kept_out->complex_count = 0;
    for (uint32_t i = 0; i < row->complex_count; i++)
        if (row->complex[i].deletion.timestamp_us >= before_us)
            complex[kept_out->complex_count++] = row->complex[i];
    kept_out->cells = cells;
    kept_out->cell_count = 0;
    for (uint32_t i = 0; i < row->cell_count; i++) {
        const struct cell *cell = &row->cells[i];
        if ((cell_is_live(cell, now_s) || cell->timestamp_us >= before_us) &&
            merge_keeps(&merge, cell))
            cells[kept_out->cell_count++] = *cell;
    }
    return !row_is_empty(kept_out);
}

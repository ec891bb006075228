/* mutation: see the header.
 *
 * A memtable checks nothing, so mutation_check must refuse what cannot be applied or read back.
 * Merging relies on ascending items, sorted cells, valid values, and range deletions that open and
 * close in turn.
 *
 * Packed (docs/FORMATS.md "Mutation"):
 *
 *     varint table id
 *     sized  partition key             the token is computed, not stored
 *     u8     flags                     1: the partition is deleted
 *     [signed timestamp_us, signed local_s]         of that deletion
 *     varint number of items
 *     items  as row_unfiltered_pack writes them
 *
 * Cells of a dropped column are accepted, because the log may have writes to the column from before
 * the schema change. */
#include "storage/cell/mutation.h"

#include <string.h>

#include "base/murmur3.h"
#include "counters/counter_cell.h"
#include "base/arena.h"
#include "storage/cell/stream.h"

/* Written to disk: the numbers cannot change. */
enum { MUTATION_DELETES_PARTITION = 1 };

enum { MUTATION_ITEM_SIZE_MIN = 2, MUTATION_ITEMS_MAX = 1 << 24 };

/* ---- pack ---- */

void mutation_pack_head(const struct mutation *mutation, struct buffer *buffer)
{
    bool deletes = mutation->deletion.timestamp_us != TIMESTAMP_NONE;

    buffer_put_varint(buffer, mutation->table_id);
    buffer_put_sized(buffer, mutation->key);
    buffer_put_u8(buffer, deletes ? MUTATION_DELETES_PARTITION : 0);
    if (deletes)
        row_deletion_pack(mutation->deletion, buffer);
    buffer_put_varint(buffer, mutation->item_count);
}

void mutation_pack(const struct mutation *mutation, struct buffer *buffer)
{
    mutation_pack_head(mutation, buffer);
    for (uint32_t i = 0; i < mutation->item_count; i++)
        row_unfiltered_pack(&mutation->items[i], buffer);
}

/* ---- unpack ---- */

static int corrupt(struct error *err, const struct table *table, const char *what)
{
    return error_set(err, ERROR_CORRUPT, "mutation of table %s.%s: %s", table->keyspace,
                     table->name, what);
}

static int check_clustering(const struct table *table, const struct clustering *clustering,
                            struct error *err)
{
    if (clustering->count > table->clustering_count)
        return corrupt(err, table, "too many clustering values");
    for (uint32_t i = 0; i < clustering->count; i++) {
        const struct column *column = &table->columns[table->partition_count + i];
        if (type_validate(column->type, clustering->values[i], NULL) < 0)
            return corrupt(err, table, "clustering holds no value of its type");
    }
    return 0;
}

/* NULL: a row of that kind cannot have the column. */
static const struct type *cell_column_type(const struct table *table, uint32_t column_id,
                                           bool is_static)
{
    const struct column *column = schema_column(table, column_id);

    if (column != NULL)
        return column->kind == (is_static ? COLUMN_STATIC : COLUMN_REGULAR) ? column->type : NULL;
    for (uint32_t i = 0; i < table->dropped_count; i++)
        if (table->dropped[i].id == column_id)
            return table->dropped[i].type;
    return NULL;
}

static int check_cell_value(const struct table *table, const struct cell *cell,
                            const struct type *type, struct error *err)
{
    struct error reason = {.text = "a damaged counter"};

    if ((cell->flags & CELL_TOMBSTONE) != 0)
        return cell->value.size == 0 ? 0 : corrupt(err, table, "deleted cell has a value");
    if (type == NULL)
        return cell->value.size == 0 ? 0 : corrupt(err, table, "cell that takes no value has one");
    if ((type->kind == TYPE_COUNTER) != ((cell->flags & CELL_COUNTER) != 0))
        return corrupt(err, table, "counter and plain cells mixed");
    int rc = type->kind == TYPE_COUNTER ? counter_cell_validate(cell->value)
                                        : type_validate(type, cell->value, &reason);
    if (rc == 0)
        return 0;
    const struct column *column = schema_column(table, cell->column_id);
    error_wrap(&reason, "cell holds no value of its type; column %s",
               column != NULL ? column->name : "that was dropped");
    return corrupt(err, table, reason.text);
}

static int check_cell_form(const struct table *table, const struct cell *cell,
                           const struct type *type, struct error *err)
{
    if (type == NULL)
        return corrupt(err, table, "cell of a column that the row cannot have");
    if ((cell->flags & ~(CELL_TOMBSTONE | CELL_COUNTER)) != 0 || cell->ttl_s < 0)
        return corrupt(err, table, "cell with unknown flags or a negative TTL");
    if (type_is_complex(type) != (cell->path.data != NULL))
        return corrupt(err, table, "cell path missing or not expected");
    return 0;
}

static int check_cell_content(const struct table *table, const struct cell *cell,
                              const struct type *type, struct error *err)
{
    if (!type_is_complex(type))
        return check_cell_value(table, cell, type, err);
    if (type_validate(type_path(type), cell->path, NULL) < 0)
        return corrupt(err, table, "cell path is no value of its type");
    return check_cell_value(table, cell, type_element(type, cell->path), err);
}

/* Whether `a` is before `b`, by column and path; `type` is the type of the column of `b`. */
static bool cells_ascend(const struct cell *a, const struct cell *b, const struct type *type)
{
    if (a->column_id != b->column_id)
        return a->column_id < b->column_id;
    return type_is_complex(type) && type_compare(type_path(type), a->path, b->path) < 0;
}

static int check_complex(const struct table *table, const struct row *row, struct error *err)
{
    for (uint32_t i = 0; i < row->complex_count; i++) {
        const struct type *type =
            cell_column_type(table, row->complex[i].column_id, row->is_static);
        if (type == NULL || !type_is_complex(type))
            return corrupt(err, table, "deletion of a column that is not complex");
        if (i > 0 && row->complex[i - 1].column_id >= row->complex[i].column_id)
            return corrupt(err, table, "complex deletions out of order");
    }
    return 0;
}

static int check_row(const struct table *table, const struct row *row, struct error *err)
{
    if (row->clustering.count != (row->is_static ? 0 : table->clustering_count))
        return corrupt(err, table, "wrong number of clustering values");
    if (row->marker.ttl_s < 0)
        return corrupt(err, table, "negative TTL");
    int rc = check_clustering(table, &row->clustering, err);
    if (rc == 0)
        rc = check_complex(table, row, err);
    for (uint32_t i = 0; rc == 0 && i < row->cell_count; i++) {
        const struct cell *cell = &row->cells[i];
        const struct type *type = cell_column_type(table, cell->column_id, row->is_static);
        rc = check_cell_form(table, cell, type, err);
        if (rc == 0)
            rc = check_cell_content(table, cell, type, err);
        if (rc == 0 && i > 0 && !cells_ascend(&cell[-1], cell, type))
            rc = corrupt(err, table, "cells out of order");
    }
    return rc;
}

static int check_bound(const struct table *table, const struct bound *bound, struct error *err)
{
    if (bound->side != BOUND_BEFORE && bound->side != BOUND_AFTER)
        return corrupt(err, table, "bound on neither side");
    return check_clustering(table, &bound->prefix, err);
}

int mutation_check_item(const struct table *table, const struct unfiltered *item, struct error *err)
{
    return item->kind == UNFILTERED_ROW ? check_row(table, &item->row, err)
                                        : check_bound(table, &item->bound, err);
}

/* Check each item and their order.  The deletion in force before each bound must be the one after
 * the previous bound; after the last bound there must be none. */
static int check_items(const struct table *table, const struct unfiltered *items, uint32_t count,
                       struct error *err)
{
    int64_t open_us = TIMESTAMP_NONE;

    for (uint32_t i = 0; i < count; i++) {
        bool is_row = items[i].kind == UNFILTERED_ROW;
        int rc = mutation_check_item(table, &items[i], err);
        if (rc < 0)
            return rc;
        if (i > 0 && stream_position_compare(table, &items[i - 1], &items[i]) >= 0)
            return corrupt(err, table, "items out of order");
        if (is_row)
            continue;
        if (items[i].before.timestamp_us != open_us)
            return corrupt(err, table, "range deletions do not pair up");
        open_us = items[i].after.timestamp_us;
    }
    return open_us == TIMESTAMP_NONE ? 0 : corrupt(err, table, "range deletion without end");
}

static void skip_bad_cells(const struct table *table, const struct cell_salvage *salvage,
                           struct arena *arena, struct row *row)
{
    struct cell *kept = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < row->cell_count; i++) {
        const struct cell *cell = &row->cells[i];
        const struct type *type = cell_column_type(table, cell->column_id, row->is_static);
        struct error reason;
        bool is_bad = check_cell_form(table, cell, type, NULL) == 0 &&
                      check_cell_content(table, cell, type, &reason) < 0;
        if (is_bad)
            salvage->skipped(salvage->context, reason.text);
        if (is_bad && kept == NULL) {
            kept = arena_array(arena, row->cell_count, sizeof *kept);
            memcpy(kept, row->cells, i * sizeof *kept);
            count = i;
        } else if (!is_bad && kept != NULL) {
            kept[count++] = row->cells[i];
        }
    }
    if (kept == NULL)
        return;
    row->cells = kept;
    row->cell_count = count;
}

/* The array grows with the items, because the count in a damaged mutation could need gigabytes. */
static int unpack_items(struct reader *reader, const struct table *table, struct arena *arena,
                        const struct cell_salvage *salvage, struct mutation *mutation,
                        struct error *err)
{
    uint64_t count = reader_count(reader, MUTATION_ITEM_SIZE_MIN);
    struct unfiltered *items = NULL;
    uint32_t capacity = 0;

    if (reader->failed || count > MUTATION_ITEMS_MAX)
        return corrupt(err, table, "cut off or damaged");
    for (uint32_t i = 0; i < count; i++) {
        items = arena_make_room(arena, items, i, &capacity, sizeof *items);
        if (row_unfiltered_unpack(reader, arena, &items[i]) < 0)
            return corrupt(err, table, "an item is damaged");
        if (salvage != NULL && items[i].kind == UNFILTERED_ROW)
            skip_bad_cells(table, salvage, arena, &items[i].row);
    }
    mutation->items = items;
    mutation->item_count = (uint32_t)count;
    return check_items(table, items, mutation->item_count, err);
}

/* The skipped mutation keeps its place in the batch, because the timestamps of later mutations
 * depend on their places. */
static int skip_unread(struct reader *reader, struct arena *arena, struct mutation *mutation,
                       struct error *err)
{
    (void)reader_sized(reader);
    if ((reader_u8(reader) & MUTATION_DELETES_PARTITION) != 0)
        (void)row_deletion_unpack(reader);
    uint64_t count = reader_count(reader, MUTATION_ITEM_SIZE_MIN);
    struct unfiltered item;
    bool is_good = !reader->failed;
    for (uint64_t i = 0; i < count && is_good; i++)
        is_good = row_unfiltered_unpack(reader, arena, &item) == 0;
    return is_good ? 0
                   : error_set(err, ERROR_CORRUPT, "a mutation of table %u is damaged",
                               mutation->table_id);
}

static int no_table(struct error *err, uint64_t table_id)
{
    return error_set(err, ERROR_CORRUPT, "mutation of table %llu, which does not exist",
                     (unsigned long long)table_id);
}

int mutation_check(const struct mutation *mutation, const struct schema *schema, struct error *err)
{
    const struct table *table = schema_table(schema, mutation->table_id);

    if (table == NULL)
        return no_table(err, mutation->table_id);
    int rc = schema_check_key(table, mutation->key, err);
    if (rc == 0 && mutation->item_count > MUTATION_ITEMS_MAX)
        rc = corrupt(err, table, "too many rows");
    return rc == 0 ? check_items(table, mutation->items, mutation->item_count, err) : rc;
}

int mutation_unpack(struct reader *reader, const struct schema *schema, struct arena *arena,
                    const struct cell_salvage *salvage, struct mutation *mutation_out,
                    struct error *err)
{
    *mutation_out = (struct mutation){.deletion = DELETION_NONE};
    uint64_t table_id = reader_varint(reader);
    const struct table *table =
        table_id <= UINT32_MAX ? schema_table(schema, (uint32_t)table_id) : NULL;
    mutation_out->table_id = (uint32_t)table_id;
    if (!reader->failed && table == NULL && schema_is_unread(schema, (uint32_t)table_id))
        return skip_unread(reader, arena, mutation_out, err);
    if (reader->failed || table == NULL)
        return no_table(err, table_id);
    mutation_out->key = reader_sized(reader);
    uint8_t flags = reader_u8(reader);
    if (reader->failed || (flags & ~MUTATION_DELETES_PARTITION) != 0)
        return corrupt(err, table, "cut off or damaged");
    int rc = schema_check_key(table, mutation_out->key, err);
    if (rc < 0)
        return rc;
    mutation_out->token = murmur3_token(mutation_out->key.data, mutation_out->key.size);
    if (flags != 0) {
        mutation_out->deletion.timestamp_us = reader_signed(reader);
        mutation_out->deletion.local_s = reader_signed(reader);
        if (!reader->failed && mutation_out->deletion.timestamp_us == TIMESTAMP_NONE)
            return corrupt(err, table, "deletion without a timestamp");
    }
    return unpack_items(reader, table, arena, salvage, mutation_out, err);
}

/* ---- building ---- */

static const struct column_value *value_of(const struct column_value *values, uint32_t count,
                                           uint32_t column_id)
{
    for (uint32_t i = 0; i < count; i++)
        if (values[i].column_id == column_id)
            return &values[i];
    return NULL;
}

static struct bytes key_value(const struct column_value *values, uint32_t count,
                              const struct column *column)
{
    const struct column_value *value = value_of(values, count, column->id);

    check(value != NULL && !value->is_null);
    return value->value;
}

static void set_key(const struct table *table, const struct column_value *values, uint32_t count,
                    struct arena *arena, struct mutation *mutation)
{
    struct buffer key = {0};

    for (uint32_t i = 0; i < table->partition_count; i++)
        type_key_put_component(&key, table->partition_count,
                               key_value(values, count, &table->columns[i]));
    mutation->table_id = table->id;
    mutation->key = arena_copy(arena, buffer_view(&key));
    mutation->token = murmur3_token(mutation->key.data, mutation->key.size);
    buffer_release(&key);
}

static void set_clustering(const struct table *table, const struct column_value *values,
                           uint32_t count, struct arena *arena, struct clustering *clustering)
{
    clustering->count = table->clustering_count;
    for (uint32_t i = 0; i < table->clustering_count; i++) {
        const struct column *column = &table->columns[table->partition_count + i];
        clustering->values[i] = arena_copy(arena, key_value(values, count, column));
    }
}

static bool has_clustering(const struct table *table, const struct column_value *values,
                           uint32_t count)
{
    return table->clustering_count > 0 &&
           value_of(values, count, table->columns[table->partition_count].id) != NULL;
}

static void row_start(struct unfiltered *item, bool is_static)
{
    *item = (struct unfiltered){.kind = UNFILTERED_ROW};
    item->before = DELETION_NONE;
    item->after = DELETION_NONE;
    item->row.is_static = is_static;
    item->row.marker = LIVENESS_NONE;
    item->row.deletion = DELETION_NONE;
}

static void set_cells(const struct table *table, const struct column_value *values, uint32_t count,
                      enum column_kind kind, struct arena *arena, struct row *row)
{
    struct cell *cells = arena_array(arena, count, sizeof *cells);
    uint32_t used = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct column *column = schema_column(table, values[i].column_id);
        check(column != NULL && !type_is_complex(column->type));
        if (column->kind != kind)
            continue;
        uint32_t at = used++;
        for (; at > 0 && cells[at - 1].column_id > column->id; at--)
            cells[at] = cells[at - 1];
        cells[at] = (struct cell){
            .column_id = column->id,
            .flags = values[i].is_null ? CELL_TOMBSTONE : 0,
            .timestamp_us = TIMESTAMP_SERVER,
            .expiry_s = EXPIRY_NONE,
        };
        if (!values[i].is_null)
            cells[at].value = arena_copy(arena, values[i].value);
    }
    row->cells = cells;
    row->cell_count = used;
}

void mutation_insert(const struct table *table, const struct column_value *values, uint32_t count,
                     bool with_marker, struct arena *arena, struct mutation *mutation_out)
{
    struct unfiltered *items = arena_array(arena, 2, sizeof *items);
    uint32_t used = 0;

    *mutation_out = (struct mutation){.deletion = DELETION_NONE};
    set_key(table, values, count, arena, mutation_out);
    if (table->static_count > 0) {
        row_start(&items[used], true);
        set_cells(table, values, count, COLUMN_STATIC, arena, &items[used].row);
        if (items[used].row.cell_count > 0)
            used++;
    }
    /* Without clustering values only the static row is written. */
    if (table->clustering_count == 0 || has_clustering(table, values, count)) {
        struct row *row = &items[used].row;
        row_start(&items[used], false);
        set_clustering(table, values, count, arena, &row->clustering);
        set_cells(table, values, count, COLUMN_REGULAR, arena, row);
        if (with_marker)
            row->marker.timestamp_us = TIMESTAMP_SERVER;
        if (with_marker || row->cell_count > 0)
            used++;
    }
    mutation_out->items = items;
    mutation_out->item_count = used;
}

void mutation_delete(const struct table *table, const struct column_value *values, uint32_t count,
                     struct arena *arena, struct mutation *mutation_out)
{
    struct deletion deletion = {.timestamp_us = TIMESTAMP_SERVER};

    *mutation_out = (struct mutation){.deletion = DELETION_NONE};
    set_key(table, values, count, arena, mutation_out);
    if (!has_clustering(table, values, count)) {
        mutation_out->deletion = deletion;
        return;
    }
    struct unfiltered *item = arena_alloc(arena, sizeof *item, _Alignof(struct unfiltered));
    row_start(item, false);
    set_clustering(table, values, count, arena, &item->row.clustering);
    item->row.deletion = deletion;
    mutation_out->items = item;
    mutation_out->item_count = 1;
}

/* ---- the server's timestamp ---- */

static int64_t timestamp_filled(int64_t timestamp_us, int64_t server_us)
{
    return timestamp_us == TIMESTAMP_SERVER ? server_us : timestamp_us;
}

struct deletion mutation_fill_deletion(struct deletion deletion, int64_t server_us)
{
    if (deletion.timestamp_us == TIMESTAMP_SERVER)
        return (struct deletion){server_us, server_us / 1000000};
    return deletion;
}

void mutation_fill_row(const struct row *row, int64_t server_us, struct arena *arena,
                       struct row *filled_out)
{
    struct cell *cells = arena_array(arena, row->cell_count, sizeof *cells);
    struct complex_deletion *complex = arena_array(arena, row->complex_count, sizeof *complex);

    *filled_out = *row;
    filled_out->marker.timestamp_us = timestamp_filled(row->marker.timestamp_us, server_us);
    filled_out->deletion = mutation_fill_deletion(row->deletion, server_us);
    for (uint32_t i = 0; i < row->cell_count; i++) {
        cells[i] = row->cells[i];
        cells[i].timestamp_us = timestamp_filled(cells[i].timestamp_us, server_us);
    }
    for (uint32_t i = 0; i < row->complex_count; i++) {
        complex[i] = row->complex[i];
        complex[i].deletion = mutation_fill_deletion(complex[i].deletion, server_us);
    }
    filled_out->cells = cells;
    filled_out->complex = complex;
}

void mutation_fill(const struct mutation *mutation, int64_t server_us, struct arena *arena,
                   struct mutation *filled_out)
{
    struct unfiltered *items = arena_array(arena, mutation->item_count, sizeof *items);

    *filled_out = *mutation;
    filled_out->deletion = mutation_fill_deletion(mutation->deletion, server_us);
    for (uint32_t i = 0; i < mutation->item_count; i++) {
        items[i] = mutation->items[i];
        items[i].before = mutation_fill_deletion(items[i].before, server_us);
        items[i].after = mutation_fill_deletion(items[i].after, server_us);
        if (items[i].kind == UNFILTERED_ROW)
            mutation_fill_row(&mutation->items[i].row, server_us, arena, &items[i].row);
    }
    filled_out->items = items;
}

static int64_t older(int64_t oldest_us, int64_t timestamp_us)
{
    return timestamp_us > TIMESTAMP_SERVER && timestamp_us < oldest_us ? timestamp_us : oldest_us;
}

int64_t mutation_oldest_us(const struct mutation *mutation)
{
    int64_t oldest_us = older(INT64_MAX, mutation->deletion.timestamp_us);

    for (uint32_t i = 0; i < mutation->item_count; i++) {
        const struct unfiltered *item = &mutation->items[i];
        oldest_us = older(oldest_us, item->before.timestamp_us);
        oldest_us = older(oldest_us, item->after.timestamp_us);
        if (item->kind != UNFILTERED_ROW)
            continue;
        oldest_us = older(oldest_us, item->row.marker.timestamp_us);
        oldest_us = older(oldest_us, item->row.deletion.timestamp_us);
        for (uint32_t c = 0; c < item->row.cell_count; c++)
            oldest_us = older(oldest_us, item->row.cells[c].timestamp_us);
        for (uint32_t c = 0; c < item->row.complex_count; c++)
            oldest_us = older(oldest_us, item->row.complex[c].deletion.timestamp_us);
    }
    return oldest_us;
}

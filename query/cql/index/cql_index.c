#include "query/cql/index/cql_index.h"

#include <string.h>

#include "base/murmur3.h"
#include "query/cql/expression/cql_row.h"
#include "query/cql/expression/cql_type.h"
#include "storage/cell/write_batch.h"
#include "storage/schema/schema.h"
#include "storage/schema/type.h"

enum {
    COLUMNS_BEFORE = 4, /* value, place, token, key */
    UNBUILT_CHUNK = 64 << 10
};

static const char *const kinds[] = {[CQL_INDEX_OF_VALUE] = "value",
                                    [CQL_INDEX_OF_ELEMENTS] = "elements",
                                    [CQL_INDEX_OF_KEYS] = "keys",
                                    [CQL_INDEX_OF_ENTRIES] = "entries"};

/* The name of a hidden table is one of these, the indexed table's number, _ and the column's
 * number. */
static const char *const name_starts[] = {[CQL_INDEX_OF_VALUE] = "index_",
                                          [CQL_INDEX_OF_ELEMENTS] = "index_",
                                          [CQL_INDEX_OF_KEYS] = "index_keys_",
                                          [CQL_INDEX_OF_ENTRIES] = "index_entries_"};

/* ---- the catalog: "index NAME table ID column ID KIND built" ---- */

static struct bytes take_word(struct bytes *text)
{
    struct bytes word = {text->data, 0};
    while (word.size < text->size && word.data[word.size] != ' ')
        word.size++;
    size_t used = word.size + (word.size < text->size);
    *text = bytes_of(text->data + used, text->size - used);
    return word;
}

static bool take_number(struct bytes *text, const char *name, uint32_t *number)
{
    bool is_named = bytes_equal(take_word(text), bytes_text(name));
    struct bytes digits = take_word(text);
    *number = 0;
    for (size_t i = 0; i < digits.size && is_named; i++) {
        is_named = digits.data[i] >= '0' && digits.data[i] <= '9' && *number < UINT32_MAX / 10;
        *number = *number * 10 + (uint32_t)(digits.data[i] - '0');
    }
    return is_named && digits.size > 0;
}

/* False: `hidden` is not an index's table, or the indexed table or column is gone.  Blanks separate
 * the words of the comment, because names have no blanks. */
static bool read_comment(const struct schema *schema, const struct table *hidden,
                         struct arena *arena, struct cql_index *index)
{
    struct bytes text = bytes_text(hidden->comment);
    uint32_t table_id;
    uint32_t column_id;
    if ((hidden->flags & TABLE_HIDDEN) == 0 || !bytes_equal(take_word(&text), bytes_text("index")))
        return false;
    struct bytes name = take_word(&text);
    if (!take_number(&text, "table", &table_id) || !take_number(&text, "column", &column_id))
        return false;
    struct bytes kind = take_word(&text);
    *index = (struct cql_index){.name = cql_text(arena, name), .hidden = hidden};
    index->table = schema_table(schema, table_id);
    index->column = index->table != NULL ? schema_column(index->table, column_id) : NULL;
    index->is_built = bytes_equal(text, bytes_text("built"));
    for (int of = CQL_INDEX_OF_VALUE; of <= CQL_INDEX_OF_ENTRIES; of++)
        if (bytes_equal(kind, bytes_text(kinds[of])))
            index->of = (enum cql_index_of)of;
    return index->column != NULL;
}

static const char *comment_of(const char *name, uint32_t table_id, uint32_t column_id,
                              enum cql_index_of of, bool is_built, struct arena *arena)
{
    return cql_text_printf(arena, "index %s table %u column %u %s %s", name, table_id, column_id,
                           kinds[of], is_built ? "built" : "building");
}

static void insert_by_name(struct cql_index *indexes, uint32_t count, const struct cql_index *index)
{
    uint32_t at = count;
    for (; at > 0 && strcmp(indexes[at - 1].name, index->name) > 0; at--)
        indexes[at] = indexes[at - 1];
    indexes[at] = *index;
}

uint32_t cql_index_list(const struct schema *schema, const struct table *table, struct arena *arena,
                        const struct cql_index **indexes_out)
{
    struct cql_index *indexes =
        arena_alloc(arena, (table->column_count * 4 + 1) * sizeof(*indexes), 16);
    uint32_t count = 0;
    *indexes_out = indexes;
    /* Hidden tables are found by the first part of their names, because a walk over all tables
     * would make a request about every table take quadratic time.  The loop begins with
     * CQL_INDEX_OF_ELEMENTS, whose hidden tables have names that begin as those for values do. */
    for (int of = CQL_INDEX_OF_ELEMENTS; of <= CQL_INDEX_OF_ENTRIES; of++) {
        const char *start = cql_text_printf(arena, "%s%u_", name_starts[of], table->id);
        const struct table before = {.keyspace = CQL_INDEX_KEYSPACE, .name = start};
        for (const struct table *t = schema_table_next(schema, &before);
             t != NULL && strcmp(t->keyspace, CQL_INDEX_KEYSPACE) == 0 &&
             strncmp(t->name, start, strlen(start)) == 0;
             t = schema_table_next(schema, t)) {
            struct cql_index index;
            if (read_comment(schema, t, arena, &index) && index.table == table)
                insert_by_name(indexes, count++, &index);
        }
    }
    return count;
}

bool cql_index_find(const struct schema *schema, const char *keyspace, struct bytes name,
                    struct arena *arena, struct cql_index *index)
{
    for (const struct table *t = schema_table_next(schema, NULL); t != NULL;
         t = schema_table_next(schema, t)) {
        if (read_comment(schema, t, arena, index) &&
            strcmp(index->table->keyspace, keyspace) == 0 &&
            bytes_equal(bytes_text(index->name), name)) {
            return true;
        }
    }
    return false;
}

bool cql_index_is_wide(const struct cql_index *index)
{
    return index->column->kind == COLUMN_PARTITION || index->column->kind == COLUMN_STATIC;
}

void cql_index_target(const struct cql_index *index, struct buffer *text)
{
    static const char *const functions[] = {[CQL_INDEX_OF_ELEMENTS] = "values",
                                            [CQL_INDEX_OF_KEYS] = "keys",
                                            [CQL_INDEX_OF_ENTRIES] = "entries"};
    bool is_full = index->of == CQL_INDEX_OF_VALUE && index->column->type->frozen &&
                   (index->column->type->kind == TYPE_LIST ||
                    index->column->type->kind == TYPE_SET || index->column->type->kind == TYPE_MAP);
    if (is_full || index->of != CQL_INDEX_OF_VALUE) {
        buffer_append_text(text, is_full ? "full" : functions[index->of]);
        buffer_put_u8(text, '(');
    }
    type_print_name(index->column->name, text);
    if (is_full || index->of != CQL_INDEX_OF_VALUE)
        buffer_put_u8(text, ')');
}

/* ---- making and dropping ---- */

static const char *type_text(const struct type *type, struct arena *arena)
{
    struct buffer text = {.arena = arena};
    type_print(type, &text);
    return cql_text(arena, buffer_view(&text));
}

/* Whether a type is a user type or contains one.  The hidden table's keyspace has no user types, so
 * the table keeps their values as blobs.  Blobs suffice to compare values for equality. */
static bool uses_user_type(const struct type *type)
{
    bool uses = type->kind == TYPE_UDT;
    for (uint32_t i = 0; i < type->argument_count && !uses; i++)
        uses = uses_user_type(type->arguments[i]);
    return uses;
}

static const char *key_type(const struct type *type, struct arena *arena)
{
    return uses_user_type(type) ? "blob" : type_text(type, arena);
}

int cql_index_make(struct schema *schema, const struct table *table, const struct column *column,
                   enum cql_index_of of, const char *name, struct arena *arena,
                   struct cql_fault *fault)
{
    struct column_definition columns[COLUMNS_BEFORE + CLUSTERING_MAX] = {
        {.name = "value", .type = "blob", .kind = COLUMN_PARTITION},
        {.name = "place", .type = "int", .kind = COLUMN_PARTITION},
        {.name = "token", .type = "bigint", .kind = COLUMN_CLUSTERING},
        {.name = "key", .type = "blob", .kind = COLUMN_CLUSTERING}};
    check(schema_column(table, column->id) == column);
    if (table->clustering_count + 2 > CLUSTERING_MAX) {
        return cql_invalid(fault, "a table with an index has at most %d clustering columns",
                           CLUSTERING_MAX - 2);
    }
    bool is_wide = cql_index_is_wide(&(struct cql_index){.column = column});
    uint32_t clustering_count = is_wide ? 0 : table->clustering_count;
    for (uint32_t i = 0; i < clustering_count; i++) {
        const struct column *clustering = &table->columns[table->partition_count + i];
        columns[COLUMNS_BEFORE + i] =
            (struct column_definition){.name = cql_text_printf(arena, "c%u_0", i),
                                       .type = key_type(clustering->type, arena),
                                       .kind = COLUMN_CLUSTERING,
                                       .descending = clustering->descending};
    }
    struct error err = {0};
    int rc = 0;
    if (schema_keyspace(schema, CQL_INDEX_KEYSPACE) == NULL)
        rc = schema_add_keyspace(schema, CQL_INDEX_KEYSPACE, &err);
    struct table_definition definition = {
        .keyspace = CQL_INDEX_KEYSPACE,
        .name = cql_text_printf(arena, "%s%u_%u", name_starts[of], table->id, column->id),
        .comment = comment_of(name, table->id, column->id, of, false, arena),
        .flags = TABLE_HIDDEN,
        .columns = columns,
        .column_count = COLUMNS_BEFORE + clustering_count};
    if (rc == 0)
        rc = schema_add_table(schema, &definition, &err);
    return rc == 0 ? 0 : cql_fault_of(fault, &err);
}

int cql_index_set_built(struct schema *schema, const char *keyspace, const char *name,
                        struct cql_fault *fault)
{
    struct cql_index index;
    struct error err = {0};
    if (!cql_index_find(schema, keyspace, bytes_text(name), fault->arena, &index))
        return cql_invalid(fault, "Index '%s.%s' doesn't exist", keyspace, name);
    int rc = schema_set_table(
        schema, index.hidden->id,
        comment_of(name, index.table->id, index.column->id, index.of, true, fault->arena), 0,
        index.hidden->flags, &err);
    return rc == 0 ? 0 : cql_fault_of(fault, &err);
}

/* Returns a hidden table whose index is not built, or has lost its table or column; NULL: there is
 * none. */
static const struct table *next_unbuilt(const struct schema *schema, struct arena *arena)
{
    struct cql_index index;
    for (const struct table *t = schema_table_next(schema, NULL); t != NULL;
         t = schema_table_next(schema, t)) {
        bool is_of_index = (t->flags & TABLE_HIDDEN) != 0 && strncmp(t->comment, "index ", 6) == 0;
        if (is_of_index && !(read_comment(schema, t, arena, &index) && index.is_built))
            return t;
    }
    return NULL;
}

void cql_index_drop_unbuilt(struct schema *schema, struct arena *arena)
{
    for (const struct table *unbuilt = next_unbuilt(schema, arena); unbuilt != NULL;
         unbuilt = next_unbuilt(schema, arena)) {
        int rc = schema_drop_table(schema, unbuilt->id, NULL);
        check(rc == 0);
    }
}

struct schema *cql_index_without_unbuilt(const struct schema *schema)
{
    struct arena *arena = arena_new(UNBUILT_CHUNK);
    struct schema *changed = NULL;
    if (next_unbuilt(schema, arena) != NULL) {
        changed = schema_copy(schema);
        cql_index_drop_unbuilt(changed, arena);
    }
    arena_free(arena);
    return changed;
}

void cql_index_drop_all(struct schema *schema, const struct table *table, struct arena *arena)
{
    const struct cql_index *indexes;
    uint32_t count = cql_index_list(schema, table, arena, &indexes);
    for (uint32_t i = 0; i < count; i++) {
        int rc = schema_drop_table(schema, indexes[i].hidden->id, NULL);
        check(rc == 0);
    }
}

/* ---- entries ---- */

struct bytes cql_index_key(struct bytes value, struct arena *arena)
{
    struct buffer key = {.arena = arena};
    struct buffer place = {.arena = arena};
    type_value_put_int(&place, 0);
    type_key_put_component(&key, 2, value);
    type_key_put_component(&key, 2, buffer_view(&place));
    return buffer_view(&key);
}

void cql_index_row(const struct page_row *entry, struct bytes *key_out,
                   struct clustering *clustering_out)
{
    const struct clustering *from = &entry->row.clustering;
    *key_out = from->values[1];
    *clustering_out = (struct clustering){.count = from->count - 2};
    for (uint32_t i = 2; i < from->count; i++)
        clustering_out->values[i - 2] = from->values[i];
}

static struct bytes indexed_value(const struct cql_index *index, const struct cell *cell,
                                  struct arena *arena)
{
    struct bytes pair[2] = {cell->path, cell->value};
    switch (index->of) {
    case CQL_INDEX_OF_VALUE:
        return cell->value;
    case CQL_INDEX_OF_ELEMENTS:
        return index->column->type->kind == TYPE_SET ? cell->path : cell->value;
    case CQL_INDEX_OF_KEYS:
        return cell->path;
    case CQL_INDEX_OF_ENTRIES:
        break;
    }
    const struct type *list = cql_type_collection_of(arena, TYPE_LIST, index->column->type);
    return cql_row_collection(list, pair, 2, arena);
}

struct entry {
    const struct cql_index *index;
    struct bytes key;
    const struct clustering *clustering;
    struct bytes value;
    struct liveness marker;
};

static int add_entry(const struct entry *entry, struct write_batch *batch, struct cql_fault *fault)
{
    const struct cql_index *index = entry->index;
    struct arena *arena = batch->arena;
    if (entry->value.size > KEY_SIZE_MAX - 64) {
        return cql_invalid(fault,
                           "Cannot index value of size %zu for index %s on %s.%s(%s) (maximum "
                           "allowed size=%d)",
                           entry->value.size, index->name, index->table->keyspace,
                           index->table->name, index->column->name, KEY_SIZE_MAX);
    }
    struct buffer token = {.arena = batch->arena};
    type_value_put_bigint(&token, murmur3_token(entry->key.data, entry->key.size));
    struct unfiltered *item = arena_alloc(arena, sizeof(*item), 16);
    *item = (struct unfiltered){.kind = UNFILTERED_ROW};
    item->row = (struct row){.marker = entry->marker, .deletion = DELETION_NONE};
    item->row.clustering.values[0] = arena_copy(arena, buffer_view(&token));
    item->row.clustering.values[1] = arena_copy(arena, entry->key);
    item->row.clustering.count = 2;
    uint32_t count = cql_index_is_wide(index) ? 0 : entry->clustering->count;
    for (uint32_t i = 0; i < count; i++) {
        item->row.clustering.values[item->row.clustering.count++] =
            arena_copy(arena, entry->clustering->values[i]);
    }
    struct bytes entry_key = cql_index_key(entry->value, arena);
    struct mutation mutation = {.table_id = index->hidden->id,
                                .token = murmur3_token(entry_key.data, entry_key.size),
                                .key = entry_key,
                                .deletion = DELETION_NONE,
                                .items = item,
                                .item_count = 1};
    write_batch_add_mutation(batch, &mutation);
    return 0;
}

/* Returns the latest time of the row's marker and cells, or TIMESTAMP_NONE if the row has only
 * deletions. */
static int64_t written_us(const struct row *row)
{
    int64_t latest_us = row->marker.timestamp_us;
    for (uint32_t i = 0; i < row->cell_count; i++) {
        const struct cell *cell = &row->cells[i];
        bool is_later = (cell->flags & CELL_TOMBSTONE) == 0 && cell->timestamp_us > latest_us;
        latest_us = is_later ? cell->timestamp_us : latest_us;
    }
    return latest_us;
}

/* Add the entry for an index on a key column.  A static row gets an entry only in an index on a
 * partition column. */
static int add_key_entry(const struct cql_index *index, struct bytes key, const struct row *row,
                         struct write_batch *batch, struct cql_fault *fault)
{
    const struct column *column = index->column;
    struct entry entry = {.index = index,
                          .key = key,
                          .clustering = &row->clustering,
                          .marker = {written_us(row), 0, EXPIRY_NONE}};
    if (entry.marker.timestamp_us == TIMESTAMP_NONE)
        return 0;
    if (column->kind == COLUMN_CLUSTERING) {
        if (row->is_static)
            return 0;
        entry.value = row->clustering.values[column->position];
    } else if (type_key_component(key, index->table->partition_count, column->position,
                                  &entry.value) != 0) {
        return cql_invalid(fault, "Key of %s.%s is damaged", index->table->keyspace,
                           index->table->name);
    }
    return add_entry(&entry, batch, fault);
}

static int add_cell_entries(const struct cql_index *index, struct bytes key, const struct row *row,
                            struct write_batch *batch, struct cql_fault *fault)
{
    int rc = 0;
    for (uint32_t i = 0; i < row->cell_count && rc == 0; i++) {
        const struct cell *cell = &row->cells[i];
        if (cell->column_id != index->column->id || (cell->flags & CELL_TOMBSTONE) != 0)
            continue;
        struct entry entry = {.index = index,
                              .key = key,
                              .clustering = &row->clustering,
                              .value = indexed_value(index, cell, batch->arena),
                              .marker = {cell->timestamp_us, cell->ttl_s,
                                         cell->ttl_s > 0 ? cell->expiry_s : EXPIRY_NONE}};
        rc = add_entry(&entry, batch, fault);
    }
    return rc;
}

int cql_index_add(const struct cql_index *indexes, uint32_t count, struct bytes key,
                  const struct row *row, struct write_batch *batch, struct cql_fault *fault)
{
    int rc = 0;
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        enum column_kind kind = indexes[i].column->kind;
        rc = kind == COLUMN_PARTITION || kind == COLUMN_CLUSTERING
                 ? add_key_entry(&indexes[i], key, row, batch, fault)
                 : add_cell_entries(&indexes[i], key, row, batch, fault);
    }
    return rc;
}

/* schema: the catalog of tables, and changes of it.
 *
 * The number of a table or a column is never given again, not even after a drop, a copy or a
 * restart.  When a column is dropped, its cells stay in runs; row_merge drops cells whose column id
 * is unknown.
 *
 * A change builds a new table and then swaps the pointer, so that a failed change changes
 * nothing. */

#include <stdlib.h>
#include <string.h>

#include "base/hash128.h"
#include "base/memory.h"
#include "storage/schema/schema_private.h"

enum { SCHEMA_ARENA_CHUNK = 16 * 1024 };

static const char replication_default[] =
    "{'class': 'org.apache.cassandra.locator.SimpleStrategy', 'replication_factor': '1'}";

/* ---- making and freeing ---- */

struct schema *schema_new(void)
{
    struct schema *schema = memory_zeroed(1, sizeof *schema);

    atomic_init(&schema->references, 1);
    schema->version = 1;
    schema->table_id_next = TABLE_ID_USER_MIN;
    schema->arena = arena_new(SCHEMA_ARENA_CHUNK);
    return schema;
}

struct schema *schema_copy(const struct schema *schema)
{
    struct buffer serialized = {0};
    struct schema *copy;

    schema_serialize(schema, &serialized);
    int rc = schema_deserialize(buffer_view(&serialized), &copy, NULL);
    check(rc == 0);
    buffer_release(&serialized);
    copy->version++;
    return copy;
}

struct schema *schema_ref(struct schema *schema)
{
    atomic_fetch_add_explicit(&schema->references, 1, memory_order_relaxed);
    return schema;
}

static void schema_free(struct schema *schema)
{
    arena_free(schema->arena);
    memory_free(schema->keyspaces);
    memory_free(schema->types);
    memory_free(schema->tables);
    memory_free(schema->tables_by_id);
    memory_free(schema->unread);
    memory_free(schema);
}

void schema_unref(struct schema *schema)
{
    if (schema == NULL)
        return;

    unsigned before = atomic_fetch_sub_explicit(&schema->references, 1, memory_order_acq_rel);

    check(before > 0);
    if (before == 1)
        schema_free(schema);
}

uint32_t schema_version(const struct schema *schema)
{
    return schema->version;
}

/* Makes a name-based uuid (RFC 4122) of the data's hash, as Cassandra does for its schema
 * versions. */
static void uuid_from_hash(const void *data, size_t size, uint8_t uuid_out[16])
{
    struct hash128 hash = hash128(data, size);

    store_u64(uuid_out, hash.low);
    store_u64(uuid_out + 8, hash.high);
    uuid_out[6] = (uint8_t)((uuid_out[6] & 0x0F) | 0x30);
    uuid_out[8] = (uint8_t)((uuid_out[8] & 0x3F) | 0x80);
}

void schema_uuid(const struct schema *schema, uint8_t uuid_out[16])
{
    struct buffer serialized = {0};

    schema_serialize(schema, &serialized);
    uuid_from_hash(serialized.data, serialized.size, uuid_out);
    buffer_release(&serialized);
}

static void table_uuid(const struct table *table, uint8_t uuid_out[16])
{
    struct buffer name = {0};

    buffer_put_sized(&name, bytes_text(table->keyspace));
    buffer_put_sized(&name, bytes_text(table->name));
    buffer_put_u32(&name, table->id);
    uuid_from_hash(name.data, name.size, uuid_out);
    buffer_release(&name);
}

const char *schema_copy_text(struct schema *schema, const char *text)
{
    return (const char *)arena_copy(schema->arena, bytes_of(text, strlen(text) + 1)).data;
}

/* ---- lookups ---- */

static int order_names(const char *a_keyspace, const char *a_name, const char *b_keyspace,
                       const char *b_name)
{
    int order = strcmp(a_keyspace, b_keyspace);

    return order != 0 ? order : strcmp(a_name, b_name);
}

/* The index in schema->tables of the table of that name, or the index at which it would be
 * inserted. */
static uint32_t tables_find(const struct schema *schema, const char *keyspace, const char *name)
{
    uint32_t start = 0;
    uint32_t end = schema->table_count;

    while (start < end) {
        uint32_t middle = start + (end - start) / 2;
        const struct table *table = schema->tables[middle];
        if (order_names(table->keyspace, table->name, keyspace, name) < 0)
            start = middle + 1;
        else
            end = middle;
    }
    return start;
}

static uint32_t tables_find_id(const struct schema *schema, uint32_t table_id)
{
    uint32_t start = 0;
    uint32_t end = schema->table_count;

    while (start < end) {
        uint32_t middle = start + (end - start) / 2;
        if (schema->tables_by_id[middle]->id < table_id)
            start = middle + 1;
        else
            end = middle;
    }
    return start;
}

const struct table *schema_table(const struct schema *schema, uint32_t table_id)
{
    uint32_t index = tables_find_id(schema, table_id);

    if (index == schema->table_count || schema->tables_by_id[index]->id != table_id)
        return NULL;
    return schema->tables_by_id[index];
}

const struct table *schema_table_named(const struct schema *schema, const char *keyspace,
                                       const char *name)
{
    uint32_t index = tables_find(schema, keyspace, name);

    if (index == schema->table_count)
        return NULL;
    const struct table *table = schema->tables[index];
    return order_names(table->keyspace, table->name, keyspace, name) == 0 ? table : NULL;
}

const struct table *schema_table_next(const struct schema *schema, const struct table *after)
{
    uint32_t index = 0;

    if (after != NULL) {
        index = tables_find(schema, after->keyspace, after->name);
        index += schema_table_named(schema, after->keyspace, after->name) != NULL;
    }
    return index < schema->table_count ? schema->tables[index] : NULL;
}

static uint32_t keyspaces_find(const struct schema *schema, const char *name)
{
    uint32_t from = 0;
    uint32_t to = schema->keyspace_count;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;

        if (strcmp(schema->keyspaces[middle]->name, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

const struct keyspace *schema_keyspace(const struct schema *schema, const char *name)
{
    uint32_t place = keyspaces_find(schema, name);

    if (place == schema->keyspace_count || strcmp(schema->keyspaces[place]->name, name) != 0)
        return NULL;
    return schema->keyspaces[place];
}

const struct keyspace *schema_keyspace_next(const struct schema *schema,
                                            const struct keyspace *after)
{
    uint32_t index = after == NULL ? 0 : keyspaces_find(schema, after->name);

    if (after != NULL && index < schema->keyspace_count)
        index += strcmp(schema->keyspaces[index]->name, after->name) == 0;
    return index < schema->keyspace_count ? schema->keyspaces[index] : NULL;
}

uint32_t schema_type_place(const struct schema *schema, const char *keyspace, struct bytes name)
{
    uint32_t i = 0;

    while (i < schema->type_count && (strcmp(schema->types[i]->keyspace, keyspace) != 0 ||
                                      !bytes_equal(bytes_text(schema->types[i]->type->name), name)))
        i++;
    return i;
}

const struct user_type *schema_type(const struct schema *schema, const char *keyspace,
                                    const char *name)
{
    uint32_t index = schema_type_place(schema, keyspace, bytes_text(name));

    return index < schema->type_count ? schema->types[index] : NULL;
}

const struct user_type *schema_type_at(const struct schema *schema, uint32_t index)
{
    return index < schema->type_count ? schema->types[index] : NULL;
}

struct type_scope {
    const struct schema *schema;
    const char *keyspace;
};

static const struct type *type_scope_find(void *context, struct bytes name)
{
    const struct type_scope *scope = context;
    uint32_t index = schema_type_place(scope->schema, scope->keyspace, name);

    return index < scope->schema->type_count ? scope->schema->types[index]->type : NULL;
}

int schema_parse_type(const struct schema *schema, const char *keyspace, struct bytes text,
                      struct arena *arena, const struct type **type_out, struct error *err)
{
    struct type_scope scope = {schema, keyspace};

    return type_parse(text, arena, type_scope_find, &scope, type_out, err);
}

enum { COLUMN_PLACES = sizeof((struct table *)0)->column_places };

void schema_set_columns(struct table *table, struct column *columns, uint32_t count)
{
    uint32_t counts[COLUMN_REGULAR + 1] = {0};

    memset(table->column_places, 0, sizeof table->column_places);
    for (uint32_t i = 0; i < count; i++) {
        columns[i].position = counts[columns[i].kind]++;
        if (i < UINT8_MAX && columns[i].id < COLUMN_PLACES)
            table->column_places[columns[i].id] = (uint8_t)(i + 1);
    }
    table->columns = columns;
    table->column_count = count;
    table->partition_count = counts[COLUMN_PARTITION];
    table->clustering_count = counts[COLUMN_CLUSTERING];
    table->static_count = counts[COLUMN_STATIC];
}

const struct column *schema_column(const struct table *table, uint32_t column_id)
{
    if (column_id < COLUMN_PLACES && table->column_places[column_id] != 0)
        return &table->columns[table->column_places[column_id] - 1];
    for (uint32_t i = 0; i < table->column_count; i++)
        if (table->columns[i].id == column_id)
            return &table->columns[i];
    return NULL;
}

static int refuse_key(const struct table *table, const char *what, struct error *err)
{
    return error_set(err, ERROR_CORRUPT, "table %s.%s: partition key %s", table->keyspace,
                     table->name, what);
}

int schema_check_key(const struct table *table, struct bytes key, struct error *err)
{
    if (key.size > KEY_SIZE_MAX)
        return refuse_key(table, "over 65535 bytes", err);
    for (uint32_t i = 0; i < table->partition_count; i++) {
        struct bytes value;
        if (type_key_component(key, table->partition_count, i, &value) < 0)
            return refuse_key(table, "does not have as many components as the table", err);
        if (type_validate(table->columns[i].type, value, NULL) < 0)
            return refuse_key(table, "holds no value of its type", err);
    }
    return 0;
}

static const struct column *find_named(const struct column *columns, uint32_t count,
                                       struct bytes name)
{
    uint32_t from = 0;
    uint32_t until = count;
    while (from < until) {
        uint32_t middle = from + (until - from) / 2;
        if (bytes_compare(bytes_text(columns[middle].name), name) < 0)
            from = middle + 1;
        else
            until = middle;
    }
    bool is_there = from < count && bytes_equal(bytes_text(columns[from].name), name);
    return is_there ? &columns[from] : NULL;
}

/* Key columns are searched one by one, because they are in the key's order.  The others are
 * searched by bisection, because they are in the order of names. */
const struct column *schema_column_named(const struct table *table, struct bytes name)
{
    uint32_t keys = table->partition_count + table->clustering_count;
    uint32_t statics = table->static_count;
    for (uint32_t i = 0; i < keys; i++)
        if (bytes_equal(bytes_text(table->columns[i].name), name))
            return &table->columns[i];
    const struct column *found = find_named(table->columns + keys, statics, name);
    return found != NULL ? found
                         : find_named(table->columns + keys + statics,
                                      table->column_count - keys - statics, name);
}

/* ---- names ---- */

static int check_name(const char *what, const char *name, struct error *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t size = strlen(name);

    if (size == 0 || strspn(name, allowed) != size)
        return error_set(err, ERROR_INVALID,
                         "\"%.100s\" is no %s name: letters, digits and _ are allowed", name, what);
    if (size > SCHEMA_NAME_MAX)
        return error_set(err, ERROR_LIMIT, "%s name \"%.100s\" has over %d characters", what, name,
                         SCHEMA_NAME_MAX);
    return 0;
}

static int check_column_name(const char *name, struct error *err)
{
    struct bytes text = bytes_text(name);

    if (text.size == 0 || !bytes_valid_utf8(text))
        return error_set(err, ERROR_INVALID, "a column's name is valid UTF-8 and not empty");
    if (text.size > SCHEMA_COLUMN_NAME_MAX)
        return error_set(err, ERROR_LIMIT, "column name \"%.100s\" has over %d bytes", name,
                         SCHEMA_COLUMN_NAME_MAX);
    return 0;
}

static int check_text(const char *what, const char *text, struct error *err)
{
    if (strlen(text) > SCHEMA_TEXT_MAX)
        return error_set(err, ERROR_LIMIT, "%s has over %d bytes", what, SCHEMA_TEXT_MAX);
    return 0;
}

int schema_check_type(const char *name, const struct type *type, struct error *err)
{
    if (type_is_moderate(type))
        return 0;
    return error_set(
        err, ERROR_LIMIT,
        "%.100s: its type has over %d types within each other, or over %d in all, with "
        "the fields of user types",
        name, TYPE_DEPTH_MAX, TYPE_PARTS_MAX);
}

/* ---- keyspaces ---- */

/* Returns the array, which may have moved. */

static void *insert_place(void *array, uint32_t count, uint32_t place, const void *item)
{
    const void **items = memory_resize(array, (count + 1) * sizeof *items);

    memmove(&items[place + 1], &items[place], (count - place) * sizeof *items);
    items[place] = item;
    return items;
}

static void remove_place(void *array, uint32_t count, uint32_t place)
{
    const void **items = array;

    check(place < count);
    memmove(&items[place], &items[place + 1], (count - place - 1) * sizeof *items);
}

static const struct keyspace *keyspace_new(struct schema *schema, const char *name,
                                           const char *replication, bool durable_writes)
{
    const struct keyspace keyspace = {name, replication, durable_writes};

    return arena_copy_item(schema->arena, &keyspace, sizeof keyspace);
}

int schema_add_keyspace(struct schema *schema, const char *name, struct error *err)
{
    check(schema->references == 1);
    int rc = check_name("keyspace", name, err);
    if (rc < 0)
        return rc;
    if (schema_keyspace(schema, name) != NULL)
        return error_set(err, ERROR_EXISTS, "keyspace %s exists already", name);
    if (schema->keyspace_count == SCHEMA_KEYSPACES_MAX)
        return error_set(err, ERROR_LIMIT, "over %d keyspaces", SCHEMA_KEYSPACES_MAX);
    const struct keyspace *keyspace =
        keyspace_new(schema, schema_copy_text(schema, name), replication_default, true);
    schema->keyspaces = insert_place(schema->keyspaces, schema->keyspace_count,
                                     keyspaces_find(schema, name), keyspace);
    schema->keyspace_count++;
    return 0;
}

static int find_keyspace(const struct schema *schema, const char *name, uint32_t *index_out,
                         struct error *err)
{
    *index_out = keyspaces_find(schema, name);
    return schema_keyspace(schema, name) != NULL
               ? 0
               : error_set(err, ERROR_NOT_FOUND, "keyspace %.100s does not exist", name);
}

int schema_set_keyspace(struct schema *schema, const char *name, const char *replication,
                        bool durable_writes, struct error *err)
{
    check(schema->references == 1);
    uint32_t index;
    int rc = find_keyspace(schema, name, &index, err);

    if (rc == 0)
        rc = check_text("replication", replication, err);
    if (rc < 0)
        return rc;
    schema->keyspaces[index] = keyspace_new(schema, schema->keyspaces[index]->name,
                                            schema_copy_text(schema, replication), durable_writes);
    return 0;
}

static void remove_table(struct schema *schema, const struct table *table)
{
    remove_place(schema->tables, schema->table_count,
                 tables_find(schema, table->keyspace, table->name));
    remove_place(schema->tables_by_id, schema->table_count, tables_find_id(schema, table->id));
    schema->table_count--;
}

void schema_remove_type(struct schema *schema, uint32_t place)
{
    remove_place(schema->types, schema->type_count--, place);
}

int schema_drop_keyspace(struct schema *schema, const char *name, struct error *err)
{
    check(schema->references == 1);
    uint32_t index;
    int rc = find_keyspace(schema, name, &index, err);

    if (rc < 0)
        return rc;
    const char *keyspace = schema->keyspaces[index]->name;
    for (uint32_t i = 0; i < schema->unread_count; i++)
        if (strcmp(schema->unread[i].keyspace, keyspace) == 0)
            return error_set(err, ERROR_CONFLICT,
                             "keyspace %.100s has the table %.100s, which cannot be read: %.200s",
                             keyspace, schema->unread[i].name, schema->unread[i].why);
    for (uint32_t i = schema->table_count; i > 0; i--)
        if (strcmp(schema->tables[i - 1]->keyspace, keyspace) == 0)
            remove_table(schema, schema->tables[i - 1]);
    for (uint32_t i = schema->type_count; i > 0; i--)
        if (strcmp(schema->types[i - 1]->keyspace, keyspace) == 0)
            schema_remove_type(schema, i - 1);
    remove_place(schema->keyspaces, schema->keyspace_count--, index);
    return 0;
}

/* ---- tables ---- */

/* Gives a copy of the table, which the caller changes and passes to replace_table. */
static int edit_table(const struct schema *schema, uint32_t table_id, struct table *changed_out,
                      struct error *err)
{
    check(schema->references == 1);
    const struct table *table = schema_table(schema, table_id);

    if (table == NULL)
        return error_set(err, ERROR_NOT_FOUND, "table %u does not exist", table_id);
    *changed_out = *table;
    return 0;
}

static int check_column(const struct table *table, const struct column *column, struct error *err)
{
    bool is_key = column->kind == COLUMN_PARTITION || column->kind == COLUMN_CLUSTERING;
    int rc = check_column_name(column->name, err);

    if (rc < 0)
        return rc;
    if (is_key && type_is_complex(column->type))
        return error_set(err, ERROR_INVALID, "%s: a key column's collection or type must be frozen",
                         column->name);
    if (is_key && (column->type->kind == TYPE_COUNTER || column->type->kind == TYPE_DURATION))
        return error_set(err, ERROR_INVALID, "%s: counters and durations cannot be keys",
                         column->name);
    if (!is_key && (column->type->kind == TYPE_COUNTER) != ((table->flags & TABLE_COUNTER) != 0))
        return error_set(err, ERROR_INVALID, "%s: cannot mix counter and non counter columns",
                         column->name);
    if (column->kind == COLUMN_STATIC && table->clustering_count == 0)
        return error_set(err, ERROR_INVALID, "%s: static columns need a clustering column",
                         column->name);
    if (column->id == 0 || column->id >= table->column_id_next)
        return error_set(err, ERROR_INVALID, "column id %u is out of range", column->id);
    return 0;
}

static int order_by_id(const void *a, const void *b)
{
    const struct column *const *left = a, *const *right = b;

    return ((*left)->id > (*right)->id) - ((*left)->id < (*right)->id);
}

static int check_distinct(const struct table *table, struct error *err)
{
    uint32_t count = table->column_count;
    const struct column **columns = memory_alloc(count * sizeof *columns);
    int rc = 0;

    for (uint32_t i = 0; i < count && rc == 0; i++) {
        columns[i] = &table->columns[i];
        if (schema_column_named(table, bytes_text(columns[i]->name)) != columns[i])
            rc = error_set(err, ERROR_EXISTS, "column %s exists already", columns[i]->name);
    }
    if (rc == 0)
        qsort(columns, count, sizeof *columns, order_by_id);
    for (uint32_t i = 1; i < count && rc == 0; i++)
        if (order_by_id(&columns[i - 1], &columns[i]) == 0)
            rc = error_set(err, ERROR_INVALID, "column id %u is used twice", columns[i]->id);
    memory_free(columns);
    return rc;
}

static int check_options(const struct table *table, struct error *err)
{
    if (table->option_count > SCHEMA_OPTIONS_MAX)
        return error_set(err, ERROR_LIMIT, "over %d options", SCHEMA_OPTIONS_MAX);
    for (uint32_t i = 0; i < table->option_count; i++) {
        const struct table_option *option = &table->options[i];
        if (schema_option_default(option->name) == NULL)
            return error_set(err, ERROR_INVALID, "unknown option %.100s", option->name);
        if (i > 0 && strcmp(option[-1].name, option->name) >= 0)
            return error_set(err, ERROR_INVALID, "option %s is there twice", option->name);
        int rc = check_text(option->name, option->value, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int check_table(const struct table *table, struct error *err)
{
    if (table->partition_count == 0)
        return error_set(err, ERROR_INVALID, "table %.100s has no primary key", table->name);
    if (table->clustering_count > SCHEMA_CLUSTERING_MAX)
        return error_set(err, ERROR_LIMIT, "over %d clustering columns", SCHEMA_CLUSTERING_MAX);
    if (table->column_count + table->dropped_count > SCHEMA_COLUMNS_MAX)
        return error_set(err, ERROR_LIMIT, "over %d columns", SCHEMA_COLUMNS_MAX);
    for (uint32_t i = 0; i < table->column_count; i++) {
        int rc = check_column(table, &table->columns[i], err);
        if (rc < 0)
            return rc;
    }
    uint32_t keys = table->partition_count + table->clustering_count;
    if ((table->flags & TABLE_OF_EVENTS) != 0 &&
        (table->clustering_count == 0 || table->columns[keys - 1].type->kind != TYPE_BIGINT))
        return error_set(err, ERROR_INVALID, "a ranked table's key ends in a bigint");
    int rc = check_distinct(table, err);
    if (rc == 0)
        rc = check_options(table, err);
    return rc < 0 ? rc : check_text("comment", table->comment, err);
}

static int order_columns(const void *a, const void *b)
{
    const struct column *left = a;
    const struct column *right = b;

    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    if (left->kind == COLUMN_STATIC || left->kind == COLUMN_REGULAR)
        return strcmp(left->name, right->name);
    return (left->position > right->position) - (left->position < right->position);
}

/* The caller must have set `position` of key columns to numbers that ascend in key order. */
static void sort_columns(struct table *table, struct column *columns, uint32_t count)
{
    qsort(columns, count, sizeof *columns, order_columns);
    schema_set_columns(table, columns, count);
}

int schema_insert_table(struct schema *schema, const struct table *table, struct error *err)
{
    int rc = check_name("table", table->name, err);

    if (rc == 0 && schema_keyspace(schema, table->keyspace) == NULL)
        rc = error_set(err, ERROR_NOT_FOUND, "keyspace %.100s does not exist", table->keyspace);
    if (rc == 0)
        rc = check_table(table, err);
    if (rc < 0)
        return rc;
    if (schema_table_named(schema, table->keyspace, table->name) != NULL ||
        schema_table(schema, table->id) != NULL)
        return error_set(err, ERROR_EXISTS, "table %s.%s exists already", table->keyspace,
                         table->name);
    if (schema->table_count == SCHEMA_TABLES_MAX)
        return error_set(err, ERROR_LIMIT, "over %d tables", SCHEMA_TABLES_MAX);
    struct table *copy = arena_copy_item(schema->arena, table, sizeof *table);
    table_uuid(copy, copy->uuid);
    uint32_t place = tables_find(schema, table->keyspace, table->name);
    uint32_t place_by_id = tables_find_id(schema, table->id);
    schema->tables = insert_place(schema->tables, schema->table_count, place, copy);
    schema->tables_by_id =
        insert_place(schema->tables_by_id, schema->table_count, place_by_id, copy);
    schema->table_count++;
    return 0;
}

static int make_column(struct schema *schema, const char *keyspace,
                       const struct column_definition *definition, uint32_t id, uint32_t position,
                       struct column *column_out, struct error *err)
{
    *column_out = (struct column){.id = id,
                                  .name = schema_copy_text(schema, definition->name),
                                  .kind = definition->kind,
                                  .position = position,
                                  .descending = definition->descending};
    int rc = schema_parse_type(schema, keyspace, bytes_text(definition->type), schema->arena,
                               &column_out->type, err);
    return rc == 0 ? schema_check_type(definition->name, column_out->type, err) : rc;
}

static int define_columns(struct schema *schema, const struct table_definition *definition,
                          struct table *table, struct error *err)
{
    struct column *columns =
        arena_array(schema->arena, definition->column_count, sizeof(struct column));

    for (uint32_t i = 0; i < definition->column_count; i++) {
        const struct column_definition *from = &definition->columns[i];
        int rc = make_column(schema, definition->keyspace, from, from->id != 0 ? from->id : i + 1,
                             i, &columns[i], err);
        if (rc == ERROR_INVALID)
            error_wrap(err, "column %.100s", from->name);
        if (rc < 0)
            return rc;
        if (columns[i].id >= table->column_id_next)
            table->column_id_next = columns[i].id + 1;
    }
    sort_columns(table, columns, definition->column_count);
    return 0;
}

/* ERROR_EXISTS if another table that is kept as bytes has the same name. */
static int check_unread(const struct schema *schema, const struct table *table, struct error *err)
{
    for (uint32_t i = 0; i < schema->unread_count; i++) {
        const struct unread_table *unread = &schema->unread[i];
        if (unread->id != table->id && strcmp(unread->keyspace, table->keyspace) == 0 &&
            strcmp(unread->name, table->name) == 0)
            return error_set(err, ERROR_EXISTS,
                             "table %.100s.%.100s exists already, but cannot be read: %.200s",
                             unread->keyspace, unread->name, unread->why);
    }
    return 0;
}

/* Forget the bytes of a built-in table, because the program's own definition replaces them. */
static void drop_unread(struct schema *schema, uint32_t table_id)
{
    for (uint32_t i = schema->unread_count; i > 0; i--)
        if (schema->unread[i - 1].id == table_id)
            schema->unread[i - 1] = schema->unread[--schema->unread_count];
}

int schema_add_table(struct schema *schema, const struct table_definition *definition,
                     struct error *err)
{
    check(schema->references == 1);
    check(definition->id < TABLE_ID_USER_MIN);
    if (definition->column_count > SCHEMA_COLUMNS_MAX)
        return error_set(err, ERROR_LIMIT, "over %d columns", SCHEMA_COLUMNS_MAX);
    struct table table = {.id = definition->id != 0 ? definition->id : schema->table_id_next,
                          .keyspace = schema_copy_text(schema, definition->keyspace),
                          .name = schema_copy_text(schema, definition->name),
                          .flags = definition->flags,
                          .version = schema->version,
                          .column_id_next = 1,
                          .comment = schema_copy_text(
                              schema, definition->comment == NULL ? "" : definition->comment)};
    int rc = define_columns(schema, definition, &table, err);
    if (rc == 0)
        rc = check_unread(schema, &table, err);
    if (rc == 0)
        rc = schema_insert_table(schema, &table, err);
    if (rc < 0)
        return rc;
    drop_unread(schema, table.id);
    if (table.id == schema->table_id_next)
        schema->table_id_next++;
    return 0;
}

/* `changed` must have the id and names of the table that it replaces. */
static int replace_table(struct schema *schema, struct table *changed, struct error *err)
{
    int rc = check_table(changed, err);

    if (rc < 0)
        return rc;
    changed->version = schema->version;
    struct table *copy = arena_copy_item(schema->arena, changed, sizeof *changed);
    schema->tables[tables_find(schema, copy->keyspace, copy->name)] = copy;
    schema->tables_by_id[tables_find_id(schema, copy->id)] = copy;
    return 0;
}

int schema_set_table(struct schema *schema, uint32_t table_id, const char *comment,
                     int32_t default_ttl_s, uint32_t flags, struct error *err)
{
    struct table changed;
    int rc = edit_table(schema, table_id, &changed, err);

    if (rc < 0)
        return rc;
    if (default_ttl_s < 0)
        return error_set(err, ERROR_INVALID, "default_time_to_live is negative");
    changed.comment = schema_copy_text(schema, comment);
    changed.default_ttl_s = default_ttl_s;
    changed.flags = flags;
    return replace_table(schema, &changed, err);
}

static int order_options(const void *a, const void *b)
{
    return strcmp(((const struct table_option *)a)->name, ((const struct table_option *)b)->name);
}

int schema_set_table_options(struct schema *schema, uint32_t table_id,
                             const struct table_option *options, uint32_t count, struct error *err)
{
    struct table changed;
    int rc = edit_table(schema, table_id, &changed, err);

    if (rc < 0)
        return rc;
    struct table_option *copies = arena_array(schema->arena, count, sizeof *copies);
    for (uint32_t i = 0; i < count; i++)
        copies[i] = (struct table_option){schema_copy_text(schema, options[i].name),
                                          schema_copy_text(schema, options[i].value)};
    qsort(copies, count, sizeof *copies, order_options);
    changed.options = copies;
    changed.option_count = count;
    return replace_table(schema, &changed, err);
}

int schema_drop_table(struct schema *schema, uint32_t table_id, struct error *err)
{
    struct table changed;
    int rc = edit_table(schema, table_id, &changed, err);

    if (rc < 0)
        return rc;
    remove_table(schema, &changed);
    return 0;
}

int schema_truncate_table(struct schema *schema, uint32_t table_id, struct error *err)
{
    struct table changed;
    int rc = edit_table(schema, table_id, &changed, err);

    if (rc < 0)
        return rc;
    remove_table(schema, &changed);
    changed.id = schema->table_id_next;
    changed.version = schema->version;
    changed.dropped_count = 0;
    rc = schema_insert_table(schema, &changed, err);
    check(rc == 0);
    schema->table_id_next++;
    return 0;
}

/* ---- columns ---- */

int schema_add_columns(struct schema *schema, uint32_t table_id,
                       const struct column_definition *columns, uint32_t count, struct error *err)
{
    struct table changed;
    int rc = edit_table(schema, table_id, &changed, err);

    if (rc < 0)
        return rc;
    if (count > SCHEMA_COLUMNS_MAX)
        return error_set(err, ERROR_LIMIT, "over %d columns", SCHEMA_COLUMNS_MAX);
    struct column *all =
        arena_array(schema->arena, changed.column_count + count, sizeof(struct column));
    memcpy(all, changed.columns, changed.column_count * sizeof *all);
    for (uint32_t i = 0; i < count && rc == 0; i++)
        rc = make_column(schema, changed.keyspace, &columns[i], changed.column_id_next++, 0,
                         &all[changed.column_count + i], err);
    if (rc < 0)
        return rc;
    sort_columns(&changed, all, changed.column_count + count);
    return replace_table(schema, &changed, err);
}

static void add_dropped(struct schema *schema, struct table *table, const struct column *column,
                        int64_t dropped_us)
{
    uint32_t count = table->dropped_count;
    struct dropped_column *dropped = arena_array(schema->arena, count + 1, sizeof *dropped);

    if (count > 0)
        memcpy(dropped, table->dropped, count * sizeof *dropped);
    /* A dropped column must not prevent the drop of a user type.  So if the column's type uses a
     * user type, blob replaces the column's type. */
    dropped[count] = (struct dropped_column){
        column->id, column->name,
        schema_type_uses(column->type, NULL) ? type_builtin(TYPE_BLOB) : column->type, dropped_us,
        column->kind};
    table->dropped = dropped;
    table->dropped_count = count + 1;
}

int schema_drop_column(struct schema *schema, uint32_t table_id, const char *name,
                       int64_t dropped_us, struct error *err)
{
    struct table changed;
    int rc = edit_table(schema, table_id, &changed, err);

    if (rc < 0)
        return rc;
    const struct column *column = schema_column_named(&changed, bytes_text(name));
    if (column == NULL)
        return error_set(err, ERROR_NOT_FOUND, "column %.100s does not exist", name);
    if (column->kind == COLUMN_PARTITION || column->kind == COLUMN_CLUSTERING)
        return error_set(err, ERROR_INVALID, "cannot drop PRIMARY KEY column %s", name);
    struct column *columns =
        arena_array(schema->arena, changed.column_count, sizeof(struct column));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < changed.column_count; i++)
        if (&changed.columns[i] != column)
            columns[kept++] = changed.columns[i];
    sort_columns(&changed, columns, kept);
    add_dropped(schema, &changed, column, dropped_us);
    return replace_table(schema, &changed, err);
}

int schema_rename_column(struct schema *schema, uint32_t table_id, const char *from, const char *to,
                         struct error *err)
{
    struct table changed;
    int rc = edit_table(schema, table_id, &changed, err);

    if (rc < 0)
        return rc;
    const struct column *column = schema_column_named(&changed, bytes_text(from));
    if (column == NULL)
        return error_set(err, ERROR_NOT_FOUND, "column %.100s does not exist", from);
    if (column->kind != COLUMN_PARTITION && column->kind != COLUMN_CLUSTERING)
        return error_set(err, ERROR_INVALID, "cannot rename non PRIMARY KEY column %s", from);
    struct column *columns =
        arena_array(schema->arena, changed.column_count, sizeof(struct column));
    memcpy(columns, changed.columns, changed.column_count * sizeof *columns);
    columns[column - changed.columns].name = schema_copy_text(schema, to);
    changed.columns = columns;
    return replace_table(schema, &changed, err);
}

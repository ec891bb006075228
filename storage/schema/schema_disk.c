/* Writes and reads the schema's serialized form: docs/FORMATS.md "Schema".
 *
 * Types are written in CQL, because CQL is stable and readable in a dump.  A schema that is read
 * gets the checks of a change, except schema_check_type.  A table that fails the checks is kept as
 * bytes, unless the schema has format 1.  Any other damage makes the whole schema ERROR_CORRUPT.
 * There is no checksum, because the log frame or manifest around the schema has one. */
#include <string.h>

#include "base/memory.h"
#include "storage/schema/schema_private.h"

/* Format 1 has no options and no kinds of dropped columns; it is read, never written. */
enum { SCHEMA_FORMAT_1 = 1, SCHEMA_FORMAT = 2 };

static void put_text(struct buffer *buffer, const char *text)
{
    buffer_put_sized(buffer, bytes_text(text));
}

static void put_type(struct buffer *buffer, const struct type *type)
{
    struct buffer spelled = {0};

    type_print(type, &spelled);
    buffer_put_sized(buffer, buffer_view(&spelled));
    buffer_release(&spelled);
}

static void put_user_type(struct buffer *buffer, const struct user_type *user_type)
{
    const struct type *type = user_type->type;

    put_text(buffer, user_type->keyspace);
    put_text(buffer, type->name);
    buffer_put_varint(buffer, type->argument_count);
    for (uint32_t i = 0; i < type->argument_count; i++) {
        put_text(buffer, type->field_names[i]);
        put_text(buffer, user_type->field_types[i]);
    }
}

static void put_table(struct buffer *buffer, const struct table *table)
{
    buffer_put_u32(buffer, table->id);
    put_text(buffer, table->keyspace);
    put_text(buffer, table->name);
    buffer_put_varint(buffer, table->flags);
    buffer_put_varint(buffer, table->version);
    buffer_put_varint(buffer, table->column_id_next);
    buffer_put_varint(buffer, (uint64_t)table->default_ttl_s);
    put_text(buffer, table->comment);
    buffer_put_varint(buffer, table->column_count);
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        buffer_put_varint(buffer, column->id);
        buffer_put_u8(buffer, (uint8_t)column->kind);
        buffer_put_u8(buffer, column->descending ? 1 : 0);
        put_text(buffer, column->name);
        put_type(buffer, column->type);
    }
    buffer_put_varint(buffer, table->dropped_count);
    for (uint32_t i = 0; i < table->dropped_count; i++) {
        const struct dropped_column *dropped = &table->dropped[i];
        buffer_put_varint(buffer, dropped->id);
        buffer_put_signed(buffer, dropped->dropped_us);
        buffer_put_u8(buffer, (uint8_t)dropped->kind);
        put_text(buffer, dropped->name);
        put_type(buffer, dropped->type);
    }
    buffer_put_varint(buffer, table->option_count);
    for (uint32_t i = 0; i < table->option_count; i++) {
        put_text(buffer, table->options[i].name);
        put_text(buffer, table->options[i].value);
    }
}

void schema_serialize(const struct schema *schema, struct buffer *buffer)
{
    buffer_put_u8(buffer, SCHEMA_FORMAT);
    buffer_put_u32(buffer, schema->version);
    buffer_put_u32(buffer, schema->table_id_next);
    buffer_put_varint(buffer, schema->keyspace_count);
    for (uint32_t i = 0; i < schema->keyspace_count; i++) {
        put_text(buffer, schema->keyspaces[i]->name);
        put_text(buffer, schema->keyspaces[i]->replication);
        buffer_put_u8(buffer, schema->keyspaces[i]->durable_writes ? 1 : 0);
    }
    buffer_put_varint(buffer, schema->type_count);
    for (uint32_t i = 0; i < schema->type_count; i++)
        put_user_type(buffer, schema->types[i]);
    buffer_put_varint(buffer, schema->table_count + schema->unread_count);
    for (uint32_t i = 0; i < schema->table_count; i++)
        put_table(buffer, schema->tables[i]);
    for (uint32_t i = 0; i < schema->unread_count; i++)
        buffer_append_bytes(buffer, schema->unread[i].serialized);
}

/* ---- reading ---- */

/* A text with a NUL in it fails the reader, because names and comments are C strings. */

static const char *get_text(struct schema *schema, struct reader *reader)
{
    struct bytes text = reader_sized(reader);

    if (reader->failed || memchr(text.data, 0, text.size) != NULL) {
        reader->failed = true;
        return "";
    }
    char *copy = arena_alloc(schema->arena, text.size + 1, 1);
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    return copy;
}

/* Fails the reader if there are over `max` items, or too few bytes for items of `size_min`
 * bytes. */
static uint32_t get_count(struct reader *reader, size_t size_min, uint32_t max)
{
    uint64_t count = reader_count(reader, size_min);

    if (count > max)
        reader->failed = true;
    return reader->failed ? 0 : (uint32_t)count;
}

static bool get_flag(struct reader *reader)
{
    uint8_t value = reader_u8(reader);

    if (value > 1)
        reader->failed = true;
    return value == 1;
}

static int get_keyspaces(struct schema *schema, struct reader *reader)
{
    uint32_t count = get_count(reader, 3, SCHEMA_KEYSPACES_MAX);

    for (uint32_t i = 0; i < count; i++) {
        const char *name = get_text(schema, reader);
        const char *replication = get_text(schema, reader);
        bool durable_writes = get_flag(reader);
        if (reader->failed)
            return ERROR_CORRUPT;
        int rc = schema_add_keyspace(schema, name, NULL);
        if (rc == 0)
            rc = schema_set_keyspace(schema, name, replication, durable_writes, NULL);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int get_types(struct schema *schema, struct reader *reader)
{
    uint32_t count = get_count(reader, 3, SCHEMA_TYPES_MAX);

    for (uint32_t i = 0; i < count; i++) {
        const char *keyspace = get_text(schema, reader);
        const char *name = get_text(schema, reader);
        uint32_t fields = get_count(reader, 2, SCHEMA_COLUMNS_MAX);
        const char **names = arena_array(schema->arena, fields, sizeof(*names));
        const char **types = arena_array(schema->arena, fields, sizeof(*types));
        for (uint32_t f = 0; f < fields; f++) {
            names[f] = get_text(schema, reader);
            types[f] = get_text(schema, reader);
        }
        if (reader->failed)
            return ERROR_CORRUPT;
        int rc = schema_insert_type(schema, keyspace, name, fields, names, types, true, NULL);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Gives blob if the type cannot be parsed (`why` says so), or `why` has an error already. */
static const struct type *get_type(struct schema *schema, const char *keyspace,
                                   struct reader *reader, struct error *why)
{
    struct bytes spelled = reader_sized(reader);
    const struct type *type = type_builtin(TYPE_BLOB);

    if (!reader->failed && why->code == 0 &&
        schema_parse_type(schema, keyspace, spelled, schema->arena, &type, why) < 0)
        type = type_builtin(TYPE_BLOB);
    return type;
}

static int get_column(struct schema *schema, const char *keyspace, struct reader *reader,
                      struct column *column, struct error *why)
{
    *column = (struct column){.id = reader_varint32(reader)};
    uint8_t kind = reader_u8(reader);
    if (kind < COLUMN_PARTITION || kind > COLUMN_REGULAR)
        return ERROR_CORRUPT;
    column->kind = (enum column_kind)kind;
    column->descending = get_flag(reader);
    column->name = get_text(schema, reader);
    column->type = get_type(schema, keyspace, reader, why);
    return reader->failed ? ERROR_CORRUPT : 0;
}

/* Read the columns in the order of table->columns; this order gives their positions. */
static int get_columns(struct schema *schema, struct reader *reader, struct table *table,
                       struct error *why)
{
    uint32_t count = get_count(reader, 5, SCHEMA_COLUMNS_MAX);
    struct column *columns = arena_array(schema->arena, count, sizeof *columns);

    for (uint32_t i = 0; i < count; i++) {
        int rc = get_column(schema, table->keyspace, reader, &columns[i], why);
        if (rc < 0)
            return rc;
        if (i > 0 && columns[i].kind < columns[i - 1].kind)
            return ERROR_CORRUPT;
    }
    schema_set_columns(table, columns, count);
    return 0;
}

static int get_dropped(struct schema *schema, struct reader *reader, uint8_t format,
                       struct table *table, struct error *why)
{
    uint32_t count = get_count(reader, 4, SCHEMA_COLUMNS_MAX);
    struct dropped_column *dropped = arena_array(schema->arena, count, sizeof *dropped);

    for (uint32_t i = 0; i < count; i++) {
        dropped[i] = (struct dropped_column){.id = reader_varint32(reader)};
        dropped[i].dropped_us = reader_signed(reader);
        uint8_t kind = format > SCHEMA_FORMAT_1 ? reader_u8(reader) : 0;
        if (kind != 0 && kind != COLUMN_STATIC && kind != COLUMN_REGULAR)
            return ERROR_CORRUPT;
        dropped[i].kind = (enum column_kind)kind;
        dropped[i].name = get_text(schema, reader);
        dropped[i].type = get_type(schema, table->keyspace, reader, why);
        if (reader->failed)
            return ERROR_CORRUPT;
    }
    table->dropped = dropped;
    table->dropped_count = count;
    return 0;
}

static void get_options(struct schema *schema, struct reader *reader, struct table *table)
{
    uint32_t count = get_count(reader, 2, SCHEMA_OPTIONS_MAX);
    struct table_option *options = arena_array(schema->arena, count, sizeof *options);

    for (uint32_t i = 0; i < count; i++) {
        options[i].name = get_text(schema, reader);
        options[i].value = get_text(schema, reader);
    }
    table->options = options;
    table->option_count = count;
}

static void keep_unread(struct schema *schema, const struct table *table, struct bytes serialized,
                        const struct error *why)
{
    schema->unread =
        memory_resize(schema->unread, (schema->unread_count + 1) * sizeof *schema->unread);
    schema->unread[schema->unread_count++] =
        (struct unread_table){.id = table->id,
                              .keyspace = table->keyspace,
                              .name = table->name,
                              .why = schema_copy_text(schema, why->text),
                              .serialized = arena_copy(schema->arena, serialized)};
}

static int get_table(struct schema *schema, struct reader *reader, uint8_t format)
{
    size_t begin = reader->offset;
    struct error why = {0};
    struct table table = {.id = reader_u32(reader)};

    table.keyspace = get_text(schema, reader);
    table.name = get_text(schema, reader);
    table.flags = reader_varint32(reader);
    table.version = reader_varint32(reader);
    table.column_id_next = reader_varint32(reader);
    uint32_t default_ttl_s = reader_varint32(reader);
    table.comment = get_text(schema, reader);
    if (reader->failed || default_ttl_s > INT32_MAX || table.id == 0 ||
        table.id >= schema->table_id_next || table.version > schema->version)
        return ERROR_CORRUPT;
    table.default_ttl_s = (int32_t)default_ttl_s;
    int rc = get_columns(schema, reader, &table, &why);
    if (rc == 0)
        rc = get_dropped(schema, reader, format, &table, &why);
    if (rc == 0 && format > SCHEMA_FORMAT_1)
        get_options(schema, reader, &table);
    if (rc < 0 || reader->failed)
        return ERROR_CORRUPT;
    if (why.code == 0 && schema_insert_table(schema, &table, &why) == 0)
        return 0;
    if (format != SCHEMA_FORMAT)
        return ERROR_CORRUPT;
    keep_unread(schema, &table, bytes_of(reader->data + begin, reader->offset - begin), &why);
    return 0;
}

static int get_schema(struct schema *schema, struct reader *reader, uint8_t format)
{
    schema->version = reader_u32(reader);
    schema->table_id_next = reader_u32(reader);
    if (schema->table_id_next < TABLE_ID_USER_MIN)
        return ERROR_CORRUPT;
    int rc = get_keyspaces(schema, reader);
    if (rc == 0)
        rc = get_types(schema, reader);
    uint32_t tables = get_count(reader, 13, SCHEMA_TABLES_MAX);
    for (uint32_t i = 0; i < tables && rc == 0; i++)
        rc = get_table(schema, reader, format);
    if (rc == 0 && (reader->failed || reader_left(reader) != 0))
        rc = ERROR_CORRUPT;
    return rc;
}

int schema_deserialize(struct bytes serialized, struct schema **schema_out, struct error *err)
{
    struct reader reader = reader_of(serialized);
    uint8_t format = reader_u8(&reader);

    *schema_out = NULL;
    if (format > SCHEMA_FORMAT)
        return error_set(err, ERROR_NEWER_FORMAT, "the schema has format %u, this program knows %d",
                         format, SCHEMA_FORMAT);
    if (format < SCHEMA_FORMAT_1)
        return error_set(err, ERROR_CORRUPT, "schema format %u", format);
    struct schema *schema = schema_new();
    if (get_schema(schema, &reader, format) < 0) {
        schema_unref(schema);
        return error_set(err, ERROR_CORRUPT, "schema, near its byte %zu", reader.offset);
    }
    *schema_out = schema;
    return 0;
}

int schema_refuse_unread(const struct schema *schema, struct error *err)
{
    if (schema->unread_count == 0)
        return 0;
    const struct unread_table *first = &schema->unread[0];
    return error_set(err, ERROR_CORRUPT,
                     "%u of the tables cannot be read, the first of them %.100s.%.100s: %.200s; "
                     "daybook serve --salvage opens the directory without them and leaves their "
                     "segments as they are",
                     schema->unread_count, first->keyspace, first->name, first->why);
}

bool schema_is_unread(const struct schema *schema, uint32_t table_id)
{
    for (uint32_t i = 0; i < schema->unread_count; i++)
        if (schema->unread[i].id == table_id)
            return true;
    return false;
}

int schema_check_serialized(const struct schema *schema, struct bytes serialized, struct error *err)
{
    struct buffer again = {0};
    struct error why = {0};
    struct schema *read;
    int rc = schema_deserialize(serialized, &read, &why);

    if (rc == 0) {
        schema_serialize(read, &again);
        if (read->unread_count > schema->unread_count)
            rc = schema_refuse_unread(read, &why);
        else if (!bytes_equal(serialized, buffer_view(&again)))
            rc = error_set(&why, ERROR_LIMIT, "its bytes give another one");
        schema_unref(read);
    }
    buffer_release(&again);
    return rc == 0 ? 0
                   : error_set(err, ERROR_LIMIT,
                               "this change is not made, as daybook could not read the schema "
                               "again that it makes: %.300s",
                               why.text);
}

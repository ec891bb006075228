/* Adds, changes and drops user-defined types.
 *
 * Types are in order of creation, and a type may use only earlier types.  So types can be read back
 * in this order, and no type can contain itself.  A change of a type serializes the schema and
 * reads it back, because columns have copies of the type. */
#include <string.h>

#include "base/memory.h"
#include "storage/schema/schema_private.h"

static int find_type(const struct schema *schema, const char *keyspace, const char *name,
                     uint32_t *index_out, struct error *err)
{
    check(schema->references == 1);
    *index_out = schema_type_place(schema, keyspace, bytes_text(name));
    return *index_out < schema->type_count
               ? 0
               : error_set(err, ERROR_NOT_FOUND, "type %.100s does not exist", name);
}

static int check_type_name(const char *name, struct error *err)
{
    struct bytes text = bytes_text(name);

    if (text.size == 0 || text.size > SCHEMA_NAME_MAX || !bytes_valid_utf8(text))
        return error_set(err, ERROR_INVALID, "a type's name has 1 to %d bytes of UTF-8",
                         SCHEMA_NAME_MAX);
    return 0;
}

static bool uses_only_before(const struct schema *schema, const char *keyspace,
                             const struct type *type, uint32_t end)
{
    if (type->kind == TYPE_UDT &&
        schema_type_place(schema, keyspace, bytes_text(type->name)) >= end)
        return false;
    for (uint32_t i = 0; i < type->argument_count; i++)
        if (!uses_only_before(schema, keyspace, type->arguments[i], end))
            return false;
    return true;
}

/* A collection or user type becomes frozen. */
static int parse_field(struct schema *schema, const char *keyspace, const char *text,
                       const struct type **type_out, struct error *err)
{
    struct buffer spelled = {0};

    int rc = schema_parse_type(schema, keyspace, bytes_text(text), schema->arena, type_out, err);
    if (rc == 0 && type_is_complex(*type_out)) {
        buffer_append_text(&spelled, "frozen<");
        buffer_append_text(&spelled, text);
        buffer_append_text(&spelled, ">");
        rc = schema_parse_type(schema, keyspace, buffer_view(&spelled), schema->arena, type_out,
                               err);
        buffer_release(&spelled);
    }
    if (rc == 0 && (*type_out)->kind == TYPE_COUNTER)
        rc = error_set(err, ERROR_INVALID, "a user type cannot contain counters");
    return rc;
}

static const struct user_type *user_type_new(struct schema *schema, const char *keyspace,
                                             const struct type *type,
                                             const char *const *field_types)
{
    const struct user_type user_type = {
        keyspace, arena_copy_item(schema->arena, type, sizeof *type), field_types};

    return arena_copy_item(schema->arena, &user_type, sizeof user_type);
}

static int make_type(struct schema *schema, const char *keyspace, const char *name,
                     const struct user_type *old, uint32_t field_count,
                     const char *const *field_names, const char *const *field_types,
                     const struct user_type **made_out, struct error *err)
{
    uint32_t old_count = old == NULL ? 0 : old->type->argument_count;
    uint32_t count = old_count + field_count;

    if (field_count == 0 || count > SCHEMA_COLUMNS_MAX)
        return error_set(err, ERROR_LIMIT, "type %s: 1 to %d fields expected", name,
                         SCHEMA_COLUMNS_MAX);
    const struct type **types = arena_array(schema->arena, count, sizeof(*types));
    const char **names = arena_array(schema->arena, count, sizeof(*names));
    const char **declared = arena_array(schema->arena, count, sizeof(*names));
    for (uint32_t i = 0; i < old_count; i++) {
        types[i] = old->type->arguments[i];
        names[i] = old->type->field_names[i];
        declared[i] = old->field_types[i];
    }
    for (uint32_t i = old_count; i < count; i++) {
        names[i] = schema_copy_text(schema, field_names[i - old_count]);
        declared[i] = schema_copy_text(schema, field_types[i - old_count]);
        int rc = check_type_name(names[i], err);
        if (rc == 0)
            rc = parse_field(schema, keyspace, field_types[i - old_count], &types[i], err);
        if (rc < 0)
            return rc;
        for (uint32_t other = 0; other < i; other++)
            if (strcmp(names[other], names[i]) == 0)
                return error_set(err, ERROR_EXISTS, "field %s exists already", names[i]);
    }
    const struct type type = {TYPE_UDT, false, count, types, schema_copy_text(schema, name), names};
    *made_out = user_type_new(schema, schema_copy_text(schema, keyspace), &type, declared);
    return 0;
}

int schema_insert_type(struct schema *schema, const char *keyspace, const char *name,
                       uint32_t field_count, const char *const *field_names,
                       const char *const *field_types, bool is_read, struct error *err)
{
    check(schema->references == 1);
    int rc = check_type_name(name, err);
    if (rc < 0)
        return rc;
    if (schema_keyspace(schema, keyspace) == NULL)
        return error_set(err, ERROR_NOT_FOUND, "keyspace %.100s does not exist", keyspace);
    if (schema_type(schema, keyspace, name) != NULL)
        return error_set(err, ERROR_EXISTS, "type %s.%s exists already", keyspace, name);
    if (schema->type_count == SCHEMA_TYPES_MAX)
        return error_set(err, ERROR_LIMIT, "over %d types", SCHEMA_TYPES_MAX);
    const struct user_type *made;
    rc = make_type(schema, keyspace, name, NULL, field_count, field_names, field_types, &made, err);
    if (rc == 0 && !is_read)
        rc = schema_check_type(name, made->type, err);
    if (rc < 0)
        return rc;
    schema->types =
        memory_resize(schema->types, (schema->type_count + 1) * sizeof(const struct user_type *));
    schema->types[schema->type_count++] = made;
    return 0;
}

int schema_add_type(struct schema *schema, const char *keyspace, const char *name,
                    uint32_t field_count, const char *const *field_names,
                    const char *const *field_types, struct error *err)
{
    return schema_insert_type(schema, keyspace, name, field_count, field_names, field_types, false,
                              err);
}

/* Check all types and columns, because those that use a type that has grown may be too large. */
static int check_types(const struct schema *schema, struct error *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < schema->type_count && rc == 0; i++)
        rc = schema_check_type(schema->types[i]->type->name, schema->types[i]->type, err);
    for (uint32_t i = 0; i < schema->table_count; i++)
        for (uint32_t c = 0; c < schema->tables[i]->column_count && rc == 0; c++)
            rc = schema_check_type(schema->tables[i]->columns[c].name,
                                   schema->tables[i]->columns[c].type, err);
    return rc;
}

/* Replace the type at `index` by `made`, also in all types and columns that use the type. */
static int exchange_type(struct schema *schema, uint32_t index, const struct user_type *made,
                         struct error *err)
{
    const struct user_type *before = schema->types[index];
    struct buffer serialized = {0};
    struct schema *appended;

    schema->types[index] = made;
    schema_serialize(schema, &serialized);
    schema->types[index] = before;
    int rc = schema_deserialize(buffer_view(&serialized), &appended, err);
    buffer_release(&serialized);
    if (rc < 0)
        return rc;
    rc = appended->unread_count > schema->unread_count ? schema_refuse_unread(appended, err)
                                                       : check_types(appended, err);
    if (rc == 0) {
        struct schema old = *schema;
        *schema = *appended;
        *appended = old;
    }
    schema_unref(appended);
    return rc;
}

int schema_add_type_field(struct schema *schema, const char *keyspace, const char *name,
                          const char *field_name, const char *field_type, struct error *err)
{
    const struct user_type *made;
    uint32_t index;
    int rc = find_type(schema, keyspace, name, &index, err);

    if (rc == 0)
        rc = make_type(schema, keyspace, name, schema->types[index], 1, &field_name, &field_type,
                       &made, err);
    if (rc < 0)
        return rc;
    const struct type *old = schema->types[index]->type;
    const struct type *added = made->type->arguments[old->argument_count];
    if (!uses_only_before(schema, keyspace, added, index))
        return error_set(err, ERROR_INVALID, "field %s: its type must be older than %s", field_name,
                         name);
    return exchange_type(schema, index, made, err);
}

int schema_rename_type_field(struct schema *schema, const char *keyspace, const char *name,
                             const char *from, const char *to, struct error *err)
{
    uint32_t index;
    int rc = find_type(schema, keyspace, name, &index, err);

    if (rc == 0)
        rc = check_type_name(to, err);
    if (rc < 0)
        return rc;
    const struct type *old = schema->types[index]->type;
    const char **names = arena_array(schema->arena, old->argument_count, sizeof(*names));
    uint32_t renamed = old->argument_count;
    for (uint32_t i = 0; i < old->argument_count; i++) {
        names[i] = old->field_names[i];
        if (strcmp(names[i], to) == 0)
            return error_set(err, ERROR_EXISTS, "field %s exists already", to);
        renamed = strcmp(names[i], from) == 0 ? i : renamed;
    }
    if (renamed == old->argument_count)
        return error_set(err, ERROR_NOT_FOUND, "type %.100s has no field %.100s", name, from);
    names[renamed] = schema_copy_text(schema, to);
    const struct user_type *before = schema->types[index];
    struct type type = *old;
    type.field_names = names;
    const struct user_type *made =
        user_type_new(schema, before->keyspace, &type, before->field_types);
    return exchange_type(schema, index, made, err);
}

bool schema_type_uses(const struct type *type, const char *name)
{
    if (type->kind == TYPE_UDT && (name == NULL || strcmp(type->name, name) == 0))
        return true;
    for (uint32_t i = 0; i < type->argument_count; i++)
        if (schema_type_uses(type->arguments[i], name))
            return true;
    return false;
}

/* The name of a table or another type that uses the type; NULL: none does. */
static const char *type_user(const struct schema *schema, const char *keyspace, const char *name)
{
    for (uint32_t i = 0; i < schema->table_count; i++) {
        const struct table *table = schema->tables[i];
        for (uint32_t c = 0; c < table->column_count && strcmp(table->keyspace, keyspace) == 0; c++)
            if (schema_type_uses(table->columns[c].type, name))
                return table->name;
    }
    for (uint32_t i = 0; i < schema->type_count; i++) {
        const struct user_type *other = schema->types[i];
        if (strcmp(other->keyspace, keyspace) == 0 && strcmp(other->type->name, name) != 0 &&
            schema_type_uses(other->type, name))
            return other->type->name;
    }
    return NULL;
}

int schema_drop_type(struct schema *schema, const char *keyspace, const char *name,
                     struct error *err)
{
    uint32_t index;
    int rc = find_type(schema, keyspace, name, &index, err);

    if (rc < 0)
        return rc;
    const char *user = type_user(schema, keyspace, name);
    if (user != NULL)
        return error_set(err, ERROR_CONFLICT, "cannot drop type %s: it is used by %s", name, user);
    schema_remove_type(schema, index);
    return 0;
}

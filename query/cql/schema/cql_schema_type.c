/* What must hold: a collection or user type within another type is frozen, because its value has no
 * cells of its own.  The fields of a user type are frozen even without frozen<>. */
#include <stdlib.h>
#include <string.h>

#include "query/cql/schema/cql_schema_private.h"
#include "query/cql/syntax/cql_print.h"
#include "storage/schema/schema.h"

/* ---- types of the syntax tree ---- */

const char *cql_schema_type_text(struct cql_execution *execution, const struct cql_type *type)
{
    struct buffer text = {.arena = execution->arena};
    cql_print_type_plainly(type, &text);
    return cql_text(execution->arena, buffer_view(&text));
}

bool cql_schema_is_named(const struct cql_type *type, const char *name)
{
    return type->kind == CQL_TYPE_NATIVE && bytes_equal(type->name.name, bytes_text(name));
}

bool cql_schema_holds(const struct cql_type *type, const char *name)
{
    bool holds = cql_schema_is_named(type, name);
    for (const struct cql_type *t = type->arguments; t != NULL && !holds; t = t->next)
        holds = cql_schema_holds(t, name);
    return holds;
}

bool cql_schema_is_collection(const struct cql_type *type)
{
    return type->kind == CQL_TYPE_LIST || type->kind == CQL_TYPE_SET || type->kind == CQL_TYPE_MAP;
}

static int check_user_type(struct change *change, const char *keyspace, const struct cql_type *type)
{
    const char *name = cql_text(change->arena, type->name.name);
    if (type->name.keyspace.size > 0 && !bytes_equal(type->name.keyspace, bytes_text(keyspace))) {
        return cql_invalid(change->fault,
                           "Statement on keyspace %s cannot refer to a user type in keyspace "
                           "%.*s; user types can only be used in the keyspace they are defined in",
                           keyspace, CQL_SHOW(type->name.keyspace));
    }
    return schema_type(change->schema, keyspace, name) != NULL
               ? 0
               : cql_invalid(change->fault, "Unknown type %s.%s", keyspace, name);
}

/* Errors show `whole`, the type that contains `item`. */
static int check_item(struct change *change, const struct cql_type *whole,
                      const struct cql_type *collection, const struct cql_type *item,
                      bool is_frozen)
{
    struct cql_fault *fault = change->fault;
    const char *text = cql_schema_type_text(change->execution, whole);
    bool is_key = collection->kind == CQL_TYPE_MAP && item == collection->arguments;
    if (cql_schema_is_named(item, "counter"))
        return cql_invalid(fault, "Counters are not allowed inside collections: %s", text);
    if (cql_schema_is_named(item, "duration") && collection->kind == CQL_TYPE_SET)
        return cql_invalid(fault, "Durations are not allowed inside sets: %s", text);
    if (cql_schema_is_named(item, "duration") && is_key)
        return cql_invalid(fault, "Durations are not allowed as map keys: %s", text);
    if (!is_frozen && (cql_schema_is_collection(item) || item->kind == CQL_TYPE_USER)) {
        return cql_invalid(fault, "Non-frozen %s are not allowed inside collections: %s",
                           item->kind == CQL_TYPE_USER ? "UDTs" : "collections", text);
    }
    return 0;
}

static int check_within(struct change *change, const char *keyspace, const struct cql_type *whole,
                        const struct cql_type *type, bool is_frozen)
{
    if (type->kind == CQL_TYPE_CUSTOM || type->kind == CQL_TYPE_VECTOR) {
        return cql_invalid(change->fault, "type %s is not supported by daybook",
                           cql_schema_type_text(change->execution, type));
    }
    if (type->kind == CQL_TYPE_NATIVE)
        return 0;
    if (type->arguments == NULL)
        return check_user_type(change, keyspace, type);
    if (type->kind == CQL_TYPE_FROZEN) {
        if (type->arguments->kind == CQL_TYPE_NATIVE) {
            return cql_refuse(change->fault, CQL_SYNTAX_ERROR,
                              "frozen<> is only allowed on collections, tuples, and user-defined "
                              "types (got %.*s)",
                              CQL_SHOW(type->arguments->name.name));
        }
        return check_within(change, keyspace, type, type->arguments, true);
    }
    bool is_tuple = type->kind == CQL_TYPE_TUPLE;
    for (const struct cql_type *item = type->arguments; item != NULL; item = item->next) {
        if (is_tuple && cql_schema_is_named(item, "counter"))
            return cql_invalid(change->fault, "Counters are not allowed inside tuples");
        int rc = is_tuple ? 0 : check_item(change, whole, type, item, is_frozen);
        rc = rc == 0 ? check_within(change, keyspace, item, item, is_frozen || is_tuple) : rc;
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* Refuse a user type without frozen<> that has a collection without frozen<>. */
static int check_fields_within(struct change *change, const char *keyspace,
                               const struct cql_type *type)
{
    static const char *const collections[] = {"list<", "set<", "map<"};
    const struct user_type *found =
        schema_type(change->schema, keyspace, cql_text(change->arena, type->name.name));
    for (uint32_t i = 0; found != NULL && i < found->type->argument_count; i++) {
        for (size_t c = 0; c < sizeof(collections) / sizeof(collections[0]); c++) {
            if (strncmp(found->field_types[i], collections[c], strlen(collections[c])) == 0) {
                return cql_invalid(change->fault, "Non-frozen UDTs with nested non-frozen "
                                                  "collections are not supported");
            }
        }
    }
    return 0;
}

int cql_schema_check_type(struct change *change, const char *keyspace, const struct cql_type *type)
{
    int rc = check_within(change, keyspace, type, type, false);
    return rc == 0 && type->kind == CQL_TYPE_USER ? check_fields_within(change, keyspace, type)
                                                  : rc;
}

/* ---- names ---- */

/* order_named sorts definitions by name; those with equal names keep the order of the statement. */
struct named {
    const struct cql_definition *definition;
    uint32_t place;
};

static int order_named(const void *a, const void *b)
{
    const struct named *left = a;
    const struct named *right = b;
    int order = bytes_compare(left->definition->name, right->definition->name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

int cql_schema_check_names(struct change *change, const struct cql_definition *definitions,
                           const char *what, const struct cql_definition **repeated_out)
{
    uint32_t count = 0;
    *repeated_out = NULL;
    for (const struct cql_definition *d = definitions; d != NULL; d = d->next)
        count++;
    if (count > SCHEMA_COLUMNS_MAX)
        return cql_invalid(change->fault, "over %d %s", SCHEMA_COLUMNS_MAX, what);
    struct named *sorted = arena_alloc(change->arena, (count + 1) * sizeof(*sorted), 16);
    uint32_t place = 0;
    for (const struct cql_definition *d = definitions; d != NULL; d = d->next, place++)
        sorted[place] = (struct named){d, place};
    if (count > 1)
        qsort(sorted, count, sizeof(*sorted), order_named);
    place = UINT32_MAX;
    for (uint32_t i = 1; i < count; i++) {
        if (bytes_equal(sorted[i - 1].definition->name, sorted[i].definition->name) &&
            sorted[i].place < place) {
            place = sorted[i].place;
            *repeated_out = sorted[i].definition;
        }
    }
    return 0;
}

/* ---- CREATE TYPE ---- */

static int check_field(struct change *change, const char *keyspace,
                       const struct cql_definition *field)
{
    if (cql_schema_is_named(field->type, "counter"))
        return cql_invalid(change->fault, "A user type cannot contain counters");
    if (field->type->kind == CQL_TYPE_USER)
        return cql_invalid(change->fault, "A user type cannot contain non-frozen UDTs");
    return cql_schema_check_type(change, keyspace, field->type);
}

static int check_fields(struct change *change, const char *keyspace,
                        const struct cql_create_type *create)
{
    const struct cql_definition *repeated;
    int rc = cql_schema_check_names(change, create->fields, "fields", &repeated);
    if (rc == 0 && repeated != NULL) {
        rc = cql_invalid(change->fault, "Duplicate field name '%.*s' in type '%.*s'",
                         CQL_SHOW(repeated->name), CQL_SHOW(create->name.name));
    }
    for (const struct cql_definition *d = create->fields; d != NULL && rc == 0; d = d->next)
        rc = check_field(change, keyspace, d);
    return rc;
}

int cql_schema_create_type(struct change *change, const struct cql_create_type *create)
{
    const char *keyspace;
    const char *name = cql_text(change->arena, create->name.name);
    uint32_t count = 0;
    int rc = cql_schema_keyspace(change, &create->name, &keyspace);
    if (rc != 0)
        return rc;
    if (schema_type(change->schema, keyspace, name) != NULL) {
        change->is_nothing = create->if_not_exists;
        return create->if_not_exists
                   ? 0
                   : cql_invalid(change->fault, "A user type with name '%s' already exists", name);
    }
    rc = check_fields(change, keyspace, create);
    if (rc != 0)
        return rc;
    for (const struct cql_definition *d = create->fields; d != NULL; d = d->next)
        count++;
    const char **names = arena_alloc(change->arena, (count + 1) * sizeof(*names), 16);
    const char **types = arena_alloc(change->arena, (count + 1) * sizeof(*types), 16);
    uint32_t used = 0;
    for (const struct cql_definition *d = create->fields; d != NULL; d = d->next) {
        names[used] = cql_text(change->arena, d->name);
        types[used++] = cql_schema_type_text(change->execution, d->type);
    }
    cql_schema_event(change, CQL_CREATED, CQL_TARGET_TYPE, keyspace, name);
    rc = schema_add_type(change->schema, keyspace, name, count, names, types, &change->err);
    return cql_schema_result(change, rc);
}

/* ---- the uses of a type ---- */

static bool uses_type(const struct type *type, const char *name)
{
    bool is_used = type->kind == TYPE_UDT && strcmp(type->name, name) == 0;
    for (uint32_t i = 0; i < type->argument_count && !is_used; i++)
        is_used = uses_type(type->arguments[i], name);
    return is_used;
}

static void list_name(struct buffer *names, const char *keyspace, const char *name)
{
    buffer_append_text(names, names->size == 0 ? "" : ", ");
    if (keyspace != NULL) {
        buffer_append_text(names, keyspace);
        buffer_put_u8(names, '.');
    }
    buffer_append_text(names, name);
}

static void list_types(const struct schema *schema, const char *keyspace, const char *name,
                       struct buffer *names)
{
    const struct user_type *other;
    for (uint32_t i = 0; (other = schema_type_at(schema, i)) != NULL; i++) {
        if (strcmp(other->keyspace, keyspace) == 0 && strcmp(other->type->name, name) != 0 &&
            uses_type(other->type, name)) {
            list_name(names, NULL, other->type->name);
        }
    }
}

/* With `in_key`, list only tables with the type in the partition key, and put the keyspace before
 * each name. */
static void list_tables(const struct schema *schema, const char *keyspace, const char *name,
                        bool in_key, struct buffer *names)
{
    for (const struct table *t = schema_table_next(schema, NULL); t != NULL;
         t = schema_table_next(schema, t)) {
        bool is_used = false;
        uint32_t count = in_key ? t->partition_count : t->column_count;
        for (uint32_t i = 0; i < count && strcmp(t->keyspace, keyspace) == 0; i++)
            is_used = is_used || uses_type(t->columns[i].type, name);
        if (is_used)
            list_name(names, in_key ? keyspace : NULL, t->name);
    }
}

/* ---- ALTER and DROP TYPE ---- */

static int find_type(struct change *change, const struct cql_qualified_name *name, bool if_exists,
                     bool is_quoted, const char **keyspace_out, const char **name_out)
{
    *name_out = cql_text(change->arena, name->name);
    int rc = cql_schema_keyspace(change, name, keyspace_out);
    if (rc != 0 && !cql_schema_is_missing(change, *keyspace_out))
        return rc;
    if (schema_type(change->schema, *keyspace_out, *name_out) == NULL) {
        change->is_nothing = if_exists;
        const char *quote = is_quoted ? "'" : "";
        return if_exists ? 0
                         : cql_invalid(change->fault, "Type %s%s.%s%s doesn't exist", quote,
                                       *keyspace_out, *name_out, quote);
    }
    return 0;
}

int cql_schema_drop_type(struct change *change, const struct cql_object *object)
{
    const char *keyspace;
    const char *name;
    int rc = find_type(change, &object->name, object->if_exists, true, &keyspace, &name);
    if (rc != 0 || change->is_nothing)
        return rc;
    struct buffer names = {.arena = change->arena};
    list_types(change->schema, keyspace, name, &names);
    bool is_in_types = names.size > 0;
    if (!is_in_types)
        list_tables(change->schema, keyspace, name, false, &names);
    if (names.size > 0) {
        rc = cql_invalid(
            change->fault, "Cannot drop user type '%s.%s' as it is still used by %s %.*s", keyspace,
            name, is_in_types ? "user types" : "tables", CQL_SHOW(buffer_view(&names)));
    }
    if (rc != 0)
        return rc;
    cql_schema_event(change, CQL_DROPPED, CQL_TARGET_TYPE, keyspace, name);
    return cql_schema_result(change,
                             schema_drop_type(change->schema, keyspace, name, &change->err));
}

/* Refuse the new field if the type is in a partition key, because values with the field would not
 * find the rows that exist. */
static int check_not_in_key(struct change *change, const char *keyspace, const char *name,
                            const struct cql_definition *field)
{
    struct buffer tables = {.arena = change->arena};
    list_tables(change->schema, keyspace, name, true, &tables);
    return tables.size == 0
               ? 0
               : cql_invalid(change->fault,
                             "Cannot add new field %.*s of type %s to user type %s.%s as the "
                             "type is being used in partition key by the following tables: %.*s",
                             CQL_SHOW(field->name),
                             cql_schema_type_text(change->execution, field->type), keyspace, name,
                             CQL_SHOW(buffer_view(&tables)));
}

static int check_circle(struct change *change, const char *keyspace, const char *name,
                        const struct cql_definition *field)
{
    const struct type *type;
    const char *text = cql_schema_type_text(change->execution, field->type);
    int rc = schema_parse_type(change->schema, keyspace, bytes_text(text), change->arena, &type,
                               &change->err);
    if (rc != 0)
        return cql_schema_result(change, rc);
    if (!uses_type(type, name))
        return 0;
    return cql_invalid(change->fault,
                       "Cannot add new field %.*s of type frozen<%s.%s> to user type %s.%s as it "
                       "would create a circular reference",
                       CQL_SHOW(field->name), keyspace, type->kind == TYPE_UDT ? type->name : text,
                       keyspace, name);
}

static int add_field(struct change *change, const char *keyspace, const char *name,
                     const struct cql_alter *alter, const struct cql_definition *field)
{
    const struct type *type = schema_type(change->schema, keyspace, name)->type;
    for (uint32_t i = 0; i < type->argument_count; i++) {
        if (bytes_equal(bytes_text(type->field_names[i]), field->name)) {
            return alter->if_column_not_exists
                       ? 0
                       : cql_invalid(change->fault,
                                     "Cannot add field %.*s to type %s.%s: a field with name %.*s "
                                     "already exists",
                                     CQL_SHOW(field->name), keyspace, name, CQL_SHOW(field->name));
        }
    }
    int rc = check_field(change, keyspace, field);
    rc = rc == 0 ? check_circle(change, keyspace, name, field) : rc;
    rc = rc == 0 ? check_not_in_key(change, keyspace, name, field) : rc;
    if (rc != 0)
        return rc;
    change->is_nothing = false;
    rc = schema_add_type_field(change->schema, keyspace, name, cql_text(change->arena, field->name),
                               cql_schema_type_text(change->execution, field->type), &change->err);
    return cql_schema_result(change, rc);
}

static int rename_field(struct change *change, const char *keyspace, const char *name,
                        const struct cql_alter *alter, const struct cql_rename *rename)
{
    if (bytes_equal(rename->from, rename->to))
        return 0;
    int rc = schema_rename_type_field(change->schema, keyspace, name,
                                      cql_text(change->arena, rename->from),
                                      cql_text(change->arena, rename->to), &change->err);
    if (rc == ERROR_NOT_FOUND) {
        return alter->if_column_exists
                   ? 0
                   : cql_invalid(change->fault, "Unkown field %.*s in user type %s.%s",
                                 CQL_SHOW(rename->from), keyspace, name);
    }
    if (rc == ERROR_EXISTS) {
        return cql_invalid(change->fault, "Duplicate field name %.*s in type %s",
                           CQL_SHOW(rename->to), keyspace);
    }
    change->is_nothing = false;
    return cql_schema_result(change, rc);
}

int cql_schema_alter_type(struct change *change, const struct cql_alter *alter)
{
    const char *keyspace;
    const char *name;
    int rc = find_type(change, &alter->name, alter->if_exists, false, &keyspace, &name);
    if (rc != 0 || change->is_nothing)
        return rc;
    if (alter->kind == CQL_ALTER_TYPE)
        return cql_invalid(change->fault, "Altering field types is no longer supported");
    cql_schema_event(change, CQL_UPDATED, CQL_TARGET_TYPE, keyspace, name);
    change->is_nothing = true;
    /* Each changed field copies the schema, so limits (cql_guard.h) are checked for each field. */
    for (const struct cql_definition *d = alter->definitions; rc == 0 && d != NULL; d = d->next) {
        arena_count(change->arena, ARENA_LOOK_ITEMS);
        rc = add_field(change, keyspace, name, alter, d);
    }
    for (const struct cql_rename *r = alter->renames; rc == 0 && r != NULL; r = r->next) {
        arena_count(change->arena, ARENA_LOOK_ITEMS);
        rc = rename_field(change, keyspace, name, alter, r);
    }
    return rc;
}

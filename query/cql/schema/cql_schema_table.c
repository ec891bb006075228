#include <string.h>

#include "query/cql/schema/cql_schema_private.h"
#include "storage/schema/schema.h"

struct columns {
    struct column_definition *items;
    uint32_t count;
};

static struct column_definition *columns_find(const struct columns *columns, struct bytes name)
{
    for (uint32_t i = 0; i < columns->count; i++)
        if (bytes_equal(bytes_text(columns->items[i].name), name))
            return &columns->items[i];
    return NULL;
}

/* Move the column to `place`, after the key columns that were moved before. */
static int take_key(struct change *change, const struct cql_create_table *create,
                    struct columns *columns, uint32_t place, struct bytes name,
                    enum column_kind kind)
{
    struct cql_fault *fault = change->fault;
    struct column_definition *column = columns_find(columns, name);
    if (column == NULL) {
        return cql_invalid(fault,
                           "Unknown column '%.*s' referenced in PRIMARY KEY for table '%.*s'",
                           CQL_SHOW(name), CQL_SHOW(create->name.name));
    }
    if ((uint32_t)(column - columns->items) < place) {
        return cql_invalid(fault, "Duplicate column '%.*s' in PRIMARY KEY clause for table '%.*s'",
                           CQL_SHOW(name), CQL_SHOW(create->name.name));
    }
    if (column->kind == COLUMN_STATIC) {
        return cql_invalid(fault, "Static column '%.*s' cannot be part of the PRIMARY KEY",
                           CQL_SHOW(name));
    }
    const struct cql_definition *definition = create->columns;
    while (!bytes_equal(definition->name, name))
        definition = definition->next;
    if (cql_schema_holds(definition->type, "counter")) {
        return cql_invalid(fault, "counter type is not supported for PRIMARY KEY column '%.*s'",
                           CQL_SHOW(name));
    }
    if (cql_schema_holds(definition->type, "duration")) {
        return cql_invalid(fault, "duration type is not supported for PRIMARY KEY column '%.*s'",
                           CQL_SHOW(name));
    }
    if (definition->type->kind == CQL_TYPE_USER) {
        return cql_invalid(
            fault, "Invalid non-frozen user-defined type \"%s.%.*s\" for PRIMARY KEY column '%.*s'",
            change->event.keyspace, CQL_SHOW(definition->type->name.name), CQL_SHOW(name));
    }
    if (cql_schema_is_collection(definition->type)) {
        return cql_invalid(
            fault, "Invalid non-frozen collection type %s for PRIMARY KEY column '%.*s'",
            cql_schema_type_text(change->execution, definition->type), CQL_SHOW(name));
    }
    column->kind = kind;
    struct column_definition moved = *column;
    memmove(&columns->items[place + 1], &columns->items[place],
            (size_t)(column - &columns->items[place]) * sizeof(moved));
    columns->items[place] = moved;
    return 0;
}

static int read_columns(struct change *change, const struct cql_create_table *create,
                        struct columns *columns, bool *is_counter_out)
{
    const struct cql_definition *repeated;
    int checked = cql_schema_check_names(change, create->columns, "columns", &repeated);
    if (checked != 0)
        return checked;
    uint32_t count = 0;
    for (const struct cql_definition *d = create->columns; d != NULL; d = d->next)
        count++;
    columns->items = arena_alloc(change->arena, (count + 1) * sizeof(*columns->items), 16);
    for (const struct cql_definition *d = create->columns; d != NULL; d = d->next) {
        if (d == repeated) {
            return cql_invalid(change->fault,
                               "Duplicate column '%.*s' declaration for table '%.*s'",
                               CQL_SHOW(d->name), CQL_SHOW(create->name.name));
        }
        if (d->is_masked) {
            return cql_invalid(change->fault, "Cannot mask columns: dynamic data masking is not "
                                              "enabled");
        }
        int rc = cql_schema_check_type(change, change->event.keyspace, d->type);
        if (rc != 0)
            return rc;
        columns->items[columns->count++] =
            (struct column_definition){.name = cql_text(change->arena, d->name),
                                       .type = cql_schema_type_text(change->execution, d->type),
                                       .kind = d->is_static ? COLUMN_STATIC : COLUMN_REGULAR};
        *is_counter_out |= cql_schema_is_named(d->type, "counter");
    }
    return 0;
}

static int read_key(struct change *change, const struct cql_create_table *create,
                    struct columns *columns, uint32_t *key_count_out)
{
    uint32_t place = 0;
    uint32_t clustering = 0;
    if (create->key.count != 1) {
        return cql_invalid(change->fault,
                           create->key.count == 0
                               ? "No PRIMARY KEY specifed for table '%.*s' (exactly one required)"
                               : "Multiple PRIMARY KEY specified for table '%.*s' (exactly one "
                                 "required)",
                           CQL_SHOW(create->name.name));
    }
    for (const struct cql_definition *d = create->columns; d != NULL; d = d->next) {
        int rc = d->is_primary_key
                     ? take_key(change, create, columns, place++, d->name, COLUMN_PARTITION)
                     : 0;
        if (rc != 0)
            return rc;
    }
    for (const struct cql_name *n = create->key.partition; n != NULL; n = n->next) {
        int rc = take_key(change, create, columns, place++, n->text, COLUMN_PARTITION);
        if (rc != 0)
            return rc;
    }
    for (const struct cql_name *n = create->key.clustering; n != NULL; n = n->next, clustering++) {
        int rc = take_key(change, create, columns, place++, n->text, COLUMN_CLUSTERING);
        if (rc != 0)
            return rc;
    }
    *key_count_out = place;
    for (uint32_t i = place; i < columns->count && clustering == 0; i++) {
        if (columns->items[i].kind == COLUMN_STATIC) {
            return cql_invalid(change->fault,
                               "Static columns are only useful (and thus allowed) if the "
                               "table has at least one clustering column");
        }
    }
    return 0;
}

/* A correct CLUSTERING ORDER BY has at most SCHEMA_CLUSTERING_MAX entries.  So the first wrong
 * entry is among the first ORDERINGS_READ. */
enum { ORDERINGS_READ = SCHEMA_CLUSTERING_MAX + 1 };

static int read_order(struct change *change, const struct cql_create_table *create,
                      struct columns *columns)
{
    const struct cql_ordering *o = create->clustering_order;
    for (uint32_t i = 0; o != NULL && i < ORDERINGS_READ; o = o->next, i++) {
        struct column_definition *column = columns_find(columns, o->column);
        if (column == NULL || column->kind != COLUMN_CLUSTERING) {
            return cql_invalid(change->fault,
                               "Only clustering key columns can be defined in CLUSTERING ORDER "
                               "directive: [%.*s] are not clustering columns",
                               CQL_SHOW(o->column));
        }
        column->descending = o->descending;
    }
    return 0;
}

static bool is_ordered(const struct bytes *names, uint32_t from, uint32_t count, struct bytes name)
{
    for (uint32_t i = from; i < count; i++)
        if (bytes_equal(names[i], name))
            return true;
    return false;
}

/* CLUSTERING ORDER BY must name the first clustering columns, each once and in order. */
static int check_order(struct change *change, const struct cql_create_table *create,
                       const struct columns *columns, uint32_t key_count)
{
    struct bytes names[ORDERINGS_READ];
    uint32_t count = 0;
    uint32_t place = 0;
    const struct cql_ordering *o = create->clustering_order;
    for (; o != NULL && count < ORDERINGS_READ; o = o->next)
        names[count++] = o->column;
    while (place < key_count && columns->items[place].kind == COLUMN_PARTITION)
        place++;
    for (uint32_t i = 0; i < count; i++) {
        if (is_ordered(names, i + 1, count, names[i])) {
            return cql_invalid(change->fault,
                               "Duplicate column '%.*s' in CLUSTERING ORDER BY clause for "
                               "table '%.*s'",
                               CQL_SHOW(names[i]), CQL_SHOW(create->name.name));
        }
    }
    for (uint32_t i = 0; i < count; i++, place++) {
        struct bytes wanted = bytes_text(columns->items[place].name);
        if (bytes_equal(names[i], wanted))
            continue;
        return is_ordered(names, i + 1, count, wanted)
                   ? cql_invalid(change->fault,
                                 "The order of columns in the CLUSTERING ORDER directive must "
                                 "match that of the clustering columns (%.*s must appear "
                                 "before %.*s)",
                                 CQL_SHOW(wanted), CQL_SHOW(names[i]))
                   : cql_invalid(change->fault, "Missing CLUSTERING ORDER for column %.*s",
                                 CQL_SHOW(wanted));
    }
    return 0;
}

static int check_counters(struct change *change, const struct columns *columns, uint32_t key_count,
                          bool is_counter)
{
    for (uint32_t i = key_count; i < columns->count && is_counter; i++) {
        if (strcmp(columns->items[i].type, "counter") != 0) {
            return cql_invalid(change->fault,
                               "Cannot mix counter and non counter columns in the same table");
        }
    }
    return 0;
}

static int check_types(struct change *change, const char *keyspace, const struct columns *columns)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct type *type;
        struct error err = {0};
        int rc = schema_parse_type(change->schema, keyspace, bytes_text(columns->items[i].type),
                                   change->arena, &type, &err);
        if (rc != 0)
            return cql_invalid(change->fault, "%s", err.text);
    }
    return 0;
}

int cql_schema_set_options(struct change *change, const struct table *table,
                           const struct cql_property *properties, bool is_new)
{
    struct cql_table_options options;
    int rc = cql_table_options_read(change->execution, table, properties, is_new, &options);
    if (rc != 0)
        return rc;
    change->is_nothing = !is_new && !options.is_changed;
    rc = schema_set_table(change->schema, table->id, options.comment, options.default_ttl_s,
                          table->flags, &change->err);
    if (rc == 0) {
        rc = schema_set_table_options(change->schema, table->id, options.items, options.count,
                                      &change->err);
    }
    return cql_schema_result(change, rc);
}

static int add_table(struct change *change, const char *keyspace, const char *name,
                     const struct columns *columns, bool is_counter,
                     const struct cql_property *properties)
{
    struct table_definition definition = {.keyspace = keyspace,
                                          .name = name,
                                          .comment = "",
                                          .flags = is_counter ? TABLE_COUNTER : 0,
                                          .columns = columns->items,
                                          .column_count = columns->count};
    int rc = schema_add_table(change->schema, &definition, &change->err);
    return rc == 0
               ? cql_schema_set_options(change, schema_table_named(change->schema, keyspace, name),
                                        properties, true)
               : cql_schema_result(change, rc);
}

int cql_schema_create_table(struct change *change, const struct cql_create_table *create)
{
    const char *keyspace;
    struct columns columns = {0};
    bool is_counter = false;
    uint32_t key_count = 0;
    const char *name = cql_text(change->arena, create->name.name);
    int rc = cql_schema_keyspace(change, &create->name, &keyspace);
    if (rc != 0)
        return rc;
    rc = cql_table_options_check(change->execution, create->properties);
    if (rc != 0)
        return rc;
    if (schema_table_named(change->schema, keyspace, name) != NULL) {
        change->is_nothing = create->if_not_exists;
        return create->if_not_exists ? 0 : cql_schema_refuse_exists(change, keyspace, name);
    }
    cql_schema_event(change, CQL_CREATED, CQL_TARGET_TABLE, keyspace, name);
    if (!cql_schema_is_plain_name(bytes_text(name))) {
        return cql_refuse(change->fault, CQL_CONFIG_ERROR,
                          "%s.%s: Table name must not be empty or not contain "
                          "non-alphanumeric-underscore characters (got \"%s\")",
                          keyspace, name, name);
    }
    if (create->compact_storage) {
        return cql_invalid(change->fault,
                           "COMPACT STORAGE tables are not allowed starting with version 4.0");
    }
    rc = read_columns(change, create, &columns, &is_counter);
    if (rc == 0)
        rc = read_key(change, create, &columns, &key_count);
    if (rc == 0)
        rc = read_order(change, create, &columns);
    if (rc == 0)
        rc = check_order(change, create, &columns, key_count);
    if (rc == 0)
        rc = check_counters(change, &columns, key_count, is_counter);
    if (rc == 0)
        rc = check_types(change, keyspace, &columns);
    return rc == 0 ? add_table(change, keyspace, name, &columns, is_counter, create->properties)
                   : rc;
}

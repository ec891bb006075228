/* CREATE, ALTER, DROP and TRUNCATE change a copy of the schema:
 *
 *   wait for writes under way ─▶ edit a copy ─▶ apply it ─▶ durable ─▶ events ─▶ answer
 *
 * What must hold: other requests wait until a change is durable, so that none sees a schema that a
 * crash can undo.  A change begins only when no write is under way, so that no write goes to a
 * dropped table.
 *
 * TRUNCATE gives the table a new number; a later flush drops the rows under the old number. */
#include "query/cql/schema/cql_schema.h"

#include <stdlib.h>
#include <string.h>

#include "query/cql/common/cql_compiled.h"
#include "query/cql/common/cql_edit.h"
#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_scope.h"
#include "query/cql/common/cql_trace.h"
#include "query/cql/common/cql_wait.h"
#include "query/cql/schema/cql_index_build.h"
#include "query/cql/schema/cql_schema_index.h"
#include "query/cql/schema/cql_schema_private.h"
#include "rollup/streams/streams.h"
#include "storage/cell/write_batch.h"
#include "storage/engine/store.h"
#include "storage/schema/schema.h"
#include "storage/schema/type.h"

static void change_release(struct cql_execution *execution)
{
    struct change *change = execution->state;
    schema_unref(change->schema);
    write_batch_free(change->batch);
}

/* ---- refusals ---- */

int cql_schema_refuse_exists(struct change *change, const char *keyspace, const char *name)
{
    struct cql_fault *fault = change->fault;
    int rc =
        name[0] == '\0'
            ? cql_refuse(fault, CQL_ALREADY_EXISTS, "Cannot add existing keyspace \"%s\"", keyspace)
            : cql_refuse(fault, CQL_ALREADY_EXISTS,
                         "Cannot add already existing table \"%s\" to keyspace \"%s\"", name,
                         keyspace);
    fault->error.keyspace = keyspace;
    fault->error.name = name;
    return rc;
}

static int check_keyspace(struct change *change, const char *keyspace)
{
    if (cql_scope_is_system(keyspace))
        return cql_refuse(change->fault, CQL_UNAUTHORIZED, "%s keyspace is not user-modifiable.",
                          keyspace);
    if (strcmp(keyspace, "daybook") == 0 || strcmp(keyspace, "daybook_system") == 0) {
        return cql_refuse(change->fault, CQL_UNAUTHORIZED,
                          "keyspace %s is daybook's own: its tables are made by `daybook init` and "
                          "kept by the program; make a keyspace of your own beside it",
                          keyspace);
    }
    if (schema_keyspace(change->schema, keyspace) == NULL)
        return cql_invalid(change->fault, "Keyspace '%s' doesn't exist", keyspace);
    return 0;
}

bool cql_schema_is_plain_name(struct bytes name)
{
    for (size_t i = 0; i < name.size; i++) {
        uint8_t letter = name.data[i] | 0x20;
        bool is_digit = name.data[i] >= '0' && name.data[i] <= '9';
        if (!is_digit && (letter < 'a' || letter > 'z') && name.data[i] != '_')
            return false;
    }
    return name.size > 0;
}

bool cql_schema_is_missing(const struct change *change, const char *keyspace)
{
    return keyspace[0] != '\0' && !cql_scope_is_system(keyspace) &&
           schema_keyspace(change->schema, keyspace) == NULL;
}

int cql_schema_keyspace(struct change *change, const struct cql_qualified_name *name,
                        const char **keyspace_out)
{
    struct cql_scope scope = {.keyspace = change->execution->compiled->keyspace,
                              .arena = change->arena,
                              .fault = change->fault};
    int rc = cql_scope_keyspace(&scope, name, keyspace_out);
    return rc == 0 ? check_keyspace(change, *keyspace_out) : rc;
}

void cql_schema_event(struct change *change, enum cql_change what, enum cql_target target,
                      const char *keyspace, const char *name)
{
    change->event = (struct cql_schema_change){what, target, keyspace, name};
    change->has_event = true;
}

int cql_schema_result(struct change *change, int rc)
{
    return rc == 0 ? 0 : cql_fault_of(change->fault, &change->err);
}

/* ---- keyspaces ---- */

/* Returns the map's last value, because the class is the first and there is only one datacenter.
 * Returns 1 if that value is not a number above 0. */
static long replication_factor(const char *replication)
{
    const char *end = strrchr(replication, '\'');
    const char *start = end;
    while (start != NULL && start > replication && start[-1] != '\'')
        start--;
    long factor = start == NULL ? 0 : strtol(start, NULL, 10);
    return factor > 0 ? factor : 1;
}

static int set_replication(struct change *change, const char *name,
                           const struct cql_property *properties, bool is_new)
{
    struct cql_execution *execution = change->execution;
    const struct keyspace *keyspace = schema_keyspace(change->schema, name);
    struct cql_keyspace_options options = {.replication = keyspace->replication,
                                           .durable_writes = keyspace->durable_writes};
    int rc = cql_schema_options_read_keyspace(execution, name, properties, &options);
    long before = replication_factor(keyspace->replication);
    if (rc == 0 && !is_new && replication_factor(options.replication) > before) {
        cql_execution_warn(
            execution, "When increasing replication factor you need to run a full (-full) repair "
                       "to distribute the data.");
    }
    return rc == 0 ? cql_schema_result(
                         change, schema_set_keyspace(change->schema, name, options.replication,
                                                     options.durable_writes, &change->err))
                   : rc;
}

static int check_keyspace_name(struct change *change, const char *name)
{
    size_t size = strlen(name);
    if (!cql_schema_is_plain_name(bytes_text(name))) {
        return cql_invalid(change->fault,
                           "Keyspace name must not be empty and must contain alphanumeric or "
                           "underscore characters only (got \"%s\")",
                           name);
    }
    return size <= SCHEMA_NAME_MAX
               ? 0
               : cql_invalid(change->fault,
                             "Keyspace name must not be more than %d characters long (got %zu "
                             "characters for \"%s\")",
                             SCHEMA_NAME_MAX, size, name);
}

static int create_keyspace(struct change *change, const struct cql_create_keyspace *create)
{
    const char *name = cql_text(change->arena, create->name);
    if (cql_scope_is_system(name))
        return cql_invalid(change->fault, "System keyspace '%s' is not user-modifiable", name);
    int rc = check_keyspace_name(change, name);
    rc = rc == 0 ? cql_schema_options_check_keyspace(change->execution, create->properties, true)
                 : rc;
    if (rc != 0)
        return rc;
    if (schema_keyspace(change->schema, name) != NULL) {
        change->is_nothing = create->if_not_exists;
        return create->if_not_exists ? 0 : cql_schema_refuse_exists(change, name, "");
    }
    rc = schema_add_keyspace(change->schema, name, &change->err);
    if (rc != 0)
        return cql_schema_result(change, rc);
    cql_schema_event(change, CQL_CREATED, CQL_TARGET_KEYSPACE, name, "");
    return set_replication(change, name, create->properties, true);
}

/* With IF EXISTS, a missing keyspace is no error, and sets change->is_nothing. */
static int find_keyspace(struct change *change, const struct cql_object *object,
                         const char **name_out)
{
    *name_out = cql_text(change->arena, object->name.name);
    if (object->if_exists && schema_keyspace(change->schema, *name_out) == NULL &&
        !cql_scope_is_system(*name_out)) {
        change->is_nothing = true;
        return 0;
    }
    return check_keyspace(change, *name_out);
}

static int alter_keyspace(struct change *change, const struct cql_object *object)
{
    const char *name;
    int rc = find_keyspace(change, object, &name);
    if (rc != 0 || change->is_nothing)
        return rc;
    cql_schema_event(change, CQL_UPDATED, CQL_TARGET_KEYSPACE, name, "");
    rc = cql_schema_options_check_keyspace(change->execution, object->properties, false);
    return rc == 0 ? set_replication(change, name, object->properties, false) : rc;
}

static int refuse_used(struct change *change, const struct table *table, const char *what)
{
    const struct streams *streams = change->execution->cql->options.streams;
    const struct click_stream *stream = streams != NULL ? streams_user(streams, table->id) : NULL;
    return stream == NULL
               ? 0
               : cql_invalid(change->fault,
                             "Cannot %s table %s.%s: stream %s uses it; daybook stream "
                             "drop %s gives it up",
                             what, table->keyspace, table->name, stream->name, stream->name);
}

static int drop_keyspace(struct change *change, const struct cql_object *object)
{
    const char *name;
    int rc = find_keyspace(change, object, &name);
    if (rc != 0 || change->is_nothing)
        return rc;
    cql_schema_event(change, CQL_DROPPED, CQL_TARGET_KEYSPACE, name, "");
    for (const struct table *t = schema_table_next(change->schema, NULL); t != NULL;
         t = schema_table_next(change->schema, t)) {
        if (strcmp(t->keyspace, name) == 0) {
            rc = refuse_used(change, t, "drop");
            if (rc != 0)
                return rc;
            cql_index_drop_all(change->schema, t, change->arena);
        }
    }
    return cql_schema_result(change, schema_drop_keyspace(change->schema, name, &change->err));
}

/* ---- tables ---- */

/* Find a table that clients may change.  With `if_exists`, a missing table is no error: it sets
 * `*table_out` to NULL and change->is_nothing. */
static int find_table(struct change *change, const struct cql_qualified_name *name, bool if_exists,
                      const struct table **table_out)
{
    const char *keyspace;
    const char *table_name = cql_text(change->arena, name->name);
    int rc = cql_schema_keyspace(change, name, &keyspace);
    if (rc != 0 && !cql_schema_is_missing(change, keyspace))
        return rc;
    *table_out = schema_table_named(change->schema, keyspace, table_name);
    if (*table_out == NULL) {
        change->is_nothing = if_exists;
        return if_exists ? 0
                         : cql_invalid(change->fault, "Table '%s.%s' doesn't exist", keyspace,
                                       table_name);
    }
    /* The event outlives the copy of the schema, so it has texts of its own. */
    cql_schema_event(change, CQL_UPDATED, CQL_TARGET_TABLE, keyspace, table_name);
    return 0;
}

static int drop_table(struct change *change, const struct cql_object *object)
{
    const struct table *table;
    int rc = find_table(change, &object->name, object->if_exists, &table);
    if (rc != 0 || change->is_nothing)
        return rc;
    rc = refuse_used(change, table, "drop");
    if (rc != 0)
        return rc;
    change->event.change = CQL_DROPPED;
    cql_index_drop_all(change->schema, table, change->arena);
    return cql_schema_result(change, schema_drop_table(change->schema, table->id, &change->err));
}

static int truncate_table(struct change *change, const struct cql_object *object)
{
    const struct table *table;
    struct cql_scope scope = {.cql = change->execution->cql,
                              .schema = change->schema,
                              .keyspace = change->execution->compiled->keyspace,
                              .arena = change->arena,
                              .fault = change->fault};
    int rc = cql_scope_table(&scope, &object->name, &table);
    rc = rc == 0 ? find_table(change, &object->name, false, &table) : rc;
    if (rc != 0)
        return rc;
    if ((table->flags & TABLE_KEPT) != 0)
        return refuse_used(change, table, "truncate");
    change->has_event = false;
    const char *keyspace = change->event.keyspace;
    const char *name = change->event.name;
    const struct cql_index *indexes;
    uint32_t count = cql_index_list(change->schema, table, change->arena, &indexes);
    cql_index_drop_all(change->schema, table, change->arena);
    rc = cql_schema_result(change, schema_truncate_table(change->schema, table->id, &change->err));
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        table = schema_table_named(change->schema, keyspace, name);
        rc = cql_index_make(change->schema, table, schema_column(table, indexes[i].column->id),
                            indexes[i].of, indexes[i].name, change->arena, change->fault);
        if (rc == 0)
            rc = cql_index_set_built(change->schema, keyspace, indexes[i].name, change->fault);
    }
    return rc;
}

/* ---- indexes ---- */

static int create_index(struct change *change, const struct cql_create_index *create)
{
    const struct table *table;
    const char *keyspace;
    const char *name = cql_text(change->arena, create->table.name);
    int rc = cql_schema_keyspace(change, &create->table, &keyspace);
    if (rc == 0 && schema_table_named(change->schema, keyspace, name) == NULL)
        return cql_invalid(change->fault, "Table '%s' doesn't exist", name);
    rc = rc == 0 ? find_table(change, &create->table, false, &table) : rc;
    if (rc == 0)
        rc = cql_schema_index_create(change->execution, change->schema, table, create,
                                     &change->index);
    change->is_nothing = rc == 0 && change->index == NULL;
    return rc;
}

static int drop_index(struct change *change, const struct cql_object *object)
{
    const char *keyspace;
    struct cql_index index;
    int rc = cql_schema_keyspace(change, &object->name, &keyspace);
    if (rc != 0 && !cql_schema_is_missing(change, keyspace))
        return rc;
    if (!cql_index_find(change->schema, keyspace, object->name.name, change->arena, &index)) {
        change->is_nothing = object->if_exists;
        return object->if_exists ? 0
                                 : cql_invalid(change->fault, "Index '%s.%.*s' doesn't exist'",
                                               keyspace, CQL_SHOW(object->name.name));
    }
    cql_schema_event(change, CQL_UPDATED, CQL_TARGET_TABLE, keyspace,
                     cql_text(change->arena, bytes_text(index.table->name)));
    return cql_schema_result(change,
                             schema_drop_table(change->schema, index.hidden->id, &change->err));
}

/* ---- ALTER TABLE ---- */

/* Whether values of type `from` may be read as values of type `to`, by Cassandra's rules. */
static bool reads_as(const struct type *to, const struct type *from)
{
    bool is_text = from->kind == TYPE_TEXT || from->kind == TYPE_ASCII;
    bool is_number = from->kind == TYPE_VARINT || from->kind == TYPE_DECIMAL;
    return type_equal(to, from) || from->kind == TYPE_BLOB ||
           (to->kind == TYPE_BLOB && (is_text || is_number || from->kind == TYPE_INET)) ||
           (to->kind == TYPE_TEXT && from->kind == TYPE_ASCII) ||
           (to->kind == TYPE_UUID && from->kind == TYPE_TIMEUUID) ||
           (to->kind == TYPE_BIGINT && from->kind == TYPE_TIMESTAMP) ||
           (to->kind == TYPE_TIMESTAMP && from->kind == TYPE_BIGINT);
}

static int check_dropped(struct change *change, const struct table *table,
                         const struct cql_definition *definition, const struct type *type)
{
    for (uint32_t i = 0; i < table->dropped_count; i++) {
        const struct dropped_column *dropped = &table->dropped[i];
        if (!bytes_equal(bytes_text(dropped->name), definition->name))
            continue;
        if (dropped->type->kind == TYPE_COUNTER && type->kind == TYPE_COUNTER) {
            return cql_invalid(change->fault, "Cannot re-add previously dropped counter column %s",
                               dropped->name);
        }
        bool is_static = dropped->kind == COLUMN_STATIC;
        bool is_other_kind = dropped->kind != 0 && is_static != definition->is_static;
        if (reads_as(type, dropped->type) && is_other_kind) {
            return cql_invalid(change->fault,
                               "Cannot re-add previously dropped column '%s' of kind %s, "
                               "incompatible with previous kind %s",
                               dropped->name, is_static ? "REGULAR" : "STATIC",
                               is_static ? "STATIC" : "REGULAR");
        }
        if (!reads_as(type, dropped->type)) {
            struct buffer old = {.arena = change->arena};
            type_print(dropped->type, &old);
            return cql_invalid(change->fault,
                               "Cannot add a column '%s' of type %s, incompatible with "
                               "previously dropped column '%s' of type %.*s",
                               dropped->name,
                               cql_schema_type_text(change->execution, definition->type),
                               dropped->name, CQL_SHOW(buffer_view(&old)));
        }
    }
    return 0;
}

static int check_added(struct change *change, const struct table *table,
                       const struct cql_definition *definition, const struct type *type)
{
    bool is_counter = (table->flags & TABLE_COUNTER) != 0;
    if (definition->is_static && table->clustering_count == 0) {
        return cql_invalid(change->fault,
                           "Static columns are only useful (and thus allowed) if the table "
                           "has at least one clustering column");
    }
    int rc = check_dropped(change, table, definition, type);
    if (rc == 0 && is_counter != (type->kind == TYPE_COUNTER)) {
        return cql_refuse(
            change->fault, CQL_CONFIG_ERROR,
            is_counter ? "%s.%s: Cannot have a non counter column (\"%.*s\") in a counter table"
                       : "%s.%s: Cannot have a counter column (\"%.*s\") in a non counter table",
            table->keyspace, table->name, CQL_SHOW(definition->name));
    }
    return rc;
}

static int check_column(struct change *change, const struct table *table,
                        const struct cql_definition *definition,
                        struct column_definition *added_out)
{
    const struct type *type;
    *added_out = (struct column_definition){
        .name = cql_text(change->arena, definition->name),
        .type = cql_schema_type_text(change->execution, definition->type),
        .kind = definition->is_static ? COLUMN_STATIC : COLUMN_REGULAR};
    int rc = cql_schema_check_type(change, table->keyspace, definition->type);
    if (rc != 0)
        return rc;
    rc = schema_parse_type(change->schema, table->keyspace, bytes_text(added_out->type),
                           change->arena, &type, &change->err);
    return rc == 0 ? check_added(change, table, definition, type) : cql_schema_result(change, rc);
}

static int add_columns(struct change *change, uint32_t table_id, const struct cql_alter *alter)
{
    const struct table *table = schema_table(change->schema, table_id);
    const struct cql_definition *repeated;
    uint32_t count = 0;
    int rc = cql_schema_check_names(change, alter->definitions, "columns", &repeated);
    if (rc != 0)
        return rc;
    struct column_definition *added =
        arena_alloc(change->arena, SCHEMA_COLUMNS_MAX * sizeof(*added), 16);
    for (const struct cql_definition *d = alter->definitions; d != NULL; d = d->next) {
        bool is_there = schema_column_named(table, d->name) != NULL || d == repeated;
        if (is_there && alter->if_column_not_exists)
            continue;
        if (is_there) {
            return cql_invalid(change->fault, "Column with name '%.*s' already exists",
                               CQL_SHOW(d->name));
        }
        rc = check_column(change, table, d, &added[count++]);
        if (rc != 0)
            return rc;
    }
    change->is_nothing = count == 0;
    if (count > 0)
        rc = schema_add_columns(change->schema, table_id, added, count, &change->err);
    return cql_schema_result(change, rc);
}

/* Refuse a column that has an index.  The error's text begins with `what`. */
static int refuse_indexed(struct change *change, const struct table *table,
                          const struct column *column, const char *what)
{
    const struct cql_index *indexes;
    uint32_t count = cql_index_list(change->schema, table, change->arena, &indexes);
    for (uint32_t i = 0; i < count; i++) {
        if (indexes[i].column == column) {
            return cql_invalid(change->fault,
                               "%s column %s because it has dependent secondary indexes (%s)", what,
                               column->name, indexes[i].name);
        }
    }
    return 0;
}

static int drop_column(struct change *change, uint32_t table_id, struct bytes name, bool if_exists)
{
    const struct table *table = schema_table(change->schema, table_id);
    const struct column *column = schema_column_named(table, name);
    if (column == NULL) {
        return if_exists ? 0
                         : cql_invalid(change->fault, "Column %.*s was not found in table '%s.%s'",
                                       CQL_SHOW(name), table->keyspace, table->name);
    }
    if (column->kind == COLUMN_PARTITION || column->kind == COLUMN_CLUSTERING)
        return cql_invalid(change->fault, "Cannot drop PRIMARY KEY column %s", column->name);
    if (column->type->kind == TYPE_UDT && !column->type->frozen) {
        return cql_invalid(change->fault, "Cannot drop non-frozen column %s of user type %s",
                           column->name, column->type->name);
    }
    int rc = refuse_indexed(change, table, column, "Cannot drop");
    if (rc != 0)
        return rc;
    change->is_nothing = false;
    rc = schema_drop_column(change->schema, table_id, cql_text(change->arena, name),
                            store_now_us(change->execution->cql->options.store), &change->err);
    return cql_schema_result(change, rc);
}

static int rename_column(struct change *change, uint32_t table_id, const struct cql_rename *rename)
{
    const struct table *table = schema_table(change->schema, table_id);
    const struct column *column = schema_column_named(table, rename->from);
    if (column == NULL) {
        return cql_invalid(change->fault, "Undefined column name %.*s in table %s.%s",
                           CQL_SHOW(rename->from), table->keyspace, table->name);
    }
    if (column->kind != COLUMN_PARTITION && column->kind != COLUMN_CLUSTERING)
        return cql_invalid(change->fault, "Cannot rename non PRIMARY KEY column %s", column->name);
    if (schema_column_named(table, rename->to) != NULL) {
        return cql_invalid(change->fault,
                           "Cannot rename column %s to %.*s in table '%s.%s'; another column with "
                           "that name already exists",
                           column->name, CQL_SHOW(rename->to), table->keyspace, table->name);
    }
    int rc = refuse_indexed(change, table, column, "Can't rename");
    if (rc != 0)
        return rc;
    rc = schema_rename_column(change->schema, table_id, column->name,
                              cql_text(change->arena, rename->to), &change->err);
    return cql_schema_result(change, rc);
}

static int alter_table(struct change *change, const struct cql_alter *alter)
{
    const struct table *table;
    int rc = find_table(change, &alter->name, alter->if_exists, &table);
    if (rc != 0 || change->is_nothing)
        return rc;
    uint32_t table_id = table->id;
    bool only_adds = alter->kind == CQL_ALTER_ADD || alter->kind == CQL_ALTER_WITH;
    rc = only_adds ? 0 : refuse_used(change, table, "alter");
    if (rc != 0)
        return rc;
    /* Each drop or rename copies the table, so limits (cql_guard.h) are checked for each column. */
    switch (alter->kind) {
    case CQL_ALTER_ADD:
        return add_columns(change, table_id, alter);
    case CQL_ALTER_DROP:
        change->is_nothing = true;
        for (const struct cql_name *n = alter->columns; rc == 0 && n != NULL; n = n->next) {
            arena_count(change->arena, ARENA_LOOK_ITEMS);
            rc = drop_column(change, table_id, n->text, alter->if_column_exists);
        }
        return rc;
    case CQL_ALTER_RENAME:
        for (const struct cql_rename *r = alter->renames; rc == 0 && r != NULL; r = r->next) {
            arena_count(change->arena, ARENA_LOOK_ITEMS);
            rc = rename_column(change, table_id, r);
        }
        return rc;
    case CQL_ALTER_WITH:
        rc = cql_table_options_check(change->execution, alter->properties);
        rc = rc == 0 ? cql_schema_set_options(change, table, alter->properties, false) : rc;
        table = schema_table(change->schema, table_id);
        return rc == 0 && table->default_ttl_s != 0 && (table->flags & TABLE_STREAM) != 0
                   ? refuse_used(change, table, "let rows expire in")
                   : rc;
    case CQL_ALTER_TYPE:
        return cql_invalid(change->fault, "Altering column types is no longer supported");
    case CQL_ALTER_MASK:
    case CQL_ALTER_UNMASK:
        return cql_invalid(change->fault, "Cannot mask columns: dynamic data masking is not "
                                          "enabled");
    case CQL_ALTER_DROP_COMPACT_STORAGE:
        return cql_invalid(change->fault,
                           "DROP COMPACT STORAGE is disabled. Enable in cassandra.yaml to use.");
    }
    return 0;
}

/* ---- the change ---- */

static int edit_by_command(struct change *change)
{
    const struct cql_edit *edit = change->execution->request.edit;
    return cql_schema_result(
        change, edit->edit(edit->context, change->schema, change->batch, &change->err));
}

static int edit_by_statement(void *context)
{
    struct change *change = context;
    const struct cql_statement *statement = change->execution->compiled->statement;
    switch ((int)statement->kind) {
    case CQL_STATEMENT_CREATE_KEYSPACE:
        return create_keyspace(change, &statement->create_keyspace);
    case CQL_STATEMENT_ALTER_KEYSPACE:
        return alter_keyspace(change, &statement->object);
    case CQL_STATEMENT_DROP_KEYSPACE:
        return drop_keyspace(change, &statement->object);
    case CQL_STATEMENT_CREATE_TABLE:
        return cql_schema_create_table(change, &statement->create_table);
    case CQL_STATEMENT_ALTER_TABLE:
        return alter_table(change, &statement->alter);
    case CQL_STATEMENT_DROP_TABLE:
        return drop_table(change, &statement->object);
    case CQL_STATEMENT_TRUNCATE:
        return truncate_table(change, &statement->object);
    case CQL_STATEMENT_CREATE_TYPE:
        return cql_schema_create_type(change, &statement->create_type);
    case CQL_STATEMENT_ALTER_TYPE:
        return cql_schema_alter_type(change, &statement->alter);
    case CQL_STATEMENT_DROP_TYPE:
        return cql_schema_drop_type(change, &statement->object);
    case CQL_STATEMENT_DROP_VIEW:
        return cql_invalid(change->fault, "Materialized view '%.*s.%.*s' doesn't exist",
                           CQL_SHOW(statement->object.name.keyspace.size > 0
                                        ? statement->object.name.keyspace
                                        : bytes_text(change->execution->compiled->keyspace)),
                           CQL_SHOW(statement->object.name.name));
    case CQL_STATEMENT_CREATE_INDEX:
        return create_index(change, &statement->create_index);
    case CQL_STATEMENT_DROP_INDEX:
        return drop_index(change, &statement->object);
    default:
        return cql_invalid(change->fault, "this statement is not supported by daybook");
    }
}

static void change_finish(struct change *change, struct cql_result *result)
{
    struct cql *cql = change->execution->cql;
    cql_execution_finish(change->execution, result);
    cql_wait_schema_settled(cql);
}

static void change_fail(struct change *change)
{
    struct cql_result result = {.kind = CQL_RESULT_ERROR, .error = change->fault->error};
    change_finish(change, &result);
}

static void change_answer(struct change *change)
{
    struct cql *cql = change->execution->cql;
    const struct cql_edit *edit = change->execution->request.edit;
    struct cql_result result = {.kind =
                                    change->has_event ? CQL_RESULT_SCHEMA_CHANGE : CQL_RESULT_VOID,
                                .change = change->event};
    if (change->has_event && cql->schema_changed != NULL)
        cql->schema_changed(cql->schema_changed_context, &result.change);
    for (uint32_t i = 0; edit != NULL && cql->schema_changed != NULL && i < edit->change_count; i++)
        cql->schema_changed(cql->schema_changed_context, &edit->changes[i]);
    change_finish(change, &result);
}

static void change_apply(struct cql_execution *execution);

/* A second change makes the index readable, or drops it if the build failed. */
static void index_built(struct cql_execution *execution, int status)
{
    struct change *change = execution->state;
    schema_unref(change->schema);
    change->schema = schema_copy(store_schema(execution->cql->options.store));
    if (status == 0) {
        status = cql_index_set_built(change->schema, change->event.keyspace, change->index,
                                     change->fault);
    }
    change->is_refused = status != 0;
    if (change->is_refused)
        cql_index_drop_unbuilt(change->schema, change->arena);
    change->index = NULL;
    write_batch_clear(change->batch);
    change->batch->schema = change->schema;
    change_apply(execution);
}

static void edit_applied(void *context, int status, const struct error *err)
{
    struct change *change = context;
    if (status == 0) {
        change_answer(change);
        return;
    }
    cql_fault_of(change->fault, err);
    change_fail(change);
}

static void change_applied(void *context, int status, const struct error *err)
{
    struct change *change = context;
    const struct cql_request *request = &change->execution->request;
    if (status != 0) {
        cql_refuse(change->fault, CQL_WRITE_TIMEOUT,
                   "the schema change may or may not be there: %s",
                   err != NULL ? err->text : "the store stopped");
        change->fault->error.consistency = request->consistency;
        change->fault->error.write_type = "SIMPLE";
    }
    if (status != 0 || change->is_refused)
        change_fail(change);
    else if (request->edit != NULL && request->edit->applied != NULL)
        request->edit->applied(request->edit->context, edit_applied, change);
    else if (change->index != NULL)
        cql_index_build(change->execution, change->event.keyspace, change->index, index_built);
    else
        change_answer(change);
}

static void change_apply(struct cql_execution *execution)
{
    struct change *change = execution->state;
    int rc = store_apply(execution->cql->options.store, change->batch, change_applied, change,
                         &change->err);
    if (rc == ERROR_FULL) {
        execution->resume = change_apply;
        cql_wait_for_room(execution);
    } else if (rc != 0) {
        cql_fault_of(change->fault, &change->err);
        change_fail(change);
    }
}

static void change_edit(void *context, int status, const struct error *err)
{
    struct change *change = context;
    struct cql_execution *execution = change->execution;
    change->schema = schema_copy(store_schema(execution->cql->options.store));
    change->batch = write_batch_new();
    execution->state = change;
    execution->release = change_release;
    int rc = status != 0                       ? cql_fault_of(change->fault, err)
             : execution->request.edit != NULL ? edit_by_command(change)
                                               : cql_guard(execution, edit_by_statement, change);
    if (rc != 0) {
        change_fail(change);
    } else if (change->is_nothing) {
        struct cql_result nothing = {.kind = CQL_RESULT_VOID};
        change_finish(change, &nothing);
    } else {
        change->batch->schema = change->schema;
        change_apply(execution);
    }
}

static void change_begin(struct cql_execution *execution)
{
    const struct cql_edit *command = execution->request.edit;
    struct change *change = arena_alloc_zeroed(execution->arena, sizeof(*change), 16);
    change->execution = execution;
    change->arena = execution->arena;
    change->fault = &execution->fault;
    if (command != NULL && command->prepare != NULL)
        command->prepare(command->context, change_edit, change);
    else
        change_edit(change, 0, NULL);
}

void cql_schema_run(struct cql_execution *execution)
{
    execution->must_end = true;
    execution->resume = change_begin;
    cql_trace(execution, "Changing the schema");
    cql_wait_for_writes(execution);
}

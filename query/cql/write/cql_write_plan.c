/* Resolves INSERT, UPDATE, DELETE and BATCH, and refuses statements that are wrong for any
 * values. */
#include "query/cql/write/cql_write_plan.h"

#include <stdlib.h>
#include <string.h>

#include "query/cql/common/cql_scope.h"
#include "query/cql/syntax/cql_print.h"
#include "query/cql/write/cql_write.h"
#include "rollup/streams/streams.h"

static bool is_key(const struct column *column)
{
    return column->kind == COLUMN_PARTITION || column->kind == COLUMN_CLUSTERING;
}

/* ---- all statements ---- */

/* The stream's definition says whether clients' writes to its counters are refused or ignored. */
static int check_kept_counter(struct cql_scope *scope, const struct click_stream *stream,
                              struct cql_write_plan *plan)
{
    const struct table *clicks = schema_table(scope->schema, stream->clicks.table_id);
    plan->is_ignored = stream->ignores_clients;
    return plan->is_ignored
               ? 0
               : cql_invalid(scope->fault,
                             "Table %s.%s is kept by stream %s, which counts the rows of %s.%s: "
                             "write those, and it follows by itself",
                             plan->table->keyspace, plan->table->name, stream->name,
                             clicks->keyspace, clicks->name);
}

static int find_table(struct cql_scope *scope, const struct cql_qualified_name *name,
                      struct cql_write_plan *plan)
{
    int rc = cql_scope_table(scope, name, &plan->table);
    if (rc != 0)
        return rc;
    const struct table *table = plan->table;
    scope->table = table;
    plan->is_counter = (table->flags & TABLE_COUNTER) != 0;
    plan->index_count = cql_index_list(scope->schema, table, scope->arena, &plan->indexes);
    if (cql_scope_is_virtual(scope->cql, table)) {
        return cql_invalid(scope->fault, "Table %s.%s is kept by the server and read-only",
                           table->keyspace, table->name);
    }
    const struct streams *streams = scope->cql->options.streams;
    if ((table->flags & TABLE_KEPT) != 0 && plan->is_counter && !table_is_builtin(table) &&
        streams != NULL) {
        const struct click_stream *stream = streams_user(streams, table->id);
        return stream != NULL ? check_kept_counter(scope, stream, plan) : 0;
    }
    if ((table->flags & TABLE_HIDDEN) != 0 || (table->flags & TABLE_KEPT) != 0) {
        return cql_invalid(scope->fault,
                           "Table %s.%s is kept by daybook from clicks and rates, and read-only: "
                           "INSERT into ad_click or reseller, or use `daybook load` and `daybook "
                           "rate`, and it follows by itself",
                           table->keyspace, table->name);
    }
    return 0;
}

static int resolve_attributes(struct cql_scope *scope, const struct cql_attributes *attributes,
                              struct cql_write_plan *plan)
{
    int rc = 0;
    if (attributes->timestamp != NULL) {
        rc = cql_expression_resolve_value(scope, attributes->timestamp, type_builtin(TYPE_BIGINT),
                                          "[timestamp]", &plan->timestamp);
        if (rc == 0 && plan->is_counter)
            rc = cql_invalid(scope->fault, "Cannot provide custom timestamp for counter updates");
        if (rc == 0 && (plan->table->flags & TABLE_STREAM) != 0 && table_is_builtin(plan->table)) {
            rc = cql_invalid(scope->fault,
                             "Cannot provide custom timestamp for %s.%s: daybook's stream uses it, "
                             "and every write of it has the server's own",
                             plan->table->keyspace, plan->table->name);
        }
    }
    if (rc == 0 && attributes->ttl != NULL) {
        rc = cql_expression_resolve_value(scope, attributes->ttl, type_builtin(TYPE_INT), "[ttl]",
                                          &plan->ttl);
        if (rc == 0 && plan->is_counter)
            rc = cql_invalid(scope->fault, "Cannot provide custom TTL for counter updates");
        if (rc == 0 && (plan->table->flags & TABLE_STREAM) != 0) {
            rc = cql_invalid(scope->fault,
                             "Cannot provide custom TTL for %s.%s: days of a stream expire whole",
                             plan->table->keyspace, plan->table->name);
        }
    }
    return rc;
}

static int check_condition(struct cql_scope *scope, const struct cql_relation *relation,
                           const struct cql_write_plan *plan)
{
    if (relation->kind != CQL_RELATION_ELEMENT && relation->kind != CQL_RELATION_FIELD)
        return 0;
    const struct column *column = cql_scope_column(scope, plan->table, relation->columns->text);
    if (column == NULL)
        return ERROR_INVALID;
    const struct type *type = column->type;
    bool takes_keys = type->kind == TYPE_LIST || type->kind == TYPE_MAP;
    if (relation->kind == CQL_RELATION_ELEMENT && !takes_keys) {
        return cql_invalid(scope->fault, "Invalid element access syntax for %s column %s",
                           type->kind == TYPE_SET ? "set" : "non-collection", column->name);
    }
    if (relation->kind == CQL_RELATION_FIELD &&
        cql_expression_udt_field(type, relation->field) < 0) {
        return cql_invalid(scope->fault, "Unknown field %.*s for column %s",
                           CQL_SHOW(relation->field), column->name);
    }
    return 0;
}

static int resolve_conditions(struct cql_scope *scope, const struct cql_conditions *conditions,
                              struct cql_write_plan *plan)
{
    plan->if_exists = conditions->if_exists;
    plan->is_conditional = plan->if_exists || plan->if_not_exists || conditions->relations != NULL;
    if (plan->is_counter && conditions->relations != NULL)
        return cql_invalid(scope->fault, "Conditions on counters are not supported");
    if (plan->is_counter && plan->is_conditional)
        return cql_invalid(scope->fault, "Conditional updates are not supported on counter tables");
    if (plan->is_conditional && plan->timestamp != NULL)
        return cql_invalid(scope->fault, "Cannot provide custom timestamp for conditional updates");
    struct cql_restriction **last = &plan->conditions;
    for (const struct cql_relation *relation = conditions->relations; relation != NULL;
         relation = relation->next) {
        int rc = check_condition(scope, relation, plan);
        rc = rc == 0 ? cql_restrict_resolve(scope, plan->table, relation, last) : rc;
        if (rc != 0)
            return rc;
        if (is_key((*last)->columns[0])) {
            return cql_invalid(scope->fault, "PRIMARY KEY column '%s' cannot have IF conditions",
                               (*last)->columns[0]->name);
        }
        last = &(*last)->next;
    }
    return 0;
}

static bool has_rows(const struct cql_write_plan *plan)
{
    for (uint32_t i = 0; i < plan->table->clustering_count; i++)
        if (plan->where.clustering[i] == NULL || !cql_restrict_is_equal(plan->where.clustering[i]))
            return false;
    return true;
}

static bool all_static(const struct cql_write_plan *plan)
{
    bool is_static = true;
    for (uint32_t i = 0; i < plan->operation_count; i++)
        is_static = is_static && plan->operations[i].column->kind == COLUMN_STATIC;
    for (const struct cql_restriction *r = plan->conditions; r != NULL; r = r->next)
        is_static = is_static && r->columns[0]->kind == COLUMN_STATIC;
    return is_static;
}

/* Whether an INSERT of an event, without IF, leaves out the rank and no other clustering column.
 * The store then gives the rank. */
static bool leaves_rank(const struct cql_write_plan *plan)
{
    uint32_t count = plan->table->clustering_count;
    bool leaves = plan->kind == CQL_INSERT && (plan->table->flags & TABLE_OF_EVENTS) != 0 &&
                  !plan->is_conditional && plan->where.clustering[count - 1] == NULL;
    for (uint32_t i = 0; leaves && i + 1 < count; i++)
        leaves = plan->where.clustering[i] != NULL;
    return leaves;
}

/* Statements that change columns, and conditional DELETEs, must restrict every clustering column by
 * = or IN, but an INSERT of a click may leave out the rank.  If only static columns are changed, an
 * INSERT may restrict none, and the other statements must restrict none. */
static int check_rows(struct cql_scope *scope, struct cql_write_plan *plan)
{
    bool has_operations = plan->operation_count > 0;
    bool is_static = plan->table->clustering_count > 0 && has_operations && all_static(plan);
    if (is_static && plan->where.has_clustering && plan->kind != CQL_INSERT) {
        return cql_invalid(scope->fault,
                           "Invalid restrictions on clustering columns since the %s statement "
                           "modifies only static columns",
                           plan->kind == CQL_DELETE ? "DELETE" : "UPDATE");
    }
    plan->is_static = is_static && !plan->where.has_clustering;
    bool needs_rows = plan->kind != CQL_DELETE || has_operations;
    plan->is_ranked = leaves_rank(plan);
    if (plan->is_static || plan->is_ranked || has_rows(plan))
        return 0;
    if (plan->kind == CQL_DELETE && plan->is_conditional) {
        return cql_invalid(scope->fault,
                           "DELETE statements must restrict all PRIMARY KEY columns with equality "
                           "relations in order to delete non static columns");
    }
    if (needs_rows && plan->kind == CQL_DELETE)
        return cql_invalid(scope->fault, "Range deletions are not supported for specific columns");
    for (uint32_t i = 0; needs_rows && i < plan->table->clustering_count; i++) {
        const struct cql_restriction *r = plan->where.clustering[i];
        if (r != NULL && !cql_restrict_is_equal(r)) {
            return cql_invalid(scope->fault, "Slice restrictions are not supported on the "
                                             "clustering columns in UPDATE statements");
        }
    }
    return needs_rows ? cql_restrict_refuse_missing(scope, &plan->where, COLUMN_CLUSTERING) : 0;
}

static int check_conditional(struct cql_scope *scope, const struct cql_write_plan *plan)
{
    const char *word = plan->kind == CQL_DELETE ? "deletions" : "updates";
    for (const struct cql_restriction *r = plan->where.all; plan->is_conditional && r != NULL;
         r = r->next) {
        bool is_one = r->value_count == 1 && !r->in_marker;
        if (r->operator== CQL_IN && !is_one) {
            return cql_invalid(scope->fault, "IN on the %s is not supported with conditional %s",
                               r->columns[0]->kind == COLUMN_PARTITION ? "partition key"
                                                                       : "clustering key columns",
                               word);
        }
    }
    return 0;
}

/* ---- operations ---- */

static const char *element_word(const struct type *type)
{
    if (type->kind == TYPE_SET && !type->frozen)
        return "set";
    bool is_collection =
        type->kind == TYPE_LIST || type->kind == TYPE_SET || type->kind == TYPE_MAP;
    return is_collection ? "frozen collection" : "non collection";
}

static int refuse_assignment(struct cql_scope *scope, const struct cql_assignment *assignment,
                             const char *word)
{
    struct buffer text = {.arena = scope->arena};
    cql_print_assignment(assignment, &text);
    return cql_invalid(scope->fault, "Invalid operation (%.*s) for %s column %.*s",
                       CQL_SHOW(buffer_view(&text)), word, CQL_SHOW(assignment->column));
}

static bool has_elements(const struct type *type)
{
    return type_is_complex(type) && type->kind != TYPE_UDT;
}

static int resolve_key(struct cql_scope *scope, const struct cql_term *key,
                       struct cql_operation *operation)
{
    const struct column *column = operation->column;
    const struct type *type = column->type;
    bool is_list = type->kind == TYPE_LIST;
    const char *part = type->kind == TYPE_SET ? "value" : "key";
    return cql_expression_resolve_value(
        scope, key, is_list ? type_builtin(TYPE_INT) : type->arguments[0],
        cql_expression_part(scope, is_list ? "idx" : part, column->name), &operation->key);
}

static int resolve_element(struct cql_scope *scope, const struct cql_assignment *assignment,
                           struct cql_write_plan *plan, struct cql_operation *operation)
{
    const struct column *column = operation->column;
    const struct type *type = column->type;
    if (!has_elements(type) || type->kind == TYPE_SET)
        return refuse_assignment(scope, assignment, element_word(type));
    plan->reads_first |= type->kind == TYPE_LIST;
    int rc = resolve_key(scope, assignment->key, operation);
    return rc != 0 ? rc
                   : cql_expression_resolve_value(
                         scope, assignment->value, type->arguments[type->kind == TYPE_MAP],
                         cql_expression_part(scope, "value", column->name), &operation->value);
}

static int find_field(struct cql_scope *scope, struct bytes name, struct cql_operation *operation)
{
    int field = cql_expression_udt_field(operation->column->type, name);
    operation->field = (uint32_t)field;
    return field >= 0 ? 0
                      : cql_invalid(scope->fault, "UDT column %s does not have a field named %.*s",
                                    operation->column->name, CQL_SHOW(name));
}

static int resolve_field(struct cql_scope *scope, const struct cql_assignment *assignment,
                         struct cql_operation *operation)
{
    const struct type *type = operation->column->type;
    if (type->kind != TYPE_UDT || type->frozen) {
        return refuse_assignment(scope, assignment,
                                 type->kind == TYPE_UDT ? "frozen UDT" : "non-UDT");
    }
    int rc = find_field(scope, assignment->field, operation);
    if (rc != 0)
        return rc;
    const char *receiver = cql_text_printf(scope->arena, "%s.%s", operation->column->name,
                                           type->field_names[operation->field]);
    return cql_expression_resolve_value(scope, assignment->value, type->arguments[operation->field],
                                        receiver, &operation->value);
}

static int refuse_prepend(struct cql_scope *scope, const struct cql_assignment *assignment,
                          const struct column *column)
{
    struct buffer text = {.arena = scope->arena};
    cql_print_term(assignment->value, &text);
    return cql_invalid(scope->fault, "Invalid operation (%s = %.*s - %s) for %s list column %s",
                       column->name, CQL_SHOW(buffer_view(&text)), column->name,
                       column->type->kind == TYPE_LIST ? "frozen" : "non", column->name);
}

static int resolve_map_change(struct cql_scope *scope, const struct cql_assignment *assignment,
                              struct cql_operation *operation)
{
    const struct type *wanted = operation->column->type;
    bool is_addition = operation->kind == CQL_ADD;
    if (!is_addition)
        wanted = cql_type_collection_of(scope->arena, TYPE_SET, wanted->arguments[0]);
    int rc = cql_expression_resolve_value(scope, assignment->value, wanted, operation->column->name,
                                          &operation->value);
    if (rc == 0)
        return 0;
    struct buffer text = {.arena = scope->arena};
    cql_print_term(assignment->value, &text);
    return cql_invalid(scope->fault, "Value for a map %s has to be a %s, but was: '%.*s'",
                       is_addition ? "addition" : "substraction", is_addition ? "map" : "set",
                       CQL_SHOW(buffer_view(&text)));
}

static int resolve_change(struct cql_scope *scope, const struct cql_assignment *assignment,
                          struct cql_write_plan *plan, struct cql_operation *operation)
{
    const struct column *column = operation->column;
    const struct type *type = column->type;
    if (operation->kind == CQL_PREPEND && (type->kind != TYPE_LIST || type->frozen))
        return refuse_prepend(scope, assignment, column);
    if (type->kind == TYPE_TUPLE || type->kind == TYPE_UDT)
        return refuse_assignment(scope, assignment, "tuple");
    if (type->kind != TYPE_COUNTER && type->argument_count == 0)
        return refuse_assignment(scope, assignment, "non counter");
    if (type->kind != TYPE_COUNTER && type->frozen)
        return refuse_assignment(scope, assignment, "frozen collection");
    if (type->kind == TYPE_MAP)
        return resolve_map_change(scope, assignment, operation);
    plan->reads_first |= operation->kind == CQL_SUBTRACT && type->kind == TYPE_LIST;
    return cql_expression_resolve_value(scope, assignment->value, type, column->name,
                                        &operation->value);
}

static int resolve_assignment(struct cql_scope *scope, const struct cql_assignment *assignment,
                              struct cql_write_plan *plan)
{
    static const enum cql_operation_kind kinds[] = {[CQL_ASSIGN] = CQL_SET,
                                                    [CQL_ASSIGN_ADD] = CQL_ADD,
                                                    [CQL_ASSIGN_SUBTRACT] = CQL_SUBTRACT,
                                                    [CQL_ASSIGN_PREPEND] = CQL_PREPEND,
                                                    [CQL_ASSIGN_ELEMENT] = CQL_SET_ELEMENT,
                                                    [CQL_ASSIGN_FIELD] = CQL_SET_FIELD};
    struct cql_operation *operation = &plan->operations[plan->operation_count++];
    *operation = (struct cql_operation){.kind = kinds[assignment->kind]};
    operation->column = cql_scope_column(scope, plan->table, assignment->column);
    if (operation->column == NULL)
        return ERROR_INVALID;
    const struct column *column = operation->column;
    if (is_key(column))
        return cql_invalid(scope->fault, "PRIMARY KEY part %s found in SET part", column->name);
    switch (operation->kind) {
    case CQL_ADD:
    case CQL_SUBTRACT:
    case CQL_PREPEND:
        return resolve_change(scope, assignment, plan, operation);
    case CQL_SET_ELEMENT:
        return resolve_element(scope, assignment, plan, operation);
    case CQL_SET_FIELD:
        return resolve_field(scope, assignment, operation);
    case CQL_SET:
    case CQL_DELETE_ELEMENT:
        break;
    }
    return cql_expression_resolve_value(scope, assignment->value, column->type, column->name,
                                        &operation->value);
}

/* ---- INSERT ---- */

static int compare_names(const void *a, const void *b)
{
    const struct cql_name *const *left = a;
    const struct cql_name *const *right = b;
    return bytes_compare((*left)->text, (*right)->text);
}

static int check_names(struct cql_scope *scope, const struct cql_insert *insert)
{
    if (insert->column_count != insert->value_count)
        return cql_invalid(scope->fault, "Unmatched column names/values");
    const struct cql_name **names = cql_scope_array(scope, insert->column_count, sizeof(*names));
    uint32_t count = 0;
    for (const struct cql_name *name = insert->columns; name != NULL; name = name->next)
        names[count++] = name;
    check(count == insert->column_count);
    qsort(names, count, sizeof(*names), compare_names);
    for (uint32_t i = 1; i < count; i++)
        if (bytes_equal(names[i - 1]->text, names[i]->text))
            return cql_invalid(scope->fault, "The column names contains duplicates");
    return 0;
}

/* INSERT JSON becomes an INSERT of all columns, with a marker for each column after the statement's
 * own markers.  The values are read from the text when the statement runs. */
static int spell_json(struct cql_scope *scope, const struct cql_insert *insert,
                      struct cql_write_plan *plan, struct cql_scope *extended,
                      struct cql_insert *spelled)
{
    const struct table *table = plan->table;
    uint32_t own = scope->marker_count;
    plan->json_marker = own;
    plan->json_leaves_out = insert->default_unset;
    extended->marker_count = own + table->column_count;
    extended->markers = cql_scope_array(scope, extended->marker_count, sizeof(*extended->markers));
    struct cql_name *names = cql_scope_array(scope, table->column_count, sizeof(*names));
    struct cql_term *values = cql_scope_array(scope, table->column_count, sizeof(*values));
    for (uint32_t i = 0; i < table->column_count; i++) {
        names[i] = (struct cql_name){.text = bytes_text(table->columns[i].name)};
        values[i] = (struct cql_term){.kind = CQL_TERM_MARKER, .marker = own + i};
        if (i > 0) {
            names[i - 1].next = &names[i];
            values[i - 1].next = &values[i];
        }
    }
    spelled->columns = names;
    spelled->values = values;
    spelled->column_count = table->column_count;
    spelled->value_count = table->column_count;
    return cql_expression_resolve_value(scope, insert->json, type_builtin(TYPE_TEXT), "[json]",
                                        &plan->json);
}

static int compile_insert(struct cql_scope *scope, const struct cql_insert *insert,
                          struct cql_write_plan *plan)
{
    int rc = find_table(scope, &insert->table, plan);
    if (rc != 0)
        return rc;
    if (plan->is_counter) {
        return cql_invalid(scope->fault, "INSERT statements are not allowed on counter tables, use "
                                         "UPDATE instead");
    }
    struct cql_insert of_json = *insert;
    struct cql_scope *own = scope;
    struct cql_scope extended = *scope;
    if (insert->json != NULL) {
        rc = spell_json(scope, insert, plan, &extended, &of_json);
        insert = &of_json;
        scope = &extended;
    }
    rc = rc == 0 ? check_names(scope, insert) : rc;
    plan->operations = cql_scope_array(scope, insert->column_count, sizeof(*plan->operations));
    struct cql_relation *where = NULL;
    struct cql_relation **last = &where;
    struct cql_term *value = insert->values;
    for (struct cql_name *name = insert->columns; rc == 0 && name != NULL;
         name = name->next, value = value->next) {
        const struct column *column = cql_scope_column(scope, plan->table, name->text);
        if (column == NULL)
            return ERROR_INVALID;
        if (is_key(column)) {
            /* `name` and `value` are linked to further nodes; the counts of 1 exclude these. */
            *last = cql_scope_array(scope, 1, sizeof(**last));
            **last = (struct cql_relation){.kind = CQL_RELATION_COLUMN,
                                           .operator= CQL_EQ,
                                           .columns = name,
                                           .column_count = 1,
                                           .values = value,
                                           .value_count = 1};
            last = &(*last)->next;
        } else {
            struct cql_operation *operation = &plan->operations[plan->operation_count++];
            *operation = (struct cql_operation){.kind = CQL_SET, .column = column};
            rc = cql_expression_resolve_value(scope, value, column->type, column->name,
                                              &operation->value);
        }
    }
    if (rc == 0)
        rc = cql_restrict_compile(scope, plan->table, where, CQL_FOR_UPDATE, true, &plan->where);
    if (rc == 0)
        rc = resolve_attributes(own, &insert->attributes, plan);
    struct cql_conditions conditions = {0};
    plan->if_not_exists = insert->if_not_exists;
    return rc == 0 ? resolve_conditions(scope, &conditions, plan) : rc;
}

/* ---- UPDATE and DELETE ---- */

static int compile_update(struct cql_scope *scope, const struct cql_update *update,
                          struct cql_write_plan *plan)
{
    int rc = find_table(scope, &update->table, plan);
    if (rc == 0)
        rc = resolve_attributes(scope, &update->attributes, plan);
    uint32_t count = 0;
    for (const struct cql_assignment *a = update->assignments; a != NULL; a = a->next)
        count++;
    plan->operations = cql_scope_array(scope, count, sizeof(*plan->operations));
    for (const struct cql_assignment *a = update->assignments; rc == 0 && a != NULL; a = a->next)
        rc = resolve_assignment(scope, a, plan);
    if (rc == 0) {
        rc = cql_restrict_compile(scope, plan->table, update->where, CQL_FOR_UPDATE, false,
                                  &plan->where);
    }
    return rc == 0 ? resolve_conditions(scope, &update->conditions, plan) : rc;
}

static int resolve_deletion(struct cql_scope *scope, const struct cql_deletion *deletion,
                            struct cql_write_plan *plan)
{
    struct cql_operation *operation = &plan->operations[plan->operation_count++];
    *operation = (struct cql_operation){.kind = CQL_SET};
    operation->column = cql_scope_column(scope, plan->table, deletion->column);
    if (operation->column == NULL)
        return ERROR_INVALID;
    if (is_key(operation->column)) {
        return cql_invalid(scope->fault,
                           "Invalid identifier %s for deletion (should not be a PRIMARY KEY part)",
                           operation->column->name);
    }
    const struct column *column = operation->column;
    if (deletion->key != NULL) {
        operation->kind = CQL_DELETE_ELEMENT;
        plan->reads_first |= column->type->kind == TYPE_LIST;
        return has_elements(column->type)
                   ? resolve_key(scope, deletion->key, operation)
                   : cql_invalid(scope->fault, "Invalid deletion operation for %s column %s",
                                 element_word(column->type), column->name);
    }
    if (deletion->field.size > 0 && column->type->kind != TYPE_UDT) {
        return cql_invalid(scope->fault, "Invalid field deletion operation for non-UDT column %s",
                           column->name);
    }
    if (deletion->field.size > 0 && column->type->frozen) {
        return cql_invalid(scope->fault, "Frozen UDT column %s does not support field deletions",
                           column->name);
    }
    if (deletion->field.size > 0) {
        operation->kind = CQL_SET_FIELD;
        return find_field(scope, deletion->field, operation);
    }
    return 0;
}

static int compile_delete(struct cql_scope *scope, const struct cql_delete *delete,
                          struct cql_write_plan *plan)
{
    int rc = find_table(scope, &delete->table, plan);
    if (rc == 0)
        rc = resolve_attributes(scope, &delete->attributes, plan);
    uint32_t count = 0;
    for (const struct cql_deletion *d = delete->deletions; d != NULL; d = d->next)
        count++;
    plan->operations = cql_scope_array(scope, count, sizeof(*plan->operations));
    for (const struct cql_deletion *d = delete->deletions; rc == 0 && d != NULL; d = d->next)
        rc = resolve_deletion(scope, d, plan);
    plan->reads_first |= plan->is_counter;
    if (rc == 0) {
        rc = cql_restrict_compile(scope, plan->table, delete->where, CQL_FOR_DELETE, false,
                                  &plan->where);
    }
    return rc == 0 ? resolve_conditions(scope, &delete->conditions, plan) : rc;
}

int cql_write_compile(struct cql_scope *scope, const struct cql_statement *statement,
                      struct cql_write_plan **plan_out)
{
    struct cql_write_plan *plan = cql_scope_array(scope, 1, sizeof(*plan));
    *plan_out = plan;
    int rc;
    if (statement->kind == CQL_STATEMENT_INSERT) {
        plan->kind = CQL_INSERT;
        rc = compile_insert(scope, &statement->insert, plan);
    } else if (statement->kind == CQL_STATEMENT_UPDATE) {
        plan->kind = CQL_UPDATE;
        rc = compile_update(scope, &statement->update, plan);
    } else {
        plan->kind = CQL_DELETE;
        rc = compile_delete(scope, &statement->delete, plan);
    }
    if (rc == 0)
        rc = check_rows(scope, plan);
    return rc == 0 ? check_conditional(scope, plan) : rc;
}

uint32_t cql_write_key_markers(const struct cql_write_plan *plan, struct arena *arena,
                               const uint16_t **indexes_out)
{
    return plan->json != NULL ? 0
                              : cql_restrict_key_markers(&plan->where, true, arena, indexes_out);
}

uint32_t cql_write_batch_key_markers(const struct cql_batch_plan *plan, struct arena *arena,
                                     const uint16_t **indexes_out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->statements[i]->table != plan->statements[0]->table)
            return 0;
    for (uint32_t i = plan->count; i > 0 && count == 0; i--)
        count = cql_write_key_markers(plan->statements[i - 1], arena, indexes_out);
    return count;
}

/* ---- BATCH ---- */

int cql_write_compile_batch(struct cql_scope *scope, const struct cql_batch *batch,
                            struct cql_batch_plan **plan_out)
{
    struct cql_batch_plan *plan = cql_scope_array(scope, 1, sizeof(*plan));
    *plan_out = plan;
    plan->kind = batch->is_counter    ? CQL_BATCH_COUNTER
                 : batch->is_unlogged ? CQL_BATCH_UNLOGGED
                                      : CQL_BATCH_LOGGED;
    plan->statements = cql_scope_array(scope, batch->statement_count, sizeof(*plan->statements));
    int rc = 0;
    if (batch->attributes.ttl != NULL)
        return cql_invalid(scope->fault, "Global TTL on the BATCH statement is not supported.");
    if (batch->attributes.timestamp != NULL) {
        if (batch->is_counter)
            return cql_invalid(scope->fault, "Cannot provide custom timestamp for counter BATCH");
        rc = cql_expression_resolve_value(scope, batch->attributes.timestamp,
                                          type_builtin(TYPE_BIGINT), "[timestamp]",
                                          &plan->timestamp);
    }
    for (const struct cql_statement *s = batch->statements; rc == 0 && s != NULL; s = s->next)
        rc = cql_write_compile(scope, s, &plan->statements[plan->count++]);
    return rc;
}

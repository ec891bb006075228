/* Binds INSERT JSON: the members of the object are the values of the table's columns.
 *
 * A column that no member names gets null, or keeps its value with DEFAULT UNSET.  A member that
 * names no column is refused. */
#include <string.h>

#include "query/cql/expression/cql_json.h"
#include "query/cql/write/cql_write.h"

/* Returns the column that a member names: in lower case, unless the name is in double quotes. */
static const char *column_name(struct cql_execution *execution, struct bytes name)
{
    bool is_quoted = name.size >= 2 && name.data[0] == '"' && name.data[name.size - 1] == '"';
    char *text = arena_alloc(execution->arena, name.size + 1, 1);
    size_t size = 0;
    for (size_t i = is_quoted ? 1 : 0; i < name.size - (is_quoted ? 1 : 0); i++) {
        uint8_t c = name.data[i];
        bool is_upper = !is_quoted && c >= 'A' && c <= 'Z';
        text[size++] = (char)(is_upper ? c - 'A' + 'a' : c);
    }
    text[size] = '\0';
    return text;
}

static int check_names(struct cql_execution *execution, const struct table *table,
                       const struct cql_json *object)
{
    for (const struct cql_json *member = object->items; member != NULL; member = member->next) {
        bool is_known = false;
        arena_count(execution->arena, table->column_count);
        for (uint32_t i = 0; i < table->column_count && !is_known; i++)
            is_known = cql_json_key_is(member->name, table->columns[i].name);
        if (!is_known) {
            return cql_invalid(&execution->fault,
                               "JSON values map contains unrecognized column: %s",
                               column_name(execution, member->name));
        }
    }
    return 0;
}

static int read_column(struct cql_execution *execution, const struct column *column,
                       const struct cql_json *object, bool leaves_out, struct cql_value *value)
{
    arena_count(execution->arena, object->count);
    const struct cql_json *member = cql_json_member(object, column->name);
    struct buffer bytes = {.arena = execution->arena};
    struct error err = {0};
    if (member == NULL || member->kind == CQL_JSON_NULL) {
        bool is_unset = member == NULL && leaves_out;
        *value = (struct cql_value){.state = is_unset ? CQL_VALUE_UNSET : CQL_VALUE_NULL};
        return 0;
    }
    int rc = cql_json_value(member, column->type, execution->arena, &bytes, &err);
    *value = (struct cql_value){.state = CQL_VALUE_SET, .data = bytes_of("", 0)};
    if (bytes.size > 0)
        value->data = buffer_view(&bytes);
    return rc == 0 ? 0
                   : cql_invalid(&execution->fault, "Error decoding JSON value for %s: %s",
                                 column->name, err.text);
}

int cql_write_bind_json(struct cql_execution *execution, struct cql_write_statement *statement)
{
    const struct cql_write_plan *plan = statement->plan;
    const struct table *table = plan->table;
    struct cql_context context = cql_expression_context(execution, execution->arena);
    const struct cql_json *object;
    struct bytes text;
    struct error err = {0};
    context.values = statement->values;
    int rc = cql_expression_value(plan->json, &context, &text);
    if (rc == CQL_UNSET || (rc == 0 && text.data == NULL))
        return cql_invalid(&execution->fault, "Got null for INSERT JSON values");
    if (rc == 0 && cql_json_read_row(text, execution->arena, &object, &err) != 0)
        return cql_invalid(&execution->fault, "%s", err.text);
    rc = rc == 0 ? check_names(execution, table, object) : rc;
    size_t count = plan->json_marker + table->column_count;
    struct cql_value *values = arena_array(execution->arena, count, sizeof(*values));
    if (plan->json_marker > 0)
        memcpy(values, statement->values, plan->json_marker * sizeof(*values));
    for (uint32_t i = 0; rc == 0 && i < table->column_count; i++) {
        rc = read_column(execution, &table->columns[i], object, plan->json_leaves_out,
                         &values[plan->json_marker + i]);
    }
    statement->values = values;
    return rc;
}

/* Relations on partition columns give keys if each of these columns has = or IN.  Relations on
 * token() limit a scan or the keys.  Relations on the first clustering columns give slices, up to
 * the first range or the first column without a relation.  All other relations of a SELECT are
 * filters: each row is checked against them.  A SELECT with filters, or with slices but no key,
 * needs ALLOW FILTERING, unless an index answers its only filter.
 *
 * What must hold: slices have exactly the rows that their relations select, because DELETE deletes
 * whole slices. */
#include "query/cql/read/cql_restrict.h"

#include "query/cql/common/cql_scope.h"
#include "query/cql/expression/cql_literal_value.h"
#include "query/cql/syntax/cql_print.h"
#include "storage/schema/type.h"

#define FILTERING_TEXT                                                                             \
    "Cannot execute this query as it might involve data filtering and thus may have "              \
    "unpredictable performance. If you want to execute this query despite the performance "        \
    "unpredictability, use ALLOW FILTERING"

/* ---- one relation ---- */

static const char *relation_text(struct cql_scope *scope, const struct cql_relation *relation)
{
    struct buffer text = {.arena = scope->arena};
    cql_print_relation(relation, &text);
    return cql_text(scope->arena, buffer_view(&text));
}

static bool is_contains(enum cql_operator operator)
{
    return operator== CQL_CONTAINS || operator== CQL_CONTAINS_KEY;
}

static int value_type(struct cql_scope *scope, const struct cql_relation *relation,
                      struct cql_restriction *restriction)
{
    const struct column *column = restriction->columns[0];
    const struct type *type = column->type;
    restriction->name = column->name;
    restriction->type = type;
    if (is_contains(relation->operator)) {
        bool is_key = relation->operator== CQL_CONTAINS_KEY;
        bool fits =
            is_key ? type->kind == TYPE_MAP
                   : type->kind == TYPE_MAP || type->kind == TYPE_SET || type->kind == TYPE_LIST;
        if (!fits) {
            return cql_invalid(scope->fault, "Cannot use %s on non-%s column %s",
                               is_key ? "CONTAINS KEY" : "CONTAINS", is_key ? "map" : "collection",
                               column->name);
        }
        restriction->type = type->arguments[type->kind == TYPE_MAP && !is_key ? 1 : 0];
        restriction->name = cql_expression_part(scope, is_key ? "key" : "value", column->name);
    } else if (relation->kind == CQL_RELATION_ELEMENT) {
        if (type->kind != TYPE_MAP && type->kind != TYPE_LIST)
            return cql_invalid(scope->fault, "Column %s cannot be used as a map", column->name);
        bool is_map = type->kind == TYPE_MAP;
        const struct type *key = is_map ? type->arguments[0] : type_builtin(TYPE_INT);
        restriction->type = type->arguments[is_map ? 1 : 0];
        restriction->name = cql_expression_part(scope, "value", column->name);
        return cql_expression_resolve_value(
            scope, relation->key, key,
            cql_expression_part(scope, is_map ? "key" : "idx", column->name), &restriction->key);
    } else if (relation->kind == CQL_RELATION_FIELD) {
        int field = cql_expression_udt_field(type, relation->field);
        if (field < 0) {
            return cql_invalid(scope->fault, "No field %.*s in column %s",
                               CQL_SHOW(relation->field), column->name);
        }
        restriction->field = (uint32_t)field;
        restriction->type = type->arguments[field];
    }
    return 0;
}

static int check_tuple_literal(struct cql_scope *scope, const struct cql_term *term,
                               const struct cql_restriction *restriction)
{
    if (term->kind != CQL_TERM_TUPLE)
        return 0;
    if (term->argument_count != restriction->column_count) {
        struct buffer text = {.arena = scope->arena};
        cql_print_term(term, &text);
        return cql_invalid(scope->fault, "Expected %u elements in value tuple, but got %u: %.*s",
                           restriction->column_count, term->argument_count,
                           CQL_SHOW(buffer_view(&text)));
    }
    const struct cql_term *part = term->arguments;
    for (uint32_t i = 0; i < restriction->column_count; i++, part = part->next) {
        const struct column *column = restriction->columns[i];
        if (cql_term_is_literal(part) && !cql_literal_value_fits(part, column->type)) {
            return cql_invalid(scope->fault, "Invalid %s constant (%.*s) for \"%s\" of type %s",
                               cql_literal_value_kind(part), CQL_SHOW(part->text), column->name,
                               cql_type_name(scope, column->type));
        }
    }
    return 0;
}

static void name_tuple_markers(struct cql_scope *scope, const struct cql_restriction *restriction,
                               const struct cql_expression *tuple)
{
    for (uint32_t i = 0; i < restriction->column_count; i++) {
        struct cql_expression *part = tuple->arguments[i];
        if (part != NULL && part->kind == CQL_EXPRESSION_MARKER) {
            part->receiver = restriction->columns[i]->name;
            scope->markers[part->index].name = part->receiver;
        }
    }
}

static int resolve_values(struct cql_scope *scope, const struct cql_relation *relation,
                          struct cql_restriction *restriction)
{
    bool is_tuple = relation->kind == CQL_RELATION_TUPLE;
    uint32_t count = relation->value_count;
    restriction->values = arena_array(scope->arena, count + 1, sizeof(struct cql_expression *));
    restriction->value_count = count;
    if (relation->in_marker) {
        restriction->in_marker = true;
        return cql_expression_resolve_value(
            scope, relation->values,
            cql_type_collection_of(scope->arena, TYPE_LIST, restriction->type),
            cql_text_printf(scope->arena, is_tuple ? "in%s" : "in(%s)", restriction->name),
            &restriction->values[0]);
    }
    const struct cql_term *term = relation->values;
    for (uint32_t i = 0; i < count; i++, term = term->next) {
        int rc = is_tuple ? check_tuple_literal(scope, term, restriction) : 0;
        if (rc == 0) {
            rc = cql_expression_resolve_value(scope, term, restriction->type, restriction->name,
                                              &restriction->values[i]);
        }
        if (rc != 0)
            return rc;
        if (is_tuple && restriction->values[i]->kind == CQL_EXPRESSION_COLLECTION)
            name_tuple_markers(scope, restriction, restriction->values[i]);
    }
    return 0;
}

static int resolve_tuple(struct cql_scope *scope, struct cql_restriction *restriction)
{
    struct buffer name = {.arena = scope->arena};
    const struct type **types =
        arena_array(scope->arena, restriction->column_count, sizeof(*types));
    for (uint32_t i = 0; i < restriction->column_count; i++) {
        buffer_append_text(&name, i == 0 ? "(" : ",");
        buffer_append_text(&name, restriction->columns[i]->name);
        types[i] = restriction->columns[i]->type;
    }
    buffer_put_u8(&name, ')');
    restriction->name = cql_text(scope->arena, buffer_view(&name));
    restriction->type = cql_type_of(scope->arena, TYPE_TUPLE, types, restriction->column_count);
    for (uint32_t i = 0; i < restriction->column_count; i++) {
        const struct column *column = restriction->columns[i];
        if (column->kind != COLUMN_CLUSTERING) {
            return cql_invalid(scope->fault,
                               "Multi-column relations can only be applied to clustering columns "
                               "but was applied to: %s",
                               column->name);
        }
        for (uint32_t j = 0; j < i; j++) {
            if (restriction->columns[j] == column) {
                return cql_invalid(scope->fault, "Column \"%s\" appeared twice in a relation: %s",
                                   column->name, relation_text(scope, restriction->relation));
            }
        }
        if (i > 0 && column->position != restriction->columns[i - 1]->position + 1) {
            return cql_invalid(scope->fault,
                               "Clustering columns must appear in the PRIMARY KEY order in "
                               "multi-column relations: %s",
                               relation_text(scope, restriction->relation));
        }
    }
    return 0;
}

static const char *names_of(struct arena *arena, const struct column *columns, uint32_t count)
{
    struct buffer names = {.arena = arena};
    for (uint32_t i = 0; i < count; i++)
        buffer_printf(&names, "%s%s", i == 0 ? "" : ", ", columns[i].name);
    return cql_text(arena, buffer_view(&names));
}

static int resolve_token(struct cql_scope *scope, const struct table *table,
                         struct cql_restriction *restriction)
{
    bool is_whole = restriction->column_count == table->partition_count;
    bool in_order = true;
    for (uint32_t i = 0; i < restriction->column_count && is_whole; i++) {
        is_whole = restriction->columns[i]->kind == COLUMN_PARTITION;
        in_order &= restriction->columns[i] == &table->columns[i];
    }
    if (!is_whole) {
        return cql_invalid(scope->fault, "The token() function must be applied to all partition "
                                         "key components or none of them");
    }
    if (!in_order) {
        return cql_invalid(scope->fault,
                           "The token function arguments must be in the partition key order: %s",
                           names_of(scope->arena, table->columns, table->partition_count));
    }
    restriction->type = type_builtin(TYPE_BIGINT);
    restriction->name = "partition key token";
    return 0;
}

static int check_operator(struct cql_scope *scope, const struct cql_relation *relation)
{
    switch ((int)relation->operator) {
    case CQL_IS_NOT_NULL:
        return cql_invalid(scope->fault, "Unsupported restriction: %s",
                           relation_text(scope, relation));
    case CQL_NOT_IN:
    case CQL_NOT_CONTAINS:
    case CQL_NOT_CONTAINS_KEY:
    case CQL_BETWEEN:
        return cql_invalid(scope->fault, "NOT IN, NOT CONTAINS and BETWEEN are not supported by "
                                         "CQL " CQL_LANGUAGE_VERSION);
    default:
        break;
    }
    return relation->kind != CQL_RELATION_INDEX
               ? 0
               : cql_invalid(scope->fault,
                             "expr() needs a custom index, which daybook does not have");
}

int cql_restrict_resolve(struct cql_scope *scope, const struct table *table,
                         const struct cql_relation *relation,
                         struct cql_restriction **restriction_out)
{
    struct cql_restriction *restriction = arena_alloc(scope->arena, sizeof(*restriction), 16);
    *restriction = (struct cql_restriction){.relation = relation,
                                            .kind = relation->kind,
                                            .operator= relation->operator,
                                            .column_count = relation->column_count };
    *restriction_out = restriction;
    int rc = check_operator(scope, relation);
    if (rc != 0)
        return rc;
    restriction->columns =
        arena_array(scope->arena, relation->column_count, sizeof(struct column *));
    const struct cql_name *name = relation->columns;
    for (uint32_t i = 0; i < relation->column_count; i++, name = name->next) {
        restriction->columns[i] = cql_scope_column(scope, table, name->text);
        if (restriction->columns[i] == NULL)
            return ERROR_INVALID;
    }
    if (relation->kind == CQL_RELATION_TUPLE)
        rc = resolve_tuple(scope, restriction);
    else if (relation->kind == CQL_RELATION_TOKEN)
        rc = resolve_token(scope, table, restriction);
    else
        rc = value_type(scope, relation, restriction);
    if (rc == 0)
        rc = resolve_values(scope, relation, restriction);
    if (rc == 0 && relation->operator== CQL_LIKE) {
        rc = cql_invalid(scope->fault,
                         "LIKE restriction is only supported on properly indexed columns. %s is "
                         "not valid.",
                         relation_text(scope, relation));
    }
    return rc;
}

/* ---- all of a WHERE ---- */

static bool is_lower(const struct cql_restriction *restriction)
{
    return restriction->operator== CQL_GT || restriction->operator== CQL_GE;
}

static bool is_upper(const struct cql_restriction *restriction)
{
    return restriction->operator== CQL_LT || restriction->operator== CQL_LE;
}

static bool shares_column(const struct cql_restriction *a, const struct cql_restriction *b)
{
    for (uint32_t i = 0; i < a->column_count; i++) {
        for (uint32_t j = 0; j < b->column_count; j++)
            if (a->columns[i] == b->columns[j])
                return true;
    }
    return false;
}

/* Returns the columns that both relations restrict, as Cassandra lists them. */
static const char *common_names(struct arena *arena, const struct cql_restriction *a,
                                const struct cql_restriction *b)
{
    struct buffer names = {.arena = arena};
    bool is_token = a->kind == CQL_RELATION_TOKEN;
    for (uint32_t i = 0; i < a->column_count; i++) {
        bool is_common = false;
        for (uint32_t j = 0; j < b->column_count; j++)
            is_common |= a->columns[i] == b->columns[j];
        if (is_common) {
            buffer_printf(&names, "%s%s",
                          names.size == 0 ? ""
                          : is_token      ? ", "
                                          : " ,",
                          a->columns[i]->name);
        }
    }
    return cql_text(arena, buffer_view(&names));
}

static bool is_repeatable(const struct cql_restriction *r)
{
    return is_contains(r->operator) || r->kind == CQL_RELATION_ELEMENT;
}

static int check_pair(struct cql_scope *scope, const struct cql_restriction *a,
                      const struct cql_restriction *b)
{
    bool a_token = a->kind == CQL_RELATION_TOKEN;
    if (!shares_column(a, b) || a_token != (b->kind == CQL_RELATION_TOKEN) || is_repeatable(b))
        return 0;
    if (a->operator== CQL_EQ || b->operator== CQL_EQ) {
        return cql_invalid(scope->fault,
                           "%s cannot be restricted by more than one relation if it includes an "
                           "Equal",
                           common_names(scope->arena, a, b));
    }
    if (a->operator== CQL_IN || b->operator== CQL_IN) {
        return cql_invalid(scope->fault,
                           "%s cannot be restricted by more than one relation if it includes a IN",
                           common_names(scope->arena, a, b));
    }
    if (a->columns[0] != b->columns[0]) {
        bool is_a_later = a->columns[0]->position > b->columns[0]->position;
        return cql_invalid(scope->fault,
                           "Column \"%s\" cannot be restricted by two inequalities not starting "
                           "with the same column",
                           (is_a_later ? a : b)->columns[0]->name);
    }
    if ((is_lower(a) && is_lower(b)) || (is_upper(a) && is_upper(b))) {
        return cql_invalid(scope->fault,
                           "More than one restriction was found for the %s bound on %s",
                           is_lower(a) ? "start" : "end", common_names(scope->arena, a, b));
    }
    return 0;
}

static int check_pairs(struct cql_scope *scope, const struct cql_restriction *all)
{
    for (const struct cql_restriction *a = all; a != NULL; a = a->next) {
        if (a->operator== CQL_NE) {
            return cql_invalid(scope->fault, "Unsupported \"!=\" relation: %s",
                               relation_text(scope, a->relation));
        }
        for (const struct cql_restriction *b = is_repeatable(a) ? NULL : a->next; b != NULL;
             b = b->next) {
            arena_count(scope->arena, 1);
            int rc = check_pair(scope, a, b);
            if (rc != 0)
                return rc;
        }
    }
    return 0;
}

static int sort_partition(struct cql_scope *scope, struct cql_restrict_plan *plan,
                          enum cql_restrict_for what)
{
    uint32_t equal_count = 0;
    bool has_other = false;
    for (struct cql_restriction *r = plan->all; r != NULL; r = r->next) {
        if (r->kind == CQL_RELATION_TOKEN) {
            if (what != CQL_FOR_SELECT) {
                return cql_invalid(scope->fault,
                                   "The token function cannot be used in WHERE clauses for %s "
                                   "statements",
                                   what == CQL_FOR_UPDATE ? "UPDATE" : "DELETE");
            }
            if (r->operator== CQL_IN)
                return cql_invalid(scope->fault, "IN cannot be used with the token function");
            plan->tokens[0] = is_upper(r) ? plan->tokens[0] : r;
            plan->tokens[1] = is_lower(r) ? plan->tokens[1] : r;
        } else if (r->columns[0]->kind == COLUMN_PARTITION) {
            if (cql_restrict_is_equal(r) && r->kind == CQL_RELATION_COLUMN) {
                plan->partition[r->columns[0]->position] = r;
                plan->is_multi_key |= r->operator== CQL_IN &&(r->in_marker || r->value_count != 1);
                equal_count++;
            } else if (what != CQL_FOR_SELECT) {
                return cql_invalid(scope->fault,
                                   "Only EQ and IN relation are supported on the partition key "
                                   "(unless you use the token() function) for %s statements",
                                   what == CQL_FOR_UPDATE ? "UPDATE" : "DELETE");
            } else {
                r->is_filter = true;
                has_other = true;
            }
        }
    }
    plan->has_keys = equal_count == plan->table->partition_count && !has_other;
    if (!plan->has_keys && (equal_count > 0 || has_other)) {
        plan->needs_filtering = true;
        for (uint32_t i = 0; i < plan->table->partition_count; i++)
            if (plan->partition[i] != NULL)
                plan->partition[i]->is_filter = true;
    }
    return 0;
}

int cql_restrict_refuse_missing(struct cql_scope *scope, const struct cql_restrict_plan *plan,
                                enum column_kind kind)
{
    check(kind == COLUMN_PARTITION || kind == COLUMN_CLUSTERING);
    bool is_partition = kind == COLUMN_PARTITION;
    const struct table *table = plan->table;
    const struct column *columns = table->columns + (is_partition ? 0 : table->partition_count);
    uint32_t count = is_partition ? table->partition_count : table->clustering_count;
    struct buffer names = {.arena = scope->arena};
    for (uint32_t i = 0; i < count; i++)
        if ((is_partition ? plan->partition : plan->clustering)[i] == NULL)
            buffer_printf(&names, "%s%s", names.size == 0 ? "" : ", ", columns[i].name);
    return cql_invalid(scope->fault, "Some %s are missing: %.*s",
                       is_partition ? "partition key parts" : "clustering keys",
                       CQL_SHOW(buffer_view(&names)));
}

static void place_clustering(struct cql_restrict_plan *plan, struct cql_restriction *r)
{
    for (uint32_t i = 0; i < r->column_count; i++) {
        uint32_t position = r->columns[i]->position;
        if (is_upper(r) && plan->clustering[position] != NULL) {
            plan->clustering_end[position] = r;
        } else {
            plan->clustering_end[position] = plan->clustering[position];
            plan->clustering[position] = r;
        }
    }
}

static int gap_refused(struct cql_scope *scope, const struct cql_restrict_plan *plan,
                       uint32_t position)
{
    const struct column *clustering = plan->table->columns + plan->table->partition_count;
    const struct cql_restriction *before = plan->clustering[position - 1];
    if (before == NULL) {
        uint32_t first = position - 1;
        while (first > 0 && plan->clustering[first - 1] == NULL)
            first--;
        return cql_invalid(scope->fault,
                           "PRIMARY KEY column \"%s\" cannot be restricted as preceding column "
                           "\"%s\" is not restricted",
                           clustering[position].name, clustering[first].name);
    }
    return cql_invalid(scope->fault,
                       "Clustering column \"%s\" cannot be restricted (preceding column \"%s\" is "
                       "restricted by a non-EQ relation)",
                       clustering[position].name, clustering[position - 1].name);
}

static bool index_answers(const struct cql_index *index, const struct cql_restriction *r)
{
    if (r->columns[0] != index->column || !index->is_built)
        return false;
    switch (index->of) {
    case CQL_INDEX_OF_VALUE:
        return r->kind == CQL_RELATION_COLUMN && r->operator== CQL_EQ;
    case CQL_INDEX_OF_ELEMENTS:
        return r->operator== CQL_CONTAINS;
    case CQL_INDEX_OF_KEYS:
        return r->operator== CQL_CONTAINS_KEY;
    case CQL_INDEX_OF_ENTRIES:
        return r->kind == CQL_RELATION_ELEMENT && r->operator== CQL_EQ;
    }
    return false;
}

/* Returns the first relation that an index answers, with the index; NULLs: there is none.  If the
 * plan has keys, relations on the partition key need no index. */
static struct cql_index_use first_use(const struct cql_restrict_plan *plan,
                                      const struct cql_index *indexes, uint32_t count)
{
    for (struct cql_restriction *r = plan->all; r != NULL && count > 0; r = r->next) {
        bool is_known = plan->has_keys && r->columns[0]->kind == COLUMN_PARTITION;
        for (uint32_t i = 0; i < count && !is_known; i++)
            if (index_answers(&indexes[i], r))
                return (struct cql_index_use){&indexes[i], r};
    }
    return (struct cql_index_use){0};
}

static struct cql_index_use usable_index(struct cql_scope *scope, struct cql_restrict_plan *plan)
{
    if (plan->indexes == NULL) {
        plan->index_count =
            cql_index_list(scope->schema, plan->table, scope->arena, &plan->indexes);
    }
    return first_use(plan, plan->indexes, plan->index_count);
}

struct cql_index_use cql_restrict_use_of(const struct cql_restrict_plan *plan, uint32_t column_id,
                                         enum cql_index_of of)
{
    struct cql_index_use use = {0};
    for (uint32_t i = 0; i < plan->index_count && use.index == NULL; i++)
        if (plan->indexes[i].column->id == column_id && plan->indexes[i].of == of)
            use = first_use(plan, &plan->indexes[i], 1);
    return use;
}

/* Relations on the first clustering columns give slices.  Relations on further ones become filters
 * of a SELECT with ALLOW FILTERING or an index; others are refused, of some UPDATEs only in
 * cql_write_plan.c (check_rows). */
static int sort_clustering(struct cql_scope *scope, struct cql_restrict_plan *plan,
                           enum cql_restrict_for what, bool allow_filtering)
{
    uint32_t count = plan->table->clustering_count;
    for (struct cql_restriction *r = plan->all; r != NULL; r = r->next) {
        if (r->kind != CQL_RELATION_TOKEN && r->columns[0]->kind == COLUMN_CLUSTERING) {
            plan->has_clustering = true;
            bool sorts = (r->kind == CQL_RELATION_COLUMN || r->kind == CQL_RELATION_TUPLE) &&
                         (cql_restrict_is_equal(r) || is_lower(r) || is_upper(r));
            if (sorts) {
                place_clustering(plan, r);
            } else {
                r->is_filter = true;
                plan->needs_filtering = true;
            }
        }
    }
    bool has_index =
        what == CQL_FOR_SELECT && plan->has_clustering && usable_index(scope, plan).index != NULL;
    uint32_t used = 0;
    bool is_open = true;
    while (used < count && is_open && plan->clustering[used] != NULL) {
        const struct cql_restriction *r = plan->clustering[used];
        const struct cql_restriction *end = plan->clustering_end[used];
        bool is_end_longer = end != NULL && end->column_count > r->column_count;
        is_open = cql_restrict_is_equal(r);
        used += is_end_longer ? end->column_count : r->column_count;
    }
    plan->clustering_used = used;
    for (uint32_t i = used; i < count; i++) {
        struct cql_restriction *both[2] = {plan->clustering[i], plan->clustering_end[i]};
        bool is_refused = what == CQL_FOR_DELETE ||
                          (what == CQL_FOR_UPDATE && i > 0 && plan->clustering[i - 1] != NULL) ||
                          (what == CQL_FOR_SELECT && !allow_filtering && !has_index);
        if (both[0] != NULL && is_refused && i > 0)
            return gap_refused(scope, plan, i);
        for (int part = 0; part < 2; part++) {
            if (both[part] != NULL) {
                both[part]->is_filter = true;
                plan->needs_filtering = true;
            }
        }
    }
    return 0;
}

static int check_filter(struct cql_scope *scope, const struct cql_restriction *r)
{
    static const char *const operators[] = {
        [CQL_EQ] = "=",  [CQL_LT] = "<",  [CQL_LE] = "<=", [CQL_GT] = ">",
        [CQL_GE] = ">=", [CQL_NE] = "!=", [CQL_IN] = "IN"};
    const struct column *column = r->columns[0];
    enum type_kind kind = column->type->kind;
    bool is_collection = kind == TYPE_LIST || kind == TYPE_SET || kind == TYPE_MAP;
    if (r->kind == CQL_RELATION_COLUMN && is_collection && !column->type->frozen &&
        !is_contains(r->operator)) {
        return cql_invalid(scope->fault,
                           "Collection column '%s' (%s) cannot be restricted by a '%s' relation",
                           column->name, cql_type_name(scope, column->type),
                           operators[r->operator]);
    }
    if (r->kind == CQL_RELATION_ELEMENT && kind == TYPE_LIST) {
        return cql_invalid(scope->fault,
                           "Indexes on list entries (%s[index] = value) are not "
                           "currently supported.",
                           column->name);
    }
    if (r->kind == CQL_RELATION_ELEMENT && r->operator!= CQL_EQ)
        return cql_invalid(scope->fault, "Only EQ relations are supported on map entries");
    return 0;
}

static int sort_others(struct cql_scope *scope, struct cql_restrict_plan *plan,
                       enum cql_restrict_for what)
{
    plan->has_static_only = true;
    for (struct cql_restriction *r = plan->all; r != NULL; r = r->next) {
        enum column_kind kind = r->columns[0]->kind;
        if (r->kind != CQL_RELATION_TOKEN && kind != COLUMN_PARTITION && kind != COLUMN_STATIC)
            plan->has_static_only = false;
        if (r->kind == CQL_RELATION_TOKEN || kind == COLUMN_PARTITION || kind == COLUMN_CLUSTERING)
            continue;
        if (what != CQL_FOR_SELECT) {
            return cql_invalid(scope->fault, "Non PRIMARY KEY columns found in where clause: %s ",
                               r->columns[0]->name);
        }
        int rc = check_filter(scope, r);
        if (rc != 0)
            return rc;
        r->is_filter = true;
        plan->needs_filtering = true;
    }
    return 0;
}

/* A SELECT needs no ALLOW FILTERING if an index answers its only filter. */
static void choose_index(struct cql_scope *scope, struct cql_restrict_plan *plan)
{
    uint32_t others = 0;
    plan->use = usable_index(scope, plan);
    for (const struct cql_restriction *r = plan->all; r != NULL; r = r->next) {
        bool is_asked =
            r->is_filter || (r->columns[0]->kind == COLUMN_CLUSTERING && !plan->has_keys);
        others += r != plan->use.indexed && is_asked;
    }
    if (plan->use.index != NULL)
        plan->needs_filtering = others > 0;
}

int cql_restrict_compile(struct cql_scope *scope, const struct table *table,
                         const struct cql_relation *where, enum cql_restrict_for what,
                         bool allow_filtering, struct cql_restrict_plan *plan)
{
    uint32_t most = table->partition_count + 2 * (table->clustering_count + 1);
    struct cql_restriction **places = arena_alloc_zeroed(scope->arena, most * sizeof(*places), 16);
    *plan = (struct cql_restrict_plan){.table = table,
                                       .partition = places,
                                       .clustering = places + table->partition_count,
                                       .clustering_end = places + table->partition_count +
                                                         table->clustering_count + 1};
    struct cql_restriction **last = &plan->all;
    for (const struct cql_relation *relation = where; relation != NULL; relation = relation->next) {
        if (what != CQL_FOR_SELECT && is_contains(relation->operator)) {
            return cql_invalid(scope->fault, "Cannot use %s with %s",
                               what == CQL_FOR_UPDATE ? "UPDATE" : "DELETE",
                               relation->operator== CQL_CONTAINS ? "CONTAINS" : "CONTAINS KEY");
        }
        int rc = cql_restrict_resolve(scope, table, relation, last);
        if (rc != 0)
            return rc;
        last = &(*last)->next;
    }
    int rc = check_pairs(scope, plan->all);
    if (rc == 0)
        rc = sort_partition(scope, plan, what);
    if (rc == 0)
        rc = sort_others(scope, plan, what);
    if (rc == 0 && what != CQL_FOR_SELECT && !plan->has_keys)
        rc = cql_restrict_refuse_missing(scope, plan, COLUMN_PARTITION);
    if (rc == 0)
        rc = sort_clustering(scope, plan, what, allow_filtering);
    /* Without keys, the slice is read in every partition. */
    if (rc == 0 && what == CQL_FOR_SELECT && !plan->has_keys && plan->has_clustering)
        plan->needs_filtering = true;
    if (rc == 0 && what == CQL_FOR_SELECT && plan->needs_filtering)
        choose_index(scope, plan);
    if (rc == 0 && what == CQL_FOR_SELECT && plan->needs_filtering && !allow_filtering)
        rc = cql_invalid(scope->fault, FILTERING_TEXT);
    return rc;
}

uint32_t cql_restrict_key_markers(const struct cql_restrict_plan *plan, bool allows_lists,
                                  struct arena *arena, const uint16_t **indexes_out)
{
    uint32_t count = plan->table->partition_count;
    uint16_t *indexes = arena_alloc(arena, (count + 1) * sizeof(*indexes), 2);
    *indexes_out = indexes;
    for (uint32_t i = 0; i < count; i++) {
        const struct cql_restriction *r = plan->partition[i];
        const struct cql_expression *last = NULL;
        bool is_seen = r != NULL && !r->in_marker && (allows_lists || r->operator== CQL_EQ);
        for (uint32_t v = 0; is_seen && v < r->value_count; v++)
            last = r->values[v]->kind == CQL_EXPRESSION_MARKER ? r->values[v] : last;
        if (last == NULL)
            return 0;
        indexes[i] = (uint16_t)last->index;
    }
    return count;
}

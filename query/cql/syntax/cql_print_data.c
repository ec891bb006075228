/* Printing SELECT, INSERT, UPDATE, DELETE and batches. */
#include "query/cql/syntax/cql_print_private.h"

static const char *operator_text(enum cql_operator operator)
{
    switch (operator) {
    case CQL_EQ:
        return " = ";
    case CQL_LT:
        return " < ";
    case CQL_LE:
        return " <= ";
    case CQL_GT:
        return " > ";
    case CQL_GE:
        return " >= ";
    case CQL_NE:
        return " != ";
    case CQL_IN:
        return " IN ";
    case CQL_NOT_IN:
        return " NOT IN ";
    case CQL_CONTAINS:
        return " CONTAINS ";
    case CQL_CONTAINS_KEY:
        return " CONTAINS KEY ";
    case CQL_NOT_CONTAINS:
        return " NOT CONTAINS ";
    case CQL_NOT_CONTAINS_KEY:
        return " NOT CONTAINS KEY ";
    case CQL_LIKE:
        return " LIKE ";
    case CQL_BETWEEN:
        return " BETWEEN ";
    case CQL_IS_NOT_NULL:
        return " IS NOT NULL";
    }
    check(false);
    return NULL;
}

/* What stands left of the operator. */
static void print_subject(const struct cql_relation *relation, struct buffer *text)
{
    switch (relation->kind) {
    case CQL_RELATION_COLUMN:
        cql_print_name(relation->columns->text, text);
        return;
    case CQL_RELATION_ELEMENT:
        cql_print_name(relation->columns->text, text);
        buffer_put_u8(text, '[');
        cql_print_term(relation->key, text);
        buffer_put_u8(text, ']');
        return;
    case CQL_RELATION_FIELD:
        cql_print_name(relation->columns->text, text);
        buffer_put_u8(text, '.');
        cql_print_name(relation->field, text);
        return;
    case CQL_RELATION_TOKEN:
        buffer_append_text(text, "token");
        break;
    case CQL_RELATION_TUPLE:
    case CQL_RELATION_INDEX:
        break;
    }
    buffer_put_u8(text, '(');
    cql_print_names(relation->columns, text);
    buffer_put_u8(text, ')');
}

static void print_index_relation(const struct cql_relation *relation, struct buffer *text)
{
    buffer_append_text(text, "expr(");
    cql_print_names(relation->columns, text);
    buffer_append_text(text, ", ");
    cql_print_term(relation->values, text);
    buffer_put_u8(text, ')');
}

void cql_print_relation(const struct cql_relation *relation, struct buffer *text)
{
    bool is_in = relation->operator== CQL_IN || relation->operator== CQL_NOT_IN;

    if (relation->kind == CQL_RELATION_INDEX) {
        print_index_relation(relation, text);
        return;
    }
    print_subject(relation, text);
    buffer_append_text(text, operator_text(relation->operator));
    if (is_in && !relation->in_marker) {
        buffer_put_u8(text, '(');
        cql_print_terms(relation->values, text);
        buffer_put_u8(text, ')');
    } else if (relation->operator== CQL_BETWEEN) {
        cql_print_term(relation->values, text);
        buffer_append_text(text, " AND ");
        cql_print_term(relation->values->next, text);
    } else if (relation->values != NULL) {
        cql_print_term(relation->values, text);
    }
}

static void print_relations(const struct cql_relation *relations, const char *introduction,
                            struct buffer *text)
{
    for (const struct cql_relation *of = relations; of != NULL; of = of->next) {
        buffer_append_text(text, of == relations ? introduction : " AND ");
        cql_print_relation(of, text);
    }
}

void cql_print_where(const struct cql_relation *where, struct buffer *text)
{
    print_relations(where, " WHERE ", text);
}

static void print_conditions(const struct cql_conditions *conditions, struct buffer *text)
{
    cql_print_words(text, conditions->if_exists, " IF EXISTS");
    print_relations(conditions->relations, " IF ", text);
}

static void print_using(const struct cql_attributes *attributes, struct buffer *text)
{
    if (attributes->timestamp != NULL) {
        buffer_append_text(text, " USING TIMESTAMP ");
        cql_print_term(attributes->timestamp, text);
    }
    if (attributes->ttl != NULL) {
        buffer_append_text(text, attributes->timestamp != NULL ? " AND TTL " : " USING TTL ");
        cql_print_term(attributes->ttl, text);
    }
}

void cql_print_selectors(const struct cql_selector *selectors, struct buffer *text)
{
    cql_print_words(text, selectors == NULL, "*");
    for (const struct cql_selector *of = selectors; of != NULL; of = of->next) {
        cql_print_words(text, of != selectors, ", ");
        cql_print_term(of->term, text);
        if (of->alias.size > 0) {
            buffer_append_text(text, " AS ");
            cql_print_name(of->alias, text);
        }
    }
}

static void print_limit(const char *words, const struct cql_term *limit, struct buffer *text)
{
    if (limit == NULL)
        return;
    buffer_append_text(text, words);
    cql_print_term(limit, text);
}

static void print_order_by(const struct cql_ordering *order_by, struct buffer *text)
{
    for (const struct cql_ordering *of = order_by; of != NULL; of = of->next) {
        buffer_append_text(text, of == order_by ? " ORDER BY " : ", ");
        cql_print_name(of->column, text);
        if (of->ann_of != NULL) {
            buffer_append_text(text, " ANN OF ");
            cql_print_term(of->ann_of, text);
        }
        cql_print_words(text, of->descending, " DESC");
    }
}

static void print_select(const struct cql_select *select, struct buffer *text)
{
    buffer_append_text(text, "SELECT ");
    cql_print_words(text, select->is_json, "JSON ");
    cql_print_words(text, select->is_distinct, "DISTINCT ");
    cql_print_selectors(select->selectors, text);
    buffer_append_text(text, " FROM ");
    cql_print_qualified(select->table, text);
    cql_print_where(select->where, text);
    if (select->group_by != NULL) {
        buffer_append_text(text, " GROUP BY ");
        cql_print_terms(select->group_by, text);
    }
    print_order_by(select->order_by, text);
    print_limit(" PER PARTITION LIMIT ", select->per_partition_limit, text);
    print_limit(" LIMIT ", select->limit, text);
    cql_print_words(text, select->allow_filtering, " ALLOW FILTERING");
}

static void print_insert(const struct cql_insert *insert, struct buffer *text)
{
    buffer_append_text(text, "INSERT INTO ");
    cql_print_qualified(insert->table, text);
    if (insert->json != NULL) {
        buffer_append_text(text, " JSON ");
        cql_print_term(insert->json, text);
        cql_print_words(text, insert->default_unset, " DEFAULT UNSET");
    } else {
        buffer_append_text(text, " (");
        cql_print_names(insert->columns, text);
        buffer_append_text(text, ") VALUES (");
        cql_print_terms(insert->values, text);
        buffer_put_u8(text, ')');
    }
    cql_print_words(text, insert->if_not_exists, " IF NOT EXISTS");
    print_using(&insert->attributes, text);
}

/* column, column[key] or column.field. */
static void print_place(struct bytes column, const struct cql_term *key, struct bytes field,
                        struct buffer *text)
{
    cql_print_name(column, text);
    if (key != NULL) {
        buffer_put_u8(text, '[');
        cql_print_term(key, text);
        buffer_put_u8(text, ']');
    }
    if (field.size > 0) {
        buffer_put_u8(text, '.');
        cql_print_name(field, text);
    }
}

void cql_print_assignment(const struct cql_assignment *assignment, struct buffer *text)
{
    print_place(assignment->column, assignment->key, assignment->field, text);
    buffer_append_text(text, " = ");
    if (assignment->kind == CQL_ASSIGN_ADD || assignment->kind == CQL_ASSIGN_SUBTRACT) {
        cql_print_name(assignment->column, text);
        buffer_append_text(text, assignment->kind == CQL_ASSIGN_ADD ? " + " : " - ");
    }
    cql_print_term(assignment->value, text);
    if (assignment->kind == CQL_ASSIGN_PREPEND) {
        buffer_append_text(text, " + ");
        cql_print_name(assignment->column, text);
    }
}

static void print_update(const struct cql_update *update, struct buffer *text)
{
    buffer_append_text(text, "UPDATE ");
    cql_print_qualified(update->table, text);
    print_using(&update->attributes, text);
    for (const struct cql_assignment *of = update->assignments; of != NULL; of = of->next) {
        buffer_append_text(text, of == update->assignments ? " SET " : ", ");
        cql_print_assignment(of, text);
    }
    cql_print_where(update->where, text);
    print_conditions(&update->conditions, text);
}

static void print_delete(const struct cql_delete *delete, struct buffer *text)
{
    buffer_append_text(text, "DELETE ");
    for (const struct cql_deletion *of = delete->deletions; of != NULL; of = of->next) {
        cql_print_words(text, of != delete->deletions, ", ");
        print_place(of->column, of->key, of->field, text);
    }
    buffer_append_text(text, delete->deletions == NULL ? "FROM " : " FROM ");
    cql_print_qualified(delete->table, text);
    print_using(&delete->attributes, text);
    cql_print_where(delete->where, text);
    print_conditions(&delete->conditions, text);
}

static void print_batch(const struct cql_batch *batch, struct buffer *text)
{
    buffer_append_text(text, "BEGIN ");
    cql_print_words(text, batch->is_unlogged, "UNLOGGED ");
    cql_print_words(text, batch->is_counter, "COUNTER ");
    buffer_append_text(text, "BATCH");
    print_using(&batch->attributes, text);
    for (const struct cql_statement *of = batch->statements; of != NULL; of = of->next) {
        buffer_put_u8(text, ' ');
        cql_print(of, text);
        buffer_put_u8(text, ';');
    }
    buffer_append_text(text, " APPLY BATCH");
}

bool cql_print_data(const struct cql_statement *statement, struct buffer *text)
{
    if (statement->kind == CQL_STATEMENT_SELECT)
        print_select(&statement->select, text);
    else if (statement->kind == CQL_STATEMENT_INSERT)
        print_insert(&statement->insert, text);
    else if (statement->kind == CQL_STATEMENT_UPDATE)
        print_update(&statement->update, text);
    else if (statement->kind == CQL_STATEMENT_DELETE)
        print_delete(&statement->delete, text);
    else if (statement->kind == CQL_STATEMENT_BATCH)
        print_batch(&statement->batch, text);
    else
        return false;
    return true;
}

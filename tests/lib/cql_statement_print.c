/* SELECT, INSERT, UPDATE, DELETE, batches and DESCRIBE; the others have files of their own. */
#include "tests/lib/cql_statement_print.h"

#include "query/cql/syntax/cql_lexer.h"
#include "tests/lib/cql_statement_print_private.h"

/* ---- lists ---- */

void cql_print_name_safely(struct bytes name, struct buffer *text)
{
    if (cql_lexer_is_keyword(name))
        buffer_append_quoted(text, name, '"');
    else
        cql_print_name(name, text);
}

void cql_print_names(const struct cql_name *names, struct buffer *text)
{
    for (const struct cql_name *name = names; name != NULL; name = name->next) {
        cql_print_words(text, name != names, ", ");
        cql_print_name(name->text, text);
    }
}

void cql_print_types(const struct cql_type *types, struct buffer *text)
{
    for (const struct cql_type *type = types; type != NULL; type = type->next) {
        cql_print_words(text, type != types, ", ");
        cql_print_type(type, text);
    }
}

void cql_print_terms(const struct cql_term *terms, struct buffer *text)
{
    for (const struct cql_term *term = terms; term != NULL; term = term->next) {
        cql_print_words(text, term != terms, ", ");
        cql_print_term(term, text);
    }
}

/* ---- data ---- */

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
        cql_statement_print(of, text);
        buffer_put_u8(text, ';');
    }
    buffer_append_text(text, " APPLY BATCH");
}

static bool print_data(const struct cql_statement *statement, struct buffer *text)
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

/* ---- all ---- */

static void print_describe(const struct cql_describe *describe, struct buffer *text)
{
    static const char *const words[] = {
        [CQL_DESCRIBE_CLUSTER] = "CLUSTER",
        [CQL_DESCRIBE_SCHEMA] = "SCHEMA",
        [CQL_DESCRIBE_FULL_SCHEMA] = "FULL SCHEMA",
        [CQL_DESCRIBE_KEYSPACES] = "KEYSPACES",
        [CQL_DESCRIBE_KEYSPACE] = "KEYSPACE ",
        [CQL_DESCRIBE_ONLY_KEYSPACE] = "ONLY KEYSPACE ",
        [CQL_DESCRIBE_TABLES] = "TABLES",
        [CQL_DESCRIBE_TABLE] = "TABLE ",
        [CQL_DESCRIBE_INDEX] = "INDEX ",
        [CQL_DESCRIBE_VIEW] = "MATERIALIZED VIEW ",
        [CQL_DESCRIBE_TYPES] = "TYPES",
        [CQL_DESCRIBE_TYPE] = "TYPE ",
        [CQL_DESCRIBE_FUNCTIONS] = "FUNCTIONS",
        [CQL_DESCRIBE_FUNCTION] = "FUNCTION ",
        [CQL_DESCRIBE_AGGREGATES] = "AGGREGATES",
        [CQL_DESCRIBE_AGGREGATE] = "AGGREGATE ",
        [CQL_DESCRIBE_ANY] = "",
    };

    buffer_append_text(text, "DESCRIBE ");
    buffer_append_text(text, words[describe->kind]);
    if (describe->name.keyspace.size > 0) {
        cql_print_name_safely(describe->name.keyspace, text);
        buffer_put_u8(text, '.');
    }
    if (describe->name.name.size > 0)
        cql_print_name_safely(describe->name.name, text);
    cql_print_words(text, describe->with_internals, " WITH INTERNALS");
}

void cql_statement_print(const struct cql_statement *statement, struct buffer *text)
{
    if (statement->kind == CQL_STATEMENT_DESCRIBE)
        print_describe(&statement->describe, text);
    else if (!print_data(statement, text) && !cql_print_definition(statement, text))
        check(cql_print_role(statement, text));
}

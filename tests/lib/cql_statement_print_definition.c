/* Printing what makes, changes and drops keyspaces, tables, types, indexes, views and functions. */
#include "tests/lib/cql_statement_print_private.h"

static void print_properties(const struct cql_property *properties, const char *introduction,
                             struct buffer *text)
{
    for (const struct cql_property *of = properties; of != NULL; of = of->next) {
        buffer_append_text(text, of == properties ? introduction : " AND ");
        cql_print_name(of->name, text);
        buffer_append_text(text, " = ");
        if (of->value->kind == CQL_TERM_NAME)
            buffer_append_bytes(text, of->value->text);
        else
            cql_print_term(of->value, text);
    }
}

static void print_definition(const struct cql_definition *definition, struct buffer *text)
{
    cql_print_name(definition->name, text);
    if (definition->type != NULL) {
        buffer_put_u8(text, ' ');
        cql_print_type(definition->type, text);
    }
    cql_print_words(text, definition->is_static, " STATIC");
    if (definition->is_masked) {
        buffer_append_text(text, " MASKED WITH ");
        if (definition->mask == NULL)
            buffer_append_text(text, "DEFAULT");
        else
            cql_print_term(definition->mask, text);
    }
    cql_print_words(text, definition->is_primary_key, " PRIMARY KEY");
}

static void print_definitions(const struct cql_definition *definitions, struct buffer *text)
{
    for (const struct cql_definition *of = definitions; of != NULL; of = of->next) {
        cql_print_words(text, of != definitions, ", ");
        print_definition(of, text);
    }
}

static void print_primary_key(const struct cql_primary_key *key, struct buffer *text)
{
    buffer_append_text(text, "PRIMARY KEY ((");
    cql_print_names(key->partition, text);
    buffer_put_u8(text, ')');
    cql_print_words(text, key->clustering != NULL, ", ");
    cql_print_names(key->clustering, text);
    buffer_put_u8(text, ')');
}

/* WITH, as far as it is needed. */
static void print_table_options(const struct cql_property *properties,
                                const struct cql_ordering *order, bool compact_storage,
                                struct buffer *text)
{
    const char *introduction = " WITH ";

    if (order != NULL) {
        buffer_append_text(text, " WITH CLUSTERING ORDER BY (");
        for (const struct cql_ordering *of = order; of != NULL; of = of->next) {
            cql_print_words(text, of != order, ", ");
            cql_print_name(of->column, text);
            buffer_append_text(text, of->descending ? " DESC" : " ASC");
        }
        buffer_put_u8(text, ')');
        introduction = " AND ";
    }
    if (compact_storage) {
        buffer_append_text(text, introduction);
        buffer_append_text(text, "COMPACT STORAGE");
        introduction = " AND ";
    }
    print_properties(properties, introduction, text);
}

static void print_create_table(const struct cql_create_table *create, struct buffer *text)
{
    buffer_append_text(text, "CREATE TABLE ");
    cql_print_words(text, create->if_not_exists, "IF NOT EXISTS ");
    cql_print_qualified(create->name, text);
    buffer_append_text(text, " (");
    print_definitions(create->columns, text);
    if (create->key.partition != NULL) {
        cql_print_words(text, create->columns != NULL, ", ");
        print_primary_key(&create->key, text);
    }
    buffer_put_u8(text, ')');
    print_table_options(create->properties, create->clustering_order, create->compact_storage,
                        text);
}

static void print_renames(const struct cql_rename *renames, struct buffer *text)
{
    for (const struct cql_rename *of = renames; of != NULL; of = of->next) {
        cql_print_words(text, of != renames, " AND ");
        cql_print_name(of->from, text);
        buffer_append_text(text, " TO ");
        cql_print_name(of->to, text);
    }
}

static void print_dropped(const struct cql_alter *alter, struct buffer *text)
{
    bool is_list = alter->columns->next != NULL;

    cql_print_words(text, is_list, "(");
    cql_print_names(alter->columns, text);
    cql_print_words(text, is_list, ")");
    if (alter->timestamp != NULL) {
        buffer_append_text(text, " USING TIMESTAMP ");
        cql_print_term(alter->timestamp, text);
    }
}

static void print_added(const struct cql_alter *alter, struct buffer *text)
{
    bool is_list = alter->definitions->next != NULL;

    cql_print_words(text, is_list, "(");
    print_definitions(alter->definitions, text);
    cql_print_words(text, is_list, ")");
}

/* ALTER column TYPE type. */
static void print_retyped(const struct cql_definition *definition, struct buffer *text)
{
    cql_print_name(definition->name, text);
    buffer_append_text(text, " TYPE ");
    cql_print_type(definition->type, text);
}

static void print_alter(const struct cql_alter *alter, const char *of, struct buffer *text)
{
    static const char *const words[] = {
        [CQL_ALTER_ADD] = " ADD ",
        [CQL_ALTER_DROP] = " DROP ",
        [CQL_ALTER_RENAME] = " RENAME ",
        [CQL_ALTER_TYPE] = " ALTER ",
        [CQL_ALTER_MASK] = " ALTER ",
        [CQL_ALTER_UNMASK] = " ALTER ",
        [CQL_ALTER_DROP_COMPACT_STORAGE] = " DROP COMPACT STORAGE",
        [CQL_ALTER_WITH] = "",
    };

    buffer_append_text(text, "ALTER ");
    buffer_append_text(text, of);
    cql_print_words(text, alter->if_exists, "IF EXISTS ");
    cql_print_qualified(alter->name, text);
    buffer_append_text(text, words[alter->kind]);
    cql_print_words(text, alter->if_column_exists, "IF EXISTS ");
    cql_print_words(text, alter->if_column_not_exists, "IF NOT EXISTS ");
    switch (alter->kind) {
    case CQL_ALTER_ADD:
        print_added(alter, text);
        return;
    case CQL_ALTER_DROP:
        print_dropped(alter, text);
        return;
    case CQL_ALTER_RENAME:
        print_renames(alter->renames, text);
        return;
    case CQL_ALTER_TYPE:
        print_retyped(alter->definitions, text);
        return;
    case CQL_ALTER_MASK:
        print_definition(alter->definitions, text);
        return;
    case CQL_ALTER_UNMASK:
        cql_print_names(alter->columns, text);
        buffer_append_text(text, " DROP MASKED");
        return;
    case CQL_ALTER_DROP_COMPACT_STORAGE:
        return;
    case CQL_ALTER_WITH:
        print_properties(alter->properties, " WITH ", text);
        return;
    }
}

static void print_create_index(const struct cql_create_index *create, struct buffer *text)
{
    static const char *const functions[] = {
        [CQL_INDEX_SIMPLE] = "",        [CQL_INDEX_KEYS] = "KEYS(",
        [CQL_INDEX_VALUES] = "VALUES(", [CQL_INDEX_ENTRIES] = "ENTRIES(",
        [CQL_INDEX_FULL] = "FULL(",
    };

    buffer_append_text(text, create->is_custom ? "CREATE CUSTOM INDEX " : "CREATE INDEX ");
    cql_print_words(text, create->if_not_exists, "IF NOT EXISTS ");
    if (create->name.size > 0) {
        cql_print_name(create->name, text);
        buffer_put_u8(text, ' ');
    }
    buffer_append_text(text, "ON ");
    cql_print_qualified(create->table, text);
    buffer_append_text(text, " (");
    for (const struct cql_index_target *of = create->targets; of != NULL; of = of->next) {
        cql_print_words(text, of != create->targets, ", ");
        buffer_append_text(text, functions[of->kind]);
        cql_print_name(of->column, text);
        cql_print_words(text, of->kind != CQL_INDEX_SIMPLE, ")");
    }
    buffer_put_u8(text, ')');
    if (create->has_class) {
        buffer_append_text(text, " USING ");
        cql_print_string(create->class_name, text);
    }
    print_properties(create->properties, " WITH ", text);
}

static void print_create_keyspace(const struct cql_create_keyspace *create, struct buffer *text)
{
    buffer_append_text(text, "CREATE KEYSPACE ");
    cql_print_words(text, create->if_not_exists, "IF NOT EXISTS ");
    cql_print_name(create->name, text);
    print_properties(create->properties, " WITH ", text);
}

static void print_create_type(const struct cql_create_type *create, struct buffer *text)
{
    buffer_append_text(text, "CREATE TYPE ");
    cql_print_words(text, create->if_not_exists, "IF NOT EXISTS ");
    cql_print_qualified(create->name, text);
    buffer_append_text(text, " (");
    print_definitions(create->fields, text);
    buffer_put_u8(text, ')');
}

/* What needs no more than a name. */
static const char *object_words(enum cql_statement_kind kind)
{
    static const struct {
        enum cql_statement_kind kind;
        const char *words;
    } known[] = {
        {CQL_STATEMENT_TRUNCATE, "TRUNCATE TABLE "},
        {CQL_STATEMENT_USE, "USE "},
        {CQL_STATEMENT_ALTER_KEYSPACE, "ALTER KEYSPACE "},
        {CQL_STATEMENT_DROP_KEYSPACE, "DROP KEYSPACE "},
        {CQL_STATEMENT_DROP_TABLE, "DROP TABLE "},
        {CQL_STATEMENT_DROP_TYPE, "DROP TYPE "},
        {CQL_STATEMENT_DROP_INDEX, "DROP INDEX "},
        {CQL_STATEMENT_DROP_VIEW, "DROP MATERIALIZED VIEW "},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].kind == kind)
            return known[i].words;
    return NULL;
}

/* Of what is refused the tree has the kind only: some statement of that kind. */
static const char *refused_text(enum cql_statement_kind kind)
{
    switch ((int)kind) {
    case CQL_STATEMENT_VIEW:
        return "ALTER MATERIALIZED VIEW refused WITH comment = ''";
    case CQL_STATEMENT_TRIGGER:
        return "DROP TRIGGER refused ON refused";
    case CQL_STATEMENT_FUNCTION:
        return "DROP FUNCTION refused";
    default:
        return NULL;
    }
}

static bool print_object(const struct cql_statement *statement, struct buffer *text)
{
    const char *words = object_words(statement->kind);
    const char *refused = refused_text(statement->kind);

    if (refused != NULL)
        buffer_append_text(text, refused);
    if (words == NULL)
        return refused != NULL;
    buffer_append_text(text, words);
    cql_print_words(text, statement->object.if_exists, "IF EXISTS ");
    cql_print_qualified(statement->object.name, text);
    print_properties(statement->object.properties, " WITH ", text);
    return true;
}

bool cql_print_definition(const struct cql_statement *statement, struct buffer *text)
{
    if (statement->kind == CQL_STATEMENT_CREATE_KEYSPACE)
        print_create_keyspace(&statement->create_keyspace, text);
    else if (statement->kind == CQL_STATEMENT_CREATE_TABLE)
        print_create_table(&statement->create_table, text);
    else if (statement->kind == CQL_STATEMENT_ALTER_TABLE)
        print_alter(&statement->alter, "TABLE ", text);
    else if (statement->kind == CQL_STATEMENT_CREATE_TYPE)
        print_create_type(&statement->create_type, text);
    else if (statement->kind == CQL_STATEMENT_ALTER_TYPE)
        print_alter(&statement->alter, "TYPE ", text);
    else if (statement->kind == CQL_STATEMENT_CREATE_INDEX)
        print_create_index(&statement->create_index, text);
    else
        return print_object(statement, text);
    return true;
}

/* Makes CQL statements from column families.
 *
 * Where a file says nothing, the defaults of cassandra-cli apply.  A note reports each change of
 * behaviour, such as another order.
 *
 * The tables are those by which Cassandra 2 and 3 showed families in CQL (ThriftConversion,
 * CompactTables, SuperColumnCompatibility). */
#include "query/model/definitions.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "query/cql/syntax/cql_print.h"
#include "query/model/marshal.h"
#include "base/arena.h"
#include "base/cli/command.h"
#include "base/memory.h"

enum { ARENA_CHUNK = 64 * 1024, NOTES_MAX = 64 * 1024, NOTE_MAX = 400 };

struct keyspace_definition {
    const char *name;
    long factor; /* of replication */
    uint32_t line;
};

struct definitions {
    const struct definitions_options *options;
    struct arena *arena;
    struct keyspace_definition *keyspaces;
    uint32_t keyspace_count;
    struct family *families;
    uint32_t family_count;
    struct definition *statements;
    uint32_t statement_count;
    struct buffer notes;
};

struct definitions *definitions_new(const struct definitions_options *options)
{
    struct definitions *definitions = memory_zeroed(1, sizeof(*definitions));

    definitions->options = options;
    definitions->arena = arena_new(ARENA_CHUNK);
    return definitions;
}

void definitions_free(struct definitions *definitions)
{
    if (definitions == NULL)
        return;
    for (uint32_t i = 0; i < definitions->family_count; i++)
        memory_free(definitions->families[i].columns);
    memory_free(definitions->families);
    memory_free(definitions->keyspaces);
    memory_free(definitions->statements);
    buffer_release(&definitions->notes);
    arena_free(definitions->arena);
    memory_free(definitions);
}

const char *definitions_text(struct definitions *definitions, struct bytes text)
{
    char *copy = arena_alloc(definitions->arena, text.size + 1, 1);

    if (text.size > 0)
        memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    return copy;
}

/* ---- notes and errors ---- */

void definitions_note(struct definitions *definitions, uint32_t line, const char *format, ...)
{
    char text[NOTE_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (definitions->notes.size < NOTES_MAX)
        buffer_printf(&definitions->notes, "line %u: %s\n", line, text);
}

struct bytes definitions_notes(const struct definitions *definitions)
{
    return buffer_view(&definitions->notes);
}

int definitions_refuse(struct error *err, uint32_t line, const char *format, ...)
{
    char text[NOTE_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return error_set(err, ERROR_INVALID, "line %u: %s", line, text);
}

/* ---- adding ---- */

static void *grow(void *items, uint32_t count, size_t size)
{
    bool is_full = count == 0 || (count & (count - 1)) == 0;

    return is_full ? memory_resize(items, (count == 0 ? 1 : (size_t)count * 2) * size) : items;
}

int definitions_add_keyspace(struct definitions *definitions, const char *name, long factor,
                             uint32_t line, struct error *err)
{
    for (uint32_t i = 0; i < definitions->keyspace_count; i++)
        if (strcmp(definitions->keyspaces[i].name, name) == 0)
            return definitions_refuse(err, line, "keyspace %s is defined on line %u already", name,
                                      definitions->keyspaces[i].line);
    if (definitions->keyspace_count == SCHEMA_KEYSPACES_MAX)
        return definitions_refuse(err, line, "more than %d keyspaces", SCHEMA_KEYSPACES_MAX);
    definitions->keyspaces =
        grow(definitions->keyspaces, definitions->keyspace_count, sizeof(*definitions->keyspaces));
    definitions->keyspaces[definitions->keyspace_count++] =
        (struct keyspace_definition){name, factor > 0 ? factor : 1, line};
    return 0;
}

int definitions_add_family(struct definitions *definitions, const char *keyspace, const char *name,
                           uint32_t line, struct family **family_out, struct error *err)
{
    const char *in = keyspace != NULL ? keyspace : definitions->options->keyspace;

    *family_out = NULL;
    if (in == NULL)
        return definitions_refuse(
            err, line, "%s is in no keyspace, and --keyspace does not say which it belongs to",
            name);
    for (uint32_t i = 0; i < definitions->family_count; i++) {
        const struct family *other = &definitions->families[i];
        if (strcmp(other->keyspace, in) == 0 && strcmp(other->name, name) == 0)
            return definitions_refuse(err, line, "%s is defined on line %u already", name,
                                      other->line);
    }
    if (definitions->family_count == DEFINITIONS_MAX)
        return definitions_refuse(err, line, "more than %d column families", DEFINITIONS_MAX);
    definitions->families =
        grow(definitions->families, definitions->family_count, sizeof(*definitions->families));
    *family_out = &definitions->families[definitions->family_count++];
    **family_out = (struct family){.keyspace = in, .name = name, .line = line};
    return 0;
}

int definitions_add_column(struct family *family, const struct family_column *column,
                           struct error *err)
{
    for (uint32_t i = 0; i < family->column_count; i++)
        if (strcmp(family->columns[i].name, column->name) == 0)
            return definitions_refuse(err, family->line, "column %s of %s is declared twice",
                                      column->name, family->name);
    if (family->column_count == SCHEMA_COLUMNS_MAX)
        return definitions_refuse(err, family->line, "%s has more than %d columns", family->name,
                                  SCHEMA_COLUMNS_MAX);
    family->columns = grow(family->columns, family->column_count, sizeof(*family->columns));
    family->columns[family->column_count++] = *column;
    return 0;
}

/* ---- a family's types ---- */

struct shape {
    struct definitions *definitions;
    const struct family *family;
    const char *bytes_as;
    struct marshal key;
    struct marshal clustering; /* the comparator; without declared columns, also the
                                * subcomparator */
    uint32_t clustering_count;
    struct marshal value;
    struct error *err;
};

static int parse_type(struct shape *shape, const char *text, const char *what,
                      struct marshal *marshal)
{
    struct error err = {0};
    int rc = marshal_parse(bytes_text(text != NULL ? text : "BytesType"), shape->bytes_as,
                           shape->definitions->arena, marshal, &err);

    if (rc < 0)
        return definitions_refuse(shape->err, shape->family->line, "%s of %s: %s", what,
                                  shape->family->name, err.text);
    return 0;
}

static int parse_order(struct shape *shape, const char *text, const char *what,
                       struct marshal *marshal)
{
    int rc = parse_type(shape, text, what, marshal);

    if (rc == 0 && marshal->other_order != NULL)
        definitions_note(shape->definitions, shape->family->line,
                         "%s of %s: values of %s are sorted in another order by CQL's type", what,
                         shape->family->name, marshal->other_order);
    return rc;
}

static int parse_value_type(struct shape *shape, const char *text, const char *what,
                            struct marshal *marshal)
{
    int rc = parse_type(shape, text, what, marshal);

    if (rc == 0 && (marshal->is_composite || marshal->parts[0].descending))
        return definitions_refuse(shape->err, shape->family->line,
                                  "%s of %s: a value is of one type that has no direction", what,
                                  shape->family->name);
    return rc;
}

/* The type that --key gives for the family; NULL: no --key names the family. */
static const char *chosen_key(const struct definitions *definitions, const char *name)
{
    size_t size = strlen(name);

    for (uint32_t i = 0; i < definitions->options->key_count; i++) {
        const char *choice = definitions->options->keys[i];
        if (strncmp(choice, name, size) == 0 && choice[size] == '=')
            return choice + size + 1;
    }
    return NULL;
}

static int parse_key(struct shape *shape)
{
    const char *chosen = chosen_key(shape->definitions, shape->family->name);
    const struct type *type;
    struct error err = {0};
    struct buffer cql = {.arena = shape->definitions->arena};

    if (chosen == NULL)
        return parse_type(shape, shape->family->key_type, "key_validation_class", &shape->key);
    int rc = type_parse(bytes_text(chosen), shape->definitions->arena, NULL, NULL, &type, &err);
    if (rc < 0)
        return error_set(shape->err, rc, "--key %s: %s", shape->family->name, err.text);
    type_print(type, &cql);
    shape->key.count = 1;
    shape->key.parts[0].cql = definitions_text(shape->definitions, buffer_view(&cql));
    return 0;
}

static int add_subcomparator(struct shape *shape)
{
    struct marshal sub;
    int rc = parse_order(shape, shape->family->subcomparator, "subcomparator", &sub);

    if (rc == 0 && (sub.is_composite || shape->clustering.is_composite))
        return definitions_refuse(shape->err, shape->family->line,
                                  "%s: super columns are not named by a CompositeType",
                                  shape->family->name);
    if (rc == 0 && shape->family->column_count == 0)
        shape->clustering.parts[shape->clustering.count++] = sub.parts[0];
    return rc;
}

/* With declared columns, the last part of the comparator holds their names, except in a Super
 * family. */
static uint32_t count_clustering(const struct shape *shape)
{
    if (shape->family->column_count == 0 || shape->family->is_super)
        return shape->clustering.count;
    return shape->clustering.count - 1;
}

static int shape_read(struct shape *shape)
{
    const struct family *family = shape->family;
    int rc = parse_key(shape);

    rc = rc == 0 ? parse_order(shape, family->comparator, "comparator", &shape->clustering) : rc;
    rc = rc == 0 ? parse_value_type(shape, family->default_type, "default_validation_class",
                                    &shape->value)
                 : rc;
    if (rc == 0 && family->is_super)
        rc = add_subcomparator(shape);
    else if (rc == 0 && family->subcomparator != NULL)
        rc = definitions_refuse(shape->err, family->line,
                                "%s has a subcomparator and is not of column_type Super",
                                family->name);
    shape->clustering_count = rc == 0 ? count_clustering(shape) : 0;
    return rc;
}

/* ---- a family's statement ---- */

static bool is_declared(const struct family *family, const char *name)
{
    for (uint32_t i = 0; i < family->column_count; i++)
        if (strcmp(family->columns[i].name, name) == 0)
            return true;
    return false;
}

/* The names that Cassandra gave to columns without a name: key, key2, key3; column1, column2;
 * value, value1. */
struct default_names {
    const char *base;
    uint32_t number; /* appended to the next name; 0: none is appended */
    uint32_t second; /* the number after 0 */
};

static void next_name(struct default_names *names, const struct family *family, char name[24])
{
    do {
        if (names->number == 0)
            snprintf(name, 24, "%s", names->base);
        else
            snprintf(name, 24, "%s%u", names->base, names->number);
        names->number = names->number == 0 ? names->second : names->number + 1;
    } while (is_declared(family, name));
}

static void put_separator(struct buffer *text)
{
    if (text->size > 0)
        buffer_append_text(text, ", ");
}

/* `names` gets the names of these columns, and `order` the text of CLUSTERING ORDER BY. */
static void put_columns(const struct family *family, const struct marshal *types, uint32_t count,
                        struct default_names *default_names, struct buffer *columns,
                        struct buffer *names, struct buffer *order)
{
    char name[24];

    for (uint32_t i = 0; i < count; i++) {
        next_name(default_names, family, name);
        buffer_printf(columns, "%s %s, ", name, types->parts[i].cql);
        put_separator(names);
        buffer_append_text(names, name);
        put_separator(order);
        buffer_printf(order, "%s %s", name, types->parts[i].descending ? "DESC" : "ASC");
    }
}

static int put_declared(struct shape *shape, struct buffer *columns)
{
    const struct family *family = shape->family;

    for (uint32_t i = 0; i < family->column_count; i++) {
        const char *type = family->columns[i].type;
        struct marshal marshal;
        int rc = parse_value_type(shape, type != NULL ? type : family->default_type,
                                  "validation_class", &marshal);
        if (rc < 0)
            return rc;
        type_print_name(family->columns[i].name, columns);
        buffer_printf(columns, " %s, ", marshal.parts[0].cql);
    }
    return 0;
}

static void put_value(const struct shape *shape, struct buffer *columns)
{
    struct default_names values = {"value", 0, 1};
    char name[24];

    next_name(&values, shape->family, name);
    buffer_printf(columns, "%s %s, ", name, shape->value.parts[0].cql);
}

static bool has_descending(const struct shape *shape)
{
    for (uint32_t i = 0; i < shape->clustering_count; i++)
        if (shape->clustering.parts[i].descending)
            return true;
    return false;
}

static void put_options(const struct shape *shape, struct bytes order, struct buffer *cql)
{
    const char *link = " WITH ";

    if (has_descending(shape)) {
        buffer_printf(cql, "%sCLUSTERING ORDER BY (%.*s)", link, (int)order.size,
                      (const char *)order.data);
        link = " AND ";
    }
    if (shape->family->comment != NULL) {
        buffer_printf(cql, "%scomment = ", link);
        cql_print_string(bytes_text(shape->family->comment), cql);
        link = " AND ";
    }
    if (shape->family->ttl_s > 0)
        buffer_printf(cql, "%sdefault_time_to_live = %d", link, shape->family->ttl_s);
}

static void put_table_name(const char *keyspace, const char *table, struct buffer *cql)
{
    type_print_name(keyspace, cql);
    buffer_put_u8(cql, '.');
    type_print_name(table, cql);
}

static int put_table(struct shape *shape, struct buffer *cql)
{
    const struct family *family = shape->family;
    struct default_names key_names = {"key", 0, 2};
    struct default_names clustering_names = {"column", 1, 2};
    struct arena *arena = shape->definitions->arena;
    struct buffer columns = {.arena = arena};
    struct buffer keys = {.arena = arena};
    struct buffer clustering = {.arena = arena};
    struct buffer order = {.arena = arena};
    struct buffer ignored = {.arena = arena};

    put_columns(family, &shape->key, shape->key.count, &key_names, &columns, &keys, &ignored);
    put_columns(family, &shape->clustering, shape->clustering_count, &clustering_names, &columns,
                &clustering, &order);
    int rc = put_declared(shape, &columns);
    if (family->column_count == 0)
        put_value(shape, &columns);
    buffer_append_text(cql, "CREATE TABLE ");
    put_table_name(family->keyspace, family->name, cql);
    buffer_append_text(cql, " (");
    buffer_append_bytes(cql, buffer_view(&columns));
    buffer_append_text(cql, shape->key.count > 1 ? "PRIMARY KEY ((" : "PRIMARY KEY (");
    buffer_append_bytes(cql, buffer_view(&keys));
    buffer_append_text(cql, shape->key.count > 1 ? ")" : "");
    buffer_append_text(cql, clustering.size > 0 ? ", " : "");
    buffer_append_bytes(cql, buffer_view(&clustering));
    buffer_append_text(cql, "))");
    put_options(shape, buffer_view(&order), cql);
    return rc;
}

/* ---- all statements ---- */

/* Add the statement `cql`, and empty `cql`. */
static void add_statement(struct definitions *definitions, const struct definition *about,
                          struct buffer *cql)
{
    definitions->statements = grow(definitions->statements, definitions->statement_count,
                                   sizeof(*definitions->statements));
    struct definition *statement = &definitions->statements[definitions->statement_count++];
    *statement = *about;
    statement->cql = definitions_text(definitions, buffer_view(cql));
    buffer_clear(cql);
}

static void write_keyspace(struct definitions *definitions, const char *name, long factor,
                           uint32_t line)
{
    struct definition about = {.kind = DEFINITION_KEYSPACE, .keyspace = name, .line = line};
    struct buffer cql = {.arena = definitions->arena};

    buffer_append_text(&cql, "CREATE KEYSPACE ");
    type_print_name(name, &cql);
    buffer_printf(&cql,
                  " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': '%ld'}",
                  factor);
    add_statement(definitions, &about, &cql);
}

static void put_index(const struct family *family, const struct family_column *column,
                      struct buffer *cql)
{
    buffer_append_text(cql, "CREATE INDEX ");
    if (column->index_name != NULL) {
        type_print_name(column->index_name, cql);
        buffer_put_u8(cql, ' ');
    }
    buffer_append_text(cql, "ON ");
    put_table_name(family->keyspace, family->name, cql);
    buffer_append_text(cql, " (");
    type_print_name(column->name, cql);
    buffer_append_text(cql, ")");
}

static int write_family(struct definitions *definitions, const struct family *family,
                        struct error *err)
{
    const struct definitions_options *options = definitions->options;
    bool is_text =
        command_word(family->name, options->texts, options->text_count) < options->text_count;
    struct shape shape = {.definitions = definitions,
                          .family = family,
                          .bytes_as = is_text ? "text" : "blob",
                          .err = err};
    struct definition about = {.kind = DEFINITION_TABLE,
                               .keyspace = family->keyspace,
                               .table = family->name,
                               .line = family->line};
    struct buffer cql = {.arena = definitions->arena};
    int rc = shape_read(&shape);

    rc = rc == 0 ? put_table(&shape, &cql) : rc;
    if (rc == 0)
        add_statement(definitions, &about, &cql);
    about.kind = DEFINITION_INDEX;
    for (uint32_t i = 0; rc == 0 && i < family->column_count; i++) {
        if (family->columns[i].is_indexed) {
            put_index(family, &family->columns[i], &cql);
            add_statement(definitions, &about, &cql);
        }
    }
    return rc;
}

static bool has_family(const struct definitions *definitions, const char *name, size_t size)
{
    for (uint32_t i = 0; i < definitions->family_count; i++) {
        const char *other = definitions->families[i].name;
        if (strlen(other) == size && memcmp(other, name, size) == 0)
            return true;
    }
    return false;
}

static int check_choices(const struct definitions *definitions, struct error *err)
{
    const struct definitions_options *options = definitions->options;

    for (uint32_t i = 0; i < options->key_count; i++)
        if (!has_family(definitions, options->keys[i], strcspn(options->keys[i], "=")))
            return error_set(err, ERROR_INVALID, "--key %s: the file has no such column family",
                             options->keys[i]);
    for (uint32_t i = 0; i < options->text_count; i++)
        if (!has_family(definitions, options->texts[i], strlen(options->texts[i])))
            return error_set(err, ERROR_INVALID, "--text %s: the file has no such column family",
                             options->texts[i]);
    return 0;
}

static bool is_defined(const struct definitions *definitions, const char *keyspace)
{
    for (uint32_t i = 0; i < definitions->statement_count; i++) {
        const struct definition *statement = &definitions->statements[i];
        if (statement->kind == DEFINITION_KEYSPACE && strcmp(statement->keyspace, keyspace) == 0)
            return true;
    }
    return false;
}

int definitions_write(struct definitions *definitions,
                      bool (*has_keyspace)(void *context, const char *keyspace), void *context,
                      const struct definition **statements_out, uint32_t *count_out,
                      struct error *err)
{
    int rc = check_choices(definitions, err);

    for (uint32_t i = 0; i < definitions->keyspace_count; i++) {
        const struct keyspace_definition *keyspace = &definitions->keyspaces[i];
        write_keyspace(definitions, keyspace->name, keyspace->factor, keyspace->line);
    }
    for (uint32_t i = 0; i < definitions->family_count; i++) {
        const char *keyspace = definitions->families[i].keyspace;
        if (!is_defined(definitions, keyspace) && !has_keyspace(context, keyspace))
            write_keyspace(definitions, keyspace, 1, 0);
    }
    for (uint32_t i = 0; rc == 0 && i < definitions->family_count; i++)
        rc = write_family(definitions, &definitions->families[i], err);
    *statements_out = definitions->statements;
    *count_out = definitions->statement_count;
    return rc;
}

/* A scanner of words and signs, and a recursive descent parser of this grammar:
 *
 *   statement   create keyspace NAME [with ATTRIBUTE = VALUE [and ...]]
 *               create column family NAME [with ...]
 *               use NAME
 *   VALUE       word, number or string | { KEY : VALUE, ... } | [ VALUE, ... ]
 *
 * A take_attribute function reads the values of a map or of a statement's attributes.  Attributes
 * for the files and caches of Cassandra's nodes are skipped with their values.  Any other unknown
 * attribute is refused, since it may be misspelt. */
#include "query/model/cassandra_cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "storage/schema/schema.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_STRING, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    const char *text; /* without quotes if it is a string */
    uint32_t line;
};

struct parser {
    struct bytes text;
    size_t at;
    uint32_t line;
    struct token token;
    struct buffer string; /* of the token that is being read */
    struct definitions *definitions;
    const char *keyspace; /* of the last `use` statement; NULL: none */
    uint32_t attribute_line;
    unsigned depth;
    struct error *err;
};

/* ---- tokens ---- */

static int peek(const struct parser *parser, size_t ahead)
{
    size_t at = parser->at + ahead;

    return at < parser->text.size ? parser->text.data[at] : -1;
}

static void step(struct parser *parser)
{
    parser->line += parser->text.data[parser->at++] == '\n';
}

static void skip_line(struct parser *parser)
{
    while (peek(parser, 0) >= 0 && peek(parser, 0) != '\n')
        step(parser);
}

static int skip_comment(struct parser *parser)
{
    uint32_t line = parser->line;

    while (peek(parser, 0) >= 0 && !(peek(parser, 0) == '*' && peek(parser, 1) == '/'))
        step(parser);
    if (peek(parser, 0) < 0)
        return definitions_refuse(parser->err, line, "a comment is not closed");
    parser->at += 2;
    return 0;
}

static int skip_blanks(struct parser *parser)
{
    int rc = 0;

    while (rc == 0 && peek(parser, 0) >= 0) {
        int c = peek(parser, 0);
        if (c <= ' ') {
            step(parser);
        } else if (c == '-' && peek(parser, 1) == '-') {
            skip_line(parser);
        } else if (c == '/' && peek(parser, 1) == '*') {
            parser->at += 2;
            rc = skip_comment(parser);
        } else {
            return 0;
        }
    }
    return rc;
}

/* Words may have letters of any script.  Blanks and ASCII signs other than _ . - $ end a word. */
static bool is_word_byte(int c)
{
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-' || c == '$';
}

static int escaped(int c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    default:
        return c;
    }
}

static int read_string(struct parser *parser, int quote)
{
    uint32_t line = parser->line;

    for (step(parser); peek(parser, 0) != quote; step(parser)) {
        int c = peek(parser, 0);
        if (c == '\\') {
            step(parser);
            c = escaped(peek(parser, 0));
        }
        if (c < 0)
            return definitions_refuse(parser->err, line, "a string is not closed");
        buffer_put_u8(&parser->string, (uint8_t)c);
    }
    step(parser);
    parser->token.kind = TOKEN_STRING;
    return 0;
}

static int next(struct parser *parser)
{
    int rc = skip_blanks(parser);
    int c = peek(parser, 0);

    if (rc < 0)
        return rc;
    buffer_clear(&parser->string);
    parser->token = (struct token){.kind = TOKEN_END, .text = "", .line = parser->line};
    if (c == '\'' || c == '"') {
        rc = read_string(parser, c);
    } else if (is_word_byte(c)) {
        parser->token.kind = TOKEN_WORD;
        for (; is_word_byte(peek(parser, 0)); step(parser))
            buffer_put_u8(&parser->string, parser->text.data[parser->at]);
    } else if (c >= 0) {
        parser->token.kind = TOKEN_SIGN;
        buffer_put_u8(&parser->string, (uint8_t)c);
        step(parser);
    }
    if (rc == 0 && !bytes_valid_utf8(buffer_view(&parser->string)))
        return definitions_refuse(parser->err, parser->token.line, "the text is not UTF-8");
    parser->token.text = definitions_text(parser->definitions, buffer_view(&parser->string));
    return rc;
}

/* ---- what is expected ---- */

static int refuse_token(struct parser *parser, const char *expected)
{
    const struct token *token = &parser->token;

    if (token->kind == TOKEN_END)
        return definitions_refuse(parser->err, token->line, "%s is expected, but the file ends",
                                  expected);
    return definitions_refuse(parser->err, token->line, "%s is expected, not '%.100s'", expected,
                              token->text);
}

static bool is_sign(const struct parser *parser, char sign)
{
    return parser->token.kind == TOKEN_SIGN && parser->token.text[0] == sign;
}

static bool is_word(const struct parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_WORD && strcasecmp(parser->token.text, word) == 0;
}

static int take_sign(struct parser *parser, char sign)
{
    const char shown[] = {'\'', sign, '\'', '\0'};

    return is_sign(parser, sign) ? next(parser) : refuse_token(parser, shown);
}

static int take_word(struct parser *parser, const char *word)
{
    return is_word(parser, word) ? next(parser) : refuse_token(parser, word);
}

static int take_text(struct parser *parser, const char *expected, const char **text_out)
{
    *text_out = parser->token.text;
    if (parser->token.kind != TOKEN_WORD && parser->token.kind != TOKEN_STRING)
        return refuse_token(parser, expected);
    if (parser->token.text[0] == '\0')
        return definitions_refuse(parser->err, parser->token.line, "%s is empty", expected);
    return next(parser);
}

/* ---- attributes ---- */

/* Reads the value of the attribute `name`; the value begins at parser->token. */
typedef int (*take_attribute)(struct parser *parser, const char *name, void *context);

/* { name : value, ... } */
static int read_map(struct parser *parser, take_attribute take, void *context)
{
    int rc = take_sign(parser, '{');

    while (rc == 0 && !is_sign(parser, '}')) {
        const char *name;
        parser->attribute_line = parser->token.line;
        rc = take_text(parser, "a name", &name);
        rc = rc == 0 ? take_sign(parser, ':') : rc;
        rc = rc == 0 ? take(parser, name, context) : rc;
        if (rc == 0 && !is_sign(parser, '}'))
            rc = take_sign(parser, ',');
    }
    return rc == 0 ? next(parser) : rc;
}

static int skip_value(struct parser *parser);

static int skip_attribute(struct parser *parser, const char *name, void *context)
{
    (void)name;
    (void)context;
    return skip_value(parser);
}

static int skip_value(struct parser *parser)
{
    const char *text;
    int rc;

    if (!is_sign(parser, '{') && !is_sign(parser, '['))
        return take_text(parser, "a value", &text);
    if (++parser->depth > CASSANDRA_CLI_DEPTH_MAX)
        return definitions_refuse(parser->err, parser->token.line,
                                  "values are over %d deep within each other",
                                  CASSANDRA_CLI_DEPTH_MAX);
    if (is_sign(parser, '{')) {
        rc = read_map(parser, skip_attribute, NULL);
    } else {
        rc = next(parser);
        while (rc == 0 && !is_sign(parser, ']')) {
            rc = skip_value(parser);
            if (rc == 0 && !is_sign(parser, ']'))
                rc = take_sign(parser, ',');
        }
        rc = rc == 0 ? next(parser) : rc;
    }
    parser->depth--;
    return rc;
}

/* [with name = value [and name = value]*] */
static int read_attributes(struct parser *parser, take_attribute take, void *context)
{
    const char *link = "with";
    int rc = 0;

    while (rc == 0 && is_word(parser, link)) {
        const char *name;
        rc = next(parser);
        parser->attribute_line = parser->token.line;
        rc = rc == 0 ? take_text(parser, "an attribute", &name) : rc;
        rc = rc == 0 ? take_sign(parser, '=') : rc;
        rc = rc == 0 ? take(parser, name, context) : rc;
        link = "and";
    }
    return rc;
}

/* Whether `name` is one of `words`, which blanks separate; case is ignored. */
static bool is_listed(const char *words, const char *name)
{
    size_t size = strlen(name);

    while (*words != '\0') {
        size_t length = strcspn(words, " ");
        if (length == size && strncasecmp(words, name, size) == 0)
            return true;
        words += length + (words[length] == ' ');
    }
    return false;
}

/* ---- create keyspace ---- */

struct replication {
    const char *strategy; /* NULL: not given */
    long factor;          /* the highest one of all datacenters; 0: not given */
    bool names_datacenters;
};

static int take_number(struct parser *parser, const char *what, long min, long max,
                       long *number_out)
{
    uint32_t line = parser->token.line;
    const char *text;
    char *end;
    int rc = take_text(parser, what, &text);

    if (rc < 0)
        return rc;
    *number_out = strtol(text, &end, 10);
    if (*end != '\0' || *number_out < min || *number_out > max)
        return definitions_refuse(parser->err, line, "%s is a number from %ld to %ld, not '%.100s'",
                                  what, min, max, text);
    return 0;
}

static int take_strategy_option(struct parser *parser, const char *name, void *context)
{
    struct replication *replication = context;
    long factor;
    int rc = take_number(parser, "a replication factor", 0, 1000, &factor);

    replication->names_datacenters |= strcasecmp(name, "replication_factor") != 0;
    if (rc == 0 && factor > replication->factor)
        replication->factor = factor;
    return rc;
}

static int take_keyspace_attribute(struct parser *parser, const char *name, void *context)
{
    struct replication *replication = context;

    if (strcasecmp(name, "placement_strategy") == 0)
        return take_text(parser, "a strategy", &replication->strategy);
    if (strcasecmp(name, "durable_writes") == 0)
        return skip_value(parser);
    if (strcasecmp(name, "strategy_options") != 0)
        return definitions_refuse(parser->err, parser->attribute_line,
                                  "keyspaces have no attribute '%.100s'", name);
    if (!is_sign(parser, '['))
        return read_map(parser, take_strategy_option, replication);
    /* Cassandra 0.7 wrote a list of one map. */
    int rc = next(parser);
    rc = rc == 0 ? read_map(parser, take_strategy_option, replication) : rc;
    return rc == 0 ? take_sign(parser, ']') : rc;
}

static int read_keyspace(struct parser *parser, uint32_t line)
{
    struct replication replication = {0};
    const char *name;
    int rc = take_text(parser, "the keyspace's name", &name);

    rc = rc == 0 ? read_attributes(parser, take_keyspace_attribute, &replication) : rc;
    if (rc < 0)
        return rc;
    if (replication.names_datacenters)
        definitions_note(parser->definitions, line,
                         "%s is replicated by datacenter, of which there is one here", name);
    return definitions_add_keyspace(parser->definitions, name, replication.factor, line,
                                    parser->err);
}

/* ---- create column family ---- */

static int take_column_attribute(struct parser *parser, const char *name, void *context)
{
    struct family_column *column = context;
    const char *kind;

    if (strcasecmp(name, "column_name") == 0)
        return take_text(parser, "the column's name", &column->name);
    if (strcasecmp(name, "validation_class") == 0)
        return take_text(parser, "the column's type", &column->type);
    if (strcasecmp(name, "index_name") == 0)
        return take_text(parser, "the index's name", &column->index_name);
    if (strcasecmp(name, "index_options") == 0)
        return skip_value(parser);
    if (strcasecmp(name, "index_type") != 0)
        return definitions_refuse(parser->err, parser->attribute_line,
                                  "columns have no attribute '%.100s'", name);
    int rc = take_text(parser, "the kind of index", &kind);
    if (rc == 0 && !is_listed("KEYS 0 COMPOSITES 2", kind))
        return definitions_refuse(parser->err, parser->attribute_line,
                                  "there are no indexes of type '%.100s'", kind);
    column->is_indexed = true;
    return rc;
}

static int read_column(struct parser *parser, struct family *family)
{
    struct family_column column = {0};
    uint32_t line = parser->token.line;
    int rc = read_map(parser, take_column_attribute, &column);

    if (rc == 0 && column.name == NULL)
        return definitions_refuse(parser->err, line, "a column has no column_name");
    return rc == 0 ? definitions_add_column(family, &column, parser->err) : rc;
}

static int read_columns(struct parser *parser, struct family *family)
{
    int rc = take_sign(parser, '[');

    while (rc == 0 && !is_sign(parser, ']')) {
        rc = read_column(parser, family);
        if (rc == 0 && !is_sign(parser, ']'))
            rc = take_sign(parser, ',');
    }
    return rc == 0 ? next(parser) : rc;
}

static int read_column_type(struct parser *parser, struct family *family)
{
    uint32_t line = parser->token.line;
    const char *kind;
    int rc = take_text(parser, "the column_type", &kind);

    family->is_super = rc == 0 && strcasecmp(kind, "Super") == 0;
    if (rc == 0 && !family->is_super && strcasecmp(kind, "Standard") != 0)
        return definitions_refuse(parser->err, line,
                                  "column_type is Standard or Super, not '%.100s'", kind);
    return rc;
}

static bool is_skipped(const char *name)
{
    static const char names[] =
        "bloom_filter_fp_chance caching cells_per_row_to_cache compaction_strategy "
        "compaction_strategy_options compression_options dclocal_read_repair_chance gc_grace "
        "id index_interval key_cache_save_period keys_cached max_compaction_threshold "
        "max_index_interval memtable_flush_after memtable_flush_period_in_ms "
        "memtable_operations memtable_throughput merge_shards_chance min_compaction_threshold "
        "min_index_interval populate_io_cache_on_flush read_repair_chance replicate_on_write "
        "row_cache_keys_to_save row_cache_provider row_cache_save_period rows_cached "
        "speculative_retry triggers";

    return is_listed(names, name);
}

static int take_family_attribute(struct parser *parser, const char *name, void *context)
{
    struct family *family = context;
    long ttl_s;

    if (strcasecmp(name, "column_type") == 0)
        return read_column_type(parser, family);
    if (strcasecmp(name, "comparator") == 0)
        return take_text(parser, "a type", &family->comparator);
    if (strcasecmp(name, "subcomparator") == 0)
        return take_text(parser, "a type", &family->subcomparator);
    if (strcasecmp(name, "key_validation_class") == 0)
        return take_text(parser, "a type", &family->key_type);
    if (strcasecmp(name, "default_validation_class") == 0)
        return take_text(parser, "a type", &family->default_type);
    if (strcasecmp(name, "comment") == 0)
        return take_text(parser, "a comment", &family->comment);
    if (strcasecmp(name, "column_metadata") == 0)
        return read_columns(parser, family);
    if (strcasecmp(name, "default_time_to_live") == 0) {
        int rc = take_number(parser, "default_time_to_live", 0, INT32_MAX, &ttl_s);
        family->ttl_s = rc == 0 ? (int32_t)ttl_s : 0;
        return rc;
    }
    if (is_skipped(name))
        return skip_value(parser);
    return definitions_refuse(parser->err, parser->attribute_line,
                              "column families have no attribute '%.100s'", name);
}

static int read_family(struct parser *parser, uint32_t line)
{
    struct family *family;
    const char *name;
    int rc = take_word(parser, "family");

    rc = rc == 0 ? take_text(parser, "the column family's name", &name) : rc;
    rc = rc == 0 ? definitions_add_family(parser->definitions, parser->keyspace, name, line,
                                          &family, parser->err)
                 : rc;
    return rc == 0 ? read_attributes(parser, take_family_attribute, family) : rc;
}

/* ---- statements ---- */

static int read_create(struct parser *parser, uint32_t line)
{
    bool is_keyspace = is_word(parser, "keyspace");

    if (!is_keyspace && !is_word(parser, "column"))
        return refuse_token(parser, "keyspace or column family");
    int rc = next(parser);
    if (rc < 0)
        return rc;
    return is_keyspace ? read_keyspace(parser, line) : read_family(parser, line);
}

static int read_statement(struct parser *parser)
{
    uint32_t line = parser->token.line;
    bool is_use = is_word(parser, "use");

    if (!is_use && !is_word(parser, "create"))
        return refuse_token(parser, "create or use");
    int rc = next(parser);
    if (rc < 0)
        return rc;
    rc = is_use ? take_text(parser, "the keyspace's name", &parser->keyspace)
                : read_create(parser, line);
    if (rc == 0 && parser->token.kind != TOKEN_END)
        rc = take_sign(parser, ';');
    return rc;
}

int cassandra_cli_read(struct bytes text, struct definitions *definitions, struct error *err)
{
    struct parser parser = {.text = text, .line = 1, .definitions = definitions, .err = err};
    int rc = next(&parser);

    while (rc == 0 && parser.token.kind != TOKEN_END)
        rc = is_sign(&parser, ';') ? next(&parser) : read_statement(&parser);
    buffer_release(&parser.string);
    return rc;
}

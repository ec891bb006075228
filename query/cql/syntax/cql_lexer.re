/* The tokens of CQL, as Cassandra's lexer cuts them.
 *
 * The longest match wins, and among equally long ones the first rule.  A minus directly before a
 * number belongs to it: `c = c -3` ends with a name and a number.  The text 1..2 is a range of two
 * integers.
 *
 * re2c makes C of this file; the 0 behind the text marks its end. */
#include "query/cql/syntax/cql_lexer.h"

#include <stdlib.h>

#include "query/cql/syntax/cql_grammar.h"
#include "base/arena.h"

struct lexer_keyword {
    const char *word;
    int kind;
};

/* In the order of strcmp. */
static const struct lexer_keyword lexer_keywords[] = {
    {"access", CQL_TOKEN_ACCESS}, {"add", CQL_TOKEN_ADD}, {"aggregate", CQL_TOKEN_AGGREGATE},
    {"aggregates", CQL_TOKEN_AGGREGATES}, {"all", CQL_TOKEN_ALL}, {"allow", CQL_TOKEN_ALLOW},
    {"alter", CQL_TOKEN_ALTER}, {"and", CQL_TOKEN_AND}, {"ann", CQL_TOKEN_ANN},
    {"apply", CQL_TOKEN_APPLY}, {"as", CQL_TOKEN_AS}, {"asc", CQL_TOKEN_ASC},
    {"authorize", CQL_TOKEN_AUTHORIZE}, {"batch", CQL_TOKEN_BATCH}, {"begin", CQL_TOKEN_BEGIN},
    {"between", CQL_TOKEN_BETWEEN}, {"by", CQL_TOKEN_BY}, {"called", CQL_TOKEN_CALLED},
    {"cidrs", CQL_TOKEN_CIDRS}, {"cluster", CQL_TOKEN_CLUSTER},
    {"clustering", CQL_TOKEN_CLUSTERING}, {"columnfamilies", CQL_TOKEN_TABLES},
    {"columnfamily", CQL_TOKEN_TABLE}, {"compact", CQL_TOKEN_COMPACT},
    {"contains", CQL_TOKEN_CONTAINS}, {"counter", CQL_TOKEN_COUNTER}, {"create", CQL_TOKEN_CREATE},
    {"custom", CQL_TOKEN_CUSTOM}, {"datacenters", CQL_TOKEN_DATACENTERS},
    {"default", CQL_TOKEN_DEFAULT}, {"delete", CQL_TOKEN_DELETE}, {"desc", CQL_TOKEN_DESC},
    {"describe", CQL_TOKEN_DESCRIBE}, {"distinct", CQL_TOKEN_DISTINCT}, {"drop", CQL_TOKEN_DROP},
    {"entries", CQL_TOKEN_ENTRIES}, {"execute", CQL_TOKEN_EXECUTE}, {"exists", CQL_TOKEN_EXISTS},
    {"filtering", CQL_TOKEN_FILTERING}, {"finalfunc", CQL_TOKEN_FINALFUNC},
    {"from", CQL_TOKEN_FROM}, {"full", CQL_TOKEN_FULL}, {"function", CQL_TOKEN_FUNCTION},
    {"functions", CQL_TOKEN_FUNCTIONS}, {"generated", CQL_TOKEN_GENERATED},
    {"grant", CQL_TOKEN_GRANT}, {"group", CQL_TOKEN_GROUP}, {"hashed", CQL_TOKEN_HASHED},
    {"identity", CQL_TOKEN_IDENTITY}, {"if", CQL_TOKEN_IF}, {"in", CQL_TOKEN_IN},
    {"index", CQL_TOKEN_INDEX}, {"initcond", CQL_TOKEN_INITCOND}, {"input", CQL_TOKEN_INPUT},
    {"insert", CQL_TOKEN_INSERT}, {"internals", CQL_TOKEN_INTERNALS}, {"into", CQL_TOKEN_INTO},
    {"is", CQL_TOKEN_IS}, {"json", CQL_TOKEN_JSON}, {"key", CQL_TOKEN_KEY},
    {"keys", CQL_TOKEN_KEYS}, {"keyspace", CQL_TOKEN_KEYSPACE}, {"keyspaces", CQL_TOKEN_KEYSPACES},
    {"language", CQL_TOKEN_LANGUAGE}, {"like", CQL_TOKEN_LIKE}, {"limit", CQL_TOKEN_LIMIT},
    {"list", CQL_TOKEN_LIST}, {"login", CQL_TOKEN_LOGIN}, {"masked", CQL_TOKEN_MASKED},
    {"materialized", CQL_TOKEN_MATERIALIZED}, {"mbean", CQL_TOKEN_MBEAN},
    {"mbeans", CQL_TOKEN_MBEANS}, {"modify", CQL_TOKEN_MODIFY},
    {"norecursive", CQL_TOKEN_NORECURSIVE}, {"nosuperuser", CQL_TOKEN_NOSUPERUSER},
    {"not", CQL_TOKEN_NOT}, {"null", CQL_TOKEN_NULL}, {"of", CQL_TOKEN_OF}, {"on", CQL_TOKEN_ON},
    {"only", CQL_TOKEN_ONLY}, {"options", CQL_TOKEN_OPTIONS}, {"or", CQL_TOKEN_OR},
    {"order", CQL_TOKEN_ORDER}, {"partition", CQL_TOKEN_PARTITION},
    {"password", CQL_TOKEN_PASSWORD}, {"per", CQL_TOKEN_PER}, {"permission", CQL_TOKEN_PERMISSION},
    {"permissions", CQL_TOKEN_PERMISSIONS}, {"primary", CQL_TOKEN_PRIMARY},
    {"rename", CQL_TOKEN_RENAME}, {"replace", CQL_TOKEN_REPLACE}, {"returns", CQL_TOKEN_RETURNS},
    {"revoke", CQL_TOKEN_REVOKE}, {"role", CQL_TOKEN_ROLE}, {"roles", CQL_TOKEN_ROLES},
    {"schema", CQL_TOKEN_SCHEMA}, {"select", CQL_TOKEN_SELECT},
    {"select_masked", CQL_TOKEN_SELECT_MASKED}, {"set", CQL_TOKEN_SET}, {"sfunc", CQL_TOKEN_SFUNC},
    {"static", CQL_TOKEN_STATIC}, {"storage", CQL_TOKEN_STORAGE}, {"stype", CQL_TOKEN_STYPE},
    {"superuser", CQL_TOKEN_SUPERUSER}, {"superusers", CQL_TOKEN_SUPERUSERS},
    {"table", CQL_TOKEN_TABLE}, {"tables", CQL_TOKEN_TABLES}, {"timestamp", CQL_TOKEN_TIMESTAMP},
    {"to", CQL_TOKEN_TO}, {"token", CQL_TOKEN_TOKEN}, {"trigger", CQL_TOKEN_TRIGGER},
    {"truncate", CQL_TOKEN_TRUNCATE}, {"ttl", CQL_TOKEN_TTL}, {"type", CQL_TOKEN_TYPE},
    {"types", CQL_TOKEN_TYPES}, {"unlogged", CQL_TOKEN_UNLOGGED}, {"unmask", CQL_TOKEN_UNMASK},
    {"unset", CQL_TOKEN_UNSET}, {"update", CQL_TOKEN_UPDATE}, {"use", CQL_TOKEN_USE},
    {"user", CQL_TOKEN_USER}, {"users", CQL_TOKEN_USERS}, {"using", CQL_TOKEN_USING},
    {"values", CQL_TOKEN_VALUES}, {"view", CQL_TOKEN_VIEW}, {"where", CQL_TOKEN_WHERE},
    {"with", CQL_TOKEN_WITH},
};

static int lexer_compare_keyword(const void *word, const void *keyword)
{
    const struct bytes *bytes = word;
    const struct lexer_keyword *of = keyword;

    return bytes_compare(*bytes, bytes_text(of->word));
}

static int lexer_word_kind(struct bytes word)
{
    const struct lexer_keyword *keyword =
        bsearch(&word, lexer_keywords, sizeof lexer_keywords / sizeof lexer_keywords[0],
                sizeof lexer_keywords[0], lexer_compare_keyword);

    return keyword == NULL ? CQL_TOKEN_NAME : keyword->kind;
}

bool cql_lexer_is_keyword(struct bytes word)
{
    return lexer_word_kind(word) != CQL_TOKEN_NAME;
}

static const char *lexer_kind_word(int kind)
{
    if (kind == CQL_TOKEN_TABLE)
        return "columnfamily";
    for (size_t i = 0; i < sizeof lexer_keywords / sizeof lexer_keywords[0]; i++) {
        if (lexer_keywords[i].kind == kind)
            return lexer_keywords[i].word;
    }
    return NULL;
}

void cql_lexer_print_kind(int kind, struct buffer *text)
{
    static const struct {
        int kind;
        const char *name;
    } signs[] = {
        {CQL_TOKEN_END, "EOF"},       {CQL_TOKEN_LP, "'('"},      {CQL_TOKEN_RP, "')'"},
        {CQL_TOKEN_LB, "'['"},        {CQL_TOKEN_RB, "']'"},      {CQL_TOKEN_LC, "'{'"},
        {CQL_TOKEN_RC, "'}'"},        {CQL_TOKEN_COLON, "':'"},   {CQL_TOKEN_EQ, "'='"},
        {CQL_TOKEN_LT, "'<'"},        {CQL_TOKEN_GT, "'>'"},      {CQL_TOKEN_DOT, "'.'"},
        {CQL_TOKEN_COMMA, "','"},     {CQL_TOKEN_STAR, "'*'"},    {CQL_TOKEN_NAME, "IDENT"},
        {CQL_TOKEN_INTEGER, "INTEGER"}, {CQL_TOKEN_BOOLEAN, "BOOLEAN"},
        {CQL_TOKEN_STRING, "STRING_LITERAL"},
    };
    const char *word = lexer_kind_word(kind);

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (signs[i].kind == kind)
            buffer_append_text(text, signs[i].name);
    }
    if (word == NULL)
        return;
    buffer_append_text(text, "K_");
    for (; *word != '\0'; word++)
        buffer_put_u8(text, (uint8_t)(*word == '_' ? '_' : *word - ('a' - 'A')));
}

uint32_t cql_lexer_units(struct bytes text)
{
    uint32_t units = 0;

    for (size_t i = 0; i < text.size; i++) {
        units += (text.data[i] & 0xC0) != 0x80;      /* not a continuation byte */
        units += text.data[i] >= 0xF0;               /* a pair of surrogates in UTF-16 */
    }
    return units;
}

void cql_lexer_init(struct cql_lexer *lexer, struct bytes text, struct arena *arena)
{
    check(text.data[text.size] == 0);
    *lexer = (struct cql_lexer){.arena = arena, .text = text, .cursor = text.data};
    lexer->position.line = 1;
}

static void lexer_advance(struct cql_lexer *lexer, const uint8_t *end)
{
    const uint8_t *line = lexer->cursor;

    for (const uint8_t *c = lexer->cursor; c < end; c++) {
        if (*c == '\n') {
            lexer->position.line++;
            lexer->position.column = 0;
            line = c + 1;
        }
    }
    lexer->position.column += cql_lexer_units(bytes_of(line, (size_t)(end - line)));
    lexer->cursor = end;
}

static struct bytes lexer_unquote(struct cql_lexer *lexer, struct bytes text, uint8_t quote)
{
    size_t size = 0;

    if (memchr(text.data, quote, text.size) == NULL)
        return text;
    uint8_t *copy = arena_alloc(lexer->arena, text.size, 1);
    for (size_t i = 0; i < text.size; i++) {
        copy[size++] = text.data[i];
        i += text.data[i] == quote;
    }
    return bytes_of(copy, size);
}

static struct bytes lexer_lowercase(struct cql_lexer *lexer, struct bytes text)
{
    uint8_t *copy = NULL;

    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < 'A' || text.data[i] > 'Z')
            continue;
        if (copy == NULL) {
            copy = arena_alloc(lexer->arena, text.size, 1);
            memcpy(copy, text.data, text.size);
        }
        copy[i] = (uint8_t)(text.data[i] + ('a' - 'A'));
    }
    return copy == NULL ? text : bytes_of(copy, text.size);
}

static int lexer_emit(struct cql_lexer *lexer, int kind, const uint8_t *end,
                      struct cql_token *token)
{
    token->kind = kind;
    token->written = bytes_of(lexer->cursor, (size_t)(end - lexer->cursor));
    token->text = token->written;
    token->position = lexer->position;
    lexer_advance(lexer, end);
    return 0;
}

static int lexer_emit_word(struct cql_lexer *lexer, const uint8_t *end, struct cql_token *token)
{
    lexer_emit(lexer, CQL_TOKEN_NAME, end, token);
    token->text = lexer_lowercase(lexer, token->written);
    token->kind = lexer_word_kind(token->text);
    return 0;
}

static int lexer_emit_quoted(struct cql_lexer *lexer, int kind, size_t quote_size,
                             const uint8_t *end, struct cql_token *token)
{
    lexer_emit(lexer, kind, end, token);
    token->text = bytes_of(token->written.data + quote_size, token->written.size - 2 * quote_size);
    if (quote_size == 1)
        token->text = lexer_unquote(lexer, token->text, token->written.data[0]);
    return 0;
}

static int lexer_fail_end(struct cql_lexer *lexer, const char *expected, struct error *err)
{
    lexer_advance(lexer, lexer->text.data + lexer->text.size);
    return error_set(err, ERROR_INVALID, "line %u:%u mismatched character '<EOF>' expecting '%s'",
                     lexer->position.line, lexer->position.column, expected);
}

static int lexer_character_size(struct cql_lexer *lexer, const uint8_t *at)
{
    const uint8_t *end = at + 1;

    while (end < lexer->text.data + lexer->text.size && (*end & 0xC0) == 0x80)
        end++;
    return (int)(end - at);
}

static int lexer_fail_character(struct cql_lexer *lexer, struct error *err)
{
    return error_set(err, ERROR_INVALID, "line %u:%u no viable alternative at character '%.*s'",
                     lexer->position.line, lexer->position.column,
                     lexer_character_size(lexer, lexer->cursor), (const char *)lexer->cursor);
}

static int lexer_fail_second(struct cql_lexer *lexer, const char *expected, struct error *err)
{
    const uint8_t *next = lexer->cursor + 1;

    if (next == lexer->text.data + lexer->text.size)
        return lexer_fail_end(lexer, expected, err);
    return error_set(err, ERROR_INVALID, "line %u:%u mismatched character '%.*s' expecting '%s'",
                     lexer->position.line, lexer->position.column + 1,
                     lexer_character_size(lexer, next), (const char *)next, expected);
}

/*!re2c
    re2c:api:style = free-form;
    re2c:define:YYCTYPE = uint8_t;
    re2c:define:YYCURSOR = cursor;
    re2c:define:YYMARKER = marker;
    re2c:define:YYLIMIT = limit;
    re2c:yyfill:enable = 0;
    re2c:eof = 0;
    re2c:indent:string = "    ";

    digit = [0-9];
    hex = [0-9a-fA-F];
    integer = "-"? digit+;
    exponent = 'e' [+-]? digit+;
    unit = 'y' | 'mo' | 'w' | 'd' | 'h' | 'm' | 's' | 'ms' | 'us' | "\xC2\xB5" 's' | 'ns';
    iso_date = "P" (digit+ "Y" (digit+ "M")? (digit+ "D")? | digit+ "M" (digit+ "D")? | digit+ "D");
    iso_time = "T" (digit+ "H" (digit+ "M")? (digit+ "S")? | digit+ "M" (digit+ "S")? | digit+ "S");
    iso_plain = "P" digit{4} "-" digit{2} "-" digit{2} "T" digit{2} ":" digit{2} ":" digit{2};
    iso_duration = iso_plain | iso_date iso_time? | "P" iso_time | "P" digit+ "W";
    uuid = hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12};
*/

/* NULL: the comment is not closed. */
static const uint8_t *lexer_comment_end(struct cql_lexer *lexer)
{
    const uint8_t *from = lexer->cursor + 2;
    const uint8_t *limit = lexer->text.data + lexer->text.size;

    if (lexer->cursor[0] != '/' || lexer->cursor[1] != '*') {
        while (from < limit && *from != '\n' && *from != '\r')
            from++;
        return from;
    }
    for (; limit - from >= 2; from++) {
        if (from[0] == '*' && from[1] == '/')
            return from + 2;
    }
    return NULL;
}

static int lexer_dollar_string(struct cql_lexer *lexer, struct cql_token *token, struct error *err)
{
    const uint8_t *limit = lexer->text.data + lexer->text.size;

    for (const uint8_t *at = lexer->cursor + 2; limit - at >= 2; at++) {
        if (at[0] == '$' && at[1] == '$')
            return lexer_emit_quoted(lexer, CQL_TOKEN_STRING, 2, at + 2, token);
    }
    return lexer_fail_end(lexer, "$", err);
}

int cql_lexer_next(struct cql_lexer *lexer, struct cql_token *token, struct error *err)
{
    const uint8_t *limit = lexer->text.data + lexer->text.size;
    const uint8_t *cursor;
    const uint8_t *marker;

#define TOKEN(kind) return lexer_emit(lexer, CQL_TOKEN_##kind, cursor, token)

next:
    cursor = lexer->cursor;
    lexer->starts[lexer->token_count++ % CQL_TOKENS_REMEMBERED] = lexer->cursor;
    /*!re2c
        * { return lexer_fail_character(lexer, err); }
        $ { TOKEN(END); }
        [ \t\r\n]+ { lexer_advance(lexer, cursor); goto next; }
        "--" | "//" | "/" "*" {
            const uint8_t *end = lexer_comment_end(lexer);

            if (end == NULL)
                return lexer_fail_end(lexer, "*", err);
            lexer_advance(lexer, end);
            goto next;
        }

        "(" { TOKEN(LP); }
        ")" { TOKEN(RP); }
        "[" { TOKEN(LB); }
        "]" { TOKEN(RB); }
        "{" { TOKEN(LC); }
        "}" { TOKEN(RC); }
        "," { TOKEN(COMMA); }
        ";" { TOKEN(SEMICOLON); }
        ":" { TOKEN(COLON); }
        "." { TOKEN(DOT); }
        ".." { TOKEN(RANGE); }
        "?" { TOKEN(QMARK); }
        "=" { TOKEN(EQ); }
        "<" { TOKEN(LT); }
        "<=" { TOKEN(LE); }
        ">" { TOKEN(GT); }
        ">=" { TOKEN(GE); }
        "!=" { TOKEN(NE); }
        "!" { return lexer_fail_second(lexer, "=", err); }
        "+" { TOKEN(PLUS); }
        "-" { TOKEN(MINUS); }
        "*" { TOKEN(STAR); }
        "/" { TOKEN(SLASH); }
        "%" { TOKEN(PERCENT); }
        "+=" { TOKEN(PLUS_EQ); }
        "-=" { TOKEN(MINUS_EQ); }
        "expr(" { TOKEN(EXPR); }

        "'" ([^'] | "''")* "'" {
            return lexer_emit_quoted(lexer, CQL_TOKEN_STRING, 1, cursor, token);
        }
        "'" { return lexer_fail_end(lexer, "'", err); }
        "\"" ([^"] | "\"\"")+ "\"" {
            return lexer_emit_quoted(lexer, CQL_TOKEN_QUOTED_NAME, 1, cursor, token);
        }
        "\"\"" { return lexer_emit_quoted(lexer, CQL_TOKEN_EMPTY_NAME, 1, cursor, token); }
        "\"" { return lexer_fail_end(lexer, "\"", err); }
        "$$" { return lexer_dollar_string(lexer, token, err); }
        "$" { return lexer_fail_second(lexer, "$", err); }

        integer { TOKEN(INTEGER); }
        integer / ".." [^.] { TOKEN(INTEGER); }
        integer "." digit* exponent? | integer exponent { TOKEN(FLOAT); }
        "0" 'x' hex* { TOKEN(BLOB); }
        uuid { TOKEN(UUID); }
        "-"? ((digit+ unit)+ | iso_duration) { TOKEN(DURATION); }
        "-"? 'nan' { TOKEN(NAN); }
        "-"? 'infinity' { TOKEN(INFINITY); }

        'true' | 'false' { TOKEN(BOOLEAN); }
        [a-zA-Z] [a-zA-Z0-9_]* { return lexer_emit_word(lexer, cursor, token); }
    */
#undef TOKEN
}

/* The rules are those of Cassandra's Constants.Literal. */
#include "query/cql/expression/cql_literal_value.h"

#include <math.h>
#include <stdlib.h>

#include "base/bigint.h"

enum { FITS_MAX = 14 };

/* For each kind of literal: its name in errors, its natural type, and the types that it fits. */
static const struct literal_rule {
    const char *name;
    enum type_kind natural;
    enum type_kind fits[FITS_MAX];
} literal_rules[] = {
    [CQL_TERM_STRING] = {"STRING",
                         TYPE_TEXT,
                         {TYPE_TEXT, TYPE_ASCII, TYPE_INET, TYPE_DATE, TYPE_TIME, TYPE_TIMESTAMP}},
    [CQL_TERM_INTEGER] = {"INTEGER",
                          TYPE_INT,
                          {TYPE_DECIMAL, TYPE_DOUBLE, TYPE_FLOAT, TYPE_BIGINT, TYPE_COUNTER,
                           TYPE_DATE, TYPE_INT, TYPE_SMALLINT, TYPE_TINYINT, TYPE_TIME,
                           TYPE_TIMESTAMP, TYPE_VARINT, TYPE_DURATION}},
    [CQL_TERM_FLOAT] = {"FLOAT", TYPE_DOUBLE, {TYPE_DECIMAL, TYPE_DOUBLE, TYPE_FLOAT}},
    [CQL_TERM_BOOLEAN] = {"BOOLEAN", TYPE_BOOLEAN, {TYPE_BOOLEAN}},
    [CQL_TERM_UUID] = {"UUID", TYPE_UUID, {TYPE_UUID, TYPE_TIMEUUID}},
    [CQL_TERM_BLOB] = {"HEX", TYPE_BLOB, {TYPE_BLOB}},
    [CQL_TERM_DURATION] = {"DURATION", TYPE_DURATION, {TYPE_DURATION}},
};

bool cql_literal_value_fits(const struct cql_term *term, const struct type *type)
{
    bool fits = false;
    for (size_t i = 0; i < FITS_MAX && cql_term_is_literal(term) && !fits; i++)
        fits = literal_rules[term->kind].fits[i] == type->kind;
    return fits;
}

const char *cql_literal_value_kind(const struct cql_term *term)
{
    check(cql_term_is_literal(term));
    return literal_rules[term->kind].name;
}

/* Returns the smallest of int, bigint and varint that can hold the number. */
static enum type_kind integer_kind(struct bytes digits)
{
    struct buffer number = {0};
    int rc = bigint_parse(digits, &number);
    size_t size = number.size;
    buffer_release(&number);
    if (rc != 0 || size > sizeof(int64_t))
        return TYPE_VARINT;
    return size > sizeof(int32_t) ? TYPE_BIGINT : TYPE_INT;
}

const struct type *cql_literal_value_natural(const struct cql_term *term)
{
    check(cql_term_is_literal(term));
    enum type_kind kind = literal_rules[term->kind].natural;
    if (term->kind == CQL_TERM_INTEGER)
        kind = integer_kind(term->text);
    else if (term->kind == CQL_TERM_STRING &&
             type_validate(type_builtin(TYPE_ASCII), term->text, NULL) == 0)
        kind = TYPE_ASCII;
    return type_builtin(kind);
}

/* The words before and after a text that Cassandra refuses. */
static const struct refusal {
    const char *before;
    const char *after;
} refusals[] = {
    [TYPE_BIGINT] = {"Unable to make long from", ""},
    [TYPE_COUNTER] = {"Unable to make long from", ""},
    [TYPE_INT] = {"Unable to make int from", ""},
    [TYPE_SMALLINT] = {"Unable to make short from", ""},
    [TYPE_TINYINT] = {"Unable to make byte from", ""},
    [TYPE_TIMESTAMP] = {"Unable to parse a date/time from", ""},
    [TYPE_DATE] = {"Unable to coerce", " to a formatted date (long)"},
    [TYPE_TIME] = {"(TimeType) Unable to coerce", " to a formatted time (long)"},
    [TYPE_INET] = {"Unable to make inet address from", ""},
    [TYPE_UUID] = {"Unable to make UUID from", ""},
    [TYPE_TIMEUUID] = {"Unable to make UUID from", ""},
    [TYPE_FLOAT] = {"Unable to make float from", ""},
    [TYPE_DOUBLE] = {"Unable to make double from", ""},
    [TYPE_BOOLEAN] = {"Unable to make boolean from", ""},
    [TYPE_DECIMAL] = {"unable to make BigDecimal from", ""},
    [TYPE_VARINT] = {"unable to make int from", ""},
    [TYPE_BLOB] = {"Unable to make a value of its type from", ""},
};

/* The words before a refused text of digits only. */
static const char *const number_refusals[] = {
    [TYPE_TIMESTAMP] = "Unable to make long (for date) from:",
    [TYPE_DATE] = "Unable to make unsigned int (for date) from:",
    [TYPE_TIME] = "Unable to make long (for time) from:",
};

static bool is_digits(struct bytes text)
{
    size_t start = text.size > 1 && text.data[0] == '-' ? 1 : 0;
    for (size_t i = start; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.size > 0;
}

static int refuse(struct bytes text, enum type_kind kind, struct error *err)
{
    struct refusal refusal = refusals[kind];
    if (kind <= TYPE_TIME && number_refusals[kind] != NULL && is_digits(text))
        refusal = (struct refusal){number_refusals[kind], ""};
    return error_set(err, ERROR_INVALID, "%s '%.*s'%s", refusal.before, (int)text.size,
                     (const char *)text.data, refusal.after);
}

/* Whether a number is beyond the type's range; Java reads such a number as infinity. */
static bool is_beyond(struct bytes text, const struct type *type)
{
    char copy[64];
    if (text.size == 0 || text.size >= sizeof(copy) || (text.data[text.size - 1] | 0x20) == 'y')
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    double real = strtod(copy, NULL);
    return isinf(type->kind == TYPE_FLOAT ? (double)(float)real : real);
}

static int put_text(const struct type *type, struct bytes text, struct buffer *value,
                    struct error *err)
{
    buffer_append_bytes(value, text);
    int rc = type_validate(type, text, err);
    return rc == 0 || type->kind != TYPE_ASCII
               ? rc
               : error_set(err, ERROR_INVALID, "Invalid ASCII character in string literal");
}

static int put_blob(struct bytes text, struct buffer *value, struct error *err)
{
    if (type_parse_text(type_builtin(TYPE_BLOB), text, value, NULL) == 0)
        return 0;
    return error_set(err, ERROR_INVALID, "cannot parse '%.*s' as hex bytes", (int)text.size - 2,
                     (const char *)text.data + 2);
}

int cql_literal_value(const struct cql_term *term, const struct type *type, struct buffer *value,
                      struct error *err)
{
    bool is_real = type->kind == TYPE_FLOAT || type->kind == TYPE_DOUBLE;
    if (type->kind == TYPE_TEXT || type->kind == TYPE_ASCII)
        return put_text(type, term->text, value, err);
    if (type->kind == TYPE_DURATION)
        return type_duration_parse(term->text, value, err);
    if (type->kind == TYPE_BLOB && term->text.size > 2)
        return put_blob(term->text, value, err);
    if (is_real && is_beyond(term->text, type)) {
        type_value_put_floating(value, type->kind == TYPE_FLOAT,
                                term->text.data[0] == '-' ? -HUGE_VAL : HUGE_VAL);
        return 0;
    }
    if (term->text.size == 0 && (type->kind == TYPE_INET || type->kind == TYPE_TIMESTAMP))
        return 0;
    if (term->text.size > 0 && type_parse_text(type, term->text, value, err) == 0)
        return 0;
    struct buffer other = {.arena = value->arena};
    bool is_uuid = type->kind == TYPE_TIMEUUID &&
                   type_parse_text(type_builtin(TYPE_UUID), term->text, &other, NULL) == 0;
    return is_uuid ? error_set(err, ERROR_INVALID, "TimeUUID supports only version 1 UUIDs")
                   : refuse(term->text, type->kind, err);
}

/* cql_json: writes values as JSON and reads them, as Cassandra's SELECT JSON, toJson, INSERT JSON
 * and fromJson do.
 *
 * Numbers are exact in both directions: a decimal or varint of any size is read from its digits.
 * Sets are arrays.  Maps are objects, with the JSON of each key in a string.
 *
 * cql_json.c writes; cql_json_read.c makes a tree of a text, and cql_json_value.c makes a value of
 * the tree. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_JSON_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/schema/type.h"

struct arena;

/* ---- writing ---- */

/* Append the JSON of a valid value, or null where the value's data is NULL. */
void cql_json_format(const struct type *type, struct bytes value, struct buffer *json);
/* Append the name of a column or field as a key: a name with capitals is in double quotes within
 * the string, "\"Camel\"". */
void cql_json_format_name(const char *name, struct buffer *json);

/* Append a valid value of any scalar type as Java prints it, which JSON and CAST(x AS text) show:
 * 1.0E10 for a double, 1E+3 for a decimal, all groups of an IPv6 address. */
void cql_json_format_plain(const struct type *type, struct bytes value, struct buffer *text);

/* ---- reading ---- */

enum { CQL_JSON_DEPTH_MAX = 100 };       /* nested arrays and objects */

enum cql_json_kind {
    CQL_JSON_NULL,
    CQL_JSON_BOOLEAN,                    /* `text` is true or false */
    CQL_JSON_NUMBER,                     /* `text` as written */
    CQL_JSON_STRING,                     /* `text` without quotes and escapes */
    CQL_JSON_ARRAY,
    CQL_JSON_OBJECT
};

struct cql_json {
    enum cql_json_kind kind;
    struct bytes text;
    struct bytes name;                   /* in an object: its key */
    struct cql_json *items;              /* of an array or object, in the order of the text */
    uint32_t count;
    struct cql_json *next;
};

/* Read one JSON value; the tree is in `arena`.  ERROR_INVALID with the place of the first error,
 * ERROR_LIMIT where the value is nested too deeply. */
must_check int cql_json_read(struct bytes text, struct arena *arena,
                             const struct cql_json **json_out, struct error *err);

/* Read the text of an INSERT JSON: an object with no more members than a table may have columns.
 * Errors are in Cassandra's words. */
must_check int cql_json_read_row(struct bytes text, struct arena *arena,
                                 const struct cql_json **object_out, struct error *err);

/* The member of an object for a column of this name, the last one where there are several.  Keys
 * are compared in lower case unless they are in double quotes.  NULL: there is none. */
const struct cql_json *cql_json_member(const struct cql_json *object, const char *name);
/* Whether `key` names the column or field `name`. */
bool cql_json_key_is(struct bytes key, const char *name);

/* Append `json`, which is not CQL_JSON_NULL, as a serialized value of `type`.  Sets and maps are
 * sorted.  A value of any type may be in a string.  Temporary memory comes from
 * `arena`.  ERROR_INVALID: `json` does not fit the type; ERROR_LIMIT: an object for a user type has
 * too many members, or JSON in a string is nested too deeply. */
must_check int cql_json_value(const struct cql_json *json, const struct type *type,
                              struct arena *arena, struct buffer *value, struct error *err);
#endif

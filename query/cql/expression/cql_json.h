/* cql_json: writes values as JSON and reads them, as Cassandra does.
 *
 * Decimals and varints of any size are exact in both directions.  Sets are arrays.  Maps are
 * objects whose names hold the JSON of the keys.
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

/* Append a valid value, or null if its data is NULL. */
void cql_json_format(const struct type *type, struct bytes value, struct buffer *json);
/* Append a name as a key.  A name with capitals has double quotes within the string:
 * "\"Camel\"". */
void cql_json_format_name(const char *name, struct buffer *json);

/* Append a valid scalar value as Java prints it, for JSON and CAST(x AS text). */
void cql_json_format_plain(const struct type *type, struct bytes value, struct buffer *text);

/* ---- reading ---- */

enum { CQL_JSON_DEPTH_MAX = 100 };       /* of arrays and objects */

enum cql_json_kind {
    CQL_JSON_NULL,
    CQL_JSON_BOOLEAN,
    CQL_JSON_NUMBER,
    CQL_JSON_STRING,
    CQL_JSON_ARRAY,
    CQL_JSON_OBJECT
};

struct cql_json {
    enum cql_json_kind kind;
    struct bytes text;
    struct bytes name;                   /* the key, if this is a member of an object */
    struct cql_json *items;
    uint32_t count;
    struct cql_json *next;
};

/* Parse a text into a tree in `arena`.  ERROR_INVALID: the text is not JSON (the error has the
 * place), or has half of a surrogate pair.  ERROR_LIMIT: the JSON is nested too deeply. */
must_check int cql_json_read(struct bytes text, struct arena *arena,
                             const struct cql_json **json_out, struct error *err);

/* Read an object.  ERROR_INVALID, beside cql_json_read's: the JSON is no object.  ERROR_LIMIT,
 * beside cql_json_read's: the object has more members than a table may have columns. */
must_check int cql_json_read_row(struct bytes text, struct arena *arena,
                                 const struct cql_json **object_out, struct error *err);

/* Returns the last member of this name; NULL: there is none.  Keys are compared in lower case
 * unless they are in double quotes. */
const struct cql_json *cql_json_member(const struct cql_json *object, const char *name);
/* Whether `key` names the column or field `name`. */
bool cql_json_key_is(struct bytes key, const char *name);

/* Append `json`, which must not be CQL_JSON_NULL, as a serialized value of `type`.  Sets and maps
 * are sorted.  Temporary memory comes from `arena`.  ERROR_INVALID: `json` does not fit the type.
 * ERROR_LIMIT: too many members, or JSON in a string is nested too deeply. */
must_check int cql_json_value(const struct cql_json *json, const struct type *type,
                              struct arena *arena, struct buffer *value, struct error *err);
#endif

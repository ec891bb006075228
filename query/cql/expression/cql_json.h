/* cql_json: values as JSON and back, as Cassandra's SELECT JSON, toJson, INSERT JSON and fromJson
 * have them.
 *
 * Numbers are exact both ways: a decimal or varint of any size is read from its digits.  Sets come
 * as arrays, maps as objects whose keys are strings, whatever the key's type: the key's own JSON
 * stands in the string.
 *
 * cql_json.c writes; cql_json_read.c makes a tree of a text, and cql_json_value.c a value of it. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_JSON_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/schema/type.h"

struct arena;

/* ---- out ---- */

/* Appends the JSON of a valid value; an absent one (data NULL) is null. */
void cql_json_format(const struct type *type, struct bytes value, struct buffer *json);
/* Appends a column's or field's name as a key: a name that CQL would lowercase has quotes of its
 * own, "\"Camel\"". */
void cql_json_format_name(const char *name, struct buffer *json);

/* A value as Java prints it, which is what JSON and CAST(x AS text) show: 1.0E10 for a double,
 * 1E+3 for a decimal, all groups of an IPv6 address.  A valid scalar of any type. */
void cql_json_format_plain(const struct type *type, struct bytes value, struct buffer *text);

/* ---- in ---- */

enum { CQL_JSON_DEPTH_MAX = 100 };       /* arrays and objects within each other */

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

/* Read one JSON value; the tree lives in `arena`.  ERROR_INVALID with what is wrong where,
 * ERROR_LIMIT for too deep a nesting. */
must_check int cql_json_read(struct bytes text, struct arena *arena,
                             const struct cql_json **json_out, struct error *err);

/* The same for what INSERT JSON is given: an object, of no more members than a table has columns.
 * In Cassandra's words. */
must_check int cql_json_read_row(struct bytes text, struct arena *arena,
                                 const struct cql_json **object_out, struct error *err);

/* The member of an object that is a column of this name: keys are lowercased unless they are in
 * quotes of their own.  Of several the last counts.  NULL: there is none. */
const struct cql_json *cql_json_member(const struct cql_json *object, const char *name);
/* Whether `key` names the column or field `name`. */
bool cql_json_key_is(struct bytes key, const char *name);

/* Append the serialized value that `json`, which is not null, is for a type; sets and maps are
 * sorted.  Strings are taken for values of every type.  `arena` is for what is made on the way.
 * ERROR_INVALID in Cassandra's words. */
must_check int cql_json_value(const struct cql_json *json, const struct type *type,
                              struct arena *arena, struct buffer *value, struct error *err);
#endif

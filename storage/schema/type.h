/* type: CQL types: their names, serialized forms, order and text.
 *
 * A value is a struct bytes with Cassandra's serialized form (native protocol v4, section 6).  A
 * null is the absence of a value, never a view of size 0.  Types are immutable and shared.  A
 * parametrized type is valid as long as the arena in which it was made. */
#ifndef DAYBOOK_STORAGE_SCHEMA_TYPE_H
#define DAYBOOK_STORAGE_SCHEMA_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/reader.h"

enum {
    KEY_SIZE_MAX = 65535,                 /* bytes of a partition key and of each component */
    TYPE_DEPTH_MAX = 32,                  /* types within each other; frozen<> does not count */
    TYPE_PARTS_MAX = 65535,               /* types within one type, with the fields of user types */
    TYPE_DECIMAL_SCALE_MAX = 1000,        /* a scale is also at least -1000; this bounds the work of
                                           * comparing decimals */
    TYPE_DECIMAL_SIZE_MAX = 420,          /* bytes; enough for a scale and a number of 1000
                                           * digits */
    TYPE_VARINT_SIZE_MAX = 65535          /* bytes */
};

/* The numbers are the native protocol's option ids. */
enum type_kind {
    TYPE_ASCII = 0x01, TYPE_BIGINT = 0x02, TYPE_BLOB = 0x03, TYPE_BOOLEAN = 0x04,
    TYPE_COUNTER = 0x05, TYPE_DECIMAL = 0x06, TYPE_DOUBLE = 0x07, TYPE_FLOAT = 0x08,
    TYPE_INT = 0x09, TYPE_TIMESTAMP = 0x0B, TYPE_UUID = 0x0C, TYPE_TEXT = 0x0D,
    TYPE_VARINT = 0x0E, TYPE_TIMEUUID = 0x0F, TYPE_INET = 0x10, TYPE_DATE = 0x11,
    TYPE_TIME = 0x12, TYPE_SMALLINT = 0x13, TYPE_TINYINT = 0x14, TYPE_DURATION = 0x15,
    TYPE_LIST = 0x20, TYPE_MAP = 0x21, TYPE_SET = 0x22, TYPE_UDT = 0x30, TYPE_TUPLE = 0x31
};

struct type {
    enum type_kind kind;
    bool frozen;                          /* the whole is one value; in a collection or UDT that is
                                           * not frozen, each element is a cell */
    uint32_t argument_count;              /* list, set: 1; map: 2; tuple, UDT: fields */
    const struct type *const *arguments;
    const char *name;                     /* UDT: its name; else NULL */
    const char *const *field_names;       /* UDT: argument_count names */
};

const struct type *type_builtin(enum type_kind kind);

/* Parse a CQL type: `text`, `frozen<map<text, int>>`.  `udt_find` looks up a user type by its name,
 * in lower case unless the name was quoted; NULL: unknown.  `udt_find` may be NULL.  ERROR_INVALID
 * for an unknown name and for a type that Cassandra refuses.  `arena` owns the result, but not the
 * names and fields of a user type, which `udt_find` gave. */
struct arena;
must_check int type_parse(struct bytes text, struct arena *arena,
                          const struct type *(*udt_find)(void *context, struct bytes name),
                          void *context, const struct type **type_out, struct error *err);
/* Append the type as system_schema spells it and type_parse reads it: frozen<tuple<int, text>>. */
void type_print(const struct type *type, struct buffer *buffer);
/* Append a name in CQL: in quotes, unless type_name_is_plain is true for it. */
void type_print_name(const char *name, struct buffer *buffer);
/* Whether a name needs no quotes: it is a lowercase identifier and no reserved word. */
bool type_name_is_plain(struct bytes name);
/* NULL: no built-in type has this name. */
const struct type *type_builtin_named(struct bytes name);
bool type_equal(const struct type *a, const struct type *b);
/* Whether the type is within TYPE_DEPTH_MAX and TYPE_PARTS_MAX. */
bool type_is_moderate(const struct type *type);

/* True for a non-frozen collection or UDT: its column is complex (cells with paths). */
bool type_is_complex(const struct type *type);
/* The type that orders a complex column's cell paths: timeuuid for a list, the element's for a set,
 * the key's for a map, smallint (the field's index) for a UDT. */
const struct type *type_path(const struct type *type);
/* The type of the value of a complex column's cell at `path`; NULL: a set's cell has no value, or
 * the UDT has no such field. */
const struct type *type_element(const struct type *type, struct bytes path);

/* ERROR_INVALID, in Cassandra's words: `value` is not a serialized value of the type. */
must_check int type_validate(const struct type *type, struct bytes value, struct error *err);
/* As type_validate, for a value that a client gives.  An empty value is then refused for date,
 * time, duration, smallint and tinyint. */
must_check int type_validate_given(const struct type *type, struct bytes value, struct error *err);

/* A valid value with its sets and maps sorted and without repetitions, as they are stored.  The
 * result is in `arena`, or is `value` itself if its type has no sets and maps. */
struct bytes type_normalize(const struct type *type, struct bytes value, struct arena *arena);

/* Cassandra's order of two valid values: <0, 0, >0.  An empty value sorts first.  Damaged bytes are
 * safe to compare; their order is undefined. */
int type_compare(const struct type *type, struct bytes a, struct bytes b);

/* Append the value as cqlsh and COPY print it, but decimals without exponents, and timestamps in
 * ISO 8601 with Z.  Values within a collection are quoted as in a CQL literal.  An empty scalar
 * appends nothing, and damaged bytes of one are printed as a blob. */
void type_format(const struct type *type, struct bytes value, struct buffer *text);
/* Append the value of a scalar type that `text` describes.  A text that type_format made gives an
 * equal value, except that an inet ::ffff:1.2.3.4 becomes 1.2.3.4.  Exponents, and integers for
 * dates and times, are accepted, too.  An empty text is ERROR_INVALID, except for text, ascii and
 * blob. */
must_check int type_parse_text(const struct type *type, struct bytes text, struct buffer *value,
                               struct error *err);

/* The bytes of each value of the kind that is not empty; 0: they vary. */
size_t type_fixed_size(enum type_kind kind);

void type_value_put_bigint(struct buffer *buffer, int64_t value); /* timestamp, time, counter too */
void type_value_put_int(struct buffer *buffer, int32_t value);
void type_value_put_boolean(struct buffer *buffer, bool value);
/* A signed integer of any type, as its low `size` bytes (1 to 8), big-endian. */
void type_value_put_integer(struct buffer *buffer, size_t size, int64_t value);
/* A float or, if not `is_float`, a double. */
void type_value_put_floating(struct buffer *buffer, bool is_float, double value);
/* The value of a serialized form, which must be valid and not empty. */
int64_t type_value_bigint(struct bytes value);
int32_t type_value_int(struct bytes value);
bool type_value_boolean(struct bytes value);
int64_t type_value_integer(struct bytes value);   /* signed, of 0 to 8 bytes; 0 bytes give 0 */
double type_value_floating(struct bytes value);   /* of 4 bytes: a float; of 8: a double */

bool type_is_number(const struct type *type);
/* A value as an exact decimal.  A float or double gives the shortest decimal that reads back as the
 * same number.  ERROR_INVALID: the value is NaN, infinite or empty, or its type is not a number.
 * ERROR_LIMIT: no struct decimal holds the value. */
must_check int type_decimal(const struct type *type, struct bytes value,
                            struct decimal *decimal_out);
/* Append the value that type_decimal reads as `number`.  ERROR_INVALID: the type has no such
 * value. */
must_check int type_number(const struct type *type, struct decimal number, struct buffer *value);

/* ---- the insides of serialized values ---- */

/* The items of a collection, tuple or UDT, each [int size][bytes]; a size of -1 is a null. */
struct type_items {
    struct reader reader;
    uint32_t count;                    /* of a map: keys and values; of a tuple or UDT: fields */
};

/* False: the count is damaged.  For missing fields at the end of a tuple or UDT, type_items_next
 * gives nulls. */
bool type_items_open(const struct type *type, struct bytes value, struct type_items *items_out);

/* A null has data NULL.  False: the item is damaged. */
bool type_items_next(struct type_items *items, struct bytes *item_out);

const struct type *type_item_type(const struct type *type, uint32_t index);

/* The parts of a valid duration have the same sign, or are 0. */
struct type_duration {
    int32_t months;
    int32_t days;
    int64_t nanoseconds;
};

/* False: the value is no duration. */
bool type_duration_read(struct bytes value, struct type_duration *duration_out);
/* ERROR_INVALID, in Cassandra's words, if the text is no duration. */
must_check int type_duration_parse(struct bytes text, struct buffer *value, struct error *err);

/* A key of one component is the component's value.  A key of several components is Cassandra's
 * composite: for each component its size in 2 bytes big-endian, its bytes, and a zero byte.  The
 * caller must check that a key of a client's values has at most KEY_SIZE_MAX bytes. */
enum { KEY_COMPONENT_EXTRA = 3 };      /* bytes that a composite adds to each component */
void type_key_put_component(struct buffer *key, uint32_t component_count, struct bytes value);
/* Gives component `index`, a view into `key`.  ERROR_CORRUPT when the key is no composite of
 * `component_count` components. */
must_check int type_key_component(struct bytes key, uint32_t component_count, uint32_t index,
                                  struct bytes *value_out);
#endif

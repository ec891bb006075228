/* type: CQL types: their names, serialized forms, order and text.
 *
 * A value is its Cassandra serialized form (native protocol v4, section 6) as struct bytes; a null
 * is the absence of a value, never a view of size 0 (an empty text is a value).  Types are
 * immutable, shared and live as long as the program (built-in ones) or the schema that owns them
 * (parametrized ones). */
#ifndef DAYBOOK_STORAGE_SCHEMA_TYPE_H
#define DAYBOOK_STORAGE_SCHEMA_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/reader.h"

enum {
    KEY_SIZE_MAX = 65535,                 /* bytes of a partition key and of each component */
    TYPE_DEPTH_MAX = 32,                  /* types within types; frozen<> is none of its own */
    TYPE_PARTS_MAX = 65535,               /* types in one, those of user types' fields counted */
    TYPE_DECIMAL_SCALE_MAX = 1000,        /* and -1000: a bound on the zeros a comparison makes */
    TYPE_DECIMAL_SIZE_MAX = 420,          /* scale and 416 bytes: every number of 1000 digits */
    TYPE_VARINT_SIZE_MAX = 65535
};

/* The numbers are the native protocol's option ids: they are written to disk and to the wire. */
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
    bool frozen;                          /* collections and UDTs: one value instead of cells */
    uint32_t argument_count;              /* list, set: 1; map: 2; tuple, UDT: fields */
    const struct type *const *arguments;
    const char *name;                     /* UDT: its name; else NULL */
    const char *const *field_names;       /* UDT: argument_count names */
};

/* The type of a kind without parameters. */
const struct type *type_builtin(enum type_kind kind);

/* Parse a CQL type: `text`, `frozen<map<text, int>>`.  UDT names, which `udt_find` gets lowercased
 * or as quoted, are looked up by it (it may be NULL and may answer NULL).  ERROR_INVALID for an
 * unknown name or what Cassandra refuses, such as a collection in a collection that is not frozen.
 * The result is owned by `arena`, a UDT's names by whoever `udt_find` belongs to. */
struct arena;
must_check int type_parse(struct bytes text, struct arena *arena,
                          const struct type *(*udt_find)(void *context, struct bytes name),
                          void *context, const struct type **type_out, struct error *err);
/* As system_schema spells it, which type_parse reads: frozen<tuple<int, text>>. */
void type_print(const struct type *type, struct buffer *buffer);
/* A name of a column, table, type or keyspace as CQL needs it: quoted unless it is a plain
 * lowercase identifier and no reserved word. */
void type_print_name(const char *name, struct buffer *buffer);
/* Whether it needs no quotes. */
bool type_name_is_plain(struct bytes name);
/* Whether a lowercase name is a built-in type's. */
bool type_name_is_builtin(struct bytes name);
bool type_equal(const struct type *a, const struct type *b);
/* Whether it has at most TYPE_DEPTH_MAX types within types and TYPE_PARTS_MAX in all, with the
 * fields of user types: a schema's changes keep to it. */
bool type_is_moderate(const struct type *type);

/* True for a non-frozen collection or UDT: its column is complex (cells with paths). */
bool type_is_complex(const struct type *type);
/* The type a complex column's cell paths are ordered by (list: timeuuid; set: element; map: key;
 * UDT: smallint field index) and the type of the cell values at `path`; NULL where there is none
 * (a set's cells have no value, a UDT has no such field). */
const struct type *type_path(const struct type *type);
const struct type *type_element(const struct type *type, struct bytes path);

/* ERROR_INVALID, in Cassandra's words, unless `value` is a serialized value of the type. */
must_check int type_validate(const struct type *type, struct bytes value, struct error *err);
/* The same of what a client gives, who may not give an empty value of every type. */
must_check int type_validate_given(const struct type *type, struct bytes value, struct error *err);

/* A valid value with the sets and maps in it sorted and freed of repetitions, as they are stored;
 * the value itself where there are none, else made in `arena`. */
struct bytes type_normalize(const struct type *type, struct bytes value, struct arena *arena);

/* Cassandra's order of two valid values: <0, 0, >0.  An empty value sorts first.  What is no valid
 * value (damage that no checksum caught) is safe to compare and has no promised place. */
int type_compare(const struct type *type, struct bytes a, struct bytes b);

/* The value as cqlsh and COPY print it, but decimals plain, timestamps ISO 8601 with Z; within
 * collections everything that CQL quotes is quoted, so that they are literals.  An empty value of a
 * type that has no empty text prints as nothing. */
void type_format(const struct type *type, struct bytes value, struct buffer *text);
/* The inverse of type_format for scalar types, by value; also takes the other forms CQL reads
 * (exponents, integers for dates and times).  Empty text is an empty text, ascii or blob, else
 * ERROR_INVALID. */
must_check int type_parse_text(const struct type *type, struct bytes text, struct buffer *value,
                               struct error *err);

/* Bytes of every value of a kind, 0 where they vary. */
size_t type_fixed_size(enum type_kind kind);

/* Serialized forms of the common kinds, appended to `buffer`; and back (value must be valid). */
void type_value_put_bigint(struct buffer *buffer, int64_t value); /* timestamp, time, counter too */
void type_value_put_int(struct buffer *buffer, int32_t value);
void type_value_put_boolean(struct buffer *buffer, bool value);
/* The low `size` bytes of a signed integer, 1 to 8, in which all integer types are serialized. */
void type_value_put_integer(struct buffer *buffer, size_t size, int64_t value);
/* A float or, if not `is_float`, a double. */
void type_value_put_floating(struct buffer *buffer, bool is_float, double value);
/* Whether amounts can be of this type, and such a value exactly: that of a float or double is the
 * shortest decimal that reads back as it.  ERROR_INVALID for one that is no number (NaN, infinite,
 * empty), ERROR_LIMIT. */
bool type_is_number(const struct type *type);
must_check int type_decimal(const struct type *type, struct bytes value,
                            struct decimal *decimal_out);
/* The opposite, appended: the value of a type of numbers that type_decimal reads back as `number`.
 * ERROR_INVALID: the type has none. */
must_check int type_number(const struct type *type, struct decimal number, struct buffer *value);
int64_t type_value_bigint(struct bytes value);
int32_t type_value_int(struct bytes value);
bool type_value_boolean(struct bytes value);
int64_t type_value_integer(struct bytes value);   /* at most 8 bytes, of whichever type */
double type_value_floating(struct bytes value);   /* of 4 bytes: a float; of 8: a double */

/* ---- the insides of serialized values ---- */

/* The sized items of a collection, tuple or UDT, each [int size][bytes], size -1 being a null. */
struct type_items {
    struct reader reader;
    uint32_t count;                    /* list, set: items; map: items, two a pair; tuple: fields */
};

/* What `value` of this type holds.  False when the count is damaged.  A tuple may end early: its
 * missing fields come out as nulls. */
bool type_items_open(const struct type *type, struct bytes value, struct type_items *items_out);

/* The next item; a null has data NULL.  False when it is damaged. */
bool type_items_next(struct type_items *items, struct bytes *item_out);

/* The type of item `index`. */
const struct type *type_item_type(const struct type *type, uint32_t index);

/* A duration's parts; all have the same sign. */
struct type_duration {
    int32_t months;
    int32_t days;
    int64_t nanoseconds;
};

bool type_duration_read(struct bytes value, struct type_duration *duration_out);
/* Appends the serialized value; ERROR_INVALID in Cassandra's words.  `err` may be NULL. */
must_check int type_duration_parse(struct bytes text, struct buffer *value, struct error *err);

/* Partition keys: one component is the value itself, several are Cassandra's composite: for each
 * component its size in 2 bytes big-endian, its bytes, and a zero byte.  Whoever has values that a
 * client sent sees to it first that the key has at most KEY_SIZE_MAX bytes. */
enum { KEY_COMPONENT_EXTRA = 3 };      /* bytes of a composite for each of several components */
void type_key_put_component(struct buffer *key, uint32_t component_count, struct bytes value);
/* A view into `key`.  ERROR_CORRUPT when it is no composite of that many components. */
must_check int type_key_component(struct bytes key, uint32_t component_count, uint32_t index,
                                  struct bytes *value_out);
#endif

/* type: CQL types: their names, serialized forms, order and text.
 *
 * A value is its Cassandra serialized form (native protocol v4, section 6) as struct bytes; a null
 * is the absence of a value, never a view of size 0 (an empty text is a value).  Types are
 * immutable, shared and live as long as the program (built-in ones) or the schema that owns them
 * (parametrized ones). */
#ifndef DAYBOOK_STORAGE_TYPE_H
#define DAYBOOK_STORAGE_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/base/bytes.h"
#include "storage/base/decimal.h"

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

/* Parse a CQL type: `text`, `frozen<map<text, int>>`.  UDT names are looked up by `udt_find` (may
 * be NULL).  The result is owned by `arena`. */
struct arena;
must_check int type_parse(struct bytes text, struct arena *arena,
                          const struct type *(*udt_find)(void *context, struct bytes name),
                          void *context, const struct type **type_out, struct error *err);
void type_print(const struct type *type, struct buffer *buffer);          /* as CQL spells it */
bool type_equal(const struct type *a, const struct type *b);

/* True for a non-frozen collection or UDT: its column is complex (cells with paths). */
bool type_is_complex(const struct type *type);
/* The type a complex column's cell paths are ordered by (list: timeuuid; set: element; map: key;
 * UDT: smallint field index) and the type of its cell values (set: none, NULL). */
const struct type *type_path(const struct type *type);
const struct type *type_element(const struct type *type);

/* ERROR_INVALID with a text that names the type unless `value` is a serialized value of it. */
must_check int type_validate(const struct type *type, struct bytes value, struct error *err);

/* Cassandra's order of two valid values: <0, 0, >0.  An empty value sorts first. */
int type_compare(const struct type *type, struct bytes a, struct bytes b);

/* The value as cqlsh and COPY print it (decimals plain, timestamps ISO 8601 with Z, blobs 0x…). */
void type_format(const struct type *type, struct bytes value, struct buffer *text);
/* The value as JSON (decimals as strings, DESIGN section 8). */
void type_format_json(const struct type *type, struct bytes value, struct buffer *text);
/* The inverse of type_format for scalar types. */
must_check int type_parse_text(const struct type *type, struct bytes text, struct buffer *value,
                               struct error *err);

/* Serialized forms of the common kinds, appended to `buffer`; and back (value must be valid). */
void value_put_bigint(struct buffer *buffer, int64_t value);        /* also timestamp, counter */
void value_put_int(struct buffer *buffer, int32_t value);
void value_put_boolean(struct buffer *buffer, bool value);
int64_t value_bigint(struct bytes value);
int32_t value_int(struct bytes value);
bool value_boolean(struct bytes value);

/* Partition keys: one component is the value itself, several are Cassandra's composite: for each
 * component its size in 2 bytes big-endian, its bytes, and a zero byte. */
void key_put_component(struct buffer *key, uint32_t component_count, struct bytes value);
must_check int key_component(struct bytes key, uint32_t component_count, uint32_t index,
                             struct bytes *value_out);
#endif

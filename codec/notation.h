/* notation: the native protocol's notations, read from bytes that may lie, and written.
 *
 *     [string]  size(2) bytes       [long string]  size(4) bytes     [short bytes]  size(2) bytes
 *     [bytes]   size(4) bytes, negative: null      [value]  the same, from version 4 on -2: unset
 *     [inet]    size(1, 4 or 16) address port(4)   [consistency]  (2)
 *     [option]  id(2) and what the type needs: 0 custom [string], 32 list and 34 set [option],
 *               33 map [option][option], 48 UDT [string][string] n(2) n times [string][option],
 *               49 tuple n(2) n times [option]
 *
 * Reading goes through struct reader: what cannot be sets `failed`, gives zeros, and is asked for
 * once at the end.  Source: native_protocol_v5.spec, section 3 and 4.2.5.2.
 *
 * Its specification is tests/unit/test_native_codec.c. */
#ifndef DAYBOOK_CODEC_NOTATION_H
#define DAYBOOK_CODEC_NOTATION_H

#include "base/buffer.h"
#include "base/reader.h"
#include "codec/cql_request.h"
#include "codec/native.h"

struct arena;

/* ---- reading: views into the input ---- */

struct bytes notation_string(struct reader *reader);           /* valid UTF-8, or it failed */
struct bytes notation_long_string(struct reader *reader);
struct bytes notation_short_bytes(struct reader *reader);
/* `data` is NULL for null, and only then. */
struct bytes notation_bytes(struct reader *reader);
void notation_value(struct reader *reader, uint8_t version, struct cql_value *value_out);
enum cql_consistency notation_consistency(struct reader *reader);
struct cql_address notation_inet(struct reader *reader);
/* How many items follow, each at least `item_size_min` bytes; counted in two bytes or four. */
uint32_t notation_short_count(struct reader *reader, size_t item_size_min);
uint32_t notation_int_count(struct reader *reader, size_t item_size_min);
/* A type, made in `arena`, as are its names; at most TYPE_DEPTH_MAX within each other. */
const struct type *notation_type(struct reader *reader, struct arena *arena);
/* A [string] as text that ends with a NUL, in `arena`; one that has a NUL in it failed. */
const char *notation_text(struct reader *reader, struct arena *arena);

/* ---- writing ---- */

/* Cut before 65,536 bytes, between characters. */
void notation_put_string(struct buffer *to, struct bytes text);
void notation_put_text(struct buffer *to, const char *text);
void notation_put_long_string(struct buffer *to, struct bytes text);
void notation_put_short_bytes(struct buffer *to, struct bytes bytes);
void notation_put_bytes(struct buffer *to, struct bytes bytes);    /* null where data is NULL */
void notation_put_value(struct buffer *to, const struct cql_value *value);
void notation_put_inet(struct buffer *to, const struct cql_address *address);
/* As the version has it: a type that it does not know goes as Cassandra's class name.  `keyspace`
 * is that of UDTs. */
void notation_put_type(struct buffer *to, const struct type *type, const char *keyspace,
                       uint8_t version);
#endif

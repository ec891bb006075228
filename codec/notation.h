/* notation: reads or writes the native protocol's notations, such as [string].
 *
 *     [string]  size(2) bytes       [long string]  size(4) bytes     [short bytes]  size(2) bytes
 *     [bytes]   size(4) bytes, negative: null      [value]  the same, from version 4 on -2: unset
 *     [inetaddr] size(1): 4 or 16, address         [inet]   [inetaddr] port(4)
 *     [string list]  n(2) n times [string]         [bytes map]  n(2) n times [string][bytes]
 *     [consistency]  (2)
 *     [option]  a type: id(2), followed for some ids by: 0 custom [string], 32 list and 34 set
 *               [option], 33 map [option][option], 48 UDT [string][string] n(2) n times
 *               [string][option], 49 tuple n(2) n times [option]
 *
 * The same functions read and write, so that the layout of a body is programmed once (as in Sun's
 * XDR library, xdr(3)).  Before reading, the caller must zero the values.  An invalid value sets
 * `reader.failed`, which the caller must check at the end.
 *
 * Source: native_protocol_v5.spec, sections 3 and 4.2.5.2. */
#ifndef DAYBOOK_CODEC_NOTATION_H
#define DAYBOOK_CODEC_NOTATION_H

#include "base/buffer.h"
#include "base/reader.h"
#include "codec/cql_request.h"
#include "codec/native.h"

struct arena;

struct notation {
    uint8_t version;
    struct buffer *to;                     /* NULL: values are read */
    struct reader reader;
    struct arena *arena;                   /* memory for values that are read */
    int status;                            /* an error in `err`, or 0 */
    struct error *err;
};

struct notation notation_reading(struct bytes body, uint8_t version, struct arena *arena);
struct notation notation_writing(struct buffer *to, uint8_t version);

static inline bool notation_is_reading(const struct notation *notation)
{
    return notation->to == NULL;
}

/* ---- reading and writing; bytes that are read are views of the input ---- */

void notation_bool(struct notation *notation, bool *is_so);
void notation_u8(struct notation *notation, uint8_t *number);
void notation_u16(struct notation *notation, uint16_t *number);
void notation_u32(struct notation *notation, uint32_t *number);
void notation_i32(struct notation *notation, int32_t *number);
void notation_i64(struct notation *notation, int64_t *number);
/* Reading fails if fewer than `item_size_min` bytes per item are left. */
void notation_short_count(struct notation *notation, uint32_t *count, size_t item_size_min);
void notation_int_count(struct notation *notation, uint32_t *count, size_t item_size_min);
/* Reading fails if the text is not UTF-8.  A [string] of over 65,535 bytes is cut. */
void notation_string(struct notation *notation, struct bytes *text);
void notation_long_string(struct notation *notation, struct bytes *text);
void notation_short_bytes(struct notation *notation, struct bytes *bytes);
/* `data` is NULL only for null. */
void notation_bytes(struct notation *notation, struct bytes *bytes);
/* Read or write `size` bytes, without a size before them. */
void notation_fixed(struct notation *notation, const uint8_t **data, size_t size);
void notation_value(struct notation *notation, struct cql_value *value);   /* without its name */
void notation_consistency(struct notation *notation, enum cql_consistency *consistency);
/* Size 0 is written as 127.0.0.1.  notation_inetaddr has no port. */
void notation_inetaddr(struct notation *notation, struct cql_address *address);
void notation_inet(struct notation *notation, struct cql_address *address);
/* A [string] as a text with a final NUL; reading makes the text in the arena.  Reading fails if the
 * [string] contains a NUL. */
void notation_text(struct notation *notation, const char **text);
void notation_texts(struct notation *notation, const char *const **texts, uint32_t *count);
void notation_payload(struct notation *notation, const struct cql_payload **entries,
                      uint32_t *count);
/* Reading fails if types are nested deeper than TYPE_DEPTH_MAX. */
void notation_type(struct notation *notation, const struct type **type, const char *keyspace);

/* `array` is the address of a pointer to items.  When reading, the pointer is set to zeroed memory
 * for `count` + 1 items.  Returns the pointer. */
void *notation_items(struct notation *notation, void *array, size_t count, size_t item_size);

/* ---- writing alone ---- */

void notation_put_text(struct buffer *to, const char *text);       /* a [string] */
void notation_put_bytes(struct buffer *to, struct bytes bytes);    /* data NULL: null */
/* A type without an id in `version` is written as 0 custom, with the name of Cassandra's class.
 * `keyspace` is the keyspace of UDTs. */
void notation_put_type(struct buffer *to, const struct type *type, const char *keyspace,
                       uint8_t version);
#endif

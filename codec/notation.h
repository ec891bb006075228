/* notation: reads or writes the native protocol's notations, such as [string].  Bytes that are read
 * are not trusted.
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
 * XDR library, xdr(3)).  A function gets the address of a value.  It reads into the value or
 * writes the value, depending on whether the struct notation was made by notation_reading or by
 * notation_writing.  The caller zeroes values before they are read.  An invalid value sets
 * `reader.failed`; what is read then is harmless, and the caller checks `failed` once, at the end.
 *
 * Source: native_protocol_v5.spec, sections 3 and 4.2.5.2.
 *
 * Its specification is tests/unit/test_native_codec.c. */
#ifndef DAYBOOK_CODEC_NOTATION_H
#define DAYBOOK_CODEC_NOTATION_H

#include "base/buffer.h"
#include "base/reader.h"
#include "codec/cql_request.h"
#include "codec/native.h"

struct arena;

struct notation {
    uint8_t version;                       /* of the protocol */
    struct buffer *to;                     /* where values are written; NULL: values are read */
    struct reader reader;                  /* the bytes that are read */
    struct arena *arena;                   /* for arrays, texts and types that are read */
    int status;                            /* an error that is described in `err`; 0: none */
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
/* The count of items that follow, in two bytes or four.  Reading fails if the bytes that are left
 * are too few for so many items of `item_size_min` bytes. */
void notation_short_count(struct notation *notation, uint32_t *count, size_t item_size_min);
void notation_int_count(struct notation *notation, uint32_t *count, size_t item_size_min);
/* Reading fails if the text is not valid UTF-8.  A [string] of over 65,535 bytes is cut between two
 * characters when it is written. */
void notation_string(struct notation *notation, struct bytes *text);
void notation_long_string(struct notation *notation, struct bytes *text);
void notation_short_bytes(struct notation *notation, struct bytes *bytes);
/* The data is NULL for null, and only for null. */
void notation_bytes(struct notation *notation, struct bytes *bytes);
/* `size` bytes without a notation of their size. */
void notation_fixed(struct notation *notation, const uint8_t **data, size_t size);
void notation_value(struct notation *notation, struct cql_value *value);   /* without its name */
void notation_consistency(struct notation *notation, enum cql_consistency *consistency);
/* An address of size 0 is written as 127.0.0.1.  notation_inetaddr does not use the port. */
void notation_inetaddr(struct notation *notation, struct cql_address *address);
void notation_inet(struct notation *notation, struct cql_address *address);
/* A [string] as text with a final NUL, which is allocated in the arena when it is read.  Reading
 * fails if the [string] contains a NUL. */
void notation_text(struct notation *notation, const char **text);
void notation_texts(struct notation *notation, const char *const **texts, uint32_t *count);
void notation_payload(struct notation *notation, const struct cql_payload **entries,
                      uint32_t *count);
/* An [option], written by notation_put_type.  Reading fails if types are nested deeper than
 * TYPE_DEPTH_MAX. */
void notation_type(struct notation *notation, const struct type **type, const char *keyspace);

/* `array` is the address of a pointer to an array's items.  When reading, the pointer is set to
 * zeroed memory for `count` items and one more; when writing, pointer and items do not change.
 * Returns the pointer. */
void *notation_items(struct notation *notation, void *array, size_t count, size_t item_size);

/* ---- writing alone ---- */

void notation_put_text(struct buffer *to, const char *text);       /* a [string] */
void notation_put_bytes(struct buffer *to, struct bytes bytes);    /* data NULL: null */
/* Write an [option].  A type that this version has no id for is written as 0 custom, with the name
 * of Cassandra's class.  `keyspace` is the keyspace of UDTs. */
void notation_put_type(struct buffer *to, const struct type *type, const char *keyspace,
                       uint8_t version);
#endif

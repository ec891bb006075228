/* notation: the native protocol's notations, read from bytes that are not trusted, or written.
 *
 *     [string]  size(2) bytes       [long string]  size(4) bytes     [short bytes]  size(2) bytes
 *     [bytes]   size(4) bytes, negative: null      [value]  the same, from version 4 on -2: unset
 *     [inetaddr] size(1, 4 or 16) address          [inet]   [inetaddr] port(4)
 *     [string list]  n(2) n times [string]         [bytes map]  n(2) n times [string][bytes]
 *     [consistency]  (2)
 *     [option]  id(2) and what the type needs: 0 custom [string], 32 list and 34 set [option],
 *               33 map [option][option], 48 UDT [string][string] n(2) n times [string][option],
 *               49 tuple n(2) n times [option]
 *
 * The layout of a body is stated once, for both directions (as XDR's filters do, RFC 4506): a
 * function reads the value that it is given the address of, or writes it, whichever the struct
 * notation was made for.  Reading uses struct reader: an invalid value sets `failed` and gives
 * zeros, and the caller checks `failed` once, at the end.  Values that are read begin as zeros.
 *
 * Source: native_protocol_v5.spec, section 3 and 4.2.5.2.
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
    struct buffer *to;                     /* where it is written; NULL: it is read */
    struct reader reader;                  /* what is read, */
    struct arena *arena;                   /* and where its arrays, texts and types are made */
};

struct notation notation_reading(struct bytes body, uint8_t version, struct arena *arena);
struct notation notation_writing(struct buffer *to, uint8_t version);

static inline bool notation_is_reading(const struct notation *notation)
{
    return notation->to == NULL;
}

/* ---- both directions; what is read is a view into the input unless the arena has it ---- */

void notation_bool(struct notation *notation, bool *is_so);
void notation_u8(struct notation *notation, uint8_t *number);
void notation_u16(struct notation *notation, uint16_t *number);
void notation_u32(struct notation *notation, uint32_t *number);
void notation_i32(struct notation *notation, int32_t *number);
void notation_i64(struct notation *notation, int64_t *number);
/* How many items follow, each at least `item_size_min` bytes; in two bytes or four. */
void notation_short_count(struct notation *notation, uint32_t *count, size_t item_size_min);
void notation_int_count(struct notation *notation, uint32_t *count, size_t item_size_min);
/* Valid UTF-8, or it failed; cut before 65,536 bytes, between characters, when it is written. */
void notation_string(struct notation *notation, struct bytes *text);
void notation_long_string(struct notation *notation, struct bytes *text);
void notation_short_bytes(struct notation *notation, struct bytes *bytes);
/* `data` is NULL for null, and only then. */
void notation_bytes(struct notation *notation, struct bytes *bytes);
/* `size` bytes as they are. */
void notation_fixed(struct notation *notation, const uint8_t **data, size_t size);
void notation_value(struct notation *notation, struct cql_value *value);   /* without its name */
void notation_consistency(struct notation *notation, enum cql_consistency *consistency);
/* The port is left alone.  One of size 0 is written as 127.0.0.1. */
void notation_inetaddr(struct notation *notation, struct cql_address *address);
void notation_inet(struct notation *notation, struct cql_address *address);
/* A [string] as text that ends with a NUL, made in the arena; one that has a NUL in it failed. */
void notation_text(struct notation *notation, const char **text);
void notation_texts(struct notation *notation, const char *const **texts, uint32_t *count);
void notation_payload(struct notation *notation, const struct cql_payload **entries,
                      uint32_t *count);
/* A type, at most TYPE_DEPTH_MAX within each other; written as notation_put_type does. */
void notation_type(struct notation *notation, const struct type **type, const char *keyspace);

/* Zeros for `count` items that are about to be read, and one more; NULL when writing. */
void *notation_array(struct notation *notation, size_t count, size_t item_size);

/* ---- writing alone ---- */

void notation_put_text(struct buffer *to, const char *text);       /* as notation_string does */
void notation_put_bytes(struct buffer *to, struct bytes bytes);    /* null where data is NULL */
/* As the version has it: a type that it does not know goes as Cassandra's class name.  `keyspace`
 * is that of UDTs. */
void notation_put_type(struct buffer *to, const struct type *type, const char *keyspace,
                       uint8_t version);
#endif

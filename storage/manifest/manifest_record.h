/* manifest_record: the bytes of the manifest's file: its first block, and the records after it.
 *
 *   block 0   0..7 "DAYBOOKM" | 8..11 format | 12..15 zero | 16..23 size of the file |
 *             24..27 CRC-32C of bytes 0..23 | zeros
 *   record    0..3 size of body | 4..7 kind | 8..15 number, from 1 | 16..19 CRC of the previous
 *             record, 0 for the first | body | CRC-32C of header and body | end mark "DBRE" | zeros
 *
 * Every record begins a new block. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_RECORD_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

enum {
    MANIFEST_BLOCK = 4096,
    MANIFEST_RECORD_HEADER = 20,
    MANIFEST_RECORD_TRAILER = 8
};

/* On disk: the numbers cannot change. */
enum manifest_record_kind { MANIFEST_RECORD_STATE = 1, MANIFEST_RECORD_EDIT = 2 };

/* `to` must be zeroed. */
void manifest_record_put_file(uint8_t to[MANIFEST_BLOCK], uint64_t size);
/* Check block 0; `content` is the whole file.  ERROR_NOT_OURS, ERROR_NEWER_FORMAT or
 * ERROR_CORRUPT. */
must_check int manifest_record_check_file(struct bytes content, struct error *err);
bool manifest_record_is_older(struct bytes content);

/* Complete the record from byte `begin` to the end of `buffer`: fill in its first
 * MANIFEST_RECORD_HEADER bytes, append the trailer, and zeros up to the end of the block.  Returns
 * the record's checksum. */
uint32_t manifest_record_seal(struct buffer *buffer, size_t begin, enum manifest_record_kind kind,
                              uint64_t number, uint32_t previous_crc);

/* Whether the bytes at `offset` are a complete record with a right checksum. */
bool manifest_record_is_valid(struct bytes content, uint64_t offset);
/* Whether the bytes at `offset` may be record `number`, torn by a crash: a sector of it is still
 * zero, and there is no later record. */
bool manifest_record_is_torn(struct bytes content, uint64_t offset, uint64_t number);
/* Whether there are only zeros from `offset` on, so that no record was begun. */
bool manifest_record_is_unused(struct bytes content, uint64_t offset);

struct manifest_record {
    uint32_t kind;                     /* unchecked */
    uint64_t number;
    uint32_t previous_crc;
    uint32_t crc;
    struct bytes body;
    uint64_t size;                     /* in whole blocks */
};
/* The record at `offset` must be valid; the body is a view of `content`. */
struct manifest_record manifest_record_at(struct bytes content, uint64_t offset);

/* Set and return ERROR_CORRUPT, with the record's place; `what` says what is wrong. */
int manifest_record_damage(uint64_t offset, uint64_t number, const char *what, struct error *err);
#endif

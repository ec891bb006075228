/* segment_block: a block of a segment's directory: some hundred entries, by columns.
 *
 * With very many partitions of a few rows the directory is a third of what a click takes on the
 * disk.  So a block has numbers of one kind together, each kind a vector (vector_codec.h), and of
 * what follows from the rest only how far that is wrong, which nearly always is 0 for all of them:
 * a token is the hash of its key, an entry of a page is the one behind the entry before.  The bytes
 * of keys of one size are turned, so that what they have in common is there once.  A click's
 * (reseller, day) takes 9 bytes, a third of what the same entries take row by row.
 *
 * Blocks are on their own: none needs the one before.  Layout: FORMATS.md "Directory". */
#ifndef DAYBOOK_STORAGE_SEGMENT_SEGMENT_BLOCK_H
#define DAYBOOK_STORAGE_SEGMENT_SEGMENT_BLOCK_H

#include "storage/segment/segment_directory.h"
#include "storage/segment/vector_codec.h"

enum { SEGMENT_BLOCK_ENTRIES_MAX = 4096 };     /* a reader takes; a writer closes far earlier */

/* ---- decoded ---- */

/* All-zero is an empty one. */
struct segment_block {
    uint32_t count;
    uint32_t capacity;
    struct buffer bytes;                   /* what the partitions' keys point into */
    struct segment_partition *partitions;
    struct partition_stats *stats;         /* by partition; NULL in row segments */
};

void segment_block_clear(struct segment_block *block);         /* keeps the memory */
void segment_block_release(struct segment_block *block);
size_t segment_block_bytes(const struct segment_block *block);         /* of memory */
/* The index of an entry more, empty. */
uint32_t segment_block_add(struct segment_block *block, bool has_stats);

/* ---- encoding ---- */

struct segment_block_encoder;
struct segment_block_encoder *segment_block_encoder_new(void);
void segment_block_encoder_free(struct segment_block_encoder *encoder);        /* NULL is fine */
/* The entry behind the ones before; copies. */
void segment_block_encoder_add(struct segment_block_encoder *encoder,
                               const struct segment_partition *partition);
/* It is time to close. */
bool segment_block_encoder_is_full(const struct segment_block_encoder *encoder);
/* Append the entries as one block, with its head, and begin another; nothing if there are none. */
void segment_block_encoder_close(struct segment_block_encoder *encoder, struct buffer *directory);

/* ---- decoding ---- */

/* Working memory, worth keeping between blocks; each serves one thread at a time. */
struct segment_block_decoder;
struct segment_block_decoder *segment_block_decoder_new(void);
void segment_block_decoder_free(struct segment_block_decoder *decoder);        /* NULL is fine */
/* Read the next block into `block`, which is cleared first.  ERROR_CORRUPT unless it is one, with
 * pages below `page_count`; whether the entries are in order is not looked at. */
must_check int segment_block_decode(struct segment_block_decoder *decoder, struct reader *reader,
                                    uint32_t page_count, bool has_stats,
                                    struct segment_block *block);
/* The vectors' memory, for whoever decodes other forms. */
struct vector_decoder *segment_block_decoder_vectors(struct segment_block_decoder *decoder);
#endif

/* segment_block: a block of a segment's directory: a few hundred entries, by columns.
 *
 * A block stores numbers of one kind together, as a vector (vector_codec.h).  A number that can be
 * predicted is stored as its difference from the prediction; nearly all differences are 0.  If all
 * keys have the same size, they are stored byte position by byte position, and a byte that all keys
 * share is stored once.
 *
 * No block depends on another.  docs/FORMATS.md "Directory" has the layout. */
#ifndef DAYBOOK_STORAGE_SEGMENT_SEGMENT_BLOCK_H
#define DAYBOOK_STORAGE_SEGMENT_SEGMENT_BLOCK_H

#include "storage/segment/segment_directory.h"
#include "storage/segment/vector_codec.h"

/* The most entries of a block that is read; a writer closes a block at far fewer. */
enum { SEGMENT_BLOCK_ENTRIES_MAX = 4096 };

/* ---- decoded ---- */

/* All-zero: no entries. */
struct segment_block {
    uint32_t count;
    uint32_t capacity;
    struct buffer bytes;                   /* the keys of the partitions point into it */
    struct segment_partition *partitions;
    struct partition_stats *stats;         /* by partition; NULL in row segments */
};

void segment_block_clear(struct segment_block *block);         /* keeps the memory */
void segment_block_release(struct segment_block *block);
size_t segment_block_bytes(const struct segment_block *block);
uint32_t segment_block_add(struct segment_block *block, bool has_stats);

/* ---- encoding ---- */

struct segment_block_encoder;
struct segment_block_encoder *segment_block_encoder_new(void);
void segment_block_encoder_free(struct segment_block_encoder *encoder);        /* NULL is fine */
/* Append an entry; copies. */
void segment_block_encoder_add(struct segment_block_encoder *encoder,
                               const struct segment_partition *partition);
/* Whether the block is to be closed before the next entry. */
bool segment_block_encoder_is_full(const struct segment_block_encoder *encoder);
/* Append the entries to `directory` as one block with its head, and begin another block. */
void segment_block_encoder_close(struct segment_block_encoder *encoder, struct buffer *directory);

/* ---- decoding ---- */

/* One thread at a time may use a decoder. */
struct segment_block_decoder;
struct segment_block_decoder *segment_block_decoder_new(void);
void segment_block_decoder_free(struct segment_block_decoder *decoder);        /* NULL is fine */
/* Read the next block into `block`, which is cleared first.  ERROR_CORRUPT if the bytes are no
 * valid block, or an entry names a page at or past `page_count`, the segment's number of pages.
 * The order of entries is not checked. */
must_check int segment_block_decode(struct segment_block_decoder *decoder, struct reader *reader,
                                    uint32_t page_count, bool has_stats,
                                    struct segment_block *block);
struct decompressor *segment_block_decompressor(struct segment_block_decoder *decoder);
#endif

/* segment_block: a block of a segment's directory: a few hundred entries, by columns.
 *
 * With very many partitions of a few rows the directory is a third of what a click takes on the
 * disk.  So a block stores numbers of one kind together, each kind as a vector (vector_codec.h).  A
 * number that can be predicted from others is stored as its difference to the prediction, which is
 * nearly always 0: a token is the hash of its key, and an entry follows the entry before it in the
 * page.  When all keys of a block have the same size, they are stored byte position by byte
 * position, and a byte that is the same in all keys is stored once.  A partition of clicks,
 * (reseller, day), takes about 10 bytes, a third of its size in format 1.
 *
 * No block depends on another.  Layout: FORMATS.md "Directory". */
#ifndef DAYBOOK_STORAGE_SEGMENT_SEGMENT_BLOCK_H
#define DAYBOOK_STORAGE_SEGMENT_SEGMENT_BLOCK_H

#include "storage/segment/segment_directory.h"
#include "storage/segment/vector_codec.h"

/* The most entries that a block may have when it is read; a writer closes a block at far fewer. */
enum { SEGMENT_BLOCK_ENTRIES_MAX = 4096 };

/* ---- decoded ---- */

/* All-zero: no entries. */
struct segment_block {
    uint32_t count;
    uint32_t capacity;
    struct buffer bytes;                   /* the bytes to which the partitions' keys point */
    struct segment_partition *partitions;
    struct partition_stats *stats;         /* by partition; NULL in row segments */
};

void segment_block_clear(struct segment_block *block);         /* keeps the memory */
void segment_block_release(struct segment_block *block);
size_t segment_block_bytes(const struct segment_block *block);         /* of memory */
/* Add an empty entry; returns its index. */
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
/* Append the entries to `directory` as one block with its head, and begin another block.  Without
 * entries nothing is appended. */
void segment_block_encoder_close(struct segment_block_encoder *encoder, struct buffer *directory);

/* ---- decoding ---- */

/* A decoder is working memory that is kept between blocks; it serves one thread at a time. */
struct segment_block_decoder;
struct segment_block_decoder *segment_block_decoder_new(void);
void segment_block_decoder_free(struct segment_block_decoder *decoder);        /* NULL is fine */
/* Read the next block into `block`, which is cleared first.  ERROR_CORRUPT unless the bytes are a
 * block with pages below `page_count`.  The order of entries is not checked. */
must_check int segment_block_decode(struct segment_block_decoder *decoder, struct reader *reader,
                                    uint32_t page_count, bool has_stats,
                                    struct segment_block *block);
/* The decompressor of the decoder, for other bytes of a segment that are stored compressed. */
struct decompressor *segment_block_decompressor(struct segment_block_decoder *decoder);
#endif

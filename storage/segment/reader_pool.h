/* reader_pool: what readers of segments leave for the next readers, within a limit of memory.
 *
 * A reader of a segment leaves what it has decoded (blocks of the directory, pages) as spares for
 * the next reader.  A place holds one spare or none; each segment has some places.  Large spares
 * may take three quarters of the pool, and small spares what large ones leave; the oldest of a kind
 * are freed.  To free a large spare may take milliseconds, so it is done when one is given.
 *
 * A workspace is memory that a reader needs only within a call, above all contexts for
 * decompression; a reader borrows it from the pool.
 *
 * Any thread may call these functions; a taken spare and a borrowed workspace belong to one
 * reader. */
#ifndef DAYBOOK_STORAGE_SEGMENT_READER_POOL_H
#define DAYBOOK_STORAGE_SEGMENT_READER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buffer.h"

struct reader_pool;
struct segment_block_decoder;

/* The first member of every struct that can be left in the pool.  The owner sets `free`, `bytes`
 * and `is_large` before it gives the spare to the pool. */
struct reader_spare {
    void (*free)(struct reader_spare *spare);
    size_t bytes;
    bool is_large;                     /* given only by threads that may take milliseconds */
    struct reader_spare **place;       /* private to the pool */
    TAILQ_ENTRY(reader_spare) link;    /* private to the pool */
};

/* `bytes_max` limits the sum of all spares.  A small spare that was given last stays, whatever its
 * size. */
struct reader_pool *reader_pool_new(size_t bytes_max);
struct reader_pool *reader_pool_ref(struct reader_pool *pool);
void reader_pool_unref(struct reader_pool *pool);      /* NULL is fine */
size_t reader_pool_bytes(const struct reader_pool *pool);

/* The caller owns the spare that it takes.  NULL: the place is empty. */
struct reader_spare *reader_pool_take(struct reader_pool *pool, struct reader_spare **place);
/* Leave `spare` in the place; a spare that is there already is freed. */
void reader_pool_give(struct reader_pool *pool, struct reader_spare **place,
                      struct reader_spare *spare);

/* Empty the places of a segment that is closed.  To free many large spares takes milliseconds, so
 * they are freed when the next large one is given. */
void reader_pool_close(struct reader_pool *pool, struct reader_spare **places, uint32_t count);

struct reader_workspace {
    struct segment_block_decoder *blocks;
    struct buffer page;                /* as on the disk */
};

/* A workspace must be given back before its borrower calls a function that may wait for another
 * reader. */
struct reader_workspace *reader_pool_borrow(struct reader_pool *pool);
void reader_pool_give_back(struct reader_pool *pool, struct reader_workspace *workspace);
#endif

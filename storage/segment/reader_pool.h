/* reader_pool: what readers of segments leave for the next ones, all together within a limit.
 *
 * Who has read a segment leaves what it decoded there (spares: blocks of the directory, pages),
 * so that the next one finds it again; many segments would keep much.  A spare lies in a place, of
 * which each segment has some; where all spares are over the limit, those left longest ago go.
 *
 * What is only needed within a call, the contexts that decompress above all, is borrowed from the
 * pool for it (workspaces): there are as many as threads decode at a time, whatever is read.
 *
 * Any thread, but that a place's spare and a workspace are one reader's at a time. */
#ifndef DAYBOOK_STORAGE_SEGMENT_READER_POOL_H
#define DAYBOOK_STORAGE_SEGMENT_READER_POOL_H

#include <stddef.h>
#include <sys/queue.h>

#include "base/buffer.h"
#include "base/reader.h"

struct reader_pool;
struct segment_block_decoder;

/* The first member of what is left; the owner sets the first two before it gives it. */
struct reader_spare {
    void (*free)(struct reader_spare *spare);
    size_t bytes;                      /* of memory */
    struct reader_spare **place;       /* private to the pool, */
    TAILQ_ENTRY(reader_spare) link;    /* as is this */
};

/* `bytes_max`: of all spares; the last one that was given stays whatever it takes. */
struct reader_pool *reader_pool_new(size_t bytes_max);
struct reader_pool *reader_pool_ref(struct reader_pool *pool);
void reader_pool_unref(struct reader_pool *pool);      /* frees it at the last; NULL is fine */
/* Bytes of the spares that lie in the pool. */
size_t reader_pool_bytes(const struct reader_pool *pool);

/* Take what lies in the place: the caller's alone from then on.  NULL: nothing does. */
struct reader_spare *reader_pool_take(struct reader_pool *pool, struct reader_spare **place);
/* Leave `spare` (NULL: nothing) in the place, instead of what lies there, which is freed. */
void reader_pool_give(struct reader_pool *pool, struct reader_spare **place,
                      struct reader_spare *spare);

struct reader_workspace {
    struct segment_block_decoder *blocks;
    struct buffer page;                /* as it is on the disk */
    struct reader_workspace *next;     /* private to the pool */
};

/* To be given back before the borrower calls anything that may wait for another reader. */
struct reader_workspace *reader_pool_borrow(struct reader_pool *pool);
void reader_pool_give_back(struct reader_pool *pool, struct reader_workspace *workspace);
#endif

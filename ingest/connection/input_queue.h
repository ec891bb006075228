/* input_queue: the input of a connection that is not processed yet, as a queue of chunks.
 *
 *     front ──▶ sealed ──▶ sealed ──▶ back
 *     |whole lines|  |whole lines|    |whole lines ...|a partial one|  room    |padding|
 *               ▲ start     end ▲                                    ▲ end     ▲ capacity
 *
 * The network reads into the back chunk.  The connection takes bytes from the front chunk when it
 * processes them.  Front and back are the same chunk unless input comes faster than it is taken.  A
 * sealed chunk holds whole lines or frames and no longer changes, so that another thread may parse
 * it (parse_ahead.h). */
#ifndef DAYBOOK_INGEST_CONNECTION_INPUT_QUEUE_H
#define DAYBOOK_INGEST_CONNECTION_INPUT_QUEUE_H

#include "ingest/parse/row_builder.h"

enum {
    INPUT_QUEUE_SIZE = 16 << 10,        /* bytes of a new chunk; it grows when reads fill it */
    INPUT_QUEUE_BUSY = 256 << 10,       /* bytes of the chunk of a busy connection */
    INPUT_QUEUE_MAX = RECORD_LINE_MAX + (64 << 10), /* a whole line, and space to read into */
    INPUT_QUEUE_CHUNKS_MAX = 4,
    INPUT_QUEUE_SPARE_MAX = 8
};

struct parse_ahead;

struct input_chunk {
    struct input_chunk *next;
    uint8_t *data;                     /* `capacity` bytes, and LINE_PARSER_PADDING bytes more */
    size_t capacity;
    size_t start, end;
    struct parse_ahead *ahead;         /* the job that parses the chunk, not owned; NULL: none */
};

/* Free chunks of INPUT_QUEUE_BUSY bytes, at most INPUT_QUEUE_SPARE_MAX, for all input queues of an
 * ingest instance.  Without this list their memory would go back to the system, and cost a page
 * fault for every page when it is allocated again.  All-zero is an empty list. */
struct input_spare {
    struct input_chunk *first;
    uint32_t count;
};

void input_queue_spare_release(struct input_spare *spare);

struct input_queue {
    struct input_chunk *front, *back;  /* NULL before the first read */
    uint32_t chunks;
    struct input_spare *spare;         /* outlives the queue; NULL: none */
    bool was_filled;                   /* the last read filled all of the space */
};

/* Free all chunks; an all-zero queue is empty. */
void input_queue_release(struct input_queue *input);

/* The bytes of the front that are not taken.  If the front is not the back, its last line or frame
 * is whole. */
struct bytes input_queue_rest(const struct input_queue *input);
/* Take the first `size` of input_queue_rest's bytes; 0 is fine, also after a release. */
void input_queue_take(struct input_queue *input, size_t size);
/* Remove the front.  All its bytes must be taken, and it must not be the back. */
void input_queue_advance(struct input_queue *input);
void input_queue_clear(struct input_queue *input);     /* drop the bytes of the back */
void input_queue_shrink(struct input_queue *input);    /* to INPUT_QUEUE_SIZE, if little is left */
size_t input_queue_bytes(const struct input_queue *input);     /* of memory */

/* Whether the back has space to read into.  With `may_grow`, a back that is also the front counts
 * as having space up to INPUT_QUEUE_MAX bytes.  False: bytes must be taken first. */
bool input_queue_has_space(const struct input_queue *input, bool may_grow);
/* Get space to read into at the end of the back; this may move the bytes that are not taken to the
 * back's start.  With `may_grow`, a back that is also the front grows as needed.  Without
 * `may_grow`, the back grows only if it has no space, because a read may have begun already; it
 * then grows by 4 KiB.  After the read, input_queue_filled adds the `size` bytes that were read. */
void input_queue_space(struct input_queue *input, bool may_grow, uint8_t **to_out,
                       size_t *size_out);
void input_queue_filled(struct input_queue *input, size_t size);

/* The bytes of the back that are not taken. */
struct bytes input_queue_back(const struct input_queue *input);
/* Set the back's capacity to `capacity` bytes, or make a back if there is none.  The bytes that are
 * not taken must fit. */
void input_queue_fit(struct input_queue *input, size_t capacity);

/* Seal the back with its first `size` bytes that are not taken, and copy the bytes behind them to a
 * new back.  Returns the sealed chunk; NULL: there are INPUT_QUEUE_CHUNKS_MAX chunks already. */
struct input_chunk *input_queue_split(struct input_queue *input, size_t size);
/* Seal the whole lines of the back, if they are at least `size_min` (> 0) bytes.  If a line that
 * begins with '#' is near the end, with at least half of `size_min` bytes before it, only the lines
 * before the last such line are sealed.  NULL: there are too few bytes, or INPUT_QUEUE_CHUNKS_MAX
 * chunks already. */
struct input_chunk *input_queue_seal(struct input_queue *input, size_t size_min);
#endif

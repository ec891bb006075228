/* input_queue: a connection's input that is not taken yet, as a queue of chunks.
 *
 *     front ──▶ sealed ──▶ sealed ──▶ back
 *     |whole lines|  |whole lines|    |whole lines ...|a partial one|  room    |padding|
 *               ▲ start     end ▲                                    ▲ end     ▲ capacity
 *
 * Bytes are taken from the front and read into the back, which are one chunk unless input comes
 * faster than it is taken.  A sealed chunk holds whole lines, or frames, and does not change any
 * more, so that another thread may parse it (parse_ahead.h). */
#ifndef DAYBOOK_INGEST_CONNECTION_INPUT_QUEUE_H
#define DAYBOOK_INGEST_CONNECTION_INPUT_QUEUE_H

#include "ingest/parse/row_builder.h"

enum {
    INPUT_QUEUE_SIZE = 16 << 10,        /* of a new connection's chunk; grows when reads fill it */
    INPUT_QUEUE_BUSY = 256 << 10,
    INPUT_QUEUE_MAX = RECORD_LINE_MAX + (64 << 10), /* a whole line, and space to read into */
    INPUT_QUEUE_CHUNKS_MAX = 4,
    INPUT_QUEUE_SPARE_MAX = 8
};

struct parse_ahead;

struct input_chunk {
    struct input_chunk *next;
    uint8_t *data;                     /* LINE_PARSER_PADDING bytes more than `capacity` */
    size_t capacity;
    size_t start, end;
    struct parse_ahead *ahead;         /* the job that parses it ahead, borrowed; NULL: none */
};

/* Chunks of INPUT_QUEUE_BUSY that were taken whole, at most INPUT_QUEUE_SPARE_MAX of them, to be
 * used again by any input queue of the thread: memory that goes back to the system costs a page
 * fault for every page when it is allocated again.  All-zero is an empty one. */
struct input_spare {
    struct input_chunk *first;
    uint32_t count;
};

void input_queue_spare_release(struct input_spare *spare);

struct input_queue {
    struct input_chunk *front, *back;  /* NULL before the first read */
    uint32_t chunks;
    struct input_spare *spare;         /* outlives it; NULL: none */
    bool was_filled;                   /* the last read filled its space, so more is useful */
};

/* Free all chunks; an all-zero queue is empty. */
void input_queue_release(struct input_queue *input);

/* The bytes of the front that are not taken; only at the back may a line be cut. */
struct bytes input_queue_rest(const struct input_queue *input);
/* Take the first `size` of input_queue_rest's bytes. */
void input_queue_take(struct input_queue *input, size_t size);
/* Drop the front, which is taken whole and is not the back. */
void input_queue_advance(struct input_queue *input);
void input_queue_clear(struct input_queue *input);     /* drop the bytes of the back */
void input_queue_shrink(struct input_queue *input);    /* to INPUT_QUEUE_SIZE, if it has little */
size_t input_queue_bytes(const struct input_queue *input);     /* of memory */

/* Whether there is space to read into, without growth or with it; else some bytes must be taken
 * first. */
bool input_queue_has_space(const struct input_queue *input, bool may_grow);
/* Get space to read into at the end of the back; bytes that are not taken may be moved to its start
 * for that.  With `may_grow` the back grows as needed; without, it grows only if there is no space,
 * and by a page, because a read may have begun already.  After the read, input_queue_filled adds
 * the `size` bytes that it put there. */
void input_queue_space(struct input_queue *input, bool may_grow, uint8_t **to_out,
                       size_t *size_out);
void input_queue_filled(struct input_queue *input, size_t size);

/* The bytes of the back that are not taken. */
struct bytes input_queue_back(const struct input_queue *input);
/* Give the back a capacity of `capacity` bytes in all; its bytes that are not taken must fit. */
void input_queue_fit(struct input_queue *input, size_t capacity);

/* Seal the first `size` bytes of the back as a chunk; the bytes after them are copied to a new
 * back.  NULL: there are INPUT_QUEUE_CHUNKS_MAX chunks already. */
struct input_chunk *input_queue_split(struct input_queue *input, size_t size);
/* Seal the whole lines of the back, if they are `size_min` (> 0) bytes or more; or only the lines
 * before the last one that begins with '#', if that one is near the end and at least half of
 * `size_min` bytes are before it.  NULL: there are too few bytes, or INPUT_QUEUE_CHUNKS_MAX chunks
 * already. */
struct input_chunk *input_queue_seal(struct input_queue *input, size_t size_min);
#endif

/* input_queue: the bytes of a connection that are not taken yet, as a queue of chunks.
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
    INPUT_QUEUE_MAX = RECORD_LINE_MAX + (64 << 10), /* a whole line, and then some to read into */
    INPUT_QUEUE_CHUNKS_MAX = 4,
    INPUT_QUEUE_SPARE_MAX = 8
};

struct parse_ahead;

struct input_chunk {
    struct input_chunk *next;
    uint8_t *data;                     /* LINE_PARSER_PADDING bytes more than `capacity` */
    size_t capacity;
    size_t start, end;
    struct parse_ahead *ahead;         /* what was made of it ahead; NULL: nothing; borrowed */
};

/* Chunks of INPUT_QUEUE_BUSY that were taken whole, at most INPUT_QUEUE_SPARE_MAX of them, for the
 * next ones of any input of the thread: memory that goes back to the system costs a page fault for
 * every page when it comes again.  All-zero is an empty one. */
struct input_spare {
    struct input_chunk *first;
    uint32_t count;
};

void input_queue_spare_release(struct input_spare *spare);

struct input_queue {
    struct input_chunk *front, *back;  /* NULL before the first read */
    uint32_t chunks;
    struct input_spare *spare;         /* outlives it; NULL: none */
    bool was_filled;                   /* by the last read: it wants to be larger */
};

/* All-zero is one without bytes. */
void input_queue_release(struct input_queue *input);

/* What lies at the front; a line that is not whole is at the back only. */
struct bytes input_queue_rest(const struct input_queue *input);
/* Of input_queue_rest's bytes the first `size` are taken. */
void input_queue_take(struct input_queue *input, size_t size);
/* The front, all taken and not the back, gives way to the next chunk. */
void input_queue_advance(struct input_queue *input);
void input_queue_clear(struct input_queue *input);     /* what the back holds is dropped */
void input_queue_shrink(struct input_queue *input);    /* to the least, if it holds little */
size_t input_queue_bytes(const struct input_queue *input);     /* of memory */

/* Whether input_queue_space has any; else some must be taken first, or it must grow. */
bool input_queue_has_space(const struct input_queue *input, bool may_grow);
/* Room to read into, moved, and grown as need be if it may, else by a page if there is none: for
 * who is read from already when it may no longer; and what was read. */
void input_queue_space(struct input_queue *input, bool may_grow, uint8_t **to_out,
                       size_t *size_out);
void input_queue_filled(struct input_queue *input, size_t size);

/* What is not taken of the back. */
struct bytes input_queue_back(const struct input_queue *input);
/* Room up to `capacity` bytes at the back, what it holds included: for a frame whose size is known.
 */
void input_queue_fit(struct input_queue *input, size_t capacity);

/* Seal the first `size` bytes of the back; what follows them moves to a new one.  NULL: there are
 * INPUT_QUEUE_CHUNKS_MAX. */
struct input_chunk *input_queue_split(struct input_queue *input, size_t size);
/* The same with all its whole lines, if the back has `size_min` (> 0) bytes and they have as many;
 * up to the last line that begins with '#', if little stands behind that, and half as many bytes
 * before it; else NULL. */
struct input_chunk *input_queue_seal(struct input_queue *input, size_t size_min);
#endif

/* input_queue: the input of a connection that is not processed yet, as a queue of chunks.
 *
 *     front ──▶ sealed ──▶ sealed ──▶ back
 *     |whole lines|  |whole lines|    |whole lines ...|a partial one|  room    |padding|
 *               ▲ start     end ▲                                    ▲ end     ▲ capacity
 *
 * The network reads into the back chunk, and the connection takes bytes from the front chunk.  They
 * are one chunk unless input comes faster than it is taken.  A sealed chunk holds whole lines or
 * frames and no longer changes, so another thread may parse it (parse_ahead.h). */
#ifndef DAYBOOK_INGEST_CONNECTION_INPUT_QUEUE_H
#define DAYBOOK_INGEST_CONNECTION_INPUT_QUEUE_H

#include "ingest/parse/row_builder.h"

enum {
    INPUT_QUEUE_SIZE = 16 << 10,        /* bytes of a new chunk */
    INPUT_QUEUE_BUSY = 256 << 10,       /* bytes of a busy connection's chunk */
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
    struct parse_ahead *ahead;         /* parses the chunk, not owned; NULL: none */
};

/* Free chunks of INPUT_QUEUE_BUSY bytes, for all input queues of an ingest instance.  Their reuse
 * saves page faults.  All-zero is an empty list. */
struct input_spare {
    struct input_chunk *first;
    uint32_t count;
};

void input_queue_spare_release(struct input_spare *spare);

struct input_queue {
    struct input_chunk *front, *back;
    uint32_t chunks;
    struct input_spare *spare;         /* outlives the queue; NULL: none */
    bool was_filled;                   /* the last read filled all of the space */
};

/* An all-zero queue is empty. */
void input_queue_release(struct input_queue *input);

/* The bytes of the front that are not taken.  A front that is not the back ends with a whole line
 * or frame. */
struct bytes input_queue_rest(const struct input_queue *input);
/* Take the first `size` of input_queue_rest's bytes; `size` may be 0 when the queue is empty. */
void input_queue_take(struct input_queue *input, size_t size);
/* Remove the front.  All its bytes must be taken, and it must not be the back. */
void input_queue_advance(struct input_queue *input);
void input_queue_clear(struct input_queue *input);
void input_queue_shrink(struct input_queue *input);    /* to INPUT_QUEUE_SIZE, if few bytes are
                                                        * left */
size_t input_queue_bytes(const struct input_queue *input);

/* Whether the back has space to read into.  With `may_grow`, a back that is also the front may grow
 * to INPUT_QUEUE_MAX bytes. */
bool input_queue_has_space(const struct input_queue *input, bool may_grow);
/* Get space to read into at the end of the back; this may move its bytes.  With `may_grow`, a back
 * that is also the front grows as needed.  Without `may_grow`, a full back still grows by 4 KiB,
 * because a read may have begun.  After the read, input_queue_filled adds the `size` bytes that
 * were read. */
void input_queue_space(struct input_queue *input, bool may_grow, uint8_t **to_out,
                       size_t *size_out);
void input_queue_filled(struct input_queue *input, size_t size);

struct bytes input_queue_back(const struct input_queue *input);
/* Set the back's capacity to `capacity` bytes, or make a back.  The bytes that are not taken must
 * fit. */
void input_queue_fit(struct input_queue *input, size_t capacity);

/* Seal the first `size` bytes of the back that are not taken, and copy the bytes behind them to a
 * new back.  Returns the sealed chunk; NULL: there are INPUT_QUEUE_CHUNKS_MAX chunks already. */
struct input_chunk *input_queue_split(struct input_queue *input, size_t size);
/* Seal the whole lines of the back, if they are at least `size_min` (> 0) bytes.  The chunk ends
 * before the last control line if this line is near the end and at least half of `size_min` bytes
 * precede it.  NULL: too few bytes, or INPUT_QUEUE_CHUNKS_MAX chunks already. */
struct input_chunk *input_queue_seal(struct input_queue *input, size_t size_min);
#endif

/* text_input: the bytes of a connection that are not taken yet, as a queue of chunks.
 *
 *     front ──▶ sealed ──▶ sealed ──▶ back
 *     |whole lines|  |whole lines|    |whole lines ...|a partial one|  room    |padding|
 *               ▲ start     end ▲                                    ▲ end     ▲ capacity
 *
 * Bytes are taken from the front and read into the back, which are one chunk unless input comes
 * faster than it is taken.  A sealed chunk holds whole lines, or frames, and does not change any
 * more, so that another thread may parse it (parse_ahead.h). */
#ifndef DAYBOOK_INGEST_CONNECTION_TEXT_INPUT_H
#define DAYBOOK_INGEST_CONNECTION_TEXT_INPUT_H

#include "ingest/parse/row_builder.h"

enum {
    TEXT_INPUT_SIZE = 16 << 10,        /* of a new connection's chunk; grows when reads fill it */
    TEXT_INPUT_BUSY = 256 << 10,
    TEXT_INPUT_MAX = RECORD_LINE_MAX + (64 << 10), /* a whole line, and then some to read into */
    TEXT_CHUNKS_MAX = 4,
    TEXT_SPARE_MAX = 8
};

struct parse_ahead;

struct text_chunk {
    struct text_chunk *next;
    uint8_t *data;                     /* LINE_PARSER_PADDING bytes more than `capacity` */
    size_t capacity;
    size_t start, end;
    struct parse_ahead *ahead;          /* what was made of it ahead; NULL: nothing; borrowed */
};

/* Chunks of TEXT_INPUT_BUSY that were taken whole, at most TEXT_SPARE_MAX of them, for the next
 * ones of any input of the thread: memory that goes back to the system costs a page fault for every
 * page when it comes again.  All-zero is an empty one. */
struct text_spare {
    struct text_chunk *first;
    uint32_t count;
};

void text_spare_release(struct text_spare *spare);

struct text_input {
    struct text_chunk *front, *back;   /* NULL before the first read */
    uint32_t chunks;
    struct text_spare *spare;          /* outlives it; NULL: none */
    bool was_filled;                   /* by the last read: it wants to be larger */
};

/* All-zero is one without bytes. */
void text_input_release(struct text_input *input);

/* What lies at the front; a line that is not whole is at the back only. */
struct bytes text_input_rest(const struct text_input *input);
/* Of text_input_rest's bytes the first `size` are taken. */
void text_input_take(struct text_input *input, size_t size);
/* The front, all taken and not the back, gives way to the next chunk. */
void text_input_advance(struct text_input *input);
void text_input_clear(struct text_input *input);       /* what the back holds is dropped */
void text_input_shrink(struct text_input *input);      /* to the least, if it holds little */
size_t text_input_bytes(const struct text_input *input);       /* of memory */

/* Whether text_input_space has any; else some must be taken first, or it must grow. */
bool text_input_has_space(const struct text_input *input, bool may_grow);
/* Room to read into, moved, and grown as need be if it may, else by a page if there is none: for
 * who is read from already when it may no longer; and what was read. */
void text_input_space(struct text_input *input, bool may_grow, uint8_t **to_out, size_t *size_out);
void text_input_filled(struct text_input *input, size_t size);

/* What is not taken of the back. */
struct bytes text_input_back(const struct text_input *input);
/* Room up to `capacity` bytes at the back, what it holds included: for a frame whose size is known.
 */
void text_input_fit(struct text_input *input, size_t capacity);

/* Seal the first `size` bytes of the back; what follows them moves to a new one.  NULL: there are
 * TEXT_CHUNKS_MAX. */
struct text_chunk *text_input_split(struct text_input *input, size_t size);
/* The same with all its whole lines, if the back has `size_min` (> 0) bytes and they have as many;
 * up to the last line that begins with '#', if little stands behind that, and half as many bytes
 * before it; else NULL. */
struct text_chunk *text_input_seal(struct text_input *input, size_t size_min);
#endif

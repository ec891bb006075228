/* input_queue: see input_queue.h.
 *
 * What must hold: only the bytes and memory of the back move, because another thread reads sealed
 * chunks.  Sealing copies the bytes behind the sealed ones to a new back. */
#include "ingest/connection/input_queue.h"

#include "ingest/parse/line_parser.h"
#include "base/memory.h"

enum {
    SEALED_REST_MAX = INPUT_QUEUE_BUSY / 2, /* most bytes to copy so that a chunk ends with a
                                             * batch */
    GROWTH_LEAST = 4 << 10
};

static struct input_chunk *chunk_new(size_t capacity)
{
    struct input_chunk *chunk = memory_zeroed(1, sizeof *chunk);

    chunk->data = memory_alloc(capacity + LINE_PARSER_PADDING);
    chunk->capacity = capacity;
    memset(chunk->data + capacity, 0, LINE_PARSER_PADDING);
    return chunk;
}

static void chunk_free(struct input_chunk *chunk)
{
    memory_free(chunk->data);
    memory_free(chunk);
}

static void spare_give(struct input_spare *spare, struct input_chunk *chunk)
{
    if (spare == NULL || spare->count == INPUT_QUEUE_SPARE_MAX ||
        chunk->capacity != INPUT_QUEUE_BUSY) {
        chunk_free(chunk);
        return;
    }
    *chunk = (struct input_chunk){
        .next = spare->first, .data = chunk->data, .capacity = chunk->capacity};
    spare->first = chunk;
    spare->count++;
}

static struct input_chunk *spare_take(struct input_spare *spare)
{
    if (spare == NULL || spare->first == NULL)
        return chunk_new(INPUT_QUEUE_BUSY);
    struct input_chunk *chunk = spare->first;

    spare->first = chunk->next;
    spare->count--;
    chunk->next = NULL;
    return chunk;
}

void input_queue_spare_release(struct input_spare *spare)
{
    while (spare->first != NULL) {
        struct input_chunk *next = spare->first->next;

        chunk_free(spare->first);
        spare->first = next;
    }
    spare->count = 0;
}

static void chunk_fit(struct input_chunk *chunk, size_t capacity)
{
    size_t used = chunk->end - chunk->start;

    check(capacity >= used);
    if (chunk->start > 0 && used > 0)
        memmove(chunk->data, chunk->data + chunk->start, used);
    chunk->start = 0;
    chunk->end = used;
    if (capacity == chunk->capacity)
        return;
    chunk->data = memory_resize(chunk->data, capacity + LINE_PARSER_PADDING);
    memset(chunk->data + capacity, 0, LINE_PARSER_PADDING);
    chunk->capacity = capacity;
}

void input_queue_release(struct input_queue *input)
{
    while (input->front != NULL) {
        struct input_chunk *next = input->front->next;

        spare_give(input->spare, input->front);
        input->front = next;
    }
    *input = (struct input_queue){0};
}

static struct bytes chunk_rest(const struct input_chunk *chunk)
{
    return chunk == NULL ? bytes_of(NULL, 0)
                         : bytes_of(chunk->data + chunk->start, chunk->end - chunk->start);
}

struct bytes input_queue_rest(const struct input_queue *input)
{
    return chunk_rest(input->front);
}

struct bytes input_queue_back(const struct input_queue *input)
{
    return chunk_rest(input->back);
}

void input_queue_take(struct input_queue *input, size_t size)
{
    check(size <= chunk_rest(input->front).size);
    if (size > 0)
        input->front->start += size;
}

void input_queue_advance(struct input_queue *input)
{
    struct input_chunk *front = input->front;

    check(front != input->back && front->start == front->end && front->ahead == NULL);
    input->front = front->next;
    input->chunks--;
    spare_give(input->spare, front);
}

size_t input_queue_bytes(const struct input_queue *input)
{
    size_t bytes = 0;

    for (const struct input_chunk *chunk = input->front; chunk != NULL; chunk = chunk->next)
        bytes += chunk->capacity;
    return bytes;
}

void input_queue_clear(struct input_queue *input)
{
    if (input->back != NULL)
        input->back->start = input->back->end = 0;
}

bool input_queue_has_space(const struct input_queue *input, bool may_grow)
{
    const struct input_chunk *back = input->back;

    if (back == NULL)
        return true;
    if (input->front != back)
        return back->end < back->capacity;
    return back->end - back->start < (may_grow ? INPUT_QUEUE_MAX : back->capacity);
}

static size_t back_capacity(const struct input_queue *input, size_t used)
{
    size_t capacity = input->back->capacity;

    if (capacity - used < INPUT_QUEUE_SIZE / 2)
        return capacity < INPUT_QUEUE_BUSY ? INPUT_QUEUE_BUSY : INPUT_QUEUE_MAX;
    return input->was_filled && capacity < INPUT_QUEUE_BUSY ? INPUT_QUEUE_BUSY : capacity;
}

void input_queue_fit(struct input_queue *input, size_t capacity)
{
    if (input->back == NULL) {
        input->front = input->back = chunk_new(capacity);
        input->chunks = 1;
    } else {
        chunk_fit(input->back, capacity);
    }
}

void input_queue_shrink(struct input_queue *input)
{
    const struct input_chunk *back = input->back;

    if (back != NULL && back == input->front && back->capacity > INPUT_QUEUE_SIZE &&
        back->end - back->start < INPUT_QUEUE_SIZE / 2)
        input_queue_fit(input, INPUT_QUEUE_SIZE);
}

void input_queue_space(struct input_queue *input, bool may_grow, uint8_t **to_out, size_t *size_out)
{
    if (input->back == NULL)
        input_queue_fit(input, INPUT_QUEUE_SIZE);
    else if (!input_queue_has_space(input, false) && !may_grow)
        input_queue_fit(input, input->back->capacity + GROWTH_LEAST);
    else if (input->back == input->front)
        input_queue_fit(input, may_grow
                                   ? back_capacity(input, input->back->end - input->back->start)
                                   : input->back->capacity);
    *to_out = input->back->data + input->back->end;
    *size_out = input->back->capacity - input->back->end;
}

void input_queue_filled(struct input_queue *input, size_t size)
{
    input->back->end += size;
    input->was_filled = input->back->end == input->back->capacity;
}

static struct input_chunk *back_new(struct input_queue *input, size_t used)
{
    return used < INPUT_QUEUE_BUSY / 2 ? spare_take(input->spare)
           : used < INPUT_QUEUE_MAX    ? chunk_new(INPUT_QUEUE_MAX)
                                       : chunk_new(used + INPUT_QUEUE_SIZE);
}

struct input_chunk *input_queue_split(struct input_queue *input, size_t size)
{
    struct input_chunk *sealed = input->back;

    if (input->chunks == INPUT_QUEUE_CHUNKS_MAX)
        return NULL;
    check(size <= sealed->end - sealed->start);
    size_t rest = sealed->end - sealed->start - size;
    input->back = back_new(input, rest);
    memcpy(input->back->data, sealed->data + sealed->start + size, rest);
    input->back->end = rest;
    sealed->end -= rest;
    sealed->next = input->back;
    input->chunks++;
    return sealed;
}

/* The offset of the last line that begins with '#', if it is at least `least`; 0: there is none. */
static size_t control_last(struct bytes text, size_t least)
{
    size_t size = text.size;

    while (size > least) {
        const uint8_t *found = memrchr(text.data + least, '#', size - least);

        if (found == NULL)
            return 0;
        size = (size_t)(found - text.data);
        if (size > 0 && found[-1] == '\n')
            return size;
    }
    return 0;
}

struct input_chunk *input_queue_seal(struct input_queue *input, size_t size_min)
{
    struct bytes back = input_queue_back(input);
    size_t least = back.size > SEALED_REST_MAX ? back.size - SEALED_REST_MAX : 0;

    if (back.size == 0 || back.size < size_min || input->chunks == INPUT_QUEUE_CHUNKS_MAX)
        return NULL;
    size_t whole = control_last(back, least > size_min / 2 ? least : size_min / 2);
    if (whole > 0)
        return input_queue_split(input, whole);
    const uint8_t *last = memrchr(back.data, '\n', back.size);
    whole = last == NULL ? 0 : (size_t)(last - back.data) + 1;
    return whole < size_min ? NULL : input_queue_split(input, whole);
}

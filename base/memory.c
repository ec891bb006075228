/* memory: malloc that aborts instead of returning NULL. */
#include "base/memory.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum {
    MEMORY_DIRECT_ALIGNMENT = 4096, /* the largest logical block of O_DIRECT */
    /* A block of at least limit / MEMORY_LARGE_SHARE bytes gets mapped pages of its own; the next
     * two sizes bound this threshold.  Blocks that are allocated for every batch must be smaller,
     * because mapping takes long. */
    MEMORY_LARGE = 2 << 20,
    MEMORY_LARGE_LEAST = 512 << 10,
    MEMORY_LARGE_SHARE = 256,
    /* A heap keeps up to limit / MEMORY_SPARE_SHARE free bytes at its end; the next two sizes bound
     * this number. */
    MEMORY_SPARE = 8 << 20,
    MEMORY_SPARE_LEAST = 1 << 20,
    MEMORY_SPARE_SHARE = 128,
    MEMORY_ITEMS_FIRST = 8,
    MEMORY_MOVED = 64 << 10 /* memory_resize copies a block of this size or more itself */
};

static void *memory_or_abort(void *pointer, size_t size)
{
    if (pointer == NULL) {
        fprintf(stderr, "out of memory: %zu bytes\n", size);
        abort();
    }
    return pointer;
}

void *memory_alloc(size_t size)
{
    return memory_or_abort(malloc(size > 0 ? size : 1), size);
}

void *memory_zeroed(size_t count, size_t size)
{
    check(size == 0 || count <= SIZE_MAX / size);
    size_t total = count * size;
    return memory_or_abort(calloc(1, total > 0 ? total : 1), total);
}

/* realloc moves the pages of a mapped block without copying them.  Such a block begins after two
 * words of malloc on its first page.  A wrong guess is slower, but correct. */
static bool has_own_pages(const void *block, size_t held)
{
    return held >= MEMORY_LARGE && (uintptr_t)block % MEMORY_DIRECT_ALIGNMENT == 2 * sizeof(size_t);
}

/* realloc holds the heap's lock while it copies, so large blocks are copied here. */
void *memory_resize(void *old, size_t size)
{
    size_t held = malloc_usable_size(old);
    if (held < MEMORY_MOVED || size <= held || has_own_pages(old, held))
        return memory_or_abort(realloc(old, size > 0 ? size : 1), size);
    void *moved = memory_alloc(size);
    memcpy(moved, old, held);
    free(old);
    return moved;
}

uint32_t memory_grown(uint32_t capacity, uint32_t needed)
{
    uint32_t doubled = capacity > UINT32_MAX / 2 ? UINT32_MAX : capacity * 2;
    return doubled > needed ? doubled : needed;
}

void *memory_make_room(void *items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    check(count <= UINT32_MAX / 2);
    *capacity = count == 0 ? MEMORY_ITEMS_FIRST : count * 2;
    return memory_resize(items, *capacity * size);
}

void *memory_copy(const void *source, size_t size)
{
    void *copy = memory_alloc(size);
    if (size > 0)
        memcpy(copy, source, size);
    return copy;
}

char *memory_string(const char *source)
{
    check(source != NULL);
    return memory_copy(source, strlen(source) + 1);
}

void memory_free(void *pointer)
{
    free(pointer);
}

void *memory_aligned(size_t size)
{
    size_t blocks = size / MEMORY_DIRECT_ALIGNMENT + (size % MEMORY_DIRECT_ALIGNMENT != 0);
    if (blocks == 0)
        blocks = 1;
    check(blocks <= SIZE_MAX / MEMORY_DIRECT_ALIGNMENT);
    size_t whole = blocks * MEMORY_DIRECT_ALIGNMENT;
    return memory_or_abort(aligned_alloc(MEMORY_DIRECT_ALIGNMENT, whole), whole);
}

void memory_aligned_reserve(uint8_t **bytes, size_t *capacity, size_t size)
{
    if (*capacity >= size)
        return;
    memory_free(*bytes);
    *bytes = memory_aligned(size);
    *capacity = size;
}

static int between(size_t least, size_t size, size_t most)
{
    return (int)(size < least ? least : size > most ? most : size);
}

void memory_return_large(size_t limit)
{
    int large = between(MEMORY_LARGE_LEAST, limit / MEMORY_LARGE_SHARE, MEMORY_LARGE);
    int spare = between(MEMORY_SPARE_LEAST, limit / MEMORY_SPARE_SHARE, MEMORY_SPARE);
    /* Another malloc (a sanitizer's) may ignore these calls. */
    (void)mallopt(M_MMAP_THRESHOLD, large);
    (void)mallopt(M_TRIM_THRESHOLD, spare);
    (void)mallopt(M_ARENA_MAX, MEMORY_HEAPS);
}

void memory_return_free(void)
{
    (void)malloc_trim(0);
}

size_t memory_resident(void)
{
    unsigned long resident;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    int count = fscanf(file, "%*u %lu", &resident);
    (void)fclose(file);
    return count == 1 ? resident * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

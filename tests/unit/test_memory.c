/* test_memory: what malloc does under its lock is short. */
#include "base/memory.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static int reallocs;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

/* Every call of this program's own comes here. */
void *__wrap_realloc(void *old, size_t size)
{
    reallocs++;
    return __real_realloc(old, size);
}

static uint8_t *numbered(size_t size)
{
    uint8_t *block = memory_alloc(size);
    for (size_t i = 0; i < size; i++)
        block[i] = (uint8_t)(i % 251);
    return block;
}

static void assert_numbered(const uint8_t *block, size_t size)
{
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(block[i], i % 251, "byte %zu of %zu", i, size);
}

/* realloc copies under the lock of its heap: some megabytes of new memory are milliseconds, which
 * everybody else's free waits for. */
Test(memory, a_block_that_grows_is_not_copied_by_realloc)
{
    for (size_t size = (size_t)64 << 10; size < (size_t)2 << 20; size *= 2) {
        uint8_t *block = memory_resize(numbered(size), size * 3 / 2);
        cr_assert_eq(reallocs, 0);
        assert_numbered(block, size);
        memory_free(block);
    }
}

Test(memory, a_small_or_a_shrinking_block_keeps_its_bytes)
{
    for (size_t size = 1; size < (size_t)64 << 20; size = size * 5 + 3) {
        uint8_t *block = memory_resize(numbered(size), size * 2);
        block = memory_resize(block, size * 2 / 3 + 1);
        assert_numbered(block, size * 2 / 3 < size ? size * 2 / 3 : size);
        memory_free(block);
    }
}

Test(memory, nothing_grows_to_a_block)
{
    uint8_t *block = memory_resize(NULL, 100000);
    memset(block, 1, 100000);
    block = memory_resize(block, 0);
    cr_assert_not_null(block);
    memory_free(block);
}

/* ---- heaps ---- */

enum { OWNERS = MEMORY_HEAPS - 4 }; /* Criterion has threads, too */

struct owner {
    pthread_t thread;
    pthread_barrier_t *all;
    uint8_t *block;
};

/* Nobody ends before all have their block: who ends leaves his heap to the next. */
static void *own(void *argument)
{
    struct owner *owner = argument;
    owner->block = memory_alloc(2000);
    (void)pthread_barrier_wait(owner->all);
    return NULL;
}

/* The first thread's heap is what sbrk(2) hands out. */
Test(memory, nobody_shares_the_first_threads_heap)
{
    struct owner owners[OWNERS] = {0};
    pthread_barrier_t all;
    if (mallopt(M_ARENA_MAX, MEMORY_HEAPS) != 1)
        cr_skip_test("another malloc, as a sanitizer's");
    memory_return_large(1 << 30);
    uint8_t *first = memory_alloc(2000);
    pthread_barrier_init(&all, NULL, OWNERS);
    for (int i = 0; i < OWNERS; i++) {
        owners[i].all = &all;
        cr_assert_eq(pthread_create(&owners[i].thread, NULL, own, &owners[i]), 0);
    }
    for (int i = 0; i < OWNERS; i++)
        pthread_join(owners[i].thread, NULL);
    uint8_t *end = sbrk(0);
    for (int i = 0; i < OWNERS; i++) {
        cr_expect(owners[i].block < first || owners[i].block >= end, "thread %d", i);
        memory_free(owners[i].block);
    }
    pthread_barrier_destroy(&all);
    memory_free(first);
}

enum { SOME = 100, SOME_BYTES = 64 << 10 };

/* How much the first thread's heap has grown when all of it is free again. */
static size_t kept_of_a_heap(void)
{
    uint8_t *blocks[SOME];
    uint8_t *before = sbrk(0);
    for (int i = 0; i < SOME; i++)
        blocks[i] = memory_alloc(SOME_BYTES);
    cr_assert_geq((size_t)((uint8_t *)sbrk(0) - before), (size_t)4 << 20);
    for (int i = 0; i < SOME; i++)
        memory_free(blocks[i]);
    return (size_t)((uint8_t *)sbrk(0) - before);
}

static bool is_in_a_heap(size_t size)
{
    uint8_t *block = memory_alloc(size);
    bool is_inside = block < (uint8_t *)sbrk(0);
    memory_free(block);
    return is_inside;
}

Test(memory, who_may_take_little_keeps_little_of_what_is_free)
{
    if (mallopt(M_ARENA_MAX, MEMORY_HEAPS) != 1)
        cr_skip_test("another malloc, as a sanitizer's");
    memory_return_large(128 << 20);
    cr_expect_leq(kept_of_a_heap(), (size_t)2 << 20);
    cr_expect(is_in_a_heap(260 << 10));
    cr_expect_not(is_in_a_heap(600 << 10));
    memory_return_large(1 << 30);
    cr_expect_geq(kept_of_a_heap(), (size_t)4 << 20);
    cr_expect(is_in_a_heap(600 << 10));
}

Test(memory, an_array_has_room_for_one_more_item)
{
    uint32_t *items = NULL;
    uint32_t capacity = 0;
    uint32_t grown = 0;
    for (uint32_t count = 0; count < 1000; count++) {
        uint32_t before = capacity;
        items = memory_make_room(items, count, &capacity, sizeof(*items));
        cr_assert_lt(count, capacity);
        grown += capacity != before;
        items[count] = count;
    }
    for (uint32_t i = 0; i < 1000; i++)
        cr_assert_eq(items[i], i);
    cr_expect_lt(grown, 10);
    memory_free(items);
}

/* A sanitizer's malloc takes no advice, and the server runs on it. */
Test(memory, a_malloc_that_takes_no_advice_is_used_as_it_is)
{
    memory_return_large(128 << 20);
    uint8_t *block = memory_resize(numbered(3 << 20), 5 << 20);
    assert_numbered(block, 3 << 20);
    memory_free(block);
    memory_return_free();
}

Test(memory, aligned_bytes_are_had_again_where_they_suffice)
{
    uint8_t *bytes = NULL;
    size_t capacity = 0;
    memory_aligned_reserve(&bytes, &capacity, 5000);
    const uint8_t *first = bytes;
    cr_assert_eq((uintptr_t)bytes % 4096, 0);
    memset(bytes, 1, 5000);
    memory_aligned_reserve(&bytes, &capacity, 5000);
    cr_expect_eq(bytes, first);
    memory_aligned_reserve(&bytes, &capacity, 5001);
    cr_assert_eq((uintptr_t)bytes % 4096, 0);
    memset(bytes, 1, 5001);
    cr_expect_eq(capacity, 5001);
    memory_free(bytes);
}

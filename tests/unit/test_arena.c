/* test_arena: what is handed out is aligned, apart, and there again after a reset. */
#include "base/arena.h"
#include "base/buffer.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

enum { CHUNK = 2 << 20 }; /* of arenas that have a supply */

Test(arena, memory_is_aligned_and_does_not_overlap)
{
    struct arena *arena = arena_new(8192);
    uint8_t *previous[300];
    for (size_t i = 0; i < 300; i++) {
        size_t alignment = (size_t)1 << (i % 7);
        previous[i] = arena_alloc(arena, 100, alignment);
        cr_assert_eq((uintptr_t)previous[i] % alignment, 0);
        memset(previous[i], (int)(i % 251), 100);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t k = 0; k < 100; k++)
            cr_assert_eq(previous[i][k], i % 251);
    cr_assert_eq(arena_used(arena), 300 * 100);
    arena_free(arena);
}

Test(arena, a_large_request_leaves_the_room_of_the_current_chunk)
{
    struct arena *arena = arena_new(8192);
    uint8_t *first = arena_alloc(arena, 16, 16);
    uint8_t *large = arena_alloc(arena, 100000, 64);
    memset(large, 1, 100000);
    uint8_t *second = arena_alloc(arena, 16, 16);
    cr_assert_eq(second, first + 16);
    arena_reset(arena);
    cr_assert_eq(arena_held(arena), 8192);
    arena_free(arena);
}

Test(arena, reset_keeps_the_chunks_and_uses_them_again)
{
    struct arena *arena = arena_new((size_t)2 << 20);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 5; i++) {
            uint8_t *data = arena_alloc(arena, (size_t)1 << 20, 64);
            data[0] = 1;
            data[(1 << 20) - 1] = 1;
        }
        cr_assert_eq(arena_held(arena), (size_t)6 << 20);
        cr_assert_eq(arena_used(arena), (size_t)5 << 20);
        arena_reset(arena);
        cr_assert_eq(arena_used(arena), 0);
    }
    arena_free(arena);
}

Test(arena, copies_are_equal_and_apart)
{
    struct arena *arena = arena_new(4096);
    char text[] = "click";
    struct bytes copy = arena_copy(arena, bytes_text(text));
    text[0] = 'x';
    cr_assert(bytes_equal(copy, bytes_text("click")));
    cr_assert_eq(arena_copy(arena, bytes_of(NULL, 0)).size, 0);
    arena_free(arena);
    arena_free(NULL);
}

Test(arena, a_supply_is_filled_after_the_second_chunk_and_its_chunks_are_used)
{
    struct arena_supply *supply = arena_supply_new(CHUNK);
    struct arena *arena = arena_new_supplied(supply);
    uint32_t made = 0;

    memset(arena_alloc(arena, CHUNK, 1), 1, CHUNK);
    cr_expect(!arena_supply_wants(supply), "one chunk is often all there is");
    memset(arena_alloc(arena, CHUNK, 1), 2, CHUNK);
    for (; arena_supply_wants(supply); made++)
        arena_supply_add(supply, arena_chunk_make(CHUNK));
    cr_expect(made > 0 && made < 100);
    memset(arena_alloc(arena, CHUNK, 1), 3, CHUNK);
    cr_expect(arena_supply_wants(supply), "one was taken");
    cr_expect(arena_held(arena) == 3 * (size_t)CHUNK, "what is ready is nobody's yet");
    arena_free(arena);
    arena_supply_free(supply);
}

/* An arena of so many full chunks. */
static struct arena *arena_filled(struct arena_supply *supply, uint32_t chunks)
{
    struct arena *arena = arena_new_supplied(supply);
    for (uint32_t i = 0; i < chunks; i++)
        memset(arena_alloc(arena, CHUNK, 1), 'x', CHUNK);
    return arena;
}

Test(arena, a_supply_keeps_what_arenas_let_go_for_the_next_until_none_takes_it)
{
    enum { MADE_AHEAD = 4 };
    struct arena_supply *supply = arena_supply_new(CHUNK);
    arena_supply_keep(supply, arena_filled(supply, 1));
    cr_expect_eq(arena_supply_bytes(supply), 0, "nobody has needed a second one");

    struct arena *arena = arena_filled(supply, 12);
    arena_shrink(arena, 10 * CHUNK + 1);
    cr_expect_eq(arena_held(arena), 10 * (size_t)CHUNK);
    cr_expect_eq(arena_used(arena), 0);
    arena_supply_keep(supply, arena);
    cr_expect_eq(arena_supply_bytes(supply), 10 * (size_t)CHUNK);
    cr_expect(!arena_supply_wants(supply));

    arena = arena_filled(supply, 2);
    cr_expect_eq(arena_supply_bytes(supply), 8 * (size_t)CHUNK, "two were taken");
    uint8_t *zeroed = arena_alloc_zeroed(arena, CHUNK, 1);
    cr_expect(zeroed[0] == 0 && zeroed[CHUNK - 1] == 0, "one that was used is cleared");
    cr_expect_null(arena_supply_spare(supply, false), "they are in use");
    struct arena *spare = arena_supply_spare(supply, false);
    cr_assert_not_null(spare, "none was taken since");
    cr_expect_eq(arena_held(spare), (7 - MADE_AHEAD) * (size_t)CHUNK);
    cr_expect_eq(arena_supply_bytes(supply), MADE_AHEAD * (size_t)CHUNK);
    cr_expect_null(arena_supply_spare(supply, true), "as much as is made ahead");
    arena_free(spare);
    arena_supply_keep(supply, arena);
    arena_free(arena_filled(supply, 1));
    spare = arena_supply_spare(supply, true);
    cr_expect_not_null(spare, "at once, though one was taken");
    arena_free(spare);
    arena_supply_free(supply);
}

Test(arena, zeroed_memory_is_zero_in_used_fresh_and_mapped_chunks)
{
    static const size_t sizes[] = {100, 4096, 70000, (size_t)2 << 20, (size_t)4 << 20};
    struct arena *arena = arena_new(1 << 16);
    memset(arena_alloc(arena, 1 << 16, 1), 'x', 1 << 16);
    for (int round = 0; round < 2; round++) {
        arena_reset(arena);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            uint8_t *memory = arena_alloc_zeroed(arena, sizes[i], 32);
            for (size_t at = 0; at < sizes[i]; at++)
                cr_assert_eq(memory[at], 0, "byte %zu of %zu", at, sizes[i]);
            memset(memory, 'y', sizes[i]);
        }
    }
    arena_free(arena);
}

/* ---- budgets ---- */

struct counter {
    struct arena_budget budget;
    size_t held;
    int looks;
};

static void counter_take(struct arena_budget *budget, size_t bytes)
{
    ((struct counter *)budget)->held += bytes;
}

static void counter_give(struct arena_budget *budget, size_t bytes)
{
    ((struct counter *)budget)->held -= bytes;
}

static void counter_look(struct arena_budget *budget)
{
    ((struct counter *)budget)->looks++;
}

static struct counter counter_new(void)
{
    return (struct counter){
        .budget = {.take = counter_take, .give = counter_give, .look = counter_look}};
}

Test(arena, a_budget_pays_for_every_chunk_and_gets_all_of_it_back)
{
    struct counter counter = counter_new();
    struct arena *arena = arena_new(4096);
    arena_alloc(arena, 10, 1);
    arena_set_budget(arena, &counter.budget);
    cr_assert_eq(counter.held, 4096, "what it had already counts");
    arena_alloc(arena, 5000, 1);
    arena_alloc(arena, 4096, 1);
    cr_assert_eq(counter.held, arena_held(arena));
    arena_reset(arena);
    cr_assert_eq(counter.held, 2 * 4096);
    arena_alloc(arena, 100000, 1);
    arena_free(arena);
    cr_assert_eq(counter.held, 0);
}

Test(arena, a_budget_looks_once_in_so_many_items)
{
    struct counter counter = counter_new();
    struct arena *arena = arena_new(4096);
    arena_count(arena, 1 << 20);
    arena_set_budget(arena, &counter.budget);
    for (int i = 0; i < 10 * ARENA_LOOK_ITEMS; i++)
        arena_count(arena, 1);
    cr_assert_eq(counter.looks, 10);
    arena_count(arena, 1 << 20);
    cr_assert_eq(counter.looks, 11);
    arena_free(arena);
}

Test(arena, a_buffer_in_an_arena_grows_without_leaving_its_old_memory)
{
    struct arena *arena = arena_new(4096);
    struct buffer buffer = {.arena = arena};
    for (int i = 0; i < 1000000; i++)
        buffer_put_u8(&buffer, (uint8_t)(i % 251));
    for (size_t i = 0; i < buffer.size; i++)
        cr_assert_eq(buffer.data[i], i % 251);
    cr_assert_lt(arena_held(arena), (1 << 20) + 4 * 4096);
    buffer_release(&buffer);
    buffer_put_u8(&buffer, 1);
    cr_assert_eq(buffer.arena, arena);
    arena_free(arena);
}

Test(arena, arrays_keep_their_items_while_they_grow)
{
    struct arena *arena = arena_new(4096);
    uint32_t *items = NULL;
    uint32_t capacity = 0;

    for (uint32_t i = 0; i < 10000; i++) {
        items = arena_make_room(arena, items, i, &capacity, sizeof *items);
        cr_assert_gt(capacity, i);
        items[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++)
        cr_assert_eq(items[i], i);
    arena_free(arena);
}

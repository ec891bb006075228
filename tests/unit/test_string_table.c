/* test_string_table: strings keep the number they first got, whatever their size. */
#include "storage/cell/string_table.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/memory.h"

enum { COUNT = 20000 };

/* String i, of 1 to 40 bytes, with zero bytes in it, prefixes of others among them. */
static struct bytes string_make(uint32_t i, char text[64])
{
    int size = snprintf(text, 64, "%u", i);
    int wanted = size + (int)(i % 35);
    for (; size < wanted; size++)
        text[size] = (char)(i % 2 == 0 ? 0 : 'x');
    return bytes_of(text, (size_t)size);
}

Test(string_table, numbers_follow_the_order_of_first_adding)
{
    char text[64];
    struct arena *arena = arena_new(1 << 16);
    struct string_table *table = string_table_new(arena);
    cr_assert_eq(string_table_add(table, bytes_of("", 0)), 0);
    for (int again = 0; again < 2; again++)
        for (uint32_t i = 0; i < COUNT; i++)
            cr_assert_eq(string_table_add(table, string_make(i, text)), i + 1);
    cr_assert_eq(string_table_count(table), COUNT + 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        struct bytes string = string_make(i, text);
        cr_assert_eq(string_table_add(table, string), i + 1);
        cr_assert(bytes_equal(string_table_strings(table)[i + 1], string));
    }
    cr_assert_eq(string_table_add(table, bytes_text("not there")), COUNT + 1);
    cr_assert_eq(string_table_add(table, bytes_text("not there, and longer")), COUNT + 2);
    string_table_free(table);
    arena_free(arena);
}

Test(string_table, a_dictionary_is_added_at_once)
{
    char text[64];
    uint32_t numbers[500];
    struct arena *arena = arena_new(1 << 16);
    struct string_table *table = string_table_new(arena);
    struct block_dictionary dictionary = {0};
    for (uint32_t i = 0; i < 500; i++)
        block_dictionary_add(&dictionary, string_make(499 - i, text));
    for (uint32_t i = 0; i < 100; i++)
        string_table_add(table, string_make(i, text));
    string_table_add_all(table, &dictionary, numbers);
    for (uint32_t i = 0; i < 500; i++)
        cr_assert_eq(numbers[i], string_table_add(table, string_make(499 - i, text)));
    cr_assert_eq(numbers[499], 0);
    cr_assert_eq(string_table_count(table), 500);
    buffer_release(&dictionary.text);
    memory_free(dictionary.offsets);
    string_table_free(table);
    arena_free(arena);
}

/* It grows in steps, and in every one of them each string has its number. */
Test(string_table, strings_are_found_at_every_step_of_growing)
{
    enum { STEPS = 1100 };
    char text[64];
    struct arena *arena = arena_new(1 << 16);
    struct string_table *table = string_table_new(arena);
    for (uint32_t i = 0; i < STEPS; i++) {
        cr_assert_eq(string_table_add(table, string_make(i, text)), i);
        for (uint32_t j = 0; j <= i; j++)
            cr_assert_eq(string_table_add(table, string_make(j, text)), j, "%u of %u", j, i);
        cr_assert_eq(string_table_count(table), i + 1);
    }
    cr_assert_eq(string_table_count(table), STEPS);
    string_table_free(table);
    arena_free(arena);
}

/* Memory of the process that the system has given and cleared. */
static uint64_t resident_bytes(void)
{
    unsigned long size;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file != NULL && fscanf(file, "%lu %lu", &size, &pages) == 2);
    fclose(file);
    return (uint64_t)pages * 4096;
}

/* Whoever asks something waits for the dictionary under way, and the system clears 2 MiB at a touch
 * where it has huge pages: no dictionary may touch all of a table that has just grown. */
Test(string_table, no_dictionary_has_much_memory_cleared_at_once)
{
    enum { DICTIONARIES = 300, STRINGS = 1000 };
    struct arena *arena = arena_new(2 << 20);
    struct string_table *table = string_table_new(arena);
    uint32_t numbers[STRINGS];
    char text[64];
    for (uint32_t i = 0; i < DICTIONARIES; i++) {
        struct block_dictionary dictionary = {0};
        for (uint32_t j = 0; j < STRINGS; j++)
            block_dictionary_add(&dictionary, string_make(i * STRINGS + j, text));
        uint64_t before = resident_bytes();
        string_table_add_all(table, &dictionary, numbers);
        uint64_t after = resident_bytes();
        cr_expect(after < before + (7 << 20), "dictionary %u: %lu KiB", i,
                  (unsigned long)(after - before) >> 10);
        buffer_release(&dictionary.text);
        memory_free(dictionary.offsets);
    }
    cr_expect_eq(string_table_count(table), DICTIONARIES * STRINGS);
    string_table_free(table);
    arena_free(arena);
}

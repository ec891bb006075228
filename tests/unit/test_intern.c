/* Interning: equal strings have one code, others another, whatever their length. */
#include "ingest/parse/intern.h"

#include <stdio.h>

#include <criterion/criterion.h>

#include "base/memory.h"

static void dictionary_release(struct block_dictionary *dictionary)
{
    buffer_release(&dictionary->text);
    memory_free(dictionary->offsets);
}

static uint32_t code_of(struct intern *intern, const char *text, size_t size)
{
    uint8_t padded[200 + INTERN_PADDING];
    struct bytes string = bytes_of(padded, size);
    struct intern_key key;
    int32_t code;

    /* What lies behind a string must not matter. */
    memset(padded, (int)(size * 37 % 251), sizeof padded);
    memcpy(padded, text, size);
    key = intern_key_of(string);
    code = intern_find(intern, key, string);
    return code != INTERN_NONE ? (uint32_t)code : intern_add(intern, key, string);
}

Test(intern, strings_of_every_length_keep_their_codes_while_the_table_grows)
{
    struct block_dictionary dictionary = {0};
    struct intern intern;
    char text[64];

    intern_init(&intern, 42, &dictionary);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 20000; i++) {
            int size = snprintf(text, sizeof text, "%0*u", (int)(5 + i % 40), i);

            cr_assert(code_of(&intern, text, (size_t)size) == i);
        }
    }
    cr_expect(dictionary.count == 20000);
    intern_release(&intern);
    dictionary_release(&dictionary);
}

Test(intern, prefixes_and_zero_bytes_are_strings_of_their_own)
{
    struct block_dictionary dictionary = {0};
    struct intern intern;
    char text[40] = {0};

    intern_init(&intern, 7, &dictionary);
    for (size_t size = 0; size < sizeof text; size++)
        cr_assert(code_of(&intern, text, size) == size);
    for (size_t size = 0; size < sizeof text; size++)
        cr_assert(code_of(&intern, text, size) == size);
    intern_release(&intern);
    dictionary_release(&dictionary);
}

Test(intern, a_cleared_table_knows_nothing)
{
    struct block_dictionary dictionary = {0};
    struct intern intern;

    intern_init(&intern, 7, &dictionary);
    for (uint32_t i = 0; i < 100; i++) {
        cr_assert(code_of(&intern, "b", 1) == 0);
        cr_assert(code_of(&intern, "a", 1) == 1);
        intern_clear(&intern);
        buffer_clear(&dictionary.text);
        dictionary.count = 0;
    }
    intern_release(&intern);
    dictionary_release(&dictionary);
}

Test(intern, a_key_apart_finds_only_strings_that_were_added_apart)
{
    static const char *const texts[] = {"short", "a string of more than sixteen bytes"};
    struct block_dictionary dictionary = {0};
    struct intern intern;

    intern_init(&intern, 7, &dictionary);
    for (int i = 0; i < 2; i++) {
        uint8_t padded[64] = {0};
        struct bytes text = bytes_of(padded, strlen(texts[i]));

        memcpy(padded, texts[i], text.size);
        struct intern_key key = intern_key_of(text);
        uint32_t apart = intern_add(&intern, intern_key_apart(key), text);
        cr_expect_eq(intern_find(&intern, key, text), INTERN_NONE);
        uint32_t plain = intern_add(&intern, key, text);
        cr_expect_eq(intern_find(&intern, intern_key_apart(key), text), (int32_t)apart);
        cr_expect_eq(intern_find(&intern, key, text), (int32_t)plain);
        padded[0]++;
        cr_expect_eq(intern_find(&intern, intern_key_apart(intern_key_of(text)), text),
                     INTERN_NONE);
    }
    intern_release(&intern);
    dictionary_release(&dictionary);
}

/* test_uuid: identifiers carry their time, differ, and survive their text. */
#include "base/uuid.h"

#include <criterion/criterion.h>

#include "base/timeuuid.h"
#include "base/world/world.h"

/* Bytes that count up, so that two calls differ. */
struct counting_random {
    struct random base;
    uint8_t next;
};

static void fill(struct random *random, void *to, size_t size)
{
    struct counting_random *counting = (struct counting_random *)random;
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)to)[i] = counting->next++;
}

Test(uuid, a_timeuuid_has_the_known_form_of_a_known_time)
{
    struct counting_random random = {.base.fill = fill};
    uint8_t id[UUID_SIZE];
    char text[UUID_TEXT_SIZE + 1];
    timeuuid_make(INT64_C(1385654400123000), &random.base, id);
    uuid_format(id, text);
    cr_assert_str_eq(text, "228344b8-5846-11e3-8001-030304050607");
    cr_assert_eq(timeuuid_us(id), INT64_C(1385654400123000));
}

Test(uuid, two_of_the_same_time_differ)
{
    struct counting_random random = {.base.fill = fill};
    uint8_t a[UUID_SIZE], b[UUID_SIZE];
    timeuuid_make(1, &random.base, a);
    timeuuid_make(1, &random.base, b);
    cr_assert_neq(memcmp(a, b, UUID_SIZE), 0);
}

Test(uuid, those_of_one_maker_differ_by_their_time_alone)
{
    const uint8_t maker[TIMEUUID_MAKER_SIZE] = {0xFF, 1, 0xF0, 3, 4, 5, 6, 7};
    uint8_t a[UUID_SIZE], b[UUID_SIZE];
    char text[UUID_TEXT_SIZE + 1];
    timeuuid_make_as(INT64_C(1385654400123000), maker, a);
    timeuuid_make_as(INT64_C(1385654400123001), maker, b);
    cr_assert_eq(timeuuid_us(a), INT64_C(1385654400123000));
    cr_assert_eq(timeuuid_us(b), INT64_C(1385654400123001));
    cr_assert(memcmp(a, b, UUID_SIZE) != 0);
    cr_assert_arr_eq(a + 8, b + 8, TIMEUUID_MAKER_SIZE);
    uuid_format(a, text);
    cr_assert_eq(text[14], '1');
    cr_assert_str_eq(text + 19, "bf01-f10304050607");
}

Test(uuid, text_reads_back_and_wrong_text_is_refused)
{
    struct counting_random random = {.base.fill = fill, .next = 100};
    uint8_t id[UUID_SIZE], back[UUID_SIZE];
    char text[UUID_TEXT_SIZE + 1];
    uuid_make(&random.base, id);
    uuid_format(id, text);
    cr_assert(uuid_from_text(bytes_text(text), back));
    cr_assert_arr_eq(id, back, UUID_SIZE);
    cr_assert(uuid_from_text(bytes_text("5F0C6D1E-8f0a-4c57-9a3c-2f1f0d7c9a11"), back));
    for (size_t i = 0; i < UUID_TEXT_SIZE; i++) {
        char wrong[UUID_TEXT_SIZE + 1];
        cr_assert_not(uuid_from_text(bytes_of(text, i), back));
        memcpy(wrong, text, sizeof(wrong));
        wrong[i] = 'g';
        cr_assert_not(uuid_from_text(bytes_text(wrong), back));
    }
}

static void refuse(struct random *random, void *to, size_t size)
{
    (void)random;
    (void)to;
    (void)size;
    cr_assert_fail("libuuid draws for itself");
}

/* Where a world is simulated the bytes are its own, so that its seed gives the same ids again. */
Test(uuid, an_id_of_the_systems_bytes_is_libuuids_and_one_of_a_seed_is_the_seeds)
{
    struct random system = {.fill = refuse, .is_system = true};
    struct counting_random counting = {.base.fill = fill};
    uint8_t a[UUID_SIZE], b[UUID_SIZE];
    char text[UUID_TEXT_SIZE + 1];
    uuid_make(&system, a);
    uuid_make(&system, b);
    cr_assert_neq(memcmp(a, b, UUID_SIZE), 0);
    cr_assert(a[6] >> 4 == 4 && a[8] >> 6 == 2);
    uuid_make(&counting.base, a);
    uuid_format(a, text);
    cr_assert_str_eq(text, "00010203-0405-4607-8809-0a0b0c0d0e0f");
}

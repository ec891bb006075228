/* test_columnar_partitions: numbers of keys, and what a partition was at earlier frames. */
#include "storage/memtable/columnar_partitions.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/memory.h"
#include "tests/unit/columnar_fixture.h"

enum { COLUMNS = 3, KEY_SIZE = 32 };

struct fixture {
    struct schema *schema;
    struct block *block; /* its partitions' keys are all that is used of it */
    struct arena *arena;
    struct columnar_partitions partitions;
};

static void setup(struct fixture *fixture)
{
    fixture->schema = columnar_schema();
    fixture->block = block_new(schema_table(fixture->schema, COLUMNAR_TABLE), 1);
    fixture->arena = arena_new(1 << 16);
    columnar_partitions_init(&fixture->partitions, fixture->arena, COLUMNS);
}

static void teardown(struct fixture *fixture)
{
    columnar_partitions_release(&fixture->partitions);
    block_free(fixture->block);
    schema_unref(fixture->schema);
    arena_free(fixture->arena);
}

static struct bytes key_text(uint32_t i, char text[KEY_SIZE])
{
    return bytes_of(text, (size_t)snprintf(text, KEY_SIZE, "reseller-%u:2026-08-01", i));
}

/* Keys [from, until) as one block brings them; their numbers are the caller's to free. */
static uint32_t *add_keys(struct fixture *fixture, uint32_t from, uint32_t until)
{
    char text[KEY_SIZE];
    uint32_t *numbers = memory_alloc((until - from) * sizeof(uint32_t));
    block_clear(fixture->block);
    for (uint32_t i = from; i < until; i++)
        block_dictionary_add(&fixture->block->partitions, key_text(i, text));
    columnar_partitions_add_all(&fixture->partitions, &fixture->block->partitions, numbers);
    return numbers;
}

static struct columnar_partition *add_one(struct fixture *fixture, uint32_t i)
{
    uint32_t *numbers = add_keys(fixture, i, i + 1);
    struct columnar_partition *partition = fixture->partitions.items[numbers[0]];
    memory_free(numbers);
    return partition;
}

/* 300,000 keys: some of them have one tag, and blocks come while places are being moved. */
Test(columnar_partitions, keys_are_numbered_as_they_first_come_and_found_again)
{
    enum { KEYS = 300000, BLOCK = 700 };
    struct fixture fixture;
    char text[KEY_SIZE];
    setup(&fixture);
    for (uint32_t from = 0; from < KEYS; from += BLOCK / 2) {
        uint32_t until = from + BLOCK < KEYS ? from + BLOCK : KEYS;
        uint32_t *numbers = add_keys(&fixture, from, until);
        for (uint32_t i = from; i < until; i++)
            cr_assert_eq(numbers[i - from], i);
        memory_free(numbers);
        cr_assert_eq(fixture.partitions.count, until);
    }
    for (uint32_t i = 0; i < KEYS; i++) {
        const struct columnar_partition *partition = fixture.partitions.items[i];
        struct bytes key = key_text(i, text);
        cr_assert_eq(columnar_partitions_find(&fixture.partitions, key), i);
        cr_assert(bytes_equal(columnar_partition_key(&fixture.partitions, partition), key));
    }
    cr_assert_eq(columnar_partitions_find(&fixture.partitions, key_text(KEYS, text)), UINT32_MAX);
    teardown(&fixture);
}

Test(columnar_partitions, a_new_one_is_without_rows_at_every_frame)
{
    struct fixture fixture;
    setup(&fixture);
    const struct columnar_partition *partition = add_one(&fixture, 0);
    for (uint64_t frame = 0; frame < 3; frame++) {
        const struct columnar_slot *slot =
            columnar_partitions_as_of(&fixture.partitions, partition, frame);
        cr_assert_eq(packed_stats_rows(&slot->stats), 0);
    }
    for (uint32_t i = 0; i < COLUMNS; i++) {
        cr_assert_eq(partition->bases[i], 0);
        cr_assert_eq(columnar_partition_flags(&fixture.partitions, partition)[i], 0);
    }
    teardown(&fixture);
}

static void write_row(struct fixture *fixture, struct columnar_partition *partition, uint64_t frame,
                      uint8_t scale)
{
    columnar_partitions_touch(&fixture->partitions, partition, frame, (int64_t)frame);
    struct packed_stats *stats = &partition->newest.stats;
    const struct partition_stats more = {.rows = 1, .scale_count = 1, .inline_sum = {scale, 1, 5}};
    fixture->partitions.sums_bytes -= packed_stats_bytes(stats);
    packed_stats_add(stats, &more);
    fixture->partitions.sums_bytes += packed_stats_bytes(stats);
}

static uint64_t rows_at(const struct fixture *fixture, const struct columnar_partition *partition,
                        uint64_t frame)
{
    const struct columnar_slot *slot =
        columnar_partitions_as_of(&fixture->partitions, partition, frame);
    cr_assert_leq(slot->frame, frame);
    cr_assert_eq(slot->timestamp_us, (int64_t)slot->frame);
    return packed_stats_rows(&slot->stats);
}

/* Every way in which three partitions can be touched by four frames, seen from the last three. */
Test(columnar_partitions, the_last_two_frames_can_be_taken_away_whatever_they_touched)
{
    enum { PARTITIONS = 3, FRAMES = 4, WAYS = 1 << (PARTITIONS * FRAMES) };
    for (uint32_t way = 0; way < WAYS; way++) {
        struct fixture fixture;
        uint64_t rows[PARTITIONS][FRAMES + 1] = {0};
        struct columnar_partition *partitions[PARTITIONS];
        setup(&fixture);
        for (uint32_t p = 0; p < PARTITIONS; p++)
            partitions[p] = add_one(&fixture, p);
        for (uint32_t frame = 1; frame <= FRAMES; frame++) {
            for (uint32_t p = 0; p < PARTITIONS; p++) {
                uint32_t count = way >> (p * FRAMES + frame - 1) & 1 ? p + 1 : 0;
                for (uint32_t i = 0; i < count; i++)
                    write_row(&fixture, partitions[p], frame, 2);
                rows[p][frame] = rows[p][frame - 1] + count;
            }
            for (uint32_t p = 0; p < PARTITIONS; p++)
                for (uint32_t at = frame < 2 ? 0 : frame - 2; at <= frame; at++)
                    cr_assert_eq(rows_at(&fixture, partitions[p], at), rows[p][at],
                                 "way %u, partition %u, frame %u of %u", way, p, at, frame);
        }
        teardown(&fixture);
    }
}

Test(columnar_partitions, sums_of_several_scales_are_kept_and_given_back)
{
    struct fixture fixture;
    setup(&fixture);
    struct columnar_partition *partition = add_one(&fixture, 0);
    for (uint64_t frame = 1; frame <= 20; frame++) {
        write_row(&fixture, partition, frame, (uint8_t)(frame % 5));
        for (uint64_t at = frame < 2 ? 0 : frame - 2; at <= frame; at++)
            cr_assert_eq(rows_at(&fixture, partition, at), at);
    }
    /* Its own, and those of the last two frames. */
    cr_assert_eq(fixture.partitions.sums_bytes, 3 * packed_stats_bytes(&partition->newest.stats));
    teardown(&fixture);
}

Test(columnar_partitions, a_list_of_a_frame_is_used_again)
{
    enum { PARTITIONS = 1000 };
    struct fixture fixture;
    setup(&fixture);
    memory_free(add_keys(&fixture, 0, PARTITIONS));
    size_t bytes = 0;
    for (uint64_t frame = 1; frame <= 50; frame++) {
        for (uint32_t p = 0; p < PARTITIONS; p++)
            write_row(&fixture, fixture.partitions.items[p], frame, 2);
        if (frame == 4)
            bytes = columnar_partitions_bytes(&fixture.partitions);
        if (frame > 4)
            cr_assert_eq(columnar_partitions_bytes(&fixture.partitions), bytes);
    }
    teardown(&fixture);
}

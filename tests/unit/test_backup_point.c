/* The record of a backup: what is written is read, and nothing else is. */
#include <string.h>

#include <criterion/criterion.h>

#include "base/crc32c.h"
#include "rollup/tables.h"
#include "storage/backup/backup_point.h"
#include "base/memory.h"

static struct segment_info infos[2] = {{.id = 9,
                                        .table_id = 1,
                                        .kind = SEGMENT_COLUMNAR,
                                        .frame_first = 1,
                                        .frame_last = 4,
                                        .size = 12288,
                                        .rows = 7,
                                        .partitions = 2,
                                        .timestamp_max_us = 77,
                                        .schema_version = 1},
                                       {.id = 3,
                                        .table_id = 2,
                                        .kind = SEGMENT_ROW,
                                        .frame_first = 1,
                                        .frame_last = 4,
                                        .size = 8192,
                                        .rows = 1,
                                        .partitions = 1,
                                        .timestamp_max_us = 76,
                                        .schema_version = 1}};
static struct hash128 hashes[2] = {{1, 2}, {3, 4}};
static struct backup_log_file files[2] = {{{5, 4096}, {5, 6}}, {{7, 0}, {7, 8}}};

static void encode(struct buffer *to)
{
    struct schema *schema = schema_new();
    cr_assert_eq(schema_add_keyspace(schema, "k", NULL), 0);
    struct backup_point point = {.number = 12,
                                 .frame = 6,
                                 .timestamp_us = 99,
                                 .taken_us = 100,
                                 .segment_hashes = hashes,
                                 .log = files,
                                 .log_count = 2};
    point.state = (struct manifest_state){.properties = bytes_text("zone=UTC\n"),
                                          .schema = schema,
                                          .segments = infos,
                                          .segment_count = 2,
                                          .segment_id_next = 10,
                                          .flushed_frame = 4};
    memset(point.state.directory_id, 0xab, 16);
    manifest_state_sort(&point.state);
    backup_point_encode(&point, to);
    schema_unref(schema);
}

Test(backup_point, that_is_written_is_read_again)
{
    struct buffer bytes = {0};
    struct backup_point point;
    encode(&bytes);
    cr_assert_eq(backup_point_decode(buffer_view(&bytes), &point, NULL), 0);
    cr_assert(point.number == 12 && point.frame == 6 && point.timestamp_us == 99 &&
              point.taken_us == 100 && point.state.flushed_frame == 4);
    cr_assert(point.state.segment_count == 2 && point.log_count == 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct hash128 *hash = backup_point_segment(&point, point.state.segments[i].id);
        cr_assert_eq(memcmp(&point.state.segments[i], &infos[i], sizeof infos[i]), 0);
        cr_assert(hash->low == hashes[i].low && hash->high == hashes[i].high);
        cr_assert_eq(memcmp(&point.log[i], &files[i], sizeof files[i]), 0);
    }
    cr_assert_null(backup_point_segment(&point, 4));
    backup_point_release(&point);
    buffer_release(&bytes);
}

Test(backup_point, that_is_cut_or_has_a_bit_turned_over_is_damage)
{
    struct buffer bytes = {0};
    struct backup_point point;
    encode(&bytes);
    for (size_t size = 0; size < bytes.size; size++) {
        struct bytes cut = bytes_of(bytes.data, size);
        cr_assert_eq(backup_point_decode(cut, &point, NULL), ERROR_CORRUPT);
    }
    for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cr_assert_eq(backup_point_decode(buffer_view(&bytes), &point, NULL), ERROR_CORRUPT);
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    buffer_release(&bytes);
}

Test(backup_point, of_a_newer_version_is_refused_with_what_to_do)
{
    struct buffer bytes = {0};
    struct backup_point point;
    struct error err = {0};
    encode(&bytes);
    store_u32(bytes.data + 8, 3);
    store_u32(bytes.data + bytes.size - 4, crc32c(0, bytes.data, bytes.size - 4));
    cr_assert_eq(backup_point_decode(buffer_view(&bytes), &point, &err), ERROR_NEWER_FORMAT);
    cr_assert_not_null(strstr(err.text, "format 3, this program knows 2; restore with"));
    buffer_release(&bytes);
}

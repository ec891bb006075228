/* test_commit_log: what was appended is replayed, and nothing else; damage is never a torn tail.
 *
 * Method: the real log on the simulated world, whose files the tests then change byte by byte, and
 * whose calls they make fail.  Crashes that lose writes are tests/sim/test_commit_log_crash.c's. */
#include "storage/log/commit_log.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/memory.h"
#include "storage/log/commit_log_private.h"
#include "tests/sim/sim_world.h"

enum { FILE_SIZE = 64 << 10, FRAMES_MAX = 256 };

static const uint32_t first_file = 1;

/* A log under test, and what it replayed. */
struct bench {
    struct sim_world *sim;
    struct world *world;
    struct commit_log_options options;
    struct commit_log *log;
    struct error err;
    uint64_t replayed[FRAMES_MAX];
    uint64_t replayed_count;
    bool is_content_wrong;
    struct buffer expected[FRAMES_MAX]; /* by frame, as far as one was ever replayed */
    uint64_t durable_frame;
    int durable_status;
    int durable_calls;
    int room_calls;
};

/* Every frame's payload follows from its number and size. */
static void payload_fill(struct buffer *payload, uint64_t frame, size_t size)
{
    buffer_clear(payload);
    buffer_reserve(payload, size);
    for (size_t i = 0; i < size; i++)
        payload->data[i] = (uint8_t)(frame * 31 + i * 7 + i / 251);
    payload->size = size;
}

static int bench_replay(void *context, uint64_t frame, int64_t timestamp_us, struct bytes payload,
                        struct error *err)
{
    struct bench *bench = context;

    (void)err;
    cr_assert_lt(frame, FRAMES_MAX);
    struct buffer *expected = &bench->expected[frame];
    if (expected->size != payload.size)
        payload_fill(expected, frame, payload.size);
    if (!bytes_equal(payload, buffer_view(expected)) || timestamp_us != (int64_t)frame * 1000)
        bench->is_content_wrong = true;
    cr_assert_lt(bench->replayed_count, FRAMES_MAX);
    bench->replayed[bench->replayed_count++] = frame;
    return 0;
}

static void bench_durable(void *context, int status, uint64_t frame)
{
    struct bench *bench = context;

    bench->durable_calls++;
    bench->durable_status = status;
    bench->durable_frame = frame;
}

static void bench_room(void *context)
{
    ((struct bench *)context)->room_calls++;
}

static void bench_init(struct bench *bench)
{
    memset(bench, 0, sizeof(*bench));
    bench->options.file_size = FILE_SIZE;
    bench->options.first_file_size = FILE_SIZE;
    bench->sim = sim_world_new(1);
    bench->world = sim_world_interface(bench->sim);
}

static int bench_open(struct bench *bench)
{
    int rc;

    bench->replayed_count = 0;
    bench->err.text[0] = '\0';
    rc = commit_log_open(bench->world, &bench->options, bench_replay, bench_durable, bench,
                         &bench->log, &bench->err);
    if (rc == 0)
        commit_log_on_space(bench->log, bench_room, NULL, bench);
    cr_assert_not(bench->is_content_wrong);
    return rc;
}

static void bench_step(struct bench *bench)
{
    cr_assert(bench->world->executor->step(bench->world->executor));
}

static void bench_append(struct bench *bench, size_t size)
{
    struct buffer payload = {0};
    uint64_t frame = commit_log_status(bench->log)->frame_next;

    payload_fill(&payload, frame, size);
    while (!commit_log_has_room(bench->log, size))
        bench_step(bench);
    commit_log_append(bench->log, (int64_t)frame * 1000, &payload);
    while (commit_log_status(bench->log)->is_writing)
        bench_step(bench);
    cr_assert_eq(bench->durable_status, 0);
    cr_assert_eq(bench->durable_frame, frame);
    buffer_release(&payload);
}

static void bench_close(struct bench *bench)
{
    commit_log_close(bench->log);
    bench->log = NULL;
}

/* Go on with the directory as a killed process leaves it. */
static void bench_kill(struct bench *bench)
{
    struct sim_world *killed = bench->sim;

    bench->sim = sim_world_restart(killed, 1);
    commit_log_close(bench->log);
    sim_world_free(killed);
    bench->log = NULL;
    bench->world = sim_world_interface(bench->sim);
}

static void bench_release(struct bench *bench)
{
    commit_log_close(bench->log);
    sim_world_free(bench->sim);
    for (size_t i = 0; i < FRAMES_MAX; i++)
        buffer_release(&bench->expected[i]);
}

static void log_read(struct bench *bench, uint32_t id, uint64_t offset, void *to, size_t size)
{
    struct disk *disk = bench->world->disk;
    char path[COMMIT_LOG_PATH];
    struct disk_file *file;

    commit_log_path(id, path);
    cr_assert_eq(disk->open(disk, path, DISK_READ, &file, NULL), 0);
    cr_assert_eq(disk->read(disk, file, offset, to, size), (int64_t)size);
    disk->close(disk, file);
}

static void log_write(struct bench *bench, uint32_t id, uint64_t offset, const void *from,
                      size_t size)
{
    struct disk *disk = bench->world->disk;
    char path[COMMIT_LOG_PATH];
    struct disk_file *file;

    commit_log_path(id, path);
    cr_assert_eq(disk->open(disk, path, DISK_WRITE, &file, NULL), 0);
    cr_assert_eq(disk->write(disk, file, offset, from, size), 0);
    cr_assert_eq(disk->sync(disk, file), 0);
    disk->close(disk, file);
}

static void log_zero(struct bench *bench, uint32_t id, uint64_t offset, size_t size)
{
    void *zeros = memory_zeroed(1, size);

    log_write(bench, id, offset, zeros, size);
    memory_free(zeros);
}

/* Make file 1 shorter than it is. */
static void log_cut(struct bench *bench, const uint8_t *content, size_t size)
{
    struct disk *disk = bench->world->disk;
    char path[COMMIT_LOG_PATH];
    struct disk_file *file;

    commit_log_path(first_file, path);
    cr_assert_eq(disk->remove(disk, path), 0);
    cr_assert_eq(disk->open(disk, path, DISK_WRITE | DISK_CREATE, &file, NULL), 0);
    if (size > 0)
        cr_assert_eq(disk->write(disk, file, 0, content, size), 0);
    disk->close(disk, file);
}

static void count_name(void *context, const char *name)
{
    (void)name;
    ++*(int *)context;
}

static int log_file_count(struct bench *bench)
{
    int count = 0;

    (void)bench->world->disk->list(bench->world->disk, "log", count_name, &count);
    return count;
}

static int archived_count(struct bench *bench)
{
    int count = 0;

    (void)bench->world->disk->list(bench->world->disk, "archive", count_name, &count);
    return count;
}

static void expect_replayed(const struct bench *bench, uint64_t first, uint64_t last)
{
    cr_assert_eq(bench->replayed_count, last + 1 - first, "%" PRIu64 " frames replayed",
                 bench->replayed_count);
    for (uint64_t i = 0; i < bench->replayed_count; i++)
        cr_assert_eq(bench->replayed[i], first + i);
    cr_assert_eq(commit_log_status(bench->log)->frame_next, last + 1);
}

/* ---- bytes ---- */

Test(commit_log, record_sizes_are_whole_blocks)
{
    static const struct {
        size_t payload;
        uint64_t sectors;
        uint64_t bytes;
    } rows[] = {
        {0, 1, 4096},    {456, 1, 4096},  {457, 2, 4096},
        {3956, 8, 4096}, {3957, 9, 8192}, {32 << 20, 67109, 8389 * 4096},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_expect_eq(commit_log_record_sectors(rows[i].payload), rows[i].sectors);
        cr_expect_eq(commit_log_record_bytes(rows[i].payload), rows[i].bytes);
    }
}

static struct commit_log_header header_example(void)
{
    struct commit_log_header header = {.kind = COMMIT_LOG_FRAME,
                                       .file_id = 3,
                                       .frame = 7,
                                       .payload_size = 1000,
                                       .timestamp_us = 1385654400123000,
                                       .previous_crc = 0x11223344,
                                       .payload_crc = 0x55667788};

    return header;
}

Test(commit_log, header_reads_back)
{
    struct commit_log_header header = header_example(), decoded;
    uint8_t bytes[COMMIT_LOG_HEADER];

    commit_log_header_encode(&header, bytes);
    cr_assert_eq(commit_log_header_decode(bytes, &decoded, NULL), 0);
    cr_assert_eq(decoded.kind, header.kind);
    cr_assert_eq(decoded.file_id, header.file_id);
    cr_assert_eq(decoded.frame, header.frame);
    cr_assert_eq(decoded.payload_size, header.payload_size);
    cr_assert_eq(decoded.timestamp_us, header.timestamp_us);
    cr_assert_eq(decoded.previous_crc, header.previous_crc);
    cr_assert_eq(decoded.payload_crc, header.payload_crc);
    cr_assert_eq(decoded.crc, header.crc);
}

Test(commit_log, header_with_any_bit_flipped_is_refused)
{
    struct commit_log_header header = header_example(), decoded;
    uint8_t bytes[COMMIT_LOG_HEADER];

    commit_log_header_encode(&header, bytes);
    for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cr_expect_eq(commit_log_header_decode(bytes, &decoded, NULL), ERROR_CORRUPT);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

Test(commit_log, stamp_tells_present_old_and_damaged_sectors_apart)
{
    uint8_t sector[COMMIT_LOG_SECTOR] = {0};

    cr_assert_eq(commit_log_sector_check(sector, 3, 7), COMMIT_LOG_SECTOR_OLD);
    sector[511] = 1;
    cr_assert_eq(commit_log_sector_check(sector, 3, 7), COMMIT_LOG_SECTOR_DAMAGED);
    commit_log_stamp(3, 7, sector);
    cr_assert_eq(commit_log_sector_check(sector, 3, 7), COMMIT_LOG_SECTOR_PRESENT);
    cr_assert_eq(commit_log_sector_check(sector, 4, 7), COMMIT_LOG_SECTOR_OLD);
    cr_assert_eq(commit_log_sector_check(sector, 2, 7), COMMIT_LOG_SECTOR_DAMAGED);
    cr_assert_eq(commit_log_sector_check(sector, 3, 8), COMMIT_LOG_SECTOR_DAMAGED);
    for (size_t bit = 0; bit < 8 * COMMIT_LOG_STAMP; bit++) {
        sector[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cr_expect_eq(commit_log_sector_check(sector, 3, 7), COMMIT_LOG_SECTOR_DAMAGED);
        sector[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

/* ---- append and replay ---- */

Test(commit_log, new_log_begins_with_frame_one)
{
    struct bench bench;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
    expect_replayed(&bench, 1, 0);
    cr_assert_eq(commit_log_status(bench.log)->frame_durable, 0);
    cr_assert_eq(commit_log_status(bench.log)->timestamp_last_us, 0);
    cr_assert(commit_log_has_room(bench.log, 1000));
    bench_release(&bench);
}

Test(commit_log, frames_of_all_sizes_are_replayed_in_order)
{
    static const size_t sizes[] = {0,       1,       455,        456,           457,
                                   956,     957,     3956,       3957,          65536,
                                   1 << 20, 1023900, 1024 * 500, (3 << 20) + 1, 5};
    size_t count = sizeof(sizes) / sizeof(sizes[0]);
    struct bench bench;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench), 0);
    for (size_t i = 0; i < count; i++)
        bench_append(&bench, sizes[i]);
    cr_assert_eq(commit_log_status(bench.log)->frame_durable, count);
    bench_close(&bench);
    cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
    expect_replayed(&bench, 1, count);
    cr_assert_eq(commit_log_status(bench.log)->timestamp_last_us, (int64_t)count * 1000);
    bench_release(&bench);
}

Test(commit_log, append_swaps_the_payload_for_an_empty_buffer)
{
    struct bench bench;
    struct buffer payload = {0};
    const uint8_t *first;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench), 0);
    payload_fill(&payload, 1, 100);
    first = payload.data;
    commit_log_append(bench.log, 1000, &payload);
    cr_assert_eq(payload.size, 0);
    while (commit_log_status(bench.log)->is_writing)
        bench_step(&bench);
    payload_fill(&payload, 2, 100);
    commit_log_append(bench.log, 2000, &payload);
    cr_assert_eq(payload.data, first);
    cr_assert_eq(payload.size, 0);
    while (commit_log_status(bench.log)->is_writing)
        bench_step(&bench);
    buffer_release(&payload);
    bench_release(&bench);
}

Test(commit_log, clean_stop_goes_on_in_the_same_file)
{
    struct bench bench;

    bench_init(&bench);
    bench.options.first_file_size = 4 * FILE_SIZE;
    bench.options.file_size = 8 * FILE_SIZE;
    for (uint64_t i = 0; i < 4; i++) {
        cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
        expect_replayed(&bench, 1, i);
        bench_append(&bench, 100);
        bench_close(&bench);
    }
    cr_assert_eq(log_file_count(&bench), 1);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(bench_open(&bench), 0);
        bench_close(&bench);
    }
    cr_assert_eq(bench_open(&bench), 0);
    expect_replayed(&bench, 1, 4);
    bench_release(&bench);
}

Test(commit_log, killed_log_goes_on_in_another_file)
{
    struct bench bench;

    bench_init(&bench);
    for (uint64_t i = 0; i < 4; i++) {
        cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
        expect_replayed(&bench, 1, 2 * i);
        bench_append(&bench, 100);
        bench_append(&bench, 5000);
        bench_kill(&bench);
    }
    cr_assert_eq(log_file_count(&bench), 4);
    cr_assert_eq(bench_open(&bench), 0);
    expect_replayed(&bench, 1, 8);
    bench_release(&bench);
}

/* Whichever way each opening ends, and wherever in its file, all frames are there. */
Test(commit_log, clean_and_unclean_stops_mix_at_every_fill_of_a_file)
{
    for (int fill = 0; fill < 17; fill++) {
        struct bench bench;
        uint64_t last = 0;

        bench_init(&bench);
        for (int round = 0; round < 6; round++) {
            cr_assert_eq(bench_open(&bench), 0, "fill %d: %s", fill, bench.err.text);
            expect_replayed(&bench, 1, last);
            for (int i = 0; i < (round == 0 ? fill : round); i++, last++)
                bench_append(&bench, 3000);
            if ((fill >> round % 4 & 1) != 0)
                bench_kill(&bench);
            else
                bench_close(&bench);
        }
        cr_assert_eq(bench_open(&bench), 0);
        expect_replayed(&bench, 1, last);
        bench_release(&bench);
    }
}

Test(commit_log, flushed_frames_are_not_replayed)
{
    struct bench bench;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench), 0);
    for (int i = 0; i < 40; i++)
        bench_append(&bench, 3000);
    bench_close(&bench);
    for (uint64_t flushed = 0; flushed <= 40; flushed++) {
        bench.options.flushed_frame = flushed;
        bench.options.read_only = true;
        cr_assert_eq(bench_open(&bench), 0);
        expect_replayed(&bench, flushed + 1, 40);
        bench_close(&bench);
    }
    bench_release(&bench);
}

/* Frames up to the purge may be replayed over anything, one behind it only over segments that have
 * it; which is told again in every life that finds no frame to say so. */
Test(commit_log, frame_behind_a_purge_is_refused_over_segments_without_it)
{
    struct bench bench;
    struct commit_log_end end;
    bench_init(&bench);
    cr_assert_eq(bench_open(&bench), 0);
    bench_append(&bench, 10);
    commit_log_note_purges(bench.log, 2);
    bench_append(&bench,
                 COMMIT_LOG_CONTENT - COMMIT_LOG_HEADER - 3); /* its end is in two sectors */
    bench_append(&bench, 20);
    bench_close(&bench);
    bench.options.purges = 1;
    cr_assert_eq(bench_open(&bench), ERROR_CONFLICT);
    cr_assert_not_null(strstr(bench.err.text, "frame 2 "), "%s", bench.err.text);
    cr_assert_eq(bench.replayed_count, 1);
    bench.options.purges = 3;
    cr_assert_eq(bench_open(&bench), 0);
    cr_assert_eq(bench.replayed_count, 3);
    bench_append(&bench, 30);
    bench_close(&bench);
    struct commit_log_range range = {
        .frame_until = UINT64_MAX, .timestamp_until_us = INT64_MAX, .purges = 2};
    cr_assert_eq(commit_log_scan(bench.world, &range, &end, &bench.err), ERROR_CONFLICT);
    cr_assert_eq(end.frame, 3);
    range.frame_until = 3;
    cr_assert_eq(commit_log_scan(bench.world, &range, &end, &bench.err), 0);
    range = (struct commit_log_range){
        .frame_after = 2, .frame_until = UINT64_MAX, .timestamp_until_us = INT64_MAX, .purges = 3};
    cr_assert_eq(commit_log_scan(bench.world, &range, &end, &bench.err), 0);
    cr_assert_eq(end.frame, 4);
    bench_release(&bench);
}

Test(commit_log, files_of_flushed_frames_are_used_again)
{
    struct bench bench;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench), 0);
    for (uint64_t frame = 1; frame <= 250; frame++) {
        bench_append(&bench, 9000);
        if (frame > 8)
            commit_log_flushed(bench.log, frame - 8);
        cr_assert_leq(commit_log_disk_bytes(bench.log), 7 * FILE_SIZE);
        if (frame % 70 == 0) {
            bench.options.flushed_frame = frame - 8;
            if (frame % 140 == 0)
                bench_kill(&bench);
            else
                bench_close(&bench);
            cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
            expect_replayed(&bench, frame - 7, frame);
        }
    }
    cr_assert_leq(log_file_count(&bench), 7);
    bench_release(&bench);
}

/* Frames 1 to 60, five to a file, of which 55 are flushed at once. */
static void fill_archive(struct bench *bench)
{
    for (uint64_t frame = 1; frame <= 60; frame++)
        bench_append(bench, 9000);
    commit_log_flushed(bench->log, 55);
}

/* After the next opening, archive and log have the last frames without a gap. */
static void expect_newest_archived(struct bench *bench)
{
    const struct commit_log_range range = {.frame_after = 45,
                                           .frame_until = 60,
                                           .timestamp_until_us = INT64_MAX,
                                           .with_archive = true,
                                           .purges = UINT64_MAX};

    bench_close(bench);
    bench->options.flushed_frame = 55;
    cr_assert_eq(bench_open(bench), 0, "%s", bench->err.text);
    bench->replayed_count = 0;
    cr_expect_eq(commit_log_read(bench->world, &range, bench_replay, bench, &bench->err), 0, "%s",
                 bench->err.text);
    expect_replayed(bench, 46, 60);
}

Test(commit_log, an_archive_over_its_limit_keeps_the_newest_files_of_one_flush)
{
    struct bench bench;

    bench_init(&bench);
    bench.options.archive_bytes = 3 * FILE_SIZE;
    cr_assert_eq(bench_open(&bench), 0);
    fill_archive(&bench);
    expect_newest_archived(&bench);
    bench_release(&bench);
}

Test(commit_log, a_file_that_cannot_be_moved_to_the_archive_is_moved_later)
{
    struct bench bench;

    bench_init(&bench);
    bench.options.archive_bytes = 3 * FILE_SIZE;
    cr_assert_eq(bench_open(&bench), 0);
    for (uint64_t frame = 1; frame <= 20; frame++)
        bench_append(&bench, 9000);
    while (commit_log_status(bench.log)->is_busy)
        bench_step(&bench);
    sim_disk_fail(sim_world_disk(bench.sim), SIM_RENAME, 1, -EIO, true);
    commit_log_flushed(bench.log, 15);
    while (commit_log_status(bench.log)->is_busy)
        bench_step(&bench);
    cr_expect_eq(archived_count(&bench), 0);
    sim_disk_fail(sim_world_disk(bench.sim), SIM_RENAME, 1, 0, true);
    while (archived_count(&bench) < 3)
        bench_step(&bench);
    bench_close(&bench);
    bench_release(&bench);
}

/* The files that the pin kept come to the archive after newer ones, and leave it before them. */
Test(commit_log, an_archive_over_its_limit_keeps_the_newest_files_after_a_narrowed_pin)
{
    struct bench bench;
    struct commit_log_pin pin;

    bench_init(&bench);
    bench.options.archive_bytes = 3 * FILE_SIZE;
    cr_assert_eq(bench_open(&bench), 0);
    commit_log_pin(bench.log, &pin, 0);
    commit_log_pin_narrow(bench.log, &pin, 2);
    fill_archive(&bench);
    while (commit_log_status(bench.log)->is_busy)
        bench_step(&bench);
    commit_log_unpin(bench.log, &pin);
    expect_newest_archived(&bench);
    bench_release(&bench);
}

Test(commit_log, unflushed_bytes_fall_to_zero_when_all_is_flushed)
{
    struct bench bench;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench), 0);
    for (int i = 0; i < 10; i++)
        bench_append(&bench, 5000);
    cr_assert_eq(commit_log_unflushed_bytes(bench.log), 10 * 8192);
    bench_close(&bench);
    bench.options.flushed_frame = 3;
    cr_assert_eq(bench_open(&bench), 0);
    cr_assert_eq(commit_log_unflushed_bytes(bench.log), 7 * 8192);
    commit_log_flushed(bench.log, 10);
    cr_assert_eq(commit_log_unflushed_bytes(bench.log), 0);
    bench_release(&bench);
}

Test(commit_log, frame_larger_than_a_file_gets_a_file_of_its_own)
{
    struct bench bench;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench), 0);
    bench_append(&bench, 10);
    cr_assert_not(commit_log_has_room(bench.log, 3 << 20));
    while (bench.room_calls == 0)
        bench_step(&bench);
    bench_append(&bench, 3 << 20);
    bench_append(&bench, 10);
    cr_assert_not(commit_log_has_room(bench.log, COMMIT_LOG_PAYLOAD_MAX + 1));
    bench_kill(&bench);
    cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
    expect_replayed(&bench, 1, 3);
    bench_release(&bench);
}

Test(commit_log, read_only_opening_writes_nothing)
{
    struct bench bench;
    uint8_t before[FILE_SIZE], after[FILE_SIZE];

    bench_init(&bench);
    bench.options.read_only = true;
    cr_assert_eq(bench_open(&bench), 0);
    expect_replayed(&bench, 1, 0);
    cr_assert_not(commit_log_has_room(bench.log, 1));
    bench_close(&bench);
    cr_assert_eq(log_file_count(&bench), 0);
    bench.options.read_only = false;
    cr_assert_eq(bench_open(&bench), 0);
    bench_append(&bench, 100);
    bench_kill(&bench);
    log_read(&bench, first_file, 0, before, sizeof(before));
    bench.options.read_only = true;
    cr_assert_eq(bench_open(&bench), 0);
    expect_replayed(&bench, 1, 1);
    bench_close(&bench);
    log_read(&bench, first_file, 0, after, sizeof(after));
    cr_assert_eq(memcmp(before, after, sizeof(before)), 0);
    cr_assert_eq(log_file_count(&bench), 1);
    bench_release(&bench);
}

/* ---- torn or damaged ---- */

/* Three frames of 1, 9 and 9 sectors in file 1: at 0, 4096 and 12288, then nothing. */
static void bench_three_frames(struct bench *bench, bool is_clean)
{
    bench_init(bench);
    cr_assert_eq(bench_open(bench), 0);
    bench_append(bench, 100);
    bench_append(bench, 4200);
    bench_append(bench, 4200);
    if (is_clean)
        bench_close(bench);
    else
        bench_kill(bench);
    bench->options.read_only = true;
}

Test(commit_log, last_frame_that_lacks_a_sector_is_dropped)
{
    for (uint64_t sector = 0; sector < 9; sector++) {
        struct bench bench;

        bench_three_frames(&bench, false);
        log_zero(&bench, first_file, 12288 + sector * COMMIT_LOG_SECTOR, COMMIT_LOG_SECTOR);
        bench.options.read_only = false;
        cr_assert_eq(bench_open(&bench), 0, "sector %" PRIu64 ": %s", sector, bench.err.text);
        expect_replayed(&bench, 1, 2);
        bench_append(&bench, 4200);
        bench_kill(&bench);
        cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
        expect_replayed(&bench, 1, 3);
        bench_release(&bench);
    }
}

Test(commit_log, earlier_frame_that_lacks_a_sector_is_damage)
{
    for (uint64_t sector = 0; sector < 9; sector++) {
        struct bench bench;
        char where[64];

        bench_three_frames(&bench, false);
        log_zero(&bench, first_file, 4096 + sector * COMMIT_LOG_SECTOR, COMMIT_LOG_SECTOR);
        cr_assert_eq(bench_open(&bench), ERROR_CORRUPT, "sector %" PRIu64, sector);
        snprintf(where, sizeof(where), "log/00000001.log, byte 4096, frame 2");
        cr_expect(strstr(bench.err.text, where) != NULL, "%s", bench.err.text);
        cr_expect(strstr(bench.err.text, "--salvage") != NULL, "%s", bench.err.text);
        bench_release(&bench);
    }
}

/* A flip in what no frame covers (the filling of blocks, records not written) goes unnoticed; one
 * in a frame must never drop it. */
Test(commit_log, flipped_bit_never_loses_a_frame_silently)
{
    for (int is_clean = 0; is_clean < 2; is_clean++) {
        struct bench bench;
        int noticed = 0;

        bench_three_frames(&bench, is_clean != 0);
        for (uint64_t at = 0; at < 20480 + COMMIT_LOG_SECTOR; at++) {
            uint8_t byte, flipped;

            log_read(&bench, first_file, at, &byte, 1);
            for (int bit = (int)(at % 3); bit < 8; bit += 3) {
                int rc;

                flipped = (uint8_t)(byte ^ 1 << bit);
                log_write(&bench, first_file, at, &flipped, 1);
                rc = bench_open(&bench);
                if (rc == 0) {
                    expect_replayed(&bench, 1, 3);
                    bench_close(&bench);
                } else {
                    cr_assert_eq(rc, ERROR_CORRUPT, "byte %" PRIu64 " bit %d", at, bit);
                    noticed++;
                }
            }
            log_write(&bench, first_file, at, &byte, 1);
        }
        cr_assert_gt(noticed, 8000 * 8 / 3);
        bench_release(&bench);
    }
}

Test(commit_log, cut_file_is_read_up_to_its_end)
{
    struct bench bench;
    uint8_t content[FILE_SIZE];

    bench_three_frames(&bench, false);
    log_read(&bench, first_file, 0, content, sizeof(content));
    for (size_t size = FILE_SIZE; size > 0; size -= size > 20480 ? 4096 : 64) {
        int rc;

        log_cut(&bench, content, size);
        rc = bench_open(&bench);
        if (rc == 0)
            bench_close(&bench);
        else
            cr_assert_eq(rc, ERROR_CORRUPT);
        if (size >= 20480)
            cr_assert_eq(bench.replayed_count, 3);
    }
    bench_release(&bench);
}

Test(commit_log, frame_number_that_is_missing_is_damage)
{
    struct bench bench;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench), 0);
    for (int i = 0; i < 40; i++)
        bench_append(&bench, 3000);
    bench_close(&bench);
    cr_assert_geq(log_file_count(&bench), 3);
    cr_assert_eq(bench.world->disk->remove(bench.world->disk, "log/00000002.log"), 0);
    cr_assert_eq(bench_open(&bench), ERROR_CORRUPT);
    bench.options.flushed_frame = 38;
    cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
    expect_replayed(&bench, 39, 40);
    bench_release(&bench);
}

/* A restored directory has one, or it would look like one whose log is gone. */
Test(commit_log, log_that_is_missing_wholly_is_damage_and_an_empty_file_is_none)
{
    struct bench bench;
    struct disk_file *file;

    bench_init(&bench);
    bench.options.flushed_frame = 12;
    cr_assert_eq(bench_open(&bench), ERROR_CORRUPT);
    cr_assert_eq(bench.world->disk->open(bench.world->disk, "log/00000007.log",
                                         DISK_WRITE | DISK_CREATE, &file, NULL),
                 0);
    cr_assert_eq(bench.world->disk->allocate(bench.world->disk, file, 4096), 0);
    bench.world->disk->close(bench.world->disk, file);
    cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
    expect_replayed(&bench, 13, 12);
    bench_append(&bench, 10);
    bench_kill(&bench);
    cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
    expect_replayed(&bench, 13, 13);
    bench_release(&bench);
}

Test(commit_log, salvage_keeps_a_copy_and_goes_on_before_the_damage)
{
    struct bench bench;
    struct disk_file *copy;
    uint8_t byte;

    bench_three_frames(&bench, true);
    log_read(&bench, first_file, 5000, &byte, 1);
    byte ^= 1;
    log_write(&bench, first_file, 5000, &byte, 1);
    bench.options.read_only = false;
    cr_assert_eq(bench_open(&bench), ERROR_CORRUPT);
    bench.options.salvage = true;
    cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
    cr_assert(strstr(bench.err.text, "frame 2") != NULL, "%s", bench.err.text);
    expect_replayed(&bench, 1, 1);
    cr_assert_eq(bench.world->disk->open(bench.world->disk, "log/00000001.damaged-1", DISK_READ,
                                         &copy, NULL),
                 0);
    cr_assert_eq(bench.world->disk->size(bench.world->disk, copy), FILE_SIZE);
    bench.world->disk->close(bench.world->disk, copy);
    bench_append(&bench, 100);
    bench_close(&bench);
    bench.options.salvage = false;
    cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
    expect_replayed(&bench, 1, 2);
    bench_release(&bench);
}

Test(commit_log, newer_format_is_refused_as_such)
{
    struct bench bench;
    uint8_t header[COMMIT_LOG_HEADER];

    bench_three_frames(&bench, true);
    log_read(&bench, first_file, COMMIT_LOG_STAMP, header, sizeof(header));
    header[4] = 2;
    store_u32(header + 40, crc32c(0, header, 40));
    log_write(&bench, first_file, COMMIT_LOG_STAMP, header, sizeof(header));
    cr_assert_eq(bench_open(&bench), ERROR_NEWER_FORMAT);
    bench_release(&bench);
}

static int replay_refuse(void *context, uint64_t frame, int64_t timestamp_us, struct bytes payload,
                         struct error *err)
{
    (void)context;
    (void)timestamp_us;
    (void)payload;
    return frame == 2 ? error_set(err, ERROR_LIMIT, "no more") : 0;
}

Test(commit_log, error_of_the_replay_is_passed_on)
{
    struct bench bench;
    struct commit_log *log;

    bench_three_frames(&bench, true);
    bench.options.salvage = true;
    cr_assert_eq(commit_log_open(bench.world, &bench.options, replay_refuse, bench_durable, &bench,
                                 &log, &bench.err),
                 ERROR_LIMIT);
    cr_assert_str_eq(bench.err.text, "no more");
    bench_release(&bench);
}

/* ---- the disk fails ---- */

Test(commit_log, full_disk_is_waited_out)
{
    struct bench bench;
    uint64_t last;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench), 0);
    sim_disk_set_space(sim_world_disk(bench.sim), FILE_SIZE + 4096);
    while (commit_log_has_room(bench.log, 3000))
        bench_append(&bench, 3000);
    last = commit_log_status(bench.log)->frame_durable;
    cr_assert_gt(last, 10);
    sim_world_run_us(bench.sim, 3000000);
    cr_assert_eq(bench.room_calls, 0);
    cr_assert_not(commit_log_has_room(bench.log, 3000));
    sim_disk_set_space(sim_world_disk(bench.sim), 100 * FILE_SIZE);
    sim_world_run_us(bench.sim, 1000000);
    cr_assert_eq(bench.room_calls, 1);
    cr_assert(commit_log_has_room(bench.log, 3000));
    bench_append(&bench, 3000);
    bench_kill(&bench);
    cr_assert_eq(bench_open(&bench), 0);
    expect_replayed(&bench, 1, last + 1);
    bench_release(&bench);
}

Test(commit_log, flush_makes_room_on_a_full_disk)
{
    struct bench bench;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench), 0);
    sim_disk_set_space(sim_world_disk(bench.sim), 2 * FILE_SIZE + 4096);
    while (commit_log_has_room(bench.log, 3000) || commit_log_status(bench.log)->frame_next < 20)
        bench_append(&bench, 3000);
    commit_log_flushed(bench.log, commit_log_status(bench.log)->frame_durable);
    bench_step(&bench);
    while (bench.room_calls == 0)
        bench_step(&bench);
    cr_assert(commit_log_has_room(bench.log, 3000));
    bench_release(&bench);
}

Test(commit_log, opening_on_a_full_disk_waits_for_space_too)
{
    struct bench bench;

    bench_init(&bench);
    sim_disk_set_space(sim_world_disk(bench.sim), 4096);
    cr_assert_eq(bench_open(&bench), 0);
    cr_assert_not(commit_log_has_room(bench.log, 100));
    sim_disk_set_space(sim_world_disk(bench.sim), 100 * FILE_SIZE);
    sim_world_run_us(bench.sim, 1000000);
    cr_assert_eq(bench.room_calls, 1);
    bench_append(&bench, 100);
    bench_release(&bench);
}

Test(commit_log, failed_write_or_sync_is_final_and_said_once)
{
    static const enum sim_call calls[] = {SIM_WRITE, SIM_SYNC};

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct bench bench;
        struct buffer payload = {0};

        bench_init(&bench);
        cr_assert_eq(bench_open(&bench), 0);
        bench_append(&bench, 5000);
        bench.durable_calls = 0;
        sim_disk_fail(sim_world_disk(bench.sim), calls[i], 1, -EIO, false);
        payload_fill(&payload, 2, 5000);
        commit_log_append(bench.log, 2000, &payload);
        while (commit_log_status(bench.log)->is_writing)
            bench_step(&bench);
        cr_assert_eq(bench.durable_calls, 1);
        cr_assert_eq(bench.durable_status, -EIO);
        cr_assert_eq(bench.durable_frame, 1);
        cr_assert_eq(commit_log_status(bench.log)->frame_durable, 1);
        cr_assert_not(commit_log_has_room(bench.log, 1));
        sim_world_run_us(bench.sim, 3000000);
        cr_assert_eq(bench.durable_calls, 1);
        bench_close(&bench);
        cr_assert_eq(bench_open(&bench), 0, "%s", bench.err.text);
        cr_assert_geq(bench.replayed_count, 1);
        buffer_release(&payload);
        bench_release(&bench);
    }
}

Test(commit_log, opening_syncs_what_a_killed_process_left)
{
    struct bench bench;

    bench_three_frames(&bench, false);
    bench.options.read_only = false;
    sim_disk_fail(sim_world_disk(bench.sim), SIM_SYNC, 1, -EIO, false);
    cr_assert_eq(bench_open(&bench), -EIO);
    cr_assert_eq(bench_open(&bench), 0);
    expect_replayed(&bench, 1, 3);
    bench_release(&bench);
}

Test(commit_log, file_that_cannot_be_read_is_an_error_and_not_damage)
{
    struct bench bench;

    bench_three_frames(&bench, true);
    sim_disk_fail(sim_world_disk(bench.sim), SIM_READ, 2, -EIO, false);
    bench.options.salvage = true;
    cr_assert_eq(bench_open(&bench), -EIO);
    cr_assert_eq(bench_open(&bench), 0);
    expect_replayed(&bench, 1, 3);
    bench_release(&bench);
}

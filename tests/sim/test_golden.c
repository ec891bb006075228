/* Files of every released format are read for ever, and those of a newer one refused by name.
 *
 * Method: the golden files are put on a simulated disk and opened; what is in them must be what was
 * written down when they were made. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/crc32c.h"
#include "storage/backup/backup_restore.h"
#include "tests/lib/golden.h"
#include "tests/lib/rollup_fixture.h"

static const char *const versions[] = {"tests/golden/v1", "tests/golden/v2", "tests/golden/v3"};
enum { VERSIONS = sizeof versions / sizeof versions[0] };

static struct sim_world *load(const char *version, const char *name)
{
    char path[128];
    struct sim_world *sim = sim_world_new(2);
    snprintf(path, sizeof path, "%s/%s", version, name);
    golden_load(path, sim_world_disk(sim));
    return sim;
}

static void expect_described(struct sim_world *sim, bool read_only, const char *version,
                             const char *name)
{
    char path[128];
    struct error err = {0};
    struct engine_fixture fixture = {.options = {.read_only = read_only}};
    snprintf(path, sizeof path, "%s/%s", version, name);
    struct buffer expected = golden_read(path);
    cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), &err), 0, "%s: %s",
                 version, err.text);
    struct buffer found = golden_describe(&fixture);
    cr_assert_str_eq((const char *)found.data, (const char *)expected.data);
    engine_fixture_close(&fixture);
    buffer_release(&expected);
    buffer_release(&found);
}

/* So that an older program says that it is older, whatever is written. */
static void expect_present_format(struct disk *disk)
{
    uint8_t head[16];
    struct disk_file *file;
    cr_assert_eq(disk->open(disk, "manifest", DISK_READ, &file, NULL), 0);
    cr_assert_eq(disk->read(disk, file, 0, head, sizeof head), sizeof head);
    disk->close(disk, file);
    cr_assert_eq(load_u32(head + 8), 2);
}

Test(golden, directories_are_read_and_written_to)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        struct sim_world *sim = load(versions[i], "data");
        expect_described(sim, true, versions[i], "data.txt");
        expect_described(sim, false, versions[i], "data.txt");
        struct engine_fixture fixture = {0};
        cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), NULL), 0);
        engine_fixture_flush(&fixture);
        engine_fixture_compact(&fixture);
        engine_fixture_close(&fixture);
        expect_described(sim, false, versions[i], "data.txt");
        expect_present_format(sim_disk_interface(sim_world_disk(sim)));
        sim_world_free(sim);
    }
}

Test(golden, directories_without_a_manifest_are_salvaged_by_their_roster)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        struct sim_world *sim = load(versions[i], "data");
        struct disk *disk = sim_disk_interface(sim_world_disk(sim));
        struct engine_fixture fixture = {.options = {.salvage = true}};
        struct error err = {0};
        cr_assert_eq(disk->remove(disk, "manifest"), 0);
        cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), &err), 0, "%s",
                     err.text);
        engine_fixture_close(&fixture);
        expect_described(sim, false, versions[i], "data.txt");
        sim_world_free(sim);
    }
}

/* As those are that were written before there was one. */
Test(golden, directories_without_a_roster_get_one)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        struct sim_world *sim = load(versions[i], "data");
        struct disk *disk = sim_disk_interface(sim_world_disk(sim));
        struct disk_file *file;
        cr_assert_eq(disk->remove(disk, "segments/roster"), 0);
        expect_described(sim, false, versions[i], "data.txt");
        cr_assert_eq(disk->open(disk, "segments/roster", DISK_READ, &file, NULL), 0);
        disk->close(disk, file);
        sim_world_free(sim);
    }
}

Test(golden, backups_are_restored)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        struct sim_world *backup = load(versions[i], "backup");
        struct sim_world *sim = sim_world_new(3);
        struct backup_restored restored;
        struct error err = {0};
        const struct backup_restore_options options = {
            .source = sim_disk_interface(sim_world_disk(backup)),
            .world = sim_world_interface(sim)};
        cr_assert_eq(backup_restore(&options, &restored, &err), 0, "%s", err.text);
        expect_described(sim, false, versions[i], "backup.txt");
        sim_world_free(backup);
        sim_world_free(sim);
    }
}

/* ---- what a rollup left ---- */

static void expect_rows(struct rollup_fixture *fixture, const char *version)
{
    char path[128];
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    snprintf(path, sizeof path, "%s/rollup.txt", version);
    struct buffer expected = golden_read(path);
    struct buffer found = golden_rollup_describe(&engine);
    /* Not the last row, a stream's, which says how far marking is. */
    size_t size =
        (size_t)(strstr((const char *)expected.data, "stream\n") - (const char *)expected.data);
    cr_assert_eq(strncmp((const char *)found.data, (const char *)expected.data, size), 0, "%s",
                 (const char *)found.data);
    buffer_release(&expected);
    buffer_release(&found);
}

/* Priced anew, the sealed day's gross comes out of its seal; and the stream is worked off, whose
 * marking had not begun. */
static void expect_worked_off(struct rollup_fixture *fixture)
{
    rollup_fixture_rate(fixture, "r1", "2013-11-28", "0.5", false);
    cr_assert_eq(rollup_fixture_refresh_now(fixture, false), 0);
    rollup_fixture_expect_figures(fixture, "r1 2013-12-01 1 0.25 0.5 0.125 published\n"
                                           "r1 2013-11-28 3 1.515 0.5 0.7575 sealed\n"
                                           "r2 2013-12-03 1 0.02 0.10 0.0020 published\n");
    struct rollup *clicks = fixture->rollup;
    fixture->rollup = streams_find(fixture->streams, "hotel");
    cr_assert_not_null(fixture->rollup);
    cr_assert_eq(rollup_fixture_refresh_now(fixture, false), 0);
    rollup_fixture_expect_figures(fixture, "globe 2013-11-29 1 100.00 0.10 10.0000 open\n"
                                           "globe 2013-11-28 2 155.25 0.10 15.5250 open\n");
    fixture->rollup = clicks;
}

Test(golden, sealed_days_and_streams_of_a_rollup_are_read_and_worked_off)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        for (int merges = 0; merges < 2; merges++) {
            struct rollup_fixture fixture = {.keep_days = GOLDEN_KEEP_DAYS};
            rollup_fixture_open(&fixture, load(versions[i], "rollup"));
            expect_rows(&fixture, versions[i]);
            if (merges != 0) {
                struct engine_fixture engine = {.world = fixture.world, .store = fixture.store};
                engine_fixture_flush(&engine);
                engine_fixture_compact(&engine);
                rollup_fixture_restart(&fixture);
                expect_rows(&fixture, versions[i]);
            }
            expect_worked_off(&fixture);
            rollup_fixture_restart(&fixture);
            rollup_fixture_stop(&fixture);
        }
    }
}

/* ---- newer ones ---- */

/* Where a format has its version, and what its checksum covers. */
struct place {
    const char *path;
    uint64_t begin;   /* of what is checked */
    uint64_t version; /* offset of its lowest byte */
    uint64_t crc;     /* offset of the CRC-32C of all from `begin` to it; 0: the end */
    int known;        /* the newest one there is */
};

static void make_newer(struct disk *disk, const struct place *place)
{
    struct disk_file *file;
    struct buffer content = {0};
    cr_assert_eq(disk->open(disk, place->path, DISK_WRITE, &file, NULL), 0, "%s", place->path);
    size_t size = (size_t)disk->size(disk, file);
    size_t crc = place->crc != 0 ? (size_t)place->crc : size - 4;
    buffer_reserve(&content, size);
    cr_assert_eq(disk->read(disk, file, 0, content.data, size), (int64_t)size);
    content.data[place->version] = 9;
    store_u32(content.data + crc,
              crc32c(0, content.data + place->begin, crc - (size_t)place->begin));
    cr_assert_eq(disk->write(disk, file, 0, content.data, size), 0);
    disk->close(disk, file);
    buffer_release(&content);
}

static void expect_refused(int rc, const struct error *err, const struct place *place)
{
    const char *path = place->path;
    char text[64];
    snprintf(text, sizeof text, "format 9, this program knows %d", place->known);
    cr_assert_eq(rc, ERROR_NEWER_FORMAT, "%s: %d %s", path, rc, err->text);
    cr_assert_not_null(strstr(err->text, strcmp(path, "manifest") == 0 ? "directory" : path), "%s",
                       err->text);
    cr_assert_not_null(strstr(err->text, text), "%s", err->text);
}

Test(golden, files_of_a_newer_format_are_refused_by_name_and_version)
{
    static const struct place places[] = {{"manifest", 0, 8, 24, 2},
                                          {"log/00000001.log", 12, 16, 52, 1},
                                          {"segments/0000000000000001.seg", 0, 8, 4092, 2}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct sim_world *sim = load(versions[VERSIONS - 1], "data");
        struct engine_fixture fixture = {0};
        struct error err = {0};
        make_newer(sim_disk_interface(sim_world_disk(sim)), &places[i]);
        int rc = engine_fixture_open_in(&fixture, sim_world_interface(sim), &err);
        expect_refused(rc, &err, &places[i]);
        sim_world_free(sim);
    }
}

Test(golden, backups_of_a_newer_format_are_refused_by_name_and_version)
{
    static const struct place place = {"points/0000000000000001.point", 0, 8, 0, 2};
    struct sim_world *backup = load(versions[VERSIONS - 1], "backup");
    struct sim_world *sim = sim_world_new(3);
    struct backup_restored restored;
    struct error err = {0};
    const struct backup_restore_options options = {
        .source = sim_disk_interface(sim_world_disk(backup)), .world = sim_world_interface(sim)};
    make_newer(sim_disk_interface(sim_world_disk(backup)), &place);
    int rc = backup_restore(&options, &restored, &err);
    expect_refused(rc, &err, &place);
    sim_world_free(backup);
    sim_world_free(sim);
}

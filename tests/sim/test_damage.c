/* Bits that turn over at rest: what is read of a damaged directory is right, or an error.
 *
 * Method: a small directory with all kinds of files (segments of both formats, a manifest with
 * edits, a log with frames that no segment has yet) is left on the simulated disk, once by a clean
 * stop and once by a kill.  Then one bit at a time is turned over, the directory opened, everything
 * in it read, and the bit turned back.  An opening or a read may fail, if it says so with a code
 * and a text; one that succeeds must give what the whole directory gave, to the byte.  Some
 * openings may write: they make segments again from the log, and what they leave is opened, too.
 *
 * Sectors that hold anything are turned over bit by bit, sectors of zeros (room allocated ahead) in
 * one byte each.  `make test` takes a sample of these bits, DAMAGE_STEP=1 (make damage) all, and
 * says now and then how far it is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <criterion/criterion.h>

#include "base/memory.h"
#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_cheap.h"
#include "tests/sim/sim_random.h"
#include "tests/sim/sim_world.h"

enum {
    SECTOR = 512,
    PATHS_MAX = 32,
    STEP_DEFAULT = 199,  /* a prime: the sample meets every bit of a byte */
    WRITABLE_EVERY = 16, /* every so many flips the opening is one that writes, */
    SALVAGING_EVERY = 4, /* and of segments one that looks at all their pages */
    TOLD_EVERY_S = 10    /* how far it is */
};

static const char *const days[] = {"2013-11-28", "2013-11-29"};

/* ---- the directory ---- */

static void write_clicks(struct engine_fixture *fixture, uint32_t batch)
{
    char ad[16];
    snprintf(ad, sizeof(ad), "ad-%u", batch % 5);
    const struct click clicks[] = {
        {"r1", days[batch % 2], 1385605012000 + batch, ad, "0.01"},
        {"r1", days[batch % 2], 1385605012000 + batch, ad, "0.015"},
        {"r2", days[0], 1385605012000 + 7 * (int64_t)batch, "ad-0", "12"},
    };
    cr_assert_eq(engine_fixture_clicks(fixture, clicks, 3), 0);
}

/* A rate, a rate that is deleted, a counter that is set, and in the end a whole day voided. */
static void write_others(struct engine_fixture *fixture, uint32_t round)
{
    struct write_batch *batch = write_batch_new();
    const struct schema *schema = store_schema(fixture->store);
    const struct table *rates = schema_table(schema, TABLE_RESELLER);
    struct decimal rate = decimal_from(25 + round, 2);
    const struct column_value values[] = {
        {RESELLER_ID, false, bytes_text("r1")},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text(days[round % 2])},
        {RESELLER_REWARD_PERCENT, false, write_batch_decimal(batch, rate)},
    };
    const struct column_value day[] = {
        {AD_CLICK_RESELLER_ID, false, bytes_text("r2")},
        {AD_CLICK_DAY, false, bytes_text(days[0])},
    };
    const struct counter_increment set = {.table_id = TABLE_CLICKS_PER_AD,
                                          .column_id = COUNTER_CLICKS,
                                          .key = bytes_text("ad-3"),
                                          .change = COUNTER_SET,
                                          .value = 1000 + round};
    write_batch_insert(batch, rates, values, 3);
    if (round == 1) {
        write_batch_delete(batch, rates, values, 2);
        write_batch_delete(batch, schema_table(schema, TABLE_AD_CLICK), day, 2);
    }
    write_batch_add_increment(batch, &set);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

static struct sim_world *make_directory(bool is_stopped)
{
    struct sim_world *sim = sim_world_new(1);
    struct engine_fixture fixture = {.options = {.log_file_size = 1 << 20}};
    cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), NULL), 0);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t batch = 0; batch < 4; batch++)
            write_clicks(&fixture, 4 * round + batch);
        write_others(&fixture, round);
        if (round < 2)
            engine_fixture_flush(&fixture);
    }
    struct sim_world *left = sim_world_restart(sim, 1);
    engine_fixture_close(&fixture);
    if (is_stopped) {
        sim_world_free(left);
        left = sim_world_restart(sim, 1);
    }
    sim_world_free(sim);
    return left;
}

/* ---- all that is in it ---- */

enum { ANSWERS = 6 };

/* Texts by what was asked; `codes` of those that failed. */
struct answers {
    int codes[ANSWERS];
    struct buffer texts[ANSWERS];
};

static void answers_release(struct answers *answers)
{
    for (int i = 0; i < ANSWERS; i++)
        buffer_release(&answers->texts[i]);
}

static void read_everything(struct engine_fixture *fixture, struct answers *answers)
{
    static const uint32_t tables[] = {TABLE_AD_CLICK, TABLE_RESELLER, TABLE_CLICKS_PER_AD,
                                      TABLE_CLICKS_PER_RESELLER};
    for (int i = 0; i < ANSWERS; i++) {
        const struct read_request scan = {.table_id = tables[i % 4],
                                          .is_scan = true,
                                          .slice = stream_slice_all(),
                                          .row_limit = 100};
        struct error err = {0};
        answers->codes[i] =
            i < 4 ? engine_fixture_try_rows(fixture, &scan, &answers->texts[i], &err)
                  : engine_fixture_try_stats(fixture, "r1", days[i - 4], &answers->texts[i], &err);
        cr_assert(answers->codes[i] == 0 || err.text[0] != '\0');
    }
}

static void check_answers(const struct answers *answers, const struct answers *expected,
                          const char *path, uint64_t bit)
{
    for (int i = 0; i < ANSWERS; i++) {
        if (answers->codes[i] != 0) {
            cr_assert_eq(answers->codes[i], ERROR_CORRUPT, "%s bit %" PRIu64, path, bit);
            continue;
        }
        cr_assert(bytes_equal(buffer_view(&answers->texts[i]), buffer_view(&expected->texts[i])),
                  "%s bit %" PRIu64 ": answer %d is wrong: %.*s", path, bit, i,
                  (int)answers->texts[i].size, (const char *)answers->texts[i].data);
    }
}

/* ---- the bits ---- */

struct damage {
    const char *name;
    struct sim_world *sim;
    struct answers expected;
    char paths[PATHS_MAX][64];
    uint32_t path_count;
    const char *folder;
    uint64_t step;
    uint64_t position; /* among the bits that can be turned over */
    bool is_counting;  /* them, before any of them is */
    uint64_t bits;     /* as they were counted */
    uint64_t flips;
    int64_t began_s;
    int64_t told_s;
    uint64_t refused;    /* openings */
    uint64_t failed;     /* readings */
    uint64_t made_again; /* segments */
};

static void note_made_again(void *context, const char *text)
{
    struct damage *damage = context;
    cr_assert_not_null(strstr(text, "made again from the log, bit by bit"), "%s", text);
    damage->made_again++;
}

static bool is_segment(const char *path)
{
    return strncmp(path, "segments/", strlen("segments/")) == 0;
}

static void open_and_check(struct damage *damage, const char *path, uint64_t bit)
{
    uint64_t every = is_segment(path) ? SALVAGING_EVERY : WRITABLE_EVERY;
    bool is_writing = damage->flips % every == 0;
    struct sim_world *copy = is_writing ? sim_world_restart(damage->sim, 1) : NULL;
    struct world *world = sim_world_interface(is_writing ? copy : damage->sim);
    struct engine_fixture fixture = {.options = {.log_file_size = 1 << 20,
                                                 .read_only = !is_writing,
                                                 .salvage = is_writing && is_segment(path),
                                                 .notice = note_made_again,
                                                 .notice_context = damage}};
    struct error err = {0};
    int rc = engine_fixture_open_in(&fixture, world, &err);
    if (rc == 0) {
        struct answers answers = {0};
        read_everything(&fixture, &answers);
        check_answers(&answers, &damage->expected, path, bit);
        for (int i = 0; i < ANSWERS; i++)
            damage->failed += answers.codes[i] != 0;
        answers_release(&answers);
        engine_fixture_close_failed(&fixture);
    } else {
        cr_assert(rc == ERROR_CORRUPT || rc == ERROR_NEWER_FORMAT || rc == ERROR_NOT_OURS,
                  "%s bit %" PRIu64 ": %d %s", path, bit, rc, err.text);
        cr_assert(err.text[0] != '\0');
        damage->refused++;
    }
    sim_world_free(copy);
}

static int64_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static void tell_progress(struct damage *damage)
{
    int64_t now = now_s();
    if (now - damage->told_s < TOLD_EVERY_S)
        return;
    damage->told_s = now;
    fprintf(stderr, "damage, %s: %" PRIu64 " of %" PRIu64 " bits in %" PRId64 " s\n", damage->name,
            damage->position, damage->bits, now - damage->began_s);
}

static void flip(struct damage *damage, const char *path, uint64_t bit)
{
    if (damage->position++ % damage->step != 0 || damage->is_counting)
        return;
    tell_progress(damage);
    damage->flips++;
    sim_disk_flip_bit(sim_world_disk(damage->sim), path, bit);
    open_and_check(damage, path, bit);
    sim_disk_flip_bit(sim_world_disk(damage->sim), path, bit);
}

static bool is_zero(const uint8_t *sector, size_t size)
{
    return size == 0 || (sector[0] == 0 && memcmp(sector, sector + 1, size - 1) == 0);
}

static void damage_file(struct damage *damage, const char *path)
{
    struct disk *disk = sim_world_interface(damage->sim)->disk;
    struct sim_random random = {.state = 1};
    struct disk_file *file;
    cr_assert_eq(disk->open(disk, path, DISK_READ, &file, NULL), 0);
    size_t size = (size_t)disk->size(disk, file);
    uint8_t *content = memory_alloc(size + 1);
    cr_assert_eq(disk->read(disk, file, 0, content, size), (int64_t)size);
    disk->close(disk, file);
    for (size_t at = 0; at < size; at += SECTOR) {
        size_t count = size - at < SECTOR ? size - at : SECTOR;
        size_t from = at;
        if (is_zero(content + at, count)) {
            from += sim_random_below(&random, count);
            count = 1;
        }
        for (uint64_t bit = from * 8; bit < (from + count) * 8; bit++)
            flip(damage, path, bit);
    }
    memory_free(content);
}

static void note_path(void *context, const char *name)
{
    struct damage *damage = context;
    if (damage->folder[0] == '\0' && (strcmp(name, "log") == 0 || strcmp(name, "segments") == 0))
        return;
    cr_assert_lt(damage->path_count, PATHS_MAX);
    snprintf(damage->paths[damage->path_count++], sizeof(damage->paths[0]), "%s%s%s",
             damage->folder, damage->folder[0] == '\0' ? "" : "/", name);
}

static void damage_files(struct damage *damage)
{
    damage->position = 0;
    for (uint32_t i = 0; i < damage->path_count; i++)
        damage_file(damage, damage->paths[i]);
}

static void damage_begin(struct damage *damage)
{
    static const char *const folders[] = {"", "log", "segments"};
    struct engine_fixture whole = {.options = {.read_only = true}};
    struct disk *disk = sim_world_interface(damage->sim)->disk;
    cr_assert_eq(engine_fixture_open_in(&whole, sim_world_interface(damage->sim), NULL), 0);
    read_everything(&whole, &damage->expected);
    engine_fixture_close(&whole);
    for (int i = 0; i < ANSWERS; i++)
        cr_assert(damage->expected.codes[i] == 0 && damage->expected.texts[i].size > 0);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        damage->folder = folders[i];
        cr_assert_eq(disk->list(disk, folders[i], note_path, damage), 0);
    }
    damage->is_counting = true;
    damage_files(damage);
    damage->is_counting = false;
    damage->bits = damage->position;
    damage->began_s = damage->told_s = now_s();
}

static void damage_directory(bool is_stopped)
{
    const char *step = getenv("DAMAGE_STEP");
    struct damage damage = {.name = is_stopped ? "after a clean stop" : "after a kill",
                            .sim = make_directory(is_stopped),
                            .step = step != NULL ? strtoull(step, NULL, 10) : STEP_DEFAULT};
    sim_cheap();
    cr_assert_gt(damage.step, 0);
    damage_begin(&damage);
    damage_files(&damage);
    printf("damage, %s: %" PRIu64 " of %" PRIu64 " bits of %u files in %" PRId64 " s: %" PRIu64
           " openings refused, %" PRIu64 " reads failed, %" PRIu64
           " segments made again, no wrong answer\n",
           damage.name, damage.flips, damage.bits, damage.path_count, now_s() - damage.began_s,
           damage.refused, damage.failed, damage.made_again);
    cr_assert(damage.refused > 0 && damage.failed > 0 && damage.made_again > 0);
    answers_release(&damage.expected);
    sim_world_free(damage.sim);
}

Test(damage, after_a_clean_stop_a_flipped_bit_is_found_or_does_not_matter)
{
    damage_directory(true);
}

Test(damage, after_a_kill_a_flipped_bit_is_found_or_does_not_matter)
{
    damage_directory(false);
}

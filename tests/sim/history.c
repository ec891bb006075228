/* history: see the header.
 *
 * What is acknowledged is noted by the callback of the write; what was shown by history_show, whose
 * reader stands beside a disk that does not answer, so that whatever it saw was durable before. */
#include "tests/sim/history.h"
#include "base/hash64.h"
#include "base/murmur3.h"
#include "rollup/days/rollup_private.h"
#include "tests/lib/row_text.h"
#include "tests/sim/figure_text.h"
#include "tests/sim/ledger_entries.h"
#include "tests/sim/sealed_clicks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

enum {
    FULL_STEPS = 200,         /* after which a full disk gets its space back */
    FULL_BYTES = 100000,      /* that a full disk may still take */
    AGAIN_EVERY = 4,          /* of so many crashes one is opened twice, and one scanned on, */
    SALVAGE_EVERY = 6,        /* of so many one loses its manifest as well */
    WAITS_US = 61000000,      /* a server looks for what it could seal every minute */
    TIMESTAMPS_US = 60000000, /* so many a microsecond ahead are no clock's doing */
    SEAL_EVERY = 3,           /* after so many one the days that have expired are sealed */
    PAGE_MAX = 7              /* rows of a page that is read */
};

static const char *const resellers[HISTORY_RESELLERS] = {"r1", "r2"};
static const char *const days[HISTORY_DAYS] = {"2013-11-28", "2013-11-29", "2013-11-30"};

/* ---- the model ---- */

struct model {
    uint32_t clicks[HISTORY_RESELLERS][HISTORY_DAYS];
    int64_t cents[HISTORY_RESELLERS][HISTORY_DAYS];
    int64_t percent[HISTORY_RESELLERS][HISTORY_DAYS]; /* set for that day; -1: not */
    int64_t per_reseller[HISTORY_RESELLERS];
    int64_t counters[HISTORY_COUNTERS];
    bool is_there[HISTORY_WRITES][HISTORY_CLICKS];
};

/* By the write `by`, unless the click had expired before. */
static void model_void(struct model *model, const struct history *history, uint32_t index,
                       uint32_t click, uint32_t by)
{
    const struct written *written = &history->writes[index];
    if (!model->is_there[index][click] || (written->is_sealed && written->sealed_before <= by))
        return;
    model->is_there[index][click] = false;
    model->clicks[written->reseller][written->day]--;
    model->cents[written->reseller][written->day] -= written->cents[click];
    model->per_reseller[written->reseller]--;
}

static void model_take(struct model *model, const struct history *history, uint32_t index)
{
    const struct written *written = &history->writes[index];
    uint32_t r = written->reseller, d = written->day;
    switch (written->kind) {
    case WRITE_CLICKS:
        model->clicks[r][d] += written->clicks;
        model->per_reseller[r] += written->clicks;
        for (uint32_t c = 0; c < written->clicks; c++) {
            model->is_there[index][c] = true;
            model->cents[r][d] += written->cents[c];
        }
        return;
    case WRITE_VOID:
        for (uint32_t i = 0; i < index; i++)
            for (uint32_t c = 0; c < HISTORY_CLICKS; c++)
                if (history->writes[i].reseller == r && history->writes[i].day == d)
                    model_void(model, history, i, c, index);
        return;
    case WRITE_VOID_ONE:
        model_void(model, history, written->target, written->target_click, index);
        return;
    case WRITE_RATE:
        model->percent[r][d] = written->percent;
        return;
    case WRITE_RATE_DELETE:
        model->percent[r][d] = -1;
        return;
    case WRITE_COUNTER_SET:
        model->counters[written->counter] = written->value;
        return;
    case WRITE_COUNTER_ADD:
        model->counters[written->counter] += written->value;
        return;
    }
}

static struct model model_of(const struct history *history, uint32_t count)
{
    struct model model;
    memset(&model, 0, sizeof model);
    for (uint32_t r = 0; r < HISTORY_RESELLERS; r++)
        for (uint32_t d = 0; d < HISTORY_DAYS; d++)
            model.percent[r][d] = -1;
    for (uint32_t i = 0; i < count; i++)
        model_take(&model, history, i);
    return model;
}

static int64_t model_percent_at(const struct model *model, uint32_t reseller, uint32_t day)
{
    int64_t percent = -1;
    for (uint32_t d = 0; d <= day; d++)
        percent = model->percent[reseller][d] >= 0 ? model->percent[reseller][d] : percent;
    return percent;
}

/* ---- what is found ---- */

struct found {
    struct buffer rows, ads, per_reseller, rates;
    struct sealed_clicks sealed;
    char stats[HISTORY_RESELLERS][HISTORY_DAYS][64];
};

/* All clicks, by a scan, or by one read after the other of all the partitions there can be: a scan
 * waits for the log where fresh rows are in the way, and so cannot stand beside one that hangs. */
static struct buffer find_clicks(struct engine_fixture *engine, bool scans, uint32_t page)
{
    struct buffer rows = {0};
    struct error err = {0};
    if (scans)
        return engine_fixture_rows(engine, TABLE_AD_CLICK, (struct bytes){0}, page, false);
    for (uint32_t i = 0; i < HISTORY_RESELLERS * HISTORY_DAYS; i++) {
        struct buffer key = {0};
        engine_fixture_key(&key, resellers[i / HISTORY_DAYS], days[i % HISTORY_DAYS]);
        const struct read_request request = {.table_id = TABLE_AD_CLICK,
                                             .key = buffer_view(&key),
                                             .slice = stream_slice_all(),
                                             .row_limit = page};
        cr_assert_eq(engine_fixture_try_rows(engine, &request, &rows, &err), 0, "%s", err.text);
        buffer_release(&key);
    }
    buffer_put_u8(&rows, 0);
    return rows;
}

/* Clicks and seals are several reads.  Where the log hangs nothing can be sealed between them, and
 * what is just being sealed cannot be waited for. */
static struct found find(struct rollup_fixture *fixture, bool scans, uint32_t page)
{
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    const struct bytes all = {0};
    struct seal_pin pin;
    if (scans)
        rollup_fixture_pin_seals(fixture, &pin);
    struct found found = {
        .rows = find_clicks(&engine, scans, page),
        .ads = engine_fixture_rows(&engine, TABLE_CLICKS_PER_AD, all, page, false),
        .per_reseller = engine_fixture_rows(&engine, TABLE_CLICKS_PER_RESELLER, all, page, false),
        .rates = engine_fixture_rows(&engine, TABLE_RESELLER, all, page, false),
        .sealed = sealed_clicks_read(fixture),
    };
    for (uint32_t r = 0; r < HISTORY_RESELLERS; r++) {
        for (uint32_t d = 0; d < HISTORY_DAYS; d++) {
            struct buffer stats = engine_fixture_stats(&engine, resellers[r], days[d]);
            snprintf(found.stats[r][d], sizeof found.stats[r][d], "%s", (const char *)stats.data);
            buffer_release(&stats);
        }
    }
    if (scans)
        rollup_unpin_seals(fixture->rollup, &pin);
    return found;
}

static void found_release(struct found *found)
{
    buffer_release(&found->rows);
    buffer_release(&found->ads);
    buffer_release(&found->per_reseller);
    buffer_release(&found->rates);
}

static uint64_t sealed_total(const struct sealed_sums *sums)
{
    uint64_t clicks = 0;
    for (uint32_t i = 0; i < sums->count; i++)
        clicks += sums->items[i].clicks;
    return clicks;
}

static bool writes_match(const struct history *history, const struct model *model,
                         const struct found *found)
{
    uint64_t rows = 0, sealed = 0;
    for (uint32_t i = 0; i < history->count; i++) {
        char ad[16], inner[32];
        if (history->writes[i].kind != WRITE_CLICKS)
            continue;
        snprintf(ad, sizeof ad, "b%02u", i);
        snprintf(inner, sizeof inner, "|%s|", ad);
        const struct sealed_sum *seal = sealed_sums_find(&found->sealed.ads, ad);
        uint64_t expired = seal != NULL ? seal->clicks : 0;
        uint32_t expected = 0;
        for (uint32_t c = 0; c < HISTORY_CLICKS; c++)
            expected += model->is_there[i][c];
        if (row_text_times(&found->rows, inner) + expired != expected ||
            row_text_number(&found->ads, ad) != expected)
            return false;
        rows += expected - expired;
        sealed += expired;
    }
    return row_text_times(&found->rows, "\n") == rows &&
           sealed_total(&found->sealed.days) == sealed;
}

/* A day's stats and its seals together; a seal and its ads alike. */
static bool stats_match(const struct found *found, uint32_t r, uint32_t d, uint32_t clicks,
                        int64_t cents)
{
    uint32_t rows = 0;
    char sum[32] = "0", name[32];
    struct decimal value;
    if (found->stats[r][d][0] != '\0')
        cr_assert_eq(sscanf(found->stats[r][d], "%u %31s", &rows, sum), 2);
    cr_assert_eq(decimal_parse(bytes_text(sum), &value), 0);
    snprintf(name, sizeof name, "%s %s", resellers[r], days[d]);
    const struct sealed_sum *seal = sealed_sums_find(&found->sealed.days, name);
    const struct sealed_sum *ads = sealed_sums_find(&found->sealed.ads_by_day, name);
    if (seal == NULL || ads == NULL)
        return seal == ads && rows == clicks && decimal_compare(value, decimal_from(cents, 2)) == 0;
    cr_assert_eq(decimal_add(value, seal->gross, &value), 0);
    return seal->clicks == ads->clicks && decimal_compare(seal->gross, ads->gross) == 0 &&
           rows + seal->clicks == clicks && decimal_compare(value, decimal_from(cents, 2)) == 0;
}

static bool model_matches(const struct history *history, const struct model *model,
                          const struct found *found)
{
    for (uint32_t r = 0; r < HISTORY_RESELLERS; r++) {
        if (row_text_number(&found->per_reseller, resellers[r]) != model->per_reseller[r])
            return false;
        for (uint32_t d = 0; d < HISTORY_DAYS; d++)
            if (!stats_match(found, r, d, model->clicks[r][d], model->cents[r][d]) ||
                !figure_text_has_rate(&found->rates, resellers[r], days[d], model->percent[r][d],
                                      2))
                return false;
    }
    for (uint32_t c = 0; c < HISTORY_COUNTERS; c++) {
        char name[8];
        snprintf(name, sizeof name, "c%u", c);
        if (row_text_number(&found->ads, name) != model->counters[c])
            return false;
    }
    return writes_match(history, model, found);
}

static uint32_t count_required(const struct history *history)
{
    uint32_t count = history->shown;
    for (uint32_t i = 0; i < history->count; i++)
        count = history->writes[i].is_acknowledged && count < i + 1 ? i + 1 : count;
    return count;
}

/* How many of the writes are there: the least number that fits, from those on that must be.  Read
 * in pages of so many rows. */
static uint32_t count_found(const struct history *history, struct rollup_fixture *fixture,
                            bool scans, uint32_t page, const char *where)
{
    struct found found = find(fixture, scans, page);
    uint32_t count = count_required(history);
    for (bool fits = false; !fits; count += !fits) {
        cr_assert_leq(count, history->count,
                      "no beginning of the history gives what is there; %s %s:\n%s%s%s%s",
                      history->label, where, (const char *)found.rows.data,
                      (const char *)found.ads.data, (const char *)found.per_reseller.data,
                      (const char *)found.rates.data);
        const struct model model = model_of(history, count);
        fits = model_matches(history, &model, &found);
    }
    found_release(&found);
    return count;
}

/* `is_current`: as a reader is told them; else the table's rows. */
static void check_figures(const struct history *history, struct rollup_fixture *fixture,
                          uint32_t count, bool is_current, const char *where)
{
    const struct model model = model_of(history, count);
    const struct figure_query query = {
        .day_from = DAY_MIN, .day_to = DAY_MAX, .is_current = is_current};
    struct buffer text = rollup_fixture_asked(fixture, &query);
    for (uint32_t r = 0; r < HISTORY_RESELLERS; r++) {
        for (uint32_t d = 0; d < HISTORY_DAYS; d++) {
            const struct figure_expected expected = {model.clicks[r][d], model.cents[r][d],
                                                     model_percent_at(&model, r, d)};
            cr_assert(figure_text_matches(&text, resellers[r], days[d], &expected),
                      "figure of %s %s, %u clicks, %" PRId64 " cents; %s %s:\n%s", resellers[r],
                      days[d], model.clicks[r][d], model.cents[r][d], history->label, where,
                      (const char *)text.data);
        }
    }
    buffer_release(&text);
}

static int32_t day_number(uint32_t day)
{
    int32_t number;
    cr_assert(calendar_day_parse(bytes_text(days[day]), &number));
    return number;
}

static bool is_decimal(struct decimal value, int64_t unscaled, int32_t scale)
{
    return decimal_compare(value, decimal_from(unscaled, scale)) == 0;
}

static bool figure_matches(const struct day_figure *figure, const struct model *model, uint32_t r,
                           uint32_t d)
{
    int64_t cents = model->cents[r][d];
    int64_t percent = model_percent_at(model, r, d);
    return figure->clicks == model->clicks[r][d] && is_decimal(figure->gross, cents, 2) &&
           figure->is_priced == (percent >= 0) &&
           (percent < 0 || (is_decimal(figure->rate, percent, 2) &&
                            is_decimal(figure->amount, cents * percent, 4)));
}

/* Settle while nobody writes.  Each published day's last entry is then its figure, and so is every
 * entry that was made meanwhile: a ledger tells no figure that never was, on the way to one that
 * is. */
static void settle_and_check(const struct history *history, struct rollup_fixture *fixture,
                             bool publishes, uint32_t count, const char *where)
{
    const struct model model = model_of(history, count);
    struct ledger_entries before, after;
    ledger_entries_read(fixture, &before);
    cr_assert_eq(rollup_fixture_refresh_now(fixture, publishes), 0);
    ledger_entries_read(fixture, &after);
    ledger_entries_check(&after, history->label);
    for (uint32_t i = 0; i < HISTORY_RESELLERS * HISTORY_DAYS; i++) {
        const struct ledger_item *old, *new;
        uint32_t r = i / HISTORY_DAYS, d = i % HISTORY_DAYS;
        uint32_t known = ledger_entries_find(&before, resellers[r], day_number(d), &old);
        uint32_t end = ledger_entries_find(&after, resellers[r], day_number(d), &new);
        cr_assert_geq(end, known, "%s %s", history->label, where);
        for (uint32_t e = known < end || end == 0 ? known : end - 1; e < end; e++)
            cr_assert(figure_matches(&new[e].entry.new, &model, r, d),
                      "entry %u of %s %s, %u clicks, %" PRId64 " cents at %" PRId64 "; %s %s", e,
                      resellers[r], days[d], model.clicks[r][d], model.cents[r][d],
                      model_percent_at(&model, r, d), history->label, where);
    }
}

/* ---- scans that go on ---- */

static const uint32_t scanned[] = {TABLE_AD_CLICK, TABLE_CLICKS_PER_AD, TABLE_CLICKS_PER_RESELLER,
                                   TABLE_RESELLER};
enum { SCANNED = sizeof scanned / sizeof scanned[0] };

struct scans {
    struct buffer text[SCANNED];
    struct buffer position[SCANNED];
    bool has_ended[SCANNED];
};

/* So many pages of each table, or as many as there are. */
static void scans_go_on(struct scans *scans, struct rollup_fixture *fixture, uint32_t page,
                        uint32_t pages)
{
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    for (uint32_t i = 0; i < SCANNED; i++) {
        const struct read_request request = {.table_id = scanned[i],
                                             .is_scan = true,
                                             .slice = stream_slice_all(),
                                             .row_limit = page};
        struct error err = {0};
        for (uint32_t p = 0; p < pages && !scans->has_ended[i]; p++) {
            cr_assert_eq(engine_fixture_try_page(&engine, &request, &scans->position[i],
                                                 &scans->text[i], &err),
                         0, "%s", err.text);
            scans->has_ended[i] = scans->position[i].size == 0;
        }
    }
}

/* A position is bytes: a scan goes on from it after a restart, a flush and a merge, and gives each
 * row once. */
static void check_resumed(const struct history *history, struct rollup_fixture *fixture,
                          uint32_t page, const char *where)
{
    struct scans scans = {0};
    struct found whole = find(fixture, true, 100);
    const struct buffer *expected[SCANNED] = {&whole.rows, &whole.ads, &whole.per_reseller,
                                              &whole.rates};
    scans_go_on(&scans, fixture, page, 1);
    rollup_fixture_restart(fixture);
    scans_go_on(&scans, fixture, page, 1);
    rollup_fixture_flush(fixture);
    scans_go_on(&scans, fixture, page, 1);
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    engine_fixture_compact(&engine);
    scans_go_on(&scans, fixture, page, UINT32_MAX);
    for (uint32_t i = 0; i < SCANNED; i++) {
        buffer_put_u8(&scans.text[i], 0);
        cr_assert_str_eq((const char *)scans.text[i].data, (const char *)expected[i]->data,
                         "table %u in pages of %u, %s %s", scanned[i], page, history->label, where);
        buffer_release(&scans.text[i]);
        buffer_release(&scans.position[i]);
    }
    found_release(&whole);
}

/* ---- crashes ---- */

static uint32_t page_of(uint64_t hash)
{
    return 1 + (uint32_t)(hash / AGAIN_EVERY % PAGE_MAX);
}

static bool has_file(struct disk *disk, const char *path)
{
    struct disk_file *file;
    if (disk->open(disk, path, DISK_READ, &file, NULL) != 0)
        return false;
    disk->close(disk, file);
    return true;
}

static void lose_file(struct sim_world *crashed, const char *path, uint64_t hash)
{
    struct disk *disk = sim_world_interface(crashed)->disk;
    if (hash % 2 == 0)
        cr_assert_eq(disk->remove(disk, path), 0);
    else
        sim_disk_flip_bit(sim_world_disk(crashed), path, 8 * (4096 + hash / 2 % 1000));
}

/* What is left loses its manifest, too, or a bit of it: the copy must do; or both: then the roster
 * must.  False where there is not what it takes, because the disk was full. */
static bool lose_manifest(struct sim_world *crashed, uint64_t hash)
{
    struct disk *disk = sim_world_interface(crashed)->disk;
    bool has_copy = has_file(disk, "manifest.copy");
    bool has_roster = has_file(disk, "segments/roster");
    bool loses_both = has_roster && hash % 2 == 0;
    if (!has_copy && !loses_both)
        return false;
    lose_file(crashed, "manifest", hash / 2);
    if (loses_both && has_copy)
        lose_file(crashed, "manifest.copy", hash / 4);
    return true;
}

/* Nothing but the clock moves timestamps, also where a client's cells are later. */
static void check_timestamps(const struct history *history, const struct rollup_fixture *fixture,
                             const char *where)
{
    const struct store_clock clock = store_clock(fixture->store);
    int64_t latest_us = clock.wall_us > history->latest_us ? clock.wall_us : history->latest_us;
    cr_assert_lt(clock.last_us, latest_us + TIMESTAMPS_US, "timestamps are ahead, %s, %s",
                 history->label, where);
}

/* What has expired, and was not sealed before the crash, is sealed now: nothing changes by it. */
static void check_sealed(struct history *history, struct rollup_fixture *fixture, uint32_t count,
                         const char *where)
{
    settle_and_check(history, fixture, true, count, where);
    rollup_fixture_seal(fixture);
    while (fixture->world->executor->step(fixture->world->executor)) {
    }
    cr_assert_leq(count_found(history, fixture, true, PAGE_MAX, where), count);
    check_figures(history, fixture, count, true, where);
}

/* Open what a crash left, in `crashed`, which is the callee's, and look at everything. */
static void check_crash(struct history *history, struct sim_world *crashed, const char *crash,
                        uint64_t hash)
{
    char where[120], label[200];
    bool is_salvaging = hash % SALVAGE_EVERY == 0 && lose_manifest(crashed, hash / SALVAGE_EVERY);
    struct rollup_fixture fixture = {.memtable_rows_max = history->fixture.memtable_rows_max,
                                     .page_rows = history->fixture.page_rows,
                                     .tier_bytes = history->fixture.tier_bytes,
                                     .keep_days = history->fixture.keep_days,
                                     .is_salvaging = is_salvaging,
                                     .label = label};
    snprintf(where, sizeof where, "%s%s", crash, is_salvaging ? ", without its manifest" : "");
    snprintf(label, sizeof label, "%s %s", history->label, where);
    sim_disk_set_space(sim_world_disk(crashed), UINT64_MAX);
    rollup_fixture_open(&fixture, crashed);
    check_timestamps(history, &fixture, where);
    uint32_t count = count_found(history, &fixture, true, page_of(hash), where);
    check_figures(history, &fixture, count, true, where);
    settle_and_check(history, &fixture, false, count, where);
    check_figures(history, &fixture, count, false, where);
    if (history->has_seals && hash % SEAL_EVERY == 0)
        check_sealed(history, &fixture, count, where);
    if (hash % AGAIN_EVERY == 0) {
        rollup_fixture_restart(&fixture);
        cr_assert_leq(count_found(history, &fixture, true, page_of(hash), where), count);
        check_figures(history, &fixture, count, false, where);
    } else if (hash % AGAIN_EVERY == 1) {
        check_resumed(history, &fixture, page_of(hash), where);
    }
    rollup_fixture_stop(&fixture);
    history->crashes++;
}

/* Of the world and all of the history that check_crash looks at. */
static uint64_t check_hash(const struct history *history, const struct sim_world *crashed)
{
    const uint64_t parts[] = {
        sim_world_hash(crashed),
        hash64(history->writes, history->count * sizeof history->writes[0]),
        history->shown,
        history->has_seals,
        (uint64_t)history->latest_us,
    };
    return hash64(parts, sizeof parts);
}

static bool is_new_to_all(const struct history *history, const struct sim_world *crashed)
{
    return history->seen_of_all == NULL ||
           sim_seen_add(history->seen_of_all, check_hash(history, crashed));
}

/* The same, unless an earlier crash left just that. */
static void check_unless_seen(struct history *history, struct sim_world *crashed, const char *crash)
{
    uint64_t hash = sim_disk_hash(sim_world_disk(crashed));
    hash = (hash ^ count_required(history)) * UINT64_C(0x9e3779b97f4a7c15) + history->count;
    if (sim_seen_add(&history->seen, hash) && is_new_to_all(history, crashed))
        check_crash(history, crashed, crash, hash);
    else
        sim_world_free(crashed);
}

/* One of the crashes that can come now; the number of the moment and of the crash name it. */
static void crash_one(struct history *history, uint64_t moment, uint64_t number, bool is_numbered)
{
    char crash[80];
    const struct sim_world *now = history->fixture.sim;
    struct sim_world *crashed =
        is_numbered ? sim_world_crash_number(now, number) : sim_world_crash(now, number);
    snprintf(crash, sizeof crash, "moment %" PRIu64 " %s %" PRIu64, moment,
             is_numbered ? "crash" : "seed", number);
    check_unless_seen(history, crashed, crash);
}

/* What is left of a process that was killed: all it has written. */
void history_kill_here(struct history *history)
{
    struct sim_world *left = sim_world_restart(history->fixture.sim, 1);
    check_unless_seen(history, left, "killed");
}

/* All of them where they are few enough, else half by number and half from seeds. */
void history_crash_here(struct history *history)
{
    uint64_t moment = history->moments++;
    uint64_t all = sim_disk_crash_count(sim_world_disk(history->fixture.sim));
    struct sim_random random = {.state = moment};
    if (all <= history->crashes_per_moment) {
        for (uint64_t number = 0; number < all; number++)
            crash_one(history, moment, number, true);
        return;
    }
    for (uint32_t i = 0; i < history->crashes_per_moment; i++) {
        uint64_t drawn = sim_random_next(&random);
        crash_one(history, moment, i % 2 == 0 ? drawn % all : drawn, i % 2 == 0);
    }
}

static void before_call(void *context, enum sim_call call)
{
    struct history *history = context;
    if (!sim_call_keeps(call) || history->is_checking)
        return;
    history->is_checking = true;
    history_crash_here(history);
    history->is_checking = false;
}

void history_watch(struct history *history, bool is_watched)
{
    sim_disk_watch(sim_world_disk(history->fixture.sim), is_watched ? before_call : NULL, history);
}

void history_crash_and_go_on(struct history *history, bool is_power_lost)
{
    struct written before[HISTORY_WRITES];
    uint64_t seed = sim_random_next(&history->random);
    char crash[40];
    snprintf(crash, sizeof crash, "gone on from %" PRIu64, seed);
    /* What the engine still does in the old world is not history. */
    bool was_checking = history->is_checking;
    history->is_checking = true;
    memcpy(before, history->writes, sizeof before);
    struct sim_world *after = is_power_lost ? sim_world_crash(history->fixture.sim, seed)
                                            : sim_world_restart(history->fixture.sim, seed);
    rollup_fixture_go_on(&history->fixture, after);
    memcpy(history->writes, before, sizeof before);
    history->count = count_found(history, &history->fixture, true, PAGE_MAX, crash);
    for (uint32_t i = 0; i < history->count; i++)
        history->writes[i].is_acknowledged = true;
    history->is_checking = was_checking;
    history->crashes++;
}

void history_show(struct history *history)
{
    sim_world_stall(history->fixture.sim, LANE_LOG, true);
    history->shown =
        count_found(history, &history->fixture, false, PAGE_MAX, "beside a stalled disk");
    sim_world_stall(history->fixture.sim, LANE_LOG, false);
}

void history_check_all(struct history *history)
{
    if (history->count > 0)
        rollup_fixture_step_until(&history->fixture,
                                  &history->writes[history->count - 1].is_acknowledged);
    check_figures(history, &history->fixture, history->count, true, "before the end");
    cr_assert_eq(rollup_fixture_refresh_now(&history->fixture, false), 0);
    cr_assert_eq(count_required(history), history->count);
    check_timestamps(history, &history->fixture, "at the end");
    (void)count_found(history, &history->fixture, true, PAGE_MAX, "at the end");
    check_figures(history, &history->fixture, history->count, false, "at the end");
}

/* ---- life ---- */

void history_start(struct history *history)
{
    history->fixture.label = history->label;
    rollup_fixture_start(&history->fixture);
}

void history_stop(struct history *history)
{
    history_watch(history, false);
    rollup_fixture_stop(&history->fixture);
    sim_seen_release(&history->seen);
}

void history_steps(struct history *history, uint32_t count)
{
    struct executor *executor = history->fixture.world->executor;
    while (count-- > 0 && executor->step(executor)) {
    }
}

void history_set_full(struct history *history, bool is_full)
{
    struct sim_disk *disk = sim_world_disk(history->fixture.sim);
    uint64_t left = is_full ? sim_random_below(&history->random, FULL_BYTES) : 0;
    history->is_full = is_full;
    sim_disk_set_space(disk, is_full ? sim_disk_used(disk) + left : UINT64_MAX);
}

void history_seal(struct history *history)
{
    history->has_seals = true;
    cr_assert_eq(rollup_fixture_refresh_now(&history->fixture, true), 0);
    rollup_fixture_seal(&history->fixture);
}

/* ---- clocks ---- */

void history_jump(struct history *history, int64_t us)
{
    struct clock *clock = history->fixture.world->clock;
    int64_t now_us = clock->wall_us(clock);
    history->latest_us = now_us > history->latest_us ? now_us : history->latest_us;
    sim_world_set_wall_us(history->fixture.sim, now_us + us);
}

void history_write_ahead(struct history *history)
{
    struct clock *clock = history->fixture.world->clock;
    int64_t now_us = clock->wall_us(clock);
    int64_t ahead_us =
        (now_us > history->latest_us ? now_us : history->latest_us) + INT64_C(86400000000);
    struct cell cell = {.column_id = RETENTION_KEEP_DAYS,
                        .timestamp_us = ahead_us,
                        .expiry_s = EXPIRY_NONE,
                        .value = {(const uint8_t *)"\0\0\0\0\0\0\0\0", 8}};
    struct unfiltered item = {.kind = UNFILTERED_ROW,
                              .row = {.marker = {ahead_us, 0, EXPIRY_NONE},
                                      .deletion = DELETION_NONE,
                                      .cells = &cell,
                                      .cell_count = 1},
                              .before = DELETION_NONE,
                              .after = DELETION_NONE};
    const struct mutation mutation = {.table_id = TABLE_RETENTION,
                                      .token = murmur3_token("client", 6),
                                      .key = bytes_text("client"),
                                      .deletion = DELETION_NONE,
                                      .items = &item,
                                      .item_count = 1};
    struct write_batch *batch = write_batch_new();
    write_batch_add_mutation(batch, &mutation);
    int rc = store_apply(history->fixture.store, batch, NULL, NULL, NULL);
    cr_assert(rc == 0 || rc == ERROR_FULL, "%s", history->label);
    write_batch_free(batch);
}

void history_expect_waiting(struct history *history)
{
    const struct rollup *rollup = history->fixture.rollup;
    int64_t published = rollup->metrics.published->value;
    int64_t sealed = rollup->metrics.sealed->value;
    cr_assert_eq(rollup_fixture_refresh_now(&history->fixture, true), 0);
    rollup_fixture_seal(&history->fixture);
    sim_world_run_us(history->fixture.sim, WAITS_US);
    cr_assert_eq(rollup->metrics.published->value, published, "published by a clock in doubt, %s",
                 history->label);
    cr_assert_eq(rollup->metrics.sealed->value, sealed, "sealed by a clock in doubt, %s",
                 history->label);
}

/* ---- writes ---- */

static void acknowledged(void *context, int status, const struct error *err)
{
    struct written *written = context;
    (void)err;
    written->is_acknowledged = status == 0;
    written->is_answered = true;
}

static uint32_t draw(struct history *history, uint32_t limit)
{
    return (uint32_t)sim_random_below(&history->random, limit);
}

static int64_t day_start_ms(uint32_t day)
{
    return day_number(day) * DAY_MS;
}

static struct block *make_clicks(struct history *history, struct written *written)
{
    struct click clicks[HISTORY_CLICKS];
    char ad[16], amounts[HISTORY_CLICKS][8];
    snprintf(ad, sizeof ad, "b%02u", history->count);
    written->clicks = 1 + draw(history, HISTORY_CLICKS);
    for (uint32_t i = 0; i < written->clicks; i++) {
        written->cents[i] = 1 + draw(history, 9);
        written->offset_ms[i] = draw(history, 3);
        snprintf(amounts[i], sizeof amounts[i], "0.0%u", written->cents[i]);
        clicks[i] =
            (struct click){resellers[written->reseller], days[written->day],
                           day_start_ms(written->day) + written->offset_ms[i], ad, amounts[i]};
    }
    return engine_fixture_block(history->fixture.store, clicks, written->clicks);
}

static void add_counter(struct write_batch *batch, const struct written *written)
{
    const struct counter_increment increment = {
        .table_id = TABLE_CLICKS_PER_AD,
        .column_id = COUNTER_CLICKS,
        .key = arena_copy(batch->arena, bytes_text(written->counter == 0 ? "c0" : "c1")),
        .change = written->kind == WRITE_COUNTER_SET ? COUNTER_SET : COUNTER_ADD,
        .value = written->value};
    write_batch_add_increment(batch, &increment);
}

static void add_row(struct history *history, struct write_batch *batch,
                    const struct written *written)
{
    const struct schema *schema = store_schema(history->fixture.store);
    struct column_value values[] = {
        {RESELLER_ID, false, bytes_text(resellers[written->reseller])},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text(days[written->day])},
        {RESELLER_REWARD_PERCENT, false, bytes_of(NULL, 0)},
    };
    if (written->kind == WRITE_RATE) {
        values[2].value = write_batch_decimal(batch, decimal_from(written->percent, 2));
        write_batch_insert(batch, schema_table(schema, TABLE_RESELLER), values, 3);
    } else if (written->kind == WRITE_RATE_DELETE) {
        write_batch_delete(batch, schema_table(schema, TABLE_RESELLER), values, 2);
    } else {
        values[0].column_id = AD_CLICK_RESELLER_ID;
        values[1].column_id = AD_CLICK_DAY;
        write_batch_delete(batch, schema_table(schema, TABLE_AD_CLICK), values, 2);
    }
}

/* The DELETE of one click by its whole key; its rank is its place among the equals of its write. */
static void add_void_of_one(struct history *history, struct write_batch *batch,
                            struct written *written)
{
    const struct written *target = &history->writes[written->target];
    char ad[16];
    int64_t rank = 0;
    check(written->target < history->count && target->kind == WRITE_CLICKS);
    written->target_click %= target->clicks;
    uint32_t offset_ms = target->offset_ms[written->target_click];
    for (uint32_t c = 0; c < written->target_click; c++)
        rank += target->offset_ms[c] == offset_ms;
    snprintf(ad, sizeof ad, "b%02u", written->target);
    const struct column_value values[] = {
        {AD_CLICK_RESELLER_ID, false, bytes_text(resellers[target->reseller])},
        {AD_CLICK_DAY, false, bytes_text(days[target->day])},
        {AD_CLICK_TIME, false, write_batch_bigint(batch, day_start_ms(target->day) + offset_ms)},
        {AD_CLICK_AD_ID, false, bytes_text(ad)},
        {AD_CLICK_CLICK_ID, false, write_batch_bigint(batch, rank)},
    };
    write_batch_delete(batch, schema_table(store_schema(history->fixture.store), TABLE_AD_CLICK),
                       values, 5);
}

/* What is sealed by now, with seals held off, the void that is the newest write does not have. */
static void note_sealed(struct history *history)
{
    const struct sealed_clicks sealed = sealed_clicks_read(&history->fixture);
    for (uint32_t i = 0; i < history->count; i++) {
        struct written *written = &history->writes[i];
        char ad[16];
        snprintf(ad, sizeof ad, "b%02u", i);
        if (written->is_sealed || sealed_sums_find(&sealed.ads, ad) == NULL)
            continue;
        written->is_sealed = true;
        written->sealed_before = history->count - 1;
    }
}

/* It counts as written from before the call on: what a crash leaves of it is its own matter. */
static void apply(struct history *history, struct write_batch *batch, struct written *written)
{
    struct error err = {0};
    int rc;
    uint32_t tries = 0;
    while ((rc = store_apply(history->fixture.store, batch, acknowledged, written, &err)) ==
           ERROR_FULL) {
        if (history->is_full && ++tries > FULL_STEPS)
            history_set_full(history, false);
        history_steps(history, 1);
    }
    cr_assert(rc == 0 || (history->may_fail && rc == ERROR_FAILED), "%s, %s", err.text,
              history->label);
    history->count -= rc != 0;
}

/* What comes after a write that reads first must be applied after it, so it is waited for. */
static void apply_reading(struct history *history, struct write_batch *batch,
                          struct written *written)
{
    uint32_t tries = 0;
    streams_apply(history->fixture.streams, batch, NULL, 0, acknowledged, written);
    while (!written->is_answered) {
        if (history->is_full && ++tries > FULL_STEPS)
            history_set_full(history, false);
        history_steps(history, 1);
    }
    struct store_status status;
    store_status(history->fixture.store, &status);
    cr_assert(written->is_acknowledged || history->may_fail, "%s", history->label);
    /* Its reads failed; where the store failed, nobody knows. */
    history->count -= !written->is_acknowledged && !status.failed;
}

/* A void and a seal of the same day come one after the other: which is first is then known. */
static void apply_void(struct history *history, struct write_batch *batch, struct written *written)
{
    struct seal_pin pin;
    if (!history->has_seals) {
        apply_reading(history, batch, written);
        return;
    }
    history_set_full(history, false);
    rollup_fixture_pin_seals(&history->fixture, &pin);
    note_sealed(history);
    apply_reading(history, batch, written);
    rollup_unpin_seals(history->fixture.rollup, &pin);
}

void history_write(struct history *history, const struct written *what)
{
    cr_assert_lt(history->count, HISTORY_WRITES);
    struct written *written = &history->writes[history->count];
    struct write_batch *batch = write_batch_new();
    struct block *block = NULL;
    *written = *what;
    switch (written->kind) {
    case WRITE_CLICKS:
        block = make_clicks(history, written);
        write_batch_add_block(batch, block);
        break;
    case WRITE_VOID:
    case WRITE_RATE:
    case WRITE_RATE_DELETE:
        add_row(history, batch, written);
        break;
    case WRITE_VOID_ONE:
        add_void_of_one(history, batch, written);
        break;
    case WRITE_COUNTER_SET:
    case WRITE_COUNTER_ADD:
        add_counter(batch, written);
        break;
    }
    history->count++;
    if (written->kind == WRITE_VOID || written->kind == WRITE_VOID_ONE)
        apply_void(history, batch, written);
    else
        apply(history, batch, written);
    block_free(block);
    write_batch_free(batch);
}

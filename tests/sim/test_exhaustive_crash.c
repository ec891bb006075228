/* Every short history, through every loss of power that matters.
 *
 * Method: a history is a word.  Each letter is one step:
 *
 *     c  clicks of a day             l  late clicks, of an earlier day
 *     v  all clicks of a day voided  x  the first click of the newest batch voided
 *     r  a rate set                  d  that rate deleted
 *     s  a counter set               a  a counter added to
 *     f  flush                       m  merge (compaction)
 *     u  the rollup settles          e  all days published, and sealed, as their clicks expire
 *     b  the clock jumps back by a day
 *     t  a client's write with a time a day ahead, flushed
 *     j  all days published; then opened with a clock that is a year ahead, clicks, and all that
 *        publishes and seals; and the clock is right again
 *     o  stopped and opened          k  killed and opened         p  power lost, and opened
 *
 * All words of a length are gone through, from several beginnings that leave segments, a log that
 * is used again, exceptions over fresh rows, and sealed days whose runs a merge unlinks.  The steps
 * before the last two run until nothing is left to do; the last two overlap, in one of two ways,
 * and while they run and until the engine is idle the power fails before every sync and every
 * change of names, in each way that matters: each change of names and each write kept or dropped,
 * each write torn (sim_disk.h).  Where these ways are more than WAYS_MAX they are sampled.  What
 * each leaves is compared with the model of history.h, unless it left what an earlier one had.
 * Words that begin alike have the same crashes up to where they part: these are checked once.
 *
 * A failure names the word and the crash: SIM_WORD=cflfk:1 runs that one alone.  SIM_LENGTH is the
 * length of the words, SIM_STRIDE and SIM_SEED share them between processes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "storage/engine/engine.h"
#include "tests/sim/history.h"
#include "tests/sim/sim_cheap.h"
#include "tests/sim/sim_options.h"

enum {
    LENGTH_DEFAULT = 1,
    WAYS_MAX = 48,
    OVERLAPS = 2,
    KEEP_DAYS = 9,    /* on 2013-12-10 all days of the history have expired */
    OVERLAP_STEPS = 3 /* of the executor between two steps of the second way */
};

#define DAY_US INT64_C(86400000000)

static const char letters[] = "clvxrdsafmuebtjokp";
static const char *const beginnings[] = {"", "crslf", "cflfsv", "crfcukc", "clrfe", "clrfemc"};

/* ---- steps ---- */

static void write_step(struct history *history, char letter)
{
    static const struct {
        char letter;
        struct written what;
    } steps[] = {
        {'c', {.kind = WRITE_CLICKS, .day = 2}},
        {'l', {.kind = WRITE_CLICKS, .day = 0}},
        {'v', {.kind = WRITE_VOID, .day = 2}},
        {'r', {.kind = WRITE_RATE, .day = 1, .percent = 25}},
        {'d', {.kind = WRITE_RATE_DELETE, .day = 1}},
        {'s', {.kind = WRITE_COUNTER_SET, .value = 1000}},
        {'a', {.kind = WRITE_COUNTER_ADD, .value = 7}},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (steps[i].letter == letter)
            history_write(history, &steps[i].what);
}

/* Nothing, where no batch came before. */
static void void_one(struct history *history)
{
    uint32_t target = history->count;
    while (target > 0 && history->writes[target - 1].kind != WRITE_CLICKS)
        target--;
    const struct written what = {.kind = WRITE_VOID_ONE, .target = target - 1};
    if (target > 0)
        history_write(history, &what);
}

/* The watch stays with the old world where a step makes a new one. */
static void go_on_after(struct history *history, char letter, bool is_watched)
{
    if (letter == 'o')
        rollup_fixture_restart(&history->fixture);
    else
        history_crash_and_go_on(history, letter == 'p');
    history_watch(history, is_watched);
}

static int write_ahead(struct history *history, struct error *err)
{
    history_write_ahead(history);
    return engine_flush(history->fixture.store, NULL, NULL, err);
}

static int be_a_year_ahead(struct history *history, bool is_watched)
{
    static const struct written clicks = {.kind = WRITE_CLICKS, .day = 1};
    int rc = rollup_fixture_refresh_now(&history->fixture, true);
    history_jump(history, 365 * DAY_US);
    go_on_after(history, 'o', is_watched);
    history_expect_waiting(history);
    history_write(history, &clicks);
    history_expect_waiting(history);
    history_jump(history, -365 * DAY_US);
    return rc;
}

static void step(struct history *history, char letter, bool is_watched)
{
    struct error err = {0};
    int rc = 0;
    switch (letter) {
    case 'f':
        rc = engine_flush(history->fixture.store, NULL, NULL, &err);
        break;
    case 'm':
        rc = engine_compact(history->fixture.store, NULL, NULL, &err);
        break;
    case 'u':
        rc = rollup_fixture_refresh_now(&history->fixture, false);
        break;
    case 'e':
        history_seal(history);
        break;
    case 'x':
        void_one(history);
        break;
    case 'b':
        history_jump(history, -DAY_US);
        break;
    case 't':
        rc = write_ahead(history, &err);
        break;
    case 'j':
        rc = be_a_year_ahead(history, is_watched);
        break;
    case 'o':
    case 'k':
    case 'p':
        go_on_after(history, letter, is_watched);
        break;
    default:
        write_step(history, letter);
    }
    cr_assert_eq(rc, 0, "%s, %s", err.text, history->label);
}

/* ---- words ---- */

static uint64_t run_word(const char *word, uint32_t overlap, struct sim_seen *seen)
{
    size_t length = strlen(word);
    size_t watched = length > 2 ? length - 2 : 0;
    struct history history = {.random = {.state = 1},
                              .crashes_per_moment = WAYS_MAX,
                              .seen_of_all = seen,
                              .fixture = {.seed = overlap, .page_rows = 2, .keep_days = KEEP_DAYS}};
    snprintf(history.label, sizeof history.label, "SIM_WORD=%s:%u", word, overlap);
    history_start(&history);
    for (size_t i = 0; i < length; i++) {
        if (i == watched)
            history_watch(&history, true);
        step(&history, word[i], i >= watched);
        history_steps(&history,
                      i < watched || i + 1 == length ? UINT32_MAX : overlap * OVERLAP_STEPS);
    }
    history_watch(&history, false);
    history_check_all(&history);
    history_stop(&history);
    return history.crashes;
}

/* The `number`-th word of a length behind a beginning. */
static void make_word(uint64_t number, const char *beginning, uint32_t length, char *word)
{
    size_t at = strlen(beginning);
    memcpy(word, beginning, at);
    for (uint32_t i = 0; i < length; i++, number /= sizeof letters - 1)
        word[at++] = letters[number % (sizeof letters - 1)];
    word[at] = '\0';
}

struct totals {
    uint64_t words, crashes;
    struct sim_seen seen; /* crashes that were checked, of all words */
};

/* Words are numbered through all beginnings, so that every third one has each letter among them. */
static void run_length(uint32_t length, struct totals *totals)
{
    uint64_t stride = sim_option("SIM_STRIDE", 1);
    uint64_t number = sim_option("SIM_SEED", 0) % stride;
    uint64_t words = 1;
    char word[32];
    for (uint32_t i = 0; i < length; i++)
        words *= sizeof letters - 1;
    for (size_t b = 0; b < sizeof beginnings / sizeof beginnings[0]; b++) {
        for (; number < words; number += stride) {
            make_word(number, beginnings[b], length, word);
            for (uint32_t overlap = 0; overlap < OVERLAPS; overlap++)
                totals->crashes += run_word(word, overlap, &totals->seen);
            totals->words++;
        }
        number -= words;
    }
}

Test(exhaustive_crash, every_short_history_survives_every_loss_of_power)
{
    const char *chosen = getenv("SIM_WORD");
    struct totals totals = {0};
    sim_cheap();
    if (chosen != NULL) {
        char word[32];
        uint32_t overlap = 0;
        cr_assert_geq(sscanf(chosen, "%31[a-z]:%u", word, &overlap), 1);
        totals = (struct totals){.words = 1, .crashes = run_word(word, overlap, NULL)};
    } else {
        run_length((uint32_t)sim_option("SIM_LENGTH", LENGTH_DEFAULT), &totals);
    }
    printf("exhaustive_crash: %" PRIu64 " words, %" PRIu64 " distinct crashes\n", totals.words,
           totals.crashes);
    sim_seen_release(&totals.seen);
}

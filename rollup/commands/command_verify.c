/* daybook verify: recompute everything that follows from clicks and rates, and compare.
 *
 *   1 files      every page's checksum; stats against rows; cells against types; the manifest and
 *                its copy: store_scrub
 *     rates      every rate is 0 to 1
 *   2 seals      of each sealed day its checksums, and that its ads add up to it
 *   3 figures    every day of ad_click: stats x rate = amount_by_day, digit for digit, its seals'
 *                stats included; of a published day the ledger's last entry says the same
 *   4 ledger     every entry's old figure is the one before's new; times never decrease; the first
 *                is the publication; as many days have a ledger as are published
 *   5 counters   clicks_per_ad and clicks_per_reseller = clicks and seals counted again
 *
 * What decides correctness of the verdict while clicks keep coming: a day that is dirty is not
 * judged (its figure is known to be out of date), a day that differs is read a second time before
 * it is a difference, and a counter is read before and after the clicks are counted and must lie
 * in between.
 *
 * Memory: days and entries are read in chunks; ads and resellers are counted as many at a time as
 * there is room for (tallies.h), and clicks read again for the rest. */
#include <errno.h>

#include "rollup/verify/verify_private.h"
#include "base/memory.h"

enum { DIFFERENCES_PRINTED_MAX = 1000 };

#define PROGRESS_US INT64_C(2000000)

/* ---- options ---- */

enum { OPTION_QUIET = 'q', OPTION_REPAIR = OPTION_OWN };

static const struct argp_option verify_argp_options[] = {
    OPTION_STREAM_LINE,
    {"quiet", OPTION_QUIET, NULL, 0, "no progress on standard error", 0},
    {"repair", OPTION_REPAIR, NULL, 0, "put counters, figures and ledger right, by the clicks", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static error_t verify_parse_option(int key, char *argument, struct argp_state *state)
{
    struct verify_options *options = state->input;
    switch (key) {
    case OPTION_QUIET:
        options->is_quiet = true;
        return 0;
    case OPTION_STREAM:
        options->stream = argument;
        return 0;
    case OPTION_REPAIR:
        options->repairs = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is one word too many", argument);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp verify_argp = {
    .options = verify_argp_options,
    .parser = verify_parse_option,
    .doc = "Prove that checksums, stats, counters, figures and ledger agree with the clicks.\v"
           "A line per check says what was compared; each difference is named, and the exit status "
           "is 1 if there is one; a last line says what cannot be compared.  --repair believes the "
           "clicks: counters are moved to what was "
           "counted, figures made anew, and published ones restated, with cause `repair`; then "
           "everything is compared again.  A damaged file it cannot repair.\n\n"
           "Examples:\n"
           "  daybook verify\n"
           "  daybook verify --repair\n"
           "  daybook verify -q > /dev/null || page-somebody",
};

/* ---- the call ---- */

bool verify_writes(const void *options)
{
    return ((const struct verify_options *)options)->repairs;
}

void verify_free(struct verify *verify)
{
    if (verify->reader != NULL)
        day_reader_free(verify->reader);
    tallies_free(verify->tallies);
    buffer_release(&verify->position);
    buffer_release(&verify->position_next);
    buffer_release(&verify->ledger_reseller);
    repair_free(verify->repair);
    rollup_unhold_seals(verify->rollup, &verify->hold);
    memory_free(verify);
}

void verify_finish(struct verify *verify, int exit_status)
{
    struct command_output *output = verify->output;
    rollup_leave(verify->rollup);
    verify_free(verify);
    output->finish(output, exit_status);
}

/* What could be wrong where all else agrees: nothing in the directory says it a second time. */
static const char *unseen_of(const struct verify *verify)
{
    const struct table *clicks =
        rollup_table(verify->rollup, verify->rollup->stream->clicks.table_id);
    return (clicks->flags & TABLE_RANKED) != 0 ? "not compared: click_ids of clicks of one ad and "
                                                 "millisecond; deletions from other "
                                                 "tables\n"
                                               : "not compared: deletions from other tables\n";
}

void verify_end(struct verify *verify)
{
    if (verify->differences > 0)
        command_printf(verify->output, COMMAND_OUT, "%" PRIu64 " difference%s\n",
                       verify->differences, verify->differences == 1 ? "" : "s");
    else
        command_printf(verify->output, COMMAND_OUT, "%sall agree\n", unseen_of(verify));
    if (verify->repair != NULL && !repair_is_empty(verify->repair))
        verify_repair(verify);
    else
        verify_finish(verify, verify->differences > 0 ? EXIT_DATA_SAYS_NO : EXIT_DONE);
}

void verify_fail(struct verify *verify, int status, const struct error *err)
{
    command_printf(verify->output, COMMAND_ERR, "daybook: verify could not go on: %s\n",
                   err != NULL ? err->text : error_text(status));
    verify_finish(verify, EXIT_SYSTEM_FAILED);
}

bool verify_may_name(struct verify *verify)
{
    verify->differences++;
    if (verify->differences == DIFFERENCES_PRINTED_MAX + 1)
        command_printf(verify->output, COMMAND_OUT, "difference: … more are not named\n");
    return verify->differences <= DIFFERENCES_PRINTED_MAX;
}

void verify_progress(struct verify *verify, const char *what, uint64_t count)
{
    int64_t now_us = store_now_us(verify->rollup->store);
    if (verify->options->is_quiet || now_us - verify->progress_us < PROGRESS_US)
        return;
    verify->progress_us = now_us;
    command_printf(verify->output, COMMAND_ERR, "%s: %" PRIu64 "\n", what, count);
}

/* ---- files ---- */

static void take_damage(void *context, const char *text)
{
    struct verify *verify = context;
    if (verify_may_name(verify))
        command_printf(verify->output, COMMAND_OUT, "difference: %s\n", text);
}

static bool is_share(struct decimal rate)
{
    return !decimal_is_negative(rate) && decimal_compare(rate, decimal_from(1, 0)) <= 0;
}

static void name_rate(struct verify *verify, struct bytes reseller, const struct rate *rate)
{
    char day[DAY_TEXT_SIZE + 1];
    struct buffer number = {0};
    if (!verify_may_name(verify))
        return;
    day_format(rate->since, day);
    decimal_append(&number, rate->rate);
    command_printf(verify->output, COMMAND_OUT,
                   "difference: rate of %.*s from %s: %.*s, and a rate is 0 to 1; `daybook rate "
                   "set` puts it right\n",
                   (int)reseller.size, (const char *)reseller.data, day, (int)number.size,
                   (const char *)number.data);
    buffer_release(&number);
}

/* No door takes such a rate; one that let it in before is believed by the figures. */
static void verify_rates(struct verify *verify)
{
    const struct rate_table *table = verify->rollup->rates;
    uint32_t reseller_count;
    struct bytes *resellers = rate_table_resellers(table, &reseller_count);
    for (uint32_t i = 0; i < reseller_count; i++) {
        uint32_t count;
        const struct rate *rates = rate_table_rates(table, resellers[i], &count);
        for (uint32_t k = 0; k < count; k++)
            if (!is_share(rates[k].rate))
                name_rate(verify, resellers[i], &rates[k]);
    }
    memory_free(resellers);
}

static void scrubbed(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    struct store_status store;
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    store_status(verify->rollup->store, &store);
    command_printf(verify->output, COMMAND_OUT,
                   "files: checksums of %u segments, and their stats against their rows\n",
                   store.segments);
    verify_rates(verify);
    verify_seals(verify);
}

static void settled(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    struct error own = {0};
    if (status == 0) {
        status = store_scrub(verify->rollup->store, take_damage, scrubbed, verify, &own);
        err = &own;
    }
    if (status < 0)
        verify_fail(verify, status, err);
}

static void seals_held(void *context)
{
    struct verify *verify = context;
    struct error err = {0};
    if (verify->request->is_read_only) {
        settled(verify, 0, NULL);
        return;
    }
    int rc = rollup_settle(verify->rollup, false, settled, verify, &err);
    if (rc < 0)
        verify_fail(verify, rc, &err);
}

void verify_begin(struct rollup *rollup, const struct command_request *request,
                  struct command_output *output, bool repairs)
{
    struct verify *verify = memory_zeroed(1, sizeof(*verify));
    verify->rollup = rollup;
    verify->request = request;
    verify->options = request->options;
    verify->output = output;
    verify->repair = repairs ? repair_new() : NULL;
    verify->progress_us = store_now_us(verify->rollup->store);
    verify->hold = (struct seal_hold){.granted = seals_held, .context = verify};
    rollup_hold_seals(rollup, &verify->hold);
}

void verify_run(void *room, const struct command_request *request, struct command_output *output)
{
    const struct verify_options *options = request->options;
    struct rollup *rollup = rollup_enter(room, options->stream, output);
    if (rollup != NULL)
        verify_begin(rollup, request, output, options->repairs);
}

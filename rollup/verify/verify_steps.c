/* verify_steps: the order of the steps of a verification, and the verdict.
 *
 *   1 files      engine_scrub checks the checksum of every page, statistics against rows, cells
 *                against types, and the manifest with its copy
 *     rates      every rate is from 0 to 1
 *   2 seals      the checksums of each seal are right; the rows of its ads add up to its statistics
 *   3 figures    for every day with clicks, statistics (with those of seals) times rate give the
 *                row of amount_by_day, digit for digit; the last ledger entry of a published day
 *                has the same figure
 *   4 ledger     the old figure of an entry is the new figure of the previous entry; times never
 *                decrease; the first entry is the publication; as many days have entries as are
 *                published
 *   5 counters   each counter of the stream equals the number of its clicks, with those of seals
 *
 * A dirty day is not judged.  Step 5 reads clicks several times if memory does not suffice for all
 * counters (counter_audit.h). */
#include "rollup/verify/verify_private.h"

#include "base/memory.h"

static void verify_begin(const struct verify_order *order, bool repairs);

/* ---- the verdict ---- */

/* A text that names the data that cannot be compared, because nothing else is computed from it. */
static const char *unseen_of(const struct verify *verify)
{
    const struct table *clicks =
        rollup_table(verify->rollup, verify->rollup->stream->clicks.table_id);
    return (clicks->flags & TABLE_OF_EVENTS) != 0
               ? "not compared: click_ids of clicks of one ad and "
                 "millisecond; deletions from other "
                 "tables\n"
               : "not compared: deletions from other tables\n";
}

static void repaired(struct verify *verify)
{
    const struct verify_order order = verify->order;
    verify_free(verify);
    verify_begin(&order, false);
}

static void verify_end(struct verify *verify)
{
    struct rollup_metrics *metrics = &verify->rollup->metrics;
    if (!verify->is_incomplete) {
        metrics->verified->value = rollup_now_us(verify->rollup) / 1000000;
        metrics->differences->value = (int64_t)verify->differences;
    }
    if (verify->differences > 0)
        command_printf(verify->output, COMMAND_OUT, "%" PRIu64 " difference%s\n",
                       verify->differences, verify->differences == 1 ? "" : "s");
    else
        command_printf(verify->output, COMMAND_OUT, "%sall agree\n", unseen_of(verify));
    if (verify->repairs != NULL && !repair_list_is_empty(verify->repairs))
        verify_repair(verify, repaired);
    else
        verify_finish(verify, verify->is_incomplete     ? EXIT_SYSTEM_FAILED
                              : verify->differences > 0 ? EXIT_DATA_SAYS_NO
                                                        : EXIT_DONE);
}

/* ---- the steps ---- */

static const verify_step steps[] = {verify_files,  verify_seals,    verify_figures,
                                    verify_ledger, verify_counters, verify_end};

static void refreshed(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    if (verify_has_ended(verify, status) && verify_fail_if(verify, status, err))
        return;
    if (status < 0 && verify_may_name(verify))
        command_printf(verify->output, COMMAND_OUT, "difference: out of date: %s\n",
                       err != NULL ? err->text : error_text(status));
    verify_next(verify);
}

static void seals_pinned(void *context)
{
    struct verify *verify = context;
    if (verify->order.is_read_only)
        verify_next(verify);
    else
        rollup_refresh_now(verify->rollup, false, refreshed, verify);
}

static void verify_begin(const struct verify_order *order, bool repairs)
{
    struct verify *verify = memory_zeroed(1, sizeof(*verify));
    verify->rollup = order->rollup;
    verify->order = *order;
    verify->output = order->output;
    verify->steps = steps;
    verify->repairs = repairs ? repair_list_new() : NULL;
    verify->progress_us = store_now_us(verify->rollup->store);
    verify->pin = (struct seal_pin){.granted = seals_pinned, .context = verify};
    rollup_pin_seals(verify->rollup, &verify->pin);
}

void verify_start(const struct verify_order *order)
{
    check(order->rollup->users > 0);
    verify_begin(order, order->repairs);
}

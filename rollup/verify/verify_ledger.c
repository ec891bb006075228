/* verify_ledger: compares each entry of the ledger with the previous one of its day, and the number
 * of days that have entries with the number of published days. */
#include "rollup/verify/verify_private.h"

static void name_entry(struct verify *verify, const struct ledger_entry *entry, const char *what)
{
    char day[DAY_TEXT_SIZE + 1];
    calendar_day_format(entry->new.day, day);
    if (verify_may_name(verify))
        command_printf(verify->output, COMMAND_OUT,
                       "difference: restatement, %.*s %s, entry %" PRId64 ": %s\n",
                       (int)entry->new.reseller.size, (const char *)entry->new.reseller.data, day,
                       entry->seq, what);
}

static void check_entry(struct verify *verify, const struct ledger_entry *entry)
{
    const struct ledger_entry *last = &verify->ledger_last;
    bool same_day =
        verify->has_ledger_last &&
        last->new.day == entry->new.day &&bytes_equal(buffer_view(&verify->ledger_reseller),
                                                      entry->new.reseller);
    verify->ledger_days += !same_day;
    if (!same_day) {
        if (!entry->is_publication)
            name_entry(verify, entry, "the first entry is no publication");
        return;
    }
    if (entry->is_publication)
        name_entry(verify, entry, "published a second time");
    else if (!figure_identical(&entry->old, &last->new))
        name_entry(verify, entry, "its old figure is not the new one of the entry before");
    if (entry->at_ms < last->at_ms)
        name_entry(verify, entry, "its time is before the entry's before it");
}

static int take_entry(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    struct verify *verify = context;
    struct ledger_entry entry;
    int rc = ledger_read(table, row, &entry, err);
    if (rc < 0)
        return rc;
    check_entry(verify, &entry);
    buffer_set(&verify->ledger_reseller, entry.new.reseller);
    verify->ledger_last = entry;
    verify->has_ledger_last = true;
    verify->entries++;
    verify_progress(verify, "ledger entries", verify->entries);
    return 0;
}

static void ledger_done(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    if (status < 0 &&
        verify_fail_or_name(verify, status, err, "not all of the ledger could be read"))
        return;
    /* days_published was counted earlier, so it is compared only if nothing has been published
     * since. */
    if (status == 0 && !verify->are_rows_unread && verify->days_published != verify->ledger_days &&
        verify->publications == verify->rollup->metrics.published->value && verify_may_name(verify))
        command_printf(verify->output, COMMAND_OUT,
                       "difference: %" PRIu64 " days are published, %" PRIu64 " have a ledger\n",
                       verify->days_published, verify->ledger_days);
    command_printf(verify->output, COMMAND_OUT,
                   "%s: %" PRIu64 " entries of %" PRIu64 " days compared\n",
                   rollup_table(verify->rollup, verify->rollup->stream->ledger_table_id)->name,
                   verify->entries, verify->ledger_days);
    verify_next(verify);
}

void verify_ledger(struct verify *verify)
{
    const struct click_stream *stream = verify->rollup->stream;
    const struct read_request request =
        store_rows_request(stream->ledger_table_id, NULL, READ_APPLIED);
    store_rows_read(verify->rollup->store, &request, take_entry, ledger_done, verify);
}

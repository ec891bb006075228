/* ledger: the published figure of each day, and each later change of it, in rows of `restatement`.
 *
 * The entry of a change also has the old figure.  So an entry can be understood alone, and a
 * missing entry is found. */
#ifndef DAYBOOK_ROLLUP_DAYS_LEDGER_H
#define DAYBOOK_ROLLUP_DAYS_LEDGER_H

#include "rollup/days/dirty.h"
#include "rollup/days/figure.h"

/* `old` is not set in a publication. */
struct ledger_entry {
    int64_t at_ms;
    int64_t seq;                       /* numbers the entries of one reseller's day, from 0 on */
    bool is_publication;
    struct day_figure old;
    struct day_figure new;
};

must_check int ledger_read(const struct table *table, const struct page_row *row,
                           struct ledger_entry *entry_out, struct error *err);
/* The same without `old`. */
must_check int ledger_read_new(const struct table *table, const struct page_row *row,
                               struct ledger_entry *entry_out, struct error *err);
/* Write an entry; `token` is the murmur3_token of its reseller.  The entry's causes and changes are
 * those of `marks`; a publication has no marks.  The bytes of the reseller and of the marks must be
 * valid until the batch is applied.  Entries of one reseller that are written one after the other
 * become one mutation if their days ascend. */
void ledger_write(struct write_batch *batch, const struct table *table, int64_t token,
                  const struct ledger_entry *entry, const struct dirty_mark *marks,
                  uint32_t mark_count);

/* The slice of restatement from day `from` to day `to`, both included; days ascend in this table.
 * `text` must be valid until the read has begun. */
struct slice ledger_slice(int32_t from, int32_t to, struct day_slice_text *text);
#endif

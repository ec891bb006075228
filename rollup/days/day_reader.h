/* day_reader: what the store knows of up to DAY_READER_MAX days, read together.
 *
 *     add days ─▶ stats of each, with its seals', and rows of amount_by_day in slices over
 *                 neighbouring days
 *              ─▶ ledger of those that are published ─▶ done
 *
 * Everything is read as applied (store.h), because who reads it writes or judges what follows. */
#ifndef DAYBOOK_ROLLUP_DAYS_DAY_READER_H
#define DAYBOOK_ROLLUP_DAYS_DAY_READER_H

#include "base/arena.h"
#include "rollup/days/ledger.h"
#include "rollup/days/seal.h"

enum { DAY_READER_MAX = 256 };

struct day_reader;

struct day_facts {
    struct dirty_day *dirty;           /* the caller's; the reader does not look at it, */
    const struct dirty_range *range;   /* nor at this */
    struct bytes reseller;
    int64_t token;                     /* of the reseller */
    struct bytes key;                  /* of ad_click */
    int32_t day;
    struct seal_sum sum;               /* of its clicks and of its seals; not of a settled one */
    bool has_row;                      /* in amount_by_day: may be set before reading */
    struct day_figure row;
    bool has_last;                     /* the last entry of the ledger; only of published rows */
    struct ledger_entry last;
    bool is_settled;                   /* the row is known to say all of the day but its rate */
    int status;                        /* below 0: could not be read */
    bool is_marked;                    /* the caller's, like the first two */
    struct day_reader *reader;         /* private */
};

/* All outlive the reader.  *sealed_to: no later day has a seal; it may move. */
struct day_reader *day_reader_new(struct store *store, const struct click_stream *stream,
                                  const int32_t *sealed_to);
void day_reader_free(struct day_reader *reader);             /* no read is under way */
void day_reader_clear(struct day_reader *reader);

/* Bytes are copied.  Valid until cleared; day_reader_read sorts the days. */
struct day_facts *day_reader_add(struct day_reader *reader, struct bytes reseller, int32_t day);
/* The same for one who has ad_click's partition key. */
struct day_facts *day_reader_add_key(struct day_reader *reader, struct bytes key,
                                     struct bytes reseller, int32_t day);
/* A day that has a row which is known to be right about all but its rate: neither stats nor seals
 * are read, and it has no key. */
struct day_facts *day_reader_add_settled(struct day_reader *reader, struct bytes reseller,
                                         const struct day_figure *row);
struct day_facts *day_reader_days(const struct day_reader *reader, uint32_t *count_out);
/* For what belongs to these days; reset by day_reader_clear. */
struct arena *day_reader_arena(const struct day_reader *reader);

/* Sort by the reseller's token, reseller, and day descending, as rows are stored (unless all rows
 * are known and open), and read;
 * `has_rows`: rows are known, read the rest.
 * `done` comes once, perhaps before the call returns, with the first failure of any day. */
void day_reader_read(struct day_reader *reader, bool has_rows, store_done done, void *context);
#endif

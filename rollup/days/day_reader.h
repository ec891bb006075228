/* day_reader: the stats, rows and last ledger entries of up to DAY_READER_MAX days, read together.
 *
 *     add days ─▶ stats of each and its seals, and rows of amount_by_day in slices over
 *                 neighbouring days
 *              ─▶ ledger of each slice with a published day ─▶ done
 *
 * Everything is read as applied (store.h), not as durable. */
#ifndef DAYBOOK_ROLLUP_DAYS_DAY_READER_H
#define DAYBOOK_ROLLUP_DAYS_DAY_READER_H

#include "base/arena.h"
#include "rollup/days/ledger.h"
#include "rollup/days/seal.h"

enum { DAY_READER_MAX = 256 };

struct day_reader;

struct day_facts {
    struct dirty_day *dirty;           /* the caller's, not used by the reader; so is `range` */
    const struct dirty_range *range;
    struct bytes reseller;
    int64_t token;
    struct bytes key;                  /* the partition key of the day in the clicks' table; not set
                                        * if is_settled */
    int32_t day;
    struct seal_sum sum;               /* of the day's clicks and seals; not set if is_settled */
    bool has_row;                      /* amount_by_day has a row; may be set before reading */
    struct day_figure row;
    bool has_last;                     /* the ledger has an entry; read for all days of a slice
                                        * if one of them is published */
    struct ledger_entry last;
    bool is_settled;                   /* the row is known to be right in all but its rate */
    int status;                        /* below 0: the day could not be read */
    bool is_marked;                    /* the caller's, not used by the reader */
    struct day_reader *reader;         /* private */
};

/* `days`, `count` and `arena` are for the caller to read; the other members are private. */
struct day_reader {
    struct day_facts *days;
    uint32_t count;
    struct arena *arena;               /* for memory that belongs to these days; day_reader_clear
                                        * resets it */
    struct store *store;
    const struct click_stream *stream;
    const int32_t *sealed_to;
    uint32_t reads;                    /* reads under way, plus one for the phase itself */
    void (*next_phase)(struct day_reader *reader);
    store_done done;
    void *context;
    struct error err;                  /* the first failure of all; code 0: none */
};

/* All arguments outlive the reader.  *sealed_to is the last day that may have a seal; it may
 * change. */
struct day_reader *day_reader_new(struct store *store, const struct click_stream *stream,
                                  const int32_t *sealed_to);
void day_reader_free(struct day_reader *reader);             /* no read is under way */
void day_reader_clear(struct day_reader *reader);

/* Add a day; its bytes are copied.  The result is valid until day_reader_read, which sorts the
 * days, or until the reader is cleared. */
struct day_facts *day_reader_add(struct day_reader *reader, struct bytes reseller, int32_t day);
/* The same for a caller that has the day's partition key in the clicks' table. */
struct day_facts *day_reader_add_key(struct day_reader *reader, struct bytes key,
                                     struct bytes reseller, int32_t day);
/* Add a day whose row is right in all but its rate: neither stats nor seals are read. */
struct day_facts *day_reader_add_settled(struct day_reader *reader, struct bytes reseller,
                                         const struct day_figure *row);

/* Sort the days by token, then reseller, then latest day first (the order in which rows are
 * stored), and read them.  `has_rows`: all rows are known and none is read.  If `has_rows` is false
 * and every added day has a row that is not published (DAY_OPEN), nothing needs the order and the
 * days stay as they were added.  `done` is called once, perhaps before the call returns, with the
 * first failure of any day. */
void day_reader_read(struct day_reader *reader, bool has_rows, store_done done, void *context);
#endif

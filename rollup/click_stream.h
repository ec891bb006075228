/* click_stream: the tables and columns of a stream: where its clicks and rates are, and where its
 * rollup writes figures.
 *
 * The rollup takes every table and column from here, so that a stream is a definition, not code:
 * `clicks`, which every directory has, is one, and users define others over their tables.
 *
 *     clicks   partition key (reseller, day): one partition is one day's clicks; the rest of the
 *              key is the table's own
 *     rates    partition key the reseller, then the day a rate is in effect from
 *
 * The other tables have the columns that rollup/tables.h gives the built-in ones. */
#ifndef DAYBOOK_ROLLUP_CLICK_STREAM_H
#define DAYBOOK_ROLLUP_CLICK_STREAM_H

#include "rollup/tables.h"

/* Numbers of columns, and of the tables they are in. */
struct click_stream_clicks {
    uint32_t table_id;
    uint32_t reseller;
    uint32_t day;
    uint32_t time;
    uint32_t ad;
    uint32_t amount;
};

struct click_stream_rates {
    uint32_t table_id;
    uint32_t reseller;
    uint32_t since;
    uint32_t rate;
    bool is_percent;                   /* 25 in the column is a quarter: rate_value.h */
};

/* What a kept counter counts the clicks of. */
enum click_stream_key { CLICKS_OF_AD, CLICKS_OF_RESELLER, CLICKS_OF_DAY };

struct click_stream_counter {
    enum click_stream_key key;
    uint32_t table_id;
    uint32_t column_id;
};

enum { CLICK_STREAM_COUNTERS_MAX = 4 };

struct click_stream {
    const char *name;
    const char *zone;                  /* of its days; "": the directory's */
    const char *currency;              /* "": the directory's */
    struct click_stream_clicks clicks;
    struct click_stream_rates rates;
    uint32_t figures_table_id;         /* with the columns of amount_by_day */
    uint32_t ledger_table_id;          /* of restatement */
    uint32_t dirty_table_id;           /* of dirty_day */
    uint32_t seals_table_id;           /* of sealed_day; 0: its clicks do not expire */
    uint32_t sealed_ads_table_id;      /* of sealed_ad */
    uint32_t counter_count;            /* 0: clients keep the counters */
    struct click_stream_counter counters[CLICK_STREAM_COUNTERS_MAX];
    bool ignores_clients;              /* a client's UPDATE of a kept counter is answered OK */
};

/* `clicks`, whose tables are built in. */
const struct click_stream *click_stream_builtin(void);
#endif

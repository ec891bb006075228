/* click_stream: the tables and columns of a stream's clicks and rates, and the tables to which its
 * rollup writes.
 *
 * Every directory has the stream `clicks`; users define others over their tables.
 *
 *     clicks   partition key (reseller, day): one partition has the clicks of one day; the
 *              clustering key may have any columns
 *     rates    partition key: the reseller; clustering key: the day from which a rate is in effect
 *
 * The other tables have the same columns as the built-in ones in rollup/tables.h. */
#ifndef DAYBOOK_ROLLUP_CLICK_STREAM_H
#define DAYBOOK_ROLLUP_CLICK_STREAM_H

#include "rollup/tables.h"

/* The table of clicks, and the ids of its columns. */
struct click_stream_clicks {
    uint32_t table_id;
    uint32_t reseller;
    uint32_t day;
    uint32_t time;
    uint32_t ad;
    uint32_t amount;
};

/* The table of rates, and the ids of its columns. */
struct click_stream_rates {
    uint32_t table_id;
    uint32_t reseller;
    uint32_t since;
    uint32_t rate;
    bool is_percent;                   /* a value of 25 means a quarter (rate_value.h) */
};

enum click_stream_key { CLICKS_OF_AD, CLICKS_OF_RESELLER, CLICKS_OF_DAY };

struct click_stream_counter {
    enum click_stream_key key;
    uint32_t table_id;
    uint32_t column_id;
};

enum { CLICK_STREAM_COUNTERS_MAX = 4 };

struct click_stream {
    const char *name;
    const char *zone;                  /* time zone of its days; "": the directory's */
    const char *currency;              /* "": the directory's */
    struct click_stream_clicks clicks;
    struct click_stream_rates rates;
    uint32_t figures_table_id;         /* with the columns of amount_by_day */
    uint32_t ledger_table_id;          /* with the columns of restatement */
    uint32_t dirty_table_id;           /* with the columns of dirty_day */
    uint32_t seals_table_id;           /* with the columns of sealed_day; 0: the stream's clicks do
                                        * not expire */
    uint32_t sealed_ads_table_id;      /* with the columns of sealed_ad */
    uint32_t counter_count;            /* 0: clients maintain the counters */
    struct click_stream_counter counters[CLICK_STREAM_COUNTERS_MAX];
    bool ignores_clients;              /* a client's UPDATE of one of `counters` is answered OK and
                                        * changes nothing */
};

const struct click_stream *click_stream_builtin(void);
#endif

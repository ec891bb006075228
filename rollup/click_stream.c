/* click_stream: the built-in stream. */
#include "rollup/click_stream.h"

static const struct click_stream builtin = {
    .name = "clicks",
    .zone = "",
    .currency = "",
    .clicks = {.table_id = TABLE_AD_CLICK,
               .reseller = AD_CLICK_RESELLER_ID,
               .day = AD_CLICK_DAY,
               .time = AD_CLICK_TIME,
               .ad = AD_CLICK_AD_ID,
               .amount = AD_CLICK_AMOUNT},
    .rates = {.table_id = TABLE_RESELLER,
              .reseller = RESELLER_ID,
              .since = RESELLER_EFFECTIVE_SINCE,
              .rate = RESELLER_REWARD_PERCENT},
    .figures_table_id = TABLE_AMOUNT_BY_DAY,
    .ledger_table_id = TABLE_RESTATEMENT,
    .dirty_table_id = TABLE_DIRTY_DAY,
    .seals_table_id = TABLE_SEALED_DAY,
    .sealed_ads_table_id = TABLE_SEALED_AD,
    .counter_count = 2,
    .counters = {{CLICKS_OF_AD, TABLE_CLICKS_PER_AD, COUNTER_CLICKS},
                 {CLICKS_OF_RESELLER, TABLE_CLICKS_PER_RESELLER, COUNTER_CLICKS}},
};

const struct click_stream *click_stream_builtin(void)
{
    return &builtin;
}

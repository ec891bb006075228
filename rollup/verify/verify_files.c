/* verify_files: checks the files by engine_scrub (pages, statistics and the manifest), then the
 * rates, which are in memory. */
#include "rollup/verify/verify_private.h"
#include "base/memory.h"
#include "storage/engine/engine.h"

static void take_damage(void *context, const char *text)
{
    struct verify *verify = context;
    if (verify_may_name(verify))
        command_printf(verify->output, COMMAND_OUT, "difference: %s\n", text);
}

static void name_rate(struct verify *verify, struct bytes reseller, const struct rate *rate)
{
    char day[DAY_TEXT_SIZE + 1];
    struct buffer number = {0};
    if (!verify_may_name(verify))
        return;
    calendar_day_format(rate->since, day);
    decimal_append(&number, rate->rate);
    command_printf(verify->output, COMMAND_OUT,
                   "difference: rate of %.*s from %s: %.*s, and a rate is 0 to 1; `daybook rate "
                   "set` puts it right\n",
                   (int)reseller.size, (const char *)reseller.data, day, (int)number.size,
                   (const char *)number.data);
    buffer_release(&number);
}

/* An older version could write rates that are not from 0 to 1. */
static void verify_rates(struct verify *verify)
{
    const struct rate_table *table = verify->rollup->rates.table;
    const struct decimal whole = decimal_from(1, 0);
    uint32_t reseller_count;
    struct bytes *resellers = rate_table_resellers(table, &reseller_count);
    for (uint32_t i = 0; i < reseller_count; i++) {
        uint32_t count;
        struct rate *rates = rate_table_rates(table, resellers[i], &count);
        for (uint32_t k = 0; k < count; k++)
            if (decimal_is_negative(rates[k].rate) || decimal_compare(rates[k].rate, whole) > 0)
                name_rate(verify, resellers[i], &rates[k]);
        memory_free(rates);
    }
    memory_free(resellers);
}

static void scrubbed(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    struct engine_status engine;
    if (verify_fail_if(verify, status, err))
        return;
    engine_status(verify->rollup->store, &engine);
    command_printf(verify->output, COMMAND_OUT,
                   "files: checksums of %u segments, and their stats against their rows\n",
                   engine.segments);
    verify_rates(verify);
    verify_next(verify);
}

void verify_files(struct verify *verify)
{
    struct error err = {0};
    int rc = engine_scrub(verify->rollup->store, take_damage, scrubbed, verify, &err);
    verify_fail_if(verify, rc, &err);
}

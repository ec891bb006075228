/* live_rates: see the header. */
#include "rollup/days/live_rates.h"

#include "base/error.h"

void live_rates_init(struct live_rates *rates)
{
    *rates = (struct live_rates){.table = rate_table_new()};
}

void live_rates_release(struct live_rates *rates)
{
    rate_table_free(rates->table);
}

void live_rates_forget(struct live_rates *rates)
{
    rate_table_free(rates->table);
    rates->table = rate_table_new();
    rates->changed++;
}

void live_rates_note_changed(struct live_rates *rates)
{
    rates->changed++;
}

void live_rates_note_durable(struct live_rates *rates, uint64_t changed)
{
    check(changed <= rates->changed);
    if (changed > rates->durable)
        rates->durable = changed;
}

bool live_rates_are_durable(const struct live_rates *rates)
{
    return rates->changed == rates->durable;
}

void live_rates_send(struct live_rates *rates, uint64_t batch)
{
    check(batch > 0);
    if (rates->sent_batch != 0 || live_rates_are_durable(rates))
        return;
    rates->sent = rates->changed;
    rates->sent_batch = batch;
}

void live_rates_take_back(struct live_rates *rates, uint64_t batch)
{
    if (rates->sent_batch == batch)
        rates->sent_batch = 0;
}

void live_rates_batch_durable(struct live_rates *rates, uint64_t batch)
{
    if (rates->sent_batch != batch)
        return;
    live_rates_note_durable(rates, rates->sent);
    rates->sent_batch = 0;
}

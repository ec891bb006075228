/* click_watch: see the header.
 *
 * The sampled clicks are a random number of clicks apart, so that no order in which a sender sends
 * its clicks can hide a reseller. */
#include "rollup/days/click_watch.h"

#include "storage/schema/type.h"

enum { SAMPLES = 512, SAMPLES_MAX = 2048 };

void click_watch_begin(struct click_watch *watch)
{
    *watch = (struct click_watch){.is_on = true, .step = 1, .random = 1};
}

void click_watch_end(struct click_watch *watch)
{
    frequent_release(&watch->resellers);
    frequent_release(&watch->ads);
    *watch = (struct click_watch){0};
}

/* D. Knuth, "The Art of Computer Programming" 3.3.4: a linear congruential generator. */
static uint64_t draw(struct click_watch *watch, uint64_t below)
{
    watch->random = watch->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (watch->random >> 33) % below;
}

static void look(struct click_watch *watch, const struct block *block,
                 const struct block_column *ads, uint32_t row)
{
    struct bytes reseller;
    struct bytes key = block_dictionary_get(&block->partitions, block->partition_codes[row]);

    if (type_key_component(key, 2, 0, &reseller) == 0)
        frequent_add(&watch->resellers, reseller, 1);
    if (ads != NULL && (ads->absent == NULL || ads->absent[row] == 0))
        frequent_add(&watch->ads, block_dictionary_get(&ads->dictionary, ads->codes[row]), 1);
    watch->samples++;
}

static void take_block(struct click_watch *watch, const struct click_stream *stream,
                       const struct block *block)
{
    const struct block_column *ads = NULL;
    uint64_t row = watch->skipped;
    uint32_t before = watch->samples;

    for (uint32_t i = 0; i < block->column_count; i++)
        if (block->columns[i].column_id == stream->clicks.ad)
            ads = &block->columns[i];
    for (; row < block->rows && watch->samples < SAMPLES_MAX;
         row += 1 + draw(watch, 2 * watch->step - 1))
        look(watch, block, ads, (uint32_t)row);
    watch->skipped = row > block->rows ? row - block->rows : 0;
    watch->clicks += block->rows;
    watch->has_missed |= watch->samples - before != block->rows;
}

/* Clicks with ids are no blocks; ingest adds increments that count them (click_dedup.h). */
static void take_increment(struct click_watch *watch, const struct click_stream *stream,
                           const struct counter_increment *increment)
{
    if (increment->change != COUNTER_ADD || increment->value <= 0)
        return;
    for (uint32_t i = 0; i < stream->counter_count; i++) {
        const struct click_stream_counter *counter = &stream->counters[i];
        uint64_t clicks = (uint64_t)increment->value;

        if (counter->table_id != increment->table_id)
            continue;
        if (counter->key == CLICKS_OF_RESELLER)
            watch->clicks += clicks;
        watch->has_missed |= watch->samples >= SAMPLES_MAX;
        if (counter->key == CLICKS_OF_DAY || watch->samples >= SAMPLES_MAX)
            continue;
        frequent_add(counter->key == CLICKS_OF_AD ? &watch->ads : &watch->resellers, increment->key,
                     clicks);
        watch->samples++;
    }
}

void click_watch_take(struct click_watch *watch, const struct click_stream *stream,
                      const struct write_batch *batch)
{
    for (uint32_t i = 0; i < batch->block_count; i++)
        if (batch->blocks[i]->table_id == stream->clicks.table_id)
            take_block(watch, stream, batch->blocks[i]);
    for (uint32_t i = 0; i < batch->increment_count; i++)
        take_increment(watch, stream, &batch->increments[i]);
}

void click_watch_turn(struct click_watch *watch)
{
    uint64_t step = (watch->clicks - watch->turn_clicks) / SAMPLES;

    watch->step = step > 0 ? step : 1;
    watch->skipped = watch->skipped < watch->step ? watch->skipped : watch->step - 1;
    watch->turn_clicks = watch->clicks;
    watch->samples = 0;
    watch->has_missed = false;
    frequent_fade(&watch->resellers);
    frequent_fade(&watch->ads);
}

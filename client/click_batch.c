/* click_batch: see click_batch.h.
 *
 * What must hold: the strings of a row are added to the tables before the row.  If memory is out, a
 * string may be added without a row.
 *
 * Most clicks of a reseller have the same day as the reseller's previous click, so the partition of
 * that click is compared first. */
#include "client/click_batch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/array.h"

enum { ROWS_MIN = 1024, MEMOS_MIN = 64, LINE_REST = 64 };

void click_batch_release(struct click_batch *batch)
{
    string_map_release(&batch->resellers);
    string_map_release(&batch->ads);
    string_map_release(&batch->partitions);
    free(batch->memos);
    free(batch->partition_codes);
    free(batch->ad_codes);
    free(batch->times);
    free(batch->amounts);
    free(batch->scales);
    *batch = (struct click_batch){0};
}

void click_batch_clear(struct click_batch *batch)
{
    string_map_clear(&batch->resellers);
    string_map_clear(&batch->ads);
    string_map_clear(&batch->partitions);
    batch->rows = 0;
    batch->text_size = 0;
}

static int rows_reserve(struct click_batch *batch)
{
    uint32_t capacity = batch->row_capacity == 0 ? ROWS_MIN : batch->row_capacity * 2;

    if (batch->rows < batch->row_capacity)
        return 0;
    if (!array_resize(&batch->partition_codes, capacity, sizeof *batch->partition_codes) ||
        !array_resize(&batch->ad_codes, capacity, sizeof *batch->ad_codes) ||
        !array_resize(&batch->times, capacity, sizeof *batch->times) ||
        !array_resize(&batch->amounts, capacity, sizeof *batch->amounts) ||
        !array_resize(&batch->scales, capacity, sizeof *batch->scales))
        return DAYBOOK_NO_MEMORY;
    batch->row_capacity = capacity;
    return 0;
}

static int64_t id_add(struct string_map *map, const char *id, size_t size)
{
    return string_map_add(map, string_map_hash(id, size), id, size);
}

static int64_t partition_add(struct click_batch *batch, struct click_partition partition)
{
    uint32_t reseller = partition.reseller;

    if (reseller >= batch->memo_capacity) {
        uint32_t capacity = batch->memo_capacity == 0 ? MEMOS_MIN : batch->memo_capacity * 2;

        /* Resellers may have no memo, because memory was out when they were added. */
        while (capacity <= reseller)
            capacity *= 2;
        if (!array_resize(&batch->memos, capacity, sizeof *batch->memos))
            return STRING_MAP_NO_MEMORY;
        memset(batch->memos + batch->memo_capacity, 0,
               (capacity - batch->memo_capacity) * sizeof *batch->memos);
        batch->memo_capacity = capacity;
    }
    /* The memo may be of an earlier batch, so its partition is compared. */
    uint32_t memo = batch->memos[reseller];
    if (memo < batch->partitions.count &&
        memcmp(batch->partitions.text + memo * sizeof partition, &partition, sizeof partition) == 0)
        return memo;
    int64_t code = string_map_add(&batch->partitions, string_map_hash(&partition, sizeof partition),
                                  &partition, sizeof partition);
    if (code >= 0)
        batch->memos[reseller] = (uint32_t)code;
    return code;
}

int click_batch_add(struct click_batch *batch, const struct daybook_click *click)
{
    size_t reseller_size = click->reseller_size;
    size_t ad_size = click->ad_size;
    uint32_t row = batch->rows;
    int64_t partition = STRING_MAP_NO_MEMORY;

    if (click->reseller == NULL || click->ad == NULL || click->scale > DAYBOOK_SCALE_MAX)
        return DAYBOOK_INVALID;
    reseller_size = reseller_size == 0 ? strlen(click->reseller) : reseller_size;
    ad_size = ad_size == 0 ? strlen(click->ad) : ad_size;
    if (reseller_size > DAYBOOK_ID_MAX || ad_size > DAYBOOK_ID_MAX)
        return DAYBOOK_INVALID;
    if (rows_reserve(batch) != 0)
        return DAYBOOK_NO_MEMORY;
    int64_t reseller = id_add(&batch->resellers, click->reseller, reseller_size);
    int64_t ad = id_add(&batch->ads, click->ad, ad_size);
    if (reseller >= 0 && ad >= 0)
        partition = partition_add(batch, (struct click_partition){(uint32_t)reseller, click->day});
    if (partition < 0)
        return DAYBOOK_NO_MEMORY;
    batch->partition_codes[row] = (uint32_t)partition;
    batch->ad_codes[row] = (uint32_t)ad;
    batch->times[row] = click->time_ms;
    batch->amounts[row] = click->amount;
    batch->scales[row] = click->scale;
    batch->text_size += reseller_size + ad_size + LINE_REST;
    batch->rows++;
    return 0;
}

struct click_columns click_batch_columns(const struct click_batch *batch)
{
    const void *partitions = batch->partitions.text;

    return (struct click_columns){
        .rows = batch->rows,
        .partition_count = batch->partitions.count,
        .partitions = partitions,
        .resellers = &batch->resellers,
        .ads = &batch->ads,
        .partition_codes = batch->partition_codes,
        .ad_codes = batch->ad_codes,
        .times = batch->times,
        .amounts = batch->amounts,
        .scales = batch->scales,
    };
}

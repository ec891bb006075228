/* stats: see the header.
 *
 * Sums are kept for each scale, because when 1.50 is deleted from 1.50 + 0.5, the total must be 0.5
 * again and not 0.50.
 *
 *   rows 3   scale 1: count 2, sum 12 (0.5 + 0.7)   scale 2: count 1, sum 150 (1.50)   -> 2.70 */
#include "storage/cell/stats.h"

#include <string.h>

#include "base/memory.h"

void stats_release(struct partition_stats *stats)
{
    memory_free(stats->sums);
    *stats = (struct partition_stats){0};
}

void stats_copy(struct partition_stats *target, const struct partition_stats *source)
{
    *target = *source;
    if (source->scale_count > 1)
        target->sums = memory_copy(source->sums, source->scale_count * sizeof *source->sums);
}

size_t stats_bytes(const struct partition_stats *stats)
{
    return stats->scale_count > 1 ? stats->scale_count * sizeof *stats->sums : 0;
}

const struct scale_sum *stats_sums(const struct partition_stats *stats)
{
    return stats->scale_count > 1 ? stats->sums : &stats->inline_sum;
}

static struct scale_sum *stats_insert(struct partition_stats *stats, uint8_t place)
{
    uint8_t count = stats->scale_count++;

    check(count < STATS_SCALES_MAX);
    if (count == 0)
        return &stats->inline_sum;
    stats->sums = memory_resize(stats->sums, (count + 1u) * sizeof *stats->sums);
    if (count == 1)
        stats->sums[0] = stats->inline_sum;
    memmove(&stats->sums[place + 1], &stats->sums[place],
            (size_t)(count - place) * sizeof *stats->sums);
    stats->sums[place] = (struct scale_sum){0};
    return &stats->sums[place];
}

static struct scale_sum *stats_scale(struct partition_stats *stats, uint8_t scale)
{
    struct scale_sum *sums = stats->scale_count > 1 ? stats->sums : &stats->inline_sum;
    uint8_t place = 0;

    check(scale < STATS_SCALES_MAX);
    while (place < stats->scale_count && sums[place].scale < scale)
        place++;
    if (place < stats->scale_count && sums[place].scale == scale)
        return &sums[place];
    struct scale_sum *inserted = stats_insert(stats, place);
    inserted->scale = scale;
    return inserted;
}

void stats_add_value(struct partition_stats *stats, int64_t unscaled, uint8_t scale)
{
    struct scale_sum *sum = stats_scale(stats, scale);

    sum->count++;
    sum->sum += unscaled;
}

static void stats_widen(struct partition_stats *stats, int64_t first, int64_t last)
{
    if (stats->rows == 0 || first < stats->first)
        stats->first = first;
    if (stats->rows == 0 || last > stats->last)
        stats->last = last;
}

void stats_add_row(struct partition_stats *stats, int64_t first_clustering)
{
    stats_widen(stats, first_clustering, first_clustering);
    stats->rows++;
}

void stats_add(struct partition_stats *stats, const struct partition_stats *more)
{
    const struct scale_sum *sums = stats_sums(more);

    if (more->rows > 0)
        stats_widen(stats, more->first, more->last);
    stats->rows += more->rows;
    for (uint8_t i = 0; i < more->scale_count; i++) {
        struct scale_sum *sum = stats_scale(stats, sums[i].scale);
        sum->count += sums[i].count;
        sum->sum += sums[i].sum;
    }
}

bool stats_equal(const struct partition_stats *a, const struct partition_stats *b)
{
    const struct scale_sum *a_sums = stats_sums(a);
    const struct scale_sum *b_sums = stats_sums(b);

    if (a->rows != b->rows || a->scale_count != b->scale_count)
        return false;
    if (a->rows > 0 && (a->first != b->first || a->last != b->last))
        return false;
    for (uint8_t i = 0; i < a->scale_count; i++)
        if (a_sums[i].scale != b_sums[i].scale || a_sums[i].count != b_sums[i].count ||
            a_sums[i].sum != b_sums[i].sum)
            return false;
    return true;
}

uint64_t stats_value_count(const struct partition_stats *stats)
{
    const struct scale_sum *sums = stats_sums(stats);
    uint64_t count = 0;

    for (uint8_t i = 0; i < stats->scale_count; i++)
        count += sums[i].count;
    return count;
}

struct decimal stats_sum(const struct partition_stats *stats)
{
    const struct scale_sum *sums = stats_sums(stats);
    struct decimal total = decimal_from(0, 0);

    if (stats->scale_count > 0)
        total = decimal_from(sums[0].sum, sums[0].scale);
    for (uint8_t i = 1; i < stats->scale_count; i++) {
        int rc = decimal_add(total, decimal_from(sums[i].sum, sums[i].scale), &total);
        check(rc == 0);
    }
    return total;
}

void stats_serialize(const struct partition_stats *stats, struct buffer *buffer)
{
    const struct scale_sum *sums = stats_sums(stats);

    buffer_put_varint(buffer, stats->rows);
    if (stats->rows > 0) {
        buffer_put_signed(buffer, stats->first);
        buffer_put_varint(buffer, (uint64_t)stats->last - (uint64_t)stats->first);
    }
    buffer_put_u8(buffer, stats->scale_count);
    for (uint8_t i = 0; i < stats->scale_count; i++) {
        uint128 sum = (uint128)sums[i].sum;
        buffer_put_u8(buffer, sums[i].scale);
        buffer_put_varint(buffer, sums[i].count);
        buffer_put_u64(buffer, (uint64_t)sum);
        buffer_put_u64(buffer, (uint64_t)(sum >> 64));
    }
}

/* False: the entry is damaged, or its scale does not ascend. */
static bool stats_read_sum(struct reader *reader, struct partition_stats *stats)
{
    const struct scale_sum *sums = stats_sums(stats);
    uint8_t scale = reader_u8(reader);
    uint64_t count = reader_varint(reader);
    uint64_t low = reader_u64(reader);
    uint64_t high = reader_u64(reader);
    bool follows = stats->scale_count == 0 || sums[stats->scale_count - 1].scale < scale;

    if (reader->failed || scale >= STATS_SCALES_MAX || count == 0 || !follows)
        return false;
    struct scale_sum *sum = stats_scale(stats, scale);
    sum->count = count;
    sum->sum = (int128)((uint128)high << 64 | low);
    return true;
}

int stats_deserialize(struct reader *reader, struct partition_stats *stats_out)
{
    struct partition_stats stats = {.rows = reader_varint(reader)};
    bool valid = true;

    if (stats.rows > 0) {
        stats.first = reader_signed(reader);
        uint64_t width = reader_varint(reader);
        valid = width <= (uint64_t)INT64_MAX - (uint64_t)stats.first;
        stats.last = (int64_t)((uint64_t)stats.first + width);
    }
    uint8_t count = reader_u8(reader);
    valid = valid && !reader->failed && count <= STATS_SCALES_MAX;
    for (uint8_t i = 0; i < count && valid; i++)
        valid = stats_read_sum(reader, &stats);
    *stats_out = (struct partition_stats){0};
    if (!valid) {
        stats_release(&stats);
        return ERROR_CORRUPT;
    }
    *stats_out = stats;
    return 0;
}

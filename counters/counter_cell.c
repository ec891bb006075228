/* counter_cell: why every increment counts once.
 *
 * Merges may be repeated, reordered and regrouped:
 *
 *   A      gen 5   (10, clock 12, +3)
 *   B      gen 5   (10, clock 17, +8)  (20, clock 21, +1)   B's shard 10 includes A's increments
 *   A + B  gen 5   (10, clock 17, +8)  (20, clock 21, +1)   value 9, also if A is merged again
 *   C      gen 15  no shards                                a DELETE at 15
 *   A+B+C  gen 15                      (20, clock 21, +1)   value 1: shard 10 began before 15
 *
 * If damage makes two entries with the same id and clock differ, the larger value is kept, so that
 * the order of merges does not matter.  A folded shard has the lowest id and the highest clock, so
 * a merge prefers it to an older copy of the shard with that id. */
#include "counters/counter_cell.h"

enum { HEADER_SIZE = 12, SHARD_SIZE = 24 };

uint32_t counter_cell_shard_count(struct bytes cell)
{
    return load_u32(cell.data + 8);
}

static struct counter_shard shard_at(struct bytes cell, uint32_t index)
{
    const uint8_t *at = cell.data + HEADER_SIZE + (size_t)index * SHARD_SIZE;

    return (struct counter_shard){load_u64(at), load_u64(at + 8), (int64_t)load_u64(at + 16)};
}

static void put_header(struct buffer *buffer, int64_t generation, uint32_t shards)
{
    buffer_put_u64(buffer, (uint64_t)generation);
    buffer_put_u32(buffer, shards);
}

static void put_shard(struct buffer *buffer, struct counter_shard shard)
{
    buffer_put_u64(buffer, shard.id);
    buffer_put_u64(buffer, shard.clock);
    buffer_put_u64(buffer, (uint64_t)shard.value);
}

static bool shard_belongs(struct counter_shard shard, int64_t generation)
{
    return generation <= 0 || shard.id >= (uint64_t)generation;
}

void counter_cell_write_single(struct buffer *buffer, int64_t generation,
                               struct counter_shard shard)
{
    check(shard_belongs(shard, generation));
    put_header(buffer, generation, 1);
    put_shard(buffer, shard);
}

void counter_cell_write_reset(struct buffer *buffer, int64_t generation)
{
    put_header(buffer, generation, 0);
}

int counter_cell_validate(struct bytes cell)
{
    if (cell.size < HEADER_SIZE)
        return ERROR_CORRUPT;
    uint32_t count = counter_cell_shard_count(cell);
    if (count > COUNTER_SHARDS_MAX || cell.size != HEADER_SIZE + (size_t)count * SHARD_SIZE)
        return ERROR_CORRUPT;
    for (uint32_t i = 1; i < count; i++)
        if (shard_at(cell, i - 1).id >= shard_at(cell, i).id)
            return ERROR_CORRUPT;
    if (count > 0 && !shard_belongs(shard_at(cell, 0), counter_cell_generation(cell)))
        return ERROR_CORRUPT;
    return 0;
}

int64_t counter_cell_generation(struct bytes cell)
{
    return (int64_t)load_u64(cell.data);
}

int64_t counter_cell_value(struct bytes cell)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < counter_cell_shard_count(cell); i++)
        sum += (uint64_t)shard_at(cell, i).value;
    return (int64_t)sum;
}

static struct counter_shard shard_later(struct counter_shard a, struct counter_shard b)
{
    if (a.clock != b.clock)
        return a.clock > b.clock ? a : b;
    return a.value > b.value ? a : b;
}

void counter_cell_merge(struct bytes a, struct bytes b, struct buffer *merged)
{
    int64_t generation = counter_cell_generation(a);
    if (counter_cell_generation(b) > generation)
        generation = counter_cell_generation(b);
    size_t start = merged->size;
    uint32_t a_index = 0;
    uint32_t b_index = 0;
    uint32_t count = 0;
    put_header(merged, generation, 0);
    while (a_index < counter_cell_shard_count(a) || b_index < counter_cell_shard_count(b)) {
        bool a_left = a_index < counter_cell_shard_count(a);
        bool b_left = b_index < counter_cell_shard_count(b);
        struct counter_shard shard;
        if (a_left && (!b_left || shard_at(a, a_index).id < shard_at(b, b_index).id))
            shard = shard_at(a, a_index++);
        else if (b_left && (!a_left || shard_at(b, b_index).id < shard_at(a, a_index).id))
            shard = shard_at(b, b_index++);
        else
            shard = shard_later(shard_at(a, a_index++), shard_at(b, b_index++));
        if (shard_belongs(shard, generation)) {
            put_shard(merged, shard);
            count++;
        }
    }
    store_u32(merged->data + start + 8, count);
}

void counter_cell_fold(struct bytes cell, struct buffer *folded)
{
    if (counter_cell_shard_count(cell) == 0) {
        buffer_append_bytes(folded, cell);
        return;
    }
    struct counter_shard shard = shard_at(cell, 0);
    for (uint32_t i = 1; i < counter_cell_shard_count(cell); i++) {
        struct counter_shard other = shard_at(cell, i);
        shard.clock = other.clock > shard.clock ? other.clock : shard.clock;
    }
    shard.value = counter_cell_value(cell);
    counter_cell_write_single(folded, counter_cell_generation(cell), shard);
}

void counter_cell_restamp(struct bytes cell, int64_t (*each)(void *context, int64_t timestamp_us),
                          void *context, struct buffer *restamped)
{
    put_header(restamped, each(context, counter_cell_generation(cell)),
               counter_cell_shard_count(cell));
    for (uint32_t i = 0; i < counter_cell_shard_count(cell); i++) {
        struct counter_shard shard = shard_at(cell, i);
        shard.id = (uint64_t)each(context, (int64_t)shard.id);
        put_shard(restamped, shard);
    }
}

/* A figure is packed as
 *
 *     flags u8; day minus the day of the figure before, signed; clicks varint; gross;
 *     if priced: rate, amount
 *
 * A decimal is 2 * scale and the unscaled value, both signed.  If the unscaled value has more than
 * 64 bits, or the scale is not 0 to 255, the decimal is 2 * scale + 1 and the four limbs.  Packed
 * figures are never written to a file.
 *
 * The figures of one reseller are gathered in `open`, and copied to the arena when the figures of
 * the next reseller begin. */
#include "rollup/days/figure_window.h"

#include "base/arena.h"
#include "base/memory.h"

enum {
    FLAG_STATE = 3, /* the bits of enum day_state */
    FLAG_PRICED = 4,
    ARENA_CHUNK = 256 * 1024,
    DECIMAL_LIMBS = 4
};

struct figure_window {
    struct quota *quota;
    size_t bytes; /* charged to the quota */
    struct arena *arena;
    struct bytes *kept; /* packed figures by reseller; size 0: none */
    uint32_t capacity;
    uint32_t count;
    uint32_t end;
    uint32_t open_reseller; /* whose figures are in `open`; UINT32_MAX: none */
    int32_t open_day;       /* of the last figure in `open` */
    struct buffer open;
    uint32_t next_reseller; /* the reseller whose figures follow those in `next` */
    int32_t next_day;
    struct reader next;
};

struct figure_window *figure_window_new(struct quota *quota)
{
    struct figure_window *window = memory_zeroed(1, sizeof(*window));
    check(quota != NULL);
    window->quota = quota;
    window->arena = arena_new(ARENA_CHUNK);
    window->open_reseller = UINT32_MAX;
    return window;
}

static void count_bytes(struct figure_window *window)
{
    quota_charge(window->quota, &window->bytes,
                 arena_used(window->arena) + window->capacity * sizeof(*window->kept));
}

void figure_window_free(struct figure_window *window)
{
    if (window == NULL)
        return;
    quota_charge(window->quota, &window->bytes, 0);
    arena_free(window->arena);
    memory_free(window->kept);
    buffer_release(&window->open);
    memory_free(window);
}

void figure_window_begin(struct figure_window *window, uint32_t count)
{
    arena_reset(window->arena);
    if (count > window->capacity) {
        memory_free(window->kept);
        window->kept = memory_alloc(count * sizeof(*window->kept));
        window->capacity = count;
    }
    if (count > 0)
        memset(window->kept, 0, count * sizeof(*window->kept));
    window->count = window->end = count;
    window->open_reseller = UINT32_MAX;
    buffer_clear(&window->open);
    window->next_reseller = 0;
    window->next_day = 0;
    window->next = reader_of(bytes_of(NULL, 0));
    count_bytes(window);
}

uint32_t figure_window_end(const struct figure_window *window)
{
    return window->end;
}

/* ---- packing ---- */

static void put_decimal(struct buffer *buffer, struct decimal value)
{
    int64_t unscaled;
    uint8_t scale;
    bool wide = !decimal_split(value, UINT8_MAX, &unscaled, &scale);
    buffer_put_signed(buffer, 2 * (int64_t)value.scale + wide);
    if (!wide)
        buffer_put_signed(buffer, unscaled);
    for (uint32_t i = 0; wide && i < DECIMAL_LIMBS; i++)
        buffer_put_u64(buffer, value.limb[i]);
}

static struct decimal take_decimal(struct reader *reader)
{
    int64_t scale = reader_signed(reader);
    if (scale % 2 == 0)
        return decimal_from(reader_signed(reader), (int32_t)(scale / 2));
    struct decimal value = {.scale = (int32_t)((scale - 1) / 2)};
    for (uint32_t i = 0; i < DECIMAL_LIMBS; i++)
        value.limb[i] = reader_u64(reader);
    return value;
}

static void pack(struct buffer *buffer, const struct day_figure *figure, int32_t day_before)
{
    buffer_put_u8(buffer, (uint8_t)(figure->state | (figure->is_priced ? FLAG_PRICED : 0)));
    buffer_put_signed(buffer, (int64_t)figure->day - day_before);
    buffer_put_varint(buffer, figure->clicks);
    put_decimal(buffer, figure->gross);
    if (figure->is_priced) {
        put_decimal(buffer, figure->rate);
        put_decimal(buffer, figure->amount);
    }
}

static void unpack(struct reader *reader, int32_t day_before, struct day_figure *figure)
{
    uint8_t flags = reader_u8(reader);
    *figure = (struct day_figure){.day = (int32_t)(day_before + reader_signed(reader))};
    figure->state = (enum day_state)(flags & FLAG_STATE);
    figure->is_priced = (flags & FLAG_PRICED) != 0;
    figure->clicks = reader_varint(reader);
    figure->gross = take_decimal(reader);
    if (figure->is_priced) {
        figure->rate = take_decimal(reader);
        figure->amount = take_decimal(reader);
    }
    check(!reader->failed);
}

/* ---- what is kept ---- */

/* Drop the figures of the resellers with the highest numbers, until at most half of the bytes are
 * left, but keep at least one reseller. */
static void drop_upper(struct figure_window *window)
{
    struct arena *lower = arena_new(ARENA_CHUNK);
    size_t half = arena_used(window->arena) / 2;
    size_t bytes = 0;
    uint32_t end = 0;
    for (; end < window->end; end++) {
        struct bytes kept = window->kept[end];
        if (bytes > 0 && bytes + kept.size > half)
            break;
        bytes += kept.size;
        window->kept[end] = kept.size > 0 ? arena_copy(lower, kept) : kept;
    }
    arena_free(window->arena);
    window->arena = lower;
    window->end = end;
}

static void close_open(struct figure_window *window)
{
    uint32_t reseller = window->open_reseller;
    if (reseller < window->end) {
        window->kept[reseller] = arena_copy(window->arena, buffer_view(&window->open));
        count_bytes(window);
        if (quota_is_past(window->quota, window->quota->limit, false) &&
            arena_used(window->arena) > window->quota->little)
            drop_upper(window);
        count_bytes(window);
    }
    window->open_reseller = UINT32_MAX;
    buffer_clear(&window->open);
}

void figure_window_add(struct figure_window *window, uint32_t reseller,
                       const struct day_figure *figure)
{
    check(reseller < window->count);
    if (reseller != window->open_reseller) {
        close_open(window);
        window->open_reseller = reseller;
        window->open_day = 0;
    }
    if (reseller >= window->end)
        return;
    pack(&window->open, figure, window->open_day);
    window->open_day = figure->day;
}

bool figure_window_next(struct figure_window *window, uint32_t *reseller_out,
                        struct day_figure *figure_out)
{
    if (window->open_reseller != UINT32_MAX)
        close_open(window);
    while (reader_left(&window->next) == 0) {
        if (window->next_reseller == window->end)
            return false;
        window->next = reader_of(window->kept[window->next_reseller++]);
        window->next_day = 0;
    }
    unpack(&window->next, window->next_day, figure_out);
    window->next_day = figure_out->day;
    *reseller_out = window->next_reseller - 1;
    return true;
}

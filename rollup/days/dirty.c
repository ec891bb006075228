/* dirty: see the header.
 *
 * What decides correctness: no mark may be lost between the time when a day's stats are read and
 * the time when its row is written.
 *
 *      the refresh takes day d off the queue and reads its stats
 *      a click comes: d is queued again, and the click is not in the stats that were read
 *      the refresh writes d's figure; d is queued, so its marks stay, and it is processed again */
#include "rollup/days/dirty.h"

#include <inttypes.h>

#include "base/hash64.h"
#include "rollup/days/figure.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "base/slot_table.h"
#include "storage/schema/type.h"

enum { KEY_COMPONENTS = 2, DUMP_MAX = 20, RANGES_LOOKED = 64 };

struct list {
    TAILQ_HEAD(, dirty_day) days;
    uint32_t count;
};

struct dirty_set {
    struct slot_table days;
    struct slot_table resellers; /* the first day of each reseller */
    size_t day_bytes;
    struct list queue;
    struct list waiting;
    struct list leaving; /* ascending by ->order */
    TAILQ_HEAD(, dirty_range) ranges;
    uint64_t order_next;
    uint64_t cleared;
};

static const char *const cause_names[CAUSE_COUNT] = {"late_clicks", "rate",   "void",
                                                     "correction",  "repair", "expiry"};

const char *dirty_cause_name(enum dirty_cause cause)
{
    check(cause < CAUSE_COUNT);
    return cause_names[cause];
}

bool dirty_cause_parse(struct bytes name, enum dirty_cause *cause_out)
{
    for (uint32_t i = 0; i < CAUSE_COUNT; i++) {
        if (bytes_equal(name, bytes_text(cause_names[i]))) {
            *cause_out = (enum dirty_cause)i;
            return true;
        }
    }
    return false;
}

void dirty_put_key(struct buffer *key, struct bytes reseller, int32_t day)
{
    char text[DAY_TEXT_SIZE + 1];
    calendar_day_format(day, text);
    type_key_put_component(key, KEY_COMPONENTS, reseller);
    type_key_put_component(key, KEY_COMPONENTS, bytes_text(text));
}

/* ---- life ---- */

static uint64_t hash_of_day(const void *day)
{
    return ((const struct dirty_day *)day)->hash;
}

static uint64_t reseller_hash(struct bytes reseller)
{
    return hash64(reseller.data, reseller.size);
}

static uint64_t hash_of_reseller(const void *day)
{
    return reseller_hash(dirty_day_reseller(day));
}

struct dirty_set *dirty_set_new(void)
{
    struct dirty_set *set = memory_zeroed(1, sizeof(*set));
    slot_table_init(&set->days, hash_of_day);
    slot_table_init(&set->resellers, hash_of_reseller);
    TAILQ_INIT(&set->queue.days);
    TAILQ_INIT(&set->waiting.days);
    TAILQ_INIT(&set->leaving.days);
    TAILQ_INIT(&set->ranges);
    set->order_next = 1;
    return set;
}

/* Bytes of memory, with the 8 bytes that the allocator adds. */
static size_t day_bytes(const struct dirty_day *day)
{
    return sizeof(*day) + day->key_size + 8 + day->mark_capacity * sizeof(struct dirty_mark);
}

static void day_free(struct dirty_day *day)
{
    if (day->mark_capacity > 0)
        memory_free(day->marks);
    memory_free(day);
}

static void list_free(struct list *list)
{
    struct dirty_day *day;
    while ((day = TAILQ_FIRST(&list->days)) != NULL) {
        TAILQ_REMOVE(&list->days, day, link);
        day_free(day);
    }
}

void dirty_set_free(struct dirty_set *set)
{
    if (set == NULL)
        return;
    list_free(&set->queue);
    list_free(&set->waiting);
    list_free(&set->leaving);
    while (!TAILQ_EMPTY(&set->ranges))
        dirty_set_clear_range(set, TAILQ_FIRST(&set->ranges));
    slot_table_release(&set->days);
    slot_table_release(&set->resellers);
    memory_free(set);
}

uint32_t dirty_set_queued(const struct dirty_set *set)
{
    return set->queue.count;
}

uint32_t dirty_set_count(const struct dirty_set *set)
{
    return set->queue.count + set->waiting.count;
}

size_t dirty_set_bytes(const struct dirty_set *set)
{
    return sizeof(*set) + slot_table_bytes(&set->days) + slot_table_bytes(&set->resellers) +
           set->day_bytes;
}

uint64_t dirty_set_order(const struct dirty_set *set)
{
    return set->order_next;
}

uint64_t dirty_set_cleared(const struct dirty_set *set)
{
    return set->cleared;
}

/* ---- a day ---- */

struct bytes dirty_day_key(const struct dirty_day *day)
{
    return bytes_of(day->key, day->key_size);
}

struct bytes dirty_day_reseller(const struct dirty_day *day)
{
    return bytes_of(day->key + day->reseller_at, day->reseller_size);
}

const struct dirty_mark *dirty_day_marks(const struct dirty_day *day)
{
    return day->mark_capacity > 0 ? day->marks : &day->mark;
}

/* A figure is kept only if dirty_day_row returns it with the same digits, although the amount is
 * not kept but computed again. */
void dirty_day_keep_row(struct dirty_day *day, const struct day_figure *figure)
{
    struct day_figure again;
    day->row = (struct dirty_row){0};
    if (figure == NULL)
        return;
    day->row.clicks = figure->clicks;
    day->row.is_priced = figure->is_priced;
    day->row.is_kept =
        decimal_split(figure->gross, UINT8_MAX, &day->row.gross, &day->row.gross_scale) &&
        (!figure->is_priced ||
         decimal_split(figure->rate, UINT8_MAX, &day->row.rate, &day->row.rate_scale));
    day->row.is_kept = dirty_day_row(day, &again) && figure_identical(figure, &again);
}

bool dirty_day_row(const struct dirty_day *day, struct day_figure *figure_out)
{
    const struct dirty_row *row = &day->row;
    if (!row->is_kept)
        return false;
    *figure_out = (struct day_figure){.reseller = dirty_day_reseller(day),
                                      .day = day->day,
                                      .clicks = row->clicks,
                                      .gross = decimal_from(row->gross, row->gross_scale),
                                      .is_priced = row->is_priced,
                                      .state = DAY_OPEN};
    if (!row->is_priced)
        return true;
    figure_out->rate = decimal_from(row->rate, row->rate_scale);
    return decimal_multiply(figure_out->gross, figure_out->rate, &figure_out->amount) == 0;
}

/* ---- lists ---- */

static void list_append(struct list *list, struct dirty_day *day)
{
    TAILQ_INSERT_TAIL(&list->days, day, link);
    list->count++;
}

static void list_remove(struct list *list, struct dirty_day *day)
{
    TAILQ_REMOVE(&list->days, day, link);
    list->count--;
}

static struct list *list_of(struct dirty_set *set, const struct dirty_day *day)
{
    return day->is_queued ? &set->queue : day->is_leaving ? &set->leaving : &set->waiting;
}

struct dirty_day *dirty_set_first_queued(struct dirty_set *set)
{
    return TAILQ_FIRST(&set->queue.days);
}

struct dirty_day *dirty_set_first_waiting(struct dirty_set *set)
{
    return TAILQ_FIRST(&set->waiting.days);
}

void dirty_set_queue(struct dirty_set *set, struct dirty_day *day)
{
    if (day->is_queued)
        return;
    list_remove(list_of(set, day), day);
    day->is_leaving = false;
    day->is_queued = true;
    day->order = day->touched = set->order_next++;
    list_append(&set->queue, day);
}

void dirty_set_wait(struct dirty_set *set, struct dirty_day *day)
{
    if (!day->is_queued)
        return;
    list_remove(&set->queue, day);
    day->is_queued = false;
    day->order = DIRTY_UNWRITTEN;
    day->touched = set->order_next++;
    list_append(&set->waiting, day);
}

void dirty_set_wait_longest(struct dirty_set *set, struct dirty_day *day)
{
    check(list_of(set, day) == &set->waiting);
    list_remove(&set->waiting, day);
    list_append(&set->waiting, day);
}

/* ---- finding ---- */

/* The day; *at is set to its place in the table.  NULL: it is not in the table. */
static struct dirty_day *find_day(const struct dirty_set *set, struct bytes key, uint64_t hash,
                                  uint32_t *at)
{
    struct dirty_day *day = slot_table_first(&set->days, hash, at);
    while (day != NULL && !(day->hash == hash && bytes_equal(dirty_day_key(day), key)))
        day = slot_table_next(&set->days, at);
    return day;
}

static struct dirty_day *find_reseller(const struct dirty_set *set, struct bytes reseller,
                                       uint32_t *at)
{
    struct dirty_day *day = slot_table_first(&set->resellers, reseller_hash(reseller), at);
    while (day != NULL && !bytes_equal(dirty_day_reseller(day), reseller))
        day = slot_table_next(&set->resellers, at);
    return day;
}

static void peers_add(struct dirty_set *set, struct dirty_day *day)
{
    uint32_t at;
    day->peer_next = find_reseller(set, dirty_day_reseller(day), &at);
    if (day->peer_next == NULL) {
        slot_table_add(&set->resellers, day);
        return;
    }
    day->peer_next->peer_previous = day;
    slot_table_replace(&set->resellers, at, day);
}

static void peers_remove(struct dirty_set *set, const struct dirty_day *day)
{
    uint32_t at;
    if (day->peer_next != NULL)
        day->peer_next->peer_previous = day->peer_previous;
    if (day->peer_previous != NULL) {
        day->peer_previous->peer_next = day->peer_next;
        return;
    }
    check(find_reseller(set, dirty_day_reseller(day), &at) == day);
    if (day->peer_next != NULL)
        slot_table_replace(&set->resellers, at, day->peer_next);
    else
        slot_table_remove(&set->resellers, at);
}

struct dirty_day *dirty_set_find(const struct dirty_set *set, struct bytes key)
{
    uint32_t at;
    struct dirty_day *day = find_day(set, key, dirty_hash(key), &at);
    return day != NULL && day->is_leaving ? NULL : day;
}

const struct dirty_day *dirty_set_look(const struct dirty_set *set, struct bytes reseller,
                                       int32_t day)
{
    struct buffer key = {0};
    uint32_t at;
    dirty_put_key(&key, reseller, day);
    struct bytes view = buffer_view(&key);
    const struct dirty_day *found = find_day(set, view, dirty_hash(view), &at);
    buffer_release(&key);
    return found;
}

bool dirty_day_is_behind(const struct dirty_day *day, uint64_t batch)
{
    return day->is_queued || day->is_leaving || day->order > batch;
}

struct dirty_day *dirty_set_first_of(const struct dirty_set *set, struct bytes reseller)
{
    uint32_t at;
    return find_reseller(set, reseller, &at);
}

void dirty_set_each_reseller(const struct dirty_set *set,
                             void (*each)(void *context, struct bytes reseller), void *context)
{
    uint32_t at = 0;
    const struct dirty_day *day;
    while ((day = slot_table_each(&set->resellers, &at)) != NULL)
        each(context, dirty_day_reseller(day));
}

/* ---- leaving ---- */

/* The batch deletes the rows of the day's marks, so the marks are removed here too. */
void dirty_set_clear(struct dirty_set *set, struct dirty_day *day, uint64_t batch)
{
    check(!day->is_leaving);
    list_remove(list_of(set, day), day);
    set->day_bytes -= day_bytes(day);
    if (day->mark_capacity > 0)
        memory_free(day->marks);
    day->mark_count = day->mark_capacity = day->unnamed = 0;
    set->day_bytes += day_bytes(day);
    day->owed_us = 0;
    dirty_day_keep_row(day, NULL);
    day->is_queued = false;
    day->is_leaving = true;
    day->order = batch;
    set->cleared = set->order_next++;
    list_append(&set->leaving, day);
}

static void take_out(struct dirty_set *set, struct dirty_day *day)
{
    uint32_t at;
    list_remove(list_of(set, day), day);
    check(find_day(set, dirty_day_key(day), day->hash, &at) == day);
    slot_table_remove(&set->days, at);
    peers_remove(set, day);
    set->day_bytes -= day_bytes(day);
    day_free(day);
}

void dirty_set_forget(struct dirty_set *set, uint64_t batch)
{
    struct dirty_day *day;
    while ((day = TAILQ_FIRST(&set->leaving.days)) != NULL && day->order <= batch)
        take_out(set, day);
}

void dirty_set_let_go(struct dirty_set *set, struct dirty_day *day)
{
    check(list_of(set, day) == &set->waiting);
    set->cleared = set->order_next++;
    take_out(set, day);
}

/* ---- marks ---- */

static struct dirty_day *add_day(struct dirty_set *set, struct bytes key, uint64_t hash,
                                 int64_t now_us)
{
    struct bytes reseller;
    struct bytes text;
    int32_t number;
    if (key.size > UINT16_MAX || type_key_component(key, KEY_COMPONENTS, 0, &reseller) != 0 ||
        type_key_component(key, KEY_COMPONENTS, 1, &text) != 0 ||
        !calendar_day_parse(text, &number))
        return NULL;
    struct dirty_day *day = memory_zeroed(1, sizeof(*day) + key.size);
    memcpy(day->key, key.data, key.size);
    day->key_size = (uint16_t)key.size;
    day->reseller_at = (uint16_t)(reseller.data - key.data);
    day->reseller_size = (uint16_t)reseller.size;
    day->day = number;
    day->hash = hash;
    day->first_us = day->last_us = now_us;
    day->is_queued = true;
    day->order = day->touched = set->order_next++;
    list_append(&set->queue, day);
    slot_table_add(&set->days, day);
    set->day_bytes += day_bytes(day);
    peers_add(set, day);
    return day;
}

static struct dirty_mark *grow_marks(struct dirty_set *set, struct dirty_day *day)
{
    struct dirty_mark *old = day->mark_capacity > 0 ? day->marks : NULL;
    struct dirty_mark only = day->mark;
    set->day_bytes -= day_bytes(day);
    day->mark_capacity = day->mark_capacity == 0 ? 2 : day->mark_capacity * 2;
    day->marks = memory_resize(old, day->mark_capacity * sizeof(*old));
    if (old == NULL)
        day->marks[0] = only;
    set->day_bytes += day_bytes(day);
    return day->marks;
}

static struct dirty_mark *add_mark(struct dirty_set *set, struct dirty_day *day,
                                   const struct dirty_mark *mark)
{
    struct dirty_mark *marks = day->mark_capacity > 0 ? day->marks : &day->mark;
    uint32_t capacity = day->mark_capacity > 0 ? day->mark_capacity : 1;
    if (day->mark_count == capacity)
        marks = grow_marks(set, day);
    if (!mark->has_change)
        day->unnamed |= (uint8_t)(1U << mark->cause);
    marks[day->mark_count] = *mark;
    return &marks[day->mark_count++];
}

static bool has_mark(const struct dirty_day *day, enum dirty_cause cause, const uint8_t *change)
{
    const struct dirty_mark *marks = dirty_day_marks(day);
    if (change == NULL)
        return (day->unnamed & 1U << cause) != 0;
    for (uint32_t i = 0; i < day->mark_count; i++)
        if (marks[i].cause == cause && marks[i].has_change &&
            memcmp(marks[i].change, change, UUID_SIZE) == 0)
            return true;
    return false;
}

static bool has_mark_of(const struct dirty_day *day, const uint8_t id[UUID_SIZE])
{
    for (uint32_t i = 0; i < day->mark_count; i++)
        if (memcmp(dirty_day_marks(day)[i].id, id, UUID_SIZE) == 0)
            return true;
    return false;
}

uint64_t dirty_hash(struct bytes key)
{
    return hash64(key.data, key.size);
}

void dirty_set_prefetch_slot(const struct dirty_set *set, uint64_t hash)
{
    slot_table_prefetch(&set->days, hash);
}

void dirty_set_prefetch_day(const struct dirty_set *set, uint64_t hash)
{
    uint32_t at;
    const struct dirty_day *day = slot_table_first(&set->days, hash, &at);
    __builtin_prefetch(day, 1);
    __builtin_prefetch(day + 1);
}

struct dirty_day *dirty_set_mark(struct dirty_set *set, struct bytes key, uint64_t hash,
                                 enum dirty_cause cause, const uint8_t *change, int64_t now_us,
                                 struct dirty_mark **mark_out)
{
    uint32_t at;
    struct dirty_day *day = find_day(set, key, hash, &at);
    *mark_out = NULL;
    if (day == NULL)
        day = add_day(set, key, hash, now_us);
    if (day == NULL)
        return NULL;
    if (day->is_leaving)
        day->first_us = now_us;
    dirty_set_queue(set, day);
    if (cause != CAUSE_RATE)
        day->last_us = now_us;
    if (day->mark_count >= DIRTY_MARKS_MAX)
        change = NULL;
    if (has_mark(day, cause, change))
        return day;
    struct dirty_mark mark = {.cause = (uint8_t)cause, .has_change = change != NULL};
    if (change != NULL)
        memcpy(mark.change, change, UUID_SIZE);
    *mark_out = add_mark(set, day, &mark);
    return day;
}

struct dirty_day *dirty_set_load(struct dirty_set *set, struct bytes reseller, int32_t number,
                                 const struct dirty_mark *mark, int64_t first_us)
{
    struct buffer key = {0};
    dirty_put_key(&key, reseller, number);
    uint64_t hash = hash64(key.data, key.size);
    uint32_t at;
    struct dirty_day *day = find_day(set, buffer_view(&key), hash, &at);
    if (day == NULL)
        day = add_day(set, buffer_view(&key), hash, first_us);
    buffer_release(&key);
    if (day == NULL)
        return NULL;
    if (first_us < day->first_us)
        day->first_us = first_us;
    if (mark->cause != CAUSE_RATE && first_us > day->last_us)
        day->last_us = first_us;
    if (!has_mark_of(day, mark->id))
        add_mark(set, day, mark);
    return day;
}

/* ---- ranges ---- */

struct dirty_range *dirty_set_add_range(struct dirty_set *set, struct bytes reseller, int32_t from,
                                        int32_t until, const struct dirty_mark *mark)
{
    struct dirty_range *range = memory_zeroed(1, sizeof(*range) + reseller.size);
    memcpy(range + 1, reseller.data, reseller.size);
    range->reseller = bytes_of(range + 1, reseller.size);
    range->from = from;
    range->until = until;
    range->order = set->order_next++;
    range->mark = *mark;
    TAILQ_INSERT_TAIL(&set->ranges, range, link);
    return range;
}

struct dirty_range *dirty_set_first_range(struct dirty_set *set)
{
    return TAILQ_FIRST(&set->ranges);
}

bool dirty_set_may_have_range(const struct dirty_set *set, struct bytes reseller, int32_t day)
{
    const struct dirty_range *range = TAILQ_FIRST(&set->ranges);
    for (uint32_t i = 0; i < RANGES_LOOKED && range != NULL; i++) {
        if (range->from <= day && day < range->until && bytes_equal(range->reseller, reseller))
            return true;
        range = TAILQ_NEXT(range, link);
    }
    return range != NULL;
}

bool dirty_set_is_behind(struct dirty_set *set)
{
    return dirty_set_queued(set) > 0 || dirty_set_first_range(set) != NULL;
}

void dirty_set_clear_range(struct dirty_set *set, struct dirty_range *range)
{
    TAILQ_REMOVE(&set->ranges, range, link);
    set->cleared = set->order_next++;
    memory_free(range);
}

void dirty_set_postpone_range(struct dirty_set *set, struct dirty_range *range)
{
    TAILQ_REMOVE(&set->ranges, range, link);
    range->order = set->order_next++;
    TAILQ_INSERT_TAIL(&set->ranges, range, link);
}

/* ---- dump ---- */

static void dump_day(const struct dirty_day *day, struct buffer *text)
{
    const struct dirty_mark *marks = dirty_day_marks(day);
    struct bytes reseller = dirty_day_reseller(day);
    char name[DAY_TEXT_SIZE + 1];
    calendar_day_format(day->day, name);
    buffer_printf(text, "    %.*s %s:", (int)reseller.size, (const char *)reseller.data, name);
    for (uint32_t i = 0; i < day->mark_count; i++)
        buffer_printf(text, "%s %s", i > 0 ? "," : "", cause_names[marks[i].cause]);
    buffer_append_text(text, "\n");
}

static void dump_list(const struct list *list, const char *what, struct buffer *text)
{
    const struct dirty_day *day;
    uint32_t shown = 0;
    buffer_printf(text, "  %" PRIu32 " days %s\n", list->count, what);
    TAILQ_FOREACH (day, &list->days, link) {
        if (shown++ == DUMP_MAX) {
            buffer_append_text(text, "    ...\n");
            break;
        }
        dump_day(day, text);
    }
}

void dirty_set_dump(const struct dirty_set *set, struct buffer *text)
{
    const struct dirty_range *range;
    uint32_t ranges = 0;
    TAILQ_FOREACH (range, &set->ranges, link)
        ranges++;
    dump_list(&set->queue, "out of date", text);
    dump_list(&set->waiting, "wait for publication", text);
    dump_list(&set->leaving, "leave with a frame that is not durable", text);
    buffer_printf(text, "  %" PRIu32 " ranges of days whose rate changed, %zu bytes in all\n",
                  ranges, dirty_set_bytes(set));
}

/* rate: see the header.
 *
 * What must hold: the rate_table that the commit hook changes equals the stream's table of rates as
 * of the last applied batch.
 *
 * The text 25 could mean 2500 % or 25 %, so it is refused. */
#include "rollup/days/rate.h"

#include "base/key_map.h"
#include "base/calendar.h"
#include "base/memory.h"

/* ---- text ---- */

enum { TEXT_SHOWN_MAX = 40 };

static int shown(struct bytes text)
{
    return (int)(text.size < TEXT_SHOWN_MAX ? text.size : TEXT_SHOWN_MAX);
}

static const struct decimal one = {.limb = {1}};

static int refuse_form(struct bytes text, int rc, struct error *err)
{
    if (text.size > 0 && text.data[0] == '-')
        return error_set(err, ERROR_INVALID, "rate \"%.*s\" is negative; a rate is 0 to 1",
                         shown(text), (const char *)text.data);
    if (text.size > 0 && memchr(text.data, ',', text.size) != NULL)
        return error_set(err, ERROR_INVALID, "rate \"%.*s\" has a comma; write the point: 0.25",
                         shown(text), (const char *)text.data);
    if (rc == ERROR_LIMIT)
        return error_set(err, ERROR_INVALID, "rate \"%.*s\" has over %d digits", shown(text),
                         (const char *)text.data, DECIMAL_INPUT_DIGITS_MAX);
    return error_set(err, ERROR_INVALID,
                     "\"%.*s\" is no rate; write a fraction (0.25) or percent (25%%)", shown(text),
                     (const char *)text.data);
}

static int refuse_above_one(struct bytes text, struct decimal value, bool is_percent,
                            struct error *err)
{
    if (is_percent)
        return error_set(err, ERROR_INVALID, "rate %.*s is more than the whole amount (100%%)",
                         shown(text), (const char *)text.data);
    if (decimal_compare(value, decimal_from(100, 0)) > 0)
        return error_set(err, ERROR_INVALID, "rate %.*s is more than the whole amount (1)",
                         shown(text), (const char *)text.data);
    if (decimal_compare(value, one) == 0)
        return error_set(err, ERROR_INVALID,
                         "rate %.*s is not clear; write 100%% for the whole amount, or 1%%",
                         shown(text), (const char *)text.data);
    struct buffer fraction = {0};
    value.scale += 2;
    decimal_append(&fraction, value);
    error_set(err, ERROR_INVALID, "rate %.*s is not clear; did you mean %.*s%% (that is %.*s)?",
              shown(text), (const char *)text.data, shown(text), (const char *)text.data,
              (int)fraction.size, (const char *)fraction.data);
    buffer_release(&fraction);
    return ERROR_INVALID;
}

int rate_parse(struct bytes text, struct decimal *rate_out, struct error *err)
{
    bool is_percent = text.size > 0 && text.data[text.size - 1] == '%';
    struct bytes digits = bytes_of(text.data, text.size - is_percent);
    struct decimal value;

    *rate_out = decimal_from(0, 0);
    int rc = text.size == 0 ? ERROR_INVALID : decimal_parse_input(digits, &value);
    if (rc < 0)
        return refuse_form(text, rc, err);
    if (is_percent) {
        value.scale += 2;
        if (decimal_compare(value, one) > 0)
            return refuse_above_one(text, value, true, err);
    } else if (decimal_compare(value, one) >= 0) {
        return refuse_above_one(text, value, false, err);
    }
    *rate_out = value;
    return 0;
}

/* Write a text such as YYYY-M-D or YYYY/M/D as YYYY-MM-DD; false: it is no day. */
static bool guess_day(struct bytes text, char guess[DAY_TEXT_SIZE + 1])
{
    uint32_t parts[3] = {0};
    int part = 0;
    size_t digits = 0;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (c >= '0' && c <= '9' && digits < 4) {
            parts[part] = parts[part] * 10 + (uint32_t)(c - '0');
            digits++;
        } else if ((c == '-' || c == '/' || c == '.') && part < 2 && digits > 0) {
            part++;
            digits = 0;
        } else {
            return false;
        }
    }
    int32_t day;
    struct buffer joined = {0};
    buffer_printf(&joined, "%04u-%02u-%02u", parts[0], parts[1], parts[2]);
    bool is_day = part == 2 && parts[0] >= 1000 && calendar_day_parse(buffer_view(&joined), &day);
    if (is_day)
        calendar_day_format(day, guess);
    buffer_release(&joined);
    return is_day;
}

int rate_parse_day(struct bytes text, int32_t *day_out, struct error *err)
{
    char guess[DAY_TEXT_SIZE + 1];
    if (calendar_day_parse(text, day_out))
        return 0;
    if (guess_day(text, guess))
        return error_set(err, ERROR_INVALID, "\"%.*s\" is no day; did you mean %s?", shown(text),
                         (const char *)text.data, guess);
    return error_set(err, ERROR_INVALID, "\"%.*s\" is no day; write YYYY-MM-DD", shown(text),
                     (const char *)text.data);
}

int rate_check_reseller(struct bytes reseller, struct error *err)
{
    if (reseller.size == 0)
        return error_set(err, ERROR_INVALID, "a reseller's id is not empty");
    if (reseller.size > RATE_RESELLER_SIZE_MAX)
        return error_set(err, ERROR_INVALID, "a reseller's id has at most %d bytes",
                         RATE_RESELLER_SIZE_MAX);
    if (!bytes_valid_utf8(reseller))
        return error_set(err, ERROR_INVALID, "a reseller's id is valid UTF-8");
    for (size_t i = 0; i < reseller.size; i++)
        if (reseller.data[i] < 0x20 || reseller.data[i] == 0x7F)
            return error_set(err, ERROR_INVALID, "a reseller's id has no control characters");
    return 0;
}

void rate_append_text(struct buffer *text, struct decimal rate)
{
    if (decimal_compare(rate, one) == 0)
        buffer_append_text(text, "100%");
    else
        decimal_append(text, rate);
}

int rate_percent(struct decimal rate, struct decimal *percent_out)
{
    *percent_out = rate;
    if (rate.scale < 2)
        return decimal_multiply(rate, decimal_from(100, 0), percent_out);
    percent_out->scale -= 2;
    return 0;
}

size_t rate_format_percent(struct decimal rate, char *text)
{
    struct decimal percent;
    int rc = rate_percent(rate, &percent);
    if (rc == 0 && rate.scale < 2)
        rc = decimal_round(percent, 0, &percent);
    size_t length = decimal_format(rc == 0 ? percent : rate, text);
    if (rc == 0)
        text[length++] = '%';
    return length;
}

void rate_append_percent(struct buffer *text, struct decimal rate)
{
    char percent[RATE_PERCENT_TEXT_MAX];
    buffer_append(text, percent, rate_format_percent(rate, percent));
}

/* ---- table ---- */

/* A part of a reseller's sorted rates.  An insertion or removal moves the rates of one run only. */
enum { RUN_RATES_MAX = 256 };
struct rate_run {
    struct rate *rates; /* at least one */
    uint32_t count;
    uint32_t capacity;
};

struct reseller_rates {
    struct rate_run *runs; /* oldest first */
    uint32_t count;
    uint32_t capacity;
};

struct rate_table {
    struct key_map *map; /* by reseller: a struct reseller_rates */
};

struct rate_table *rate_table_new(void)
{
    struct rate_table *table = memory_zeroed(1, sizeof(*table));
    table->map = key_map_new_of(sizeof(struct reseller_rates));
    return table;
}

static void runs_free(struct reseller_rates *list, uint32_t start, uint32_t end)
{
    for (uint32_t i = start; i < end; i++)
        memory_free(list->runs[i].rates);
    memmove(&list->runs[start], &list->runs[end], (list->count - end) * sizeof(*list->runs));
    list->count -= end - start;
}

void rate_table_free(struct rate_table *table)
{
    if (table == NULL)
        return;
    for (uint32_t i = 0; i < key_map_count(table->map); i++) {
        struct reseller_rates *list = key_map_value(table->map, i);
        if (list->count > 0)
            runs_free(list, 0, list->count);
        memory_free(list->runs);
    }
    key_map_free(table->map);
    memory_free(table);
}

static struct reseller_rates *list_find(const struct rate_table *table, struct bytes reseller)
{
    uint32_t index = key_map_find(table->map, reseller);
    return index == KEY_MAP_NONE ? NULL : key_map_value(table->map, index);
}

/* The index of the first rate that begins at `day` or later. */
static uint32_t position_of(const struct rate *rates, uint32_t count, int32_t day)
{
    uint32_t start = 0;
    uint32_t end = count;
    while (start < end) {
        uint32_t middle = start + (end - start) / 2;
        if (rates[middle].since < day)
            start = middle + 1;
        else
            end = middle;
    }
    return start;
}

/* The index of the last run that begins at `day` or earlier, or 0 if all begin later. */
static uint32_t run_of(const struct reseller_rates *list, int32_t day)
{
    uint32_t start = 0;
    uint32_t end = list->count;
    while (start < end) {
        uint32_t middle = start + (end - start) / 2;
        if (list->runs[middle].rates[0].since <= day)
            start = middle + 1;
        else
            end = middle;
    }
    return start > 0 ? start - 1 : 0;
}

static void run_insert(struct rate_run *run, uint32_t at, const struct rate *rates, uint32_t count)
{
    uint32_t needed = run->count + count;
    if (needed > run->capacity) {
        run->capacity = memory_grown(run->capacity, needed);
        run->rates = memory_resize(run->rates, run->capacity * sizeof(*rates));
    }
    memmove(&run->rates[at + count], &run->rates[at], (run->count - at) * sizeof(*rates));
    memcpy(&run->rates[at], rates, count * sizeof(*rates));
    run->count += count;
}

/* Add an empty run at `at`; the caller must then add a rate to it. */
static void run_add(struct reseller_rates *list, uint32_t at)
{
    list->runs = memory_make_room(list->runs, list->count, &list->capacity, sizeof(*list->runs));
    memmove(&list->runs[at + 1], &list->runs[at], (list->count - at) * sizeof(*list->runs));
    list->runs[at] = (struct rate_run){0};
    list->count++;
}

static void run_split(struct reseller_rates *list, uint32_t at)
{
    run_add(list, at + 1);
    struct rate_run *run = &list->runs[at];
    uint32_t kept = run->count / 2;
    run_insert(&list->runs[at + 1], 0, &run->rates[kept], run->count - kept);
    run->count = kept;
}

bool rate_table_set(struct rate_table *table, struct bytes reseller, int32_t since,
                    struct decimal rate)
{
    struct reseller_rates *list = key_map_value(table->map, key_map_add(table->map, reseller));
    const struct rate added = {since, rate};
    if (list->count == 0) {
        run_add(list, 0);
        run_insert(&list->runs[0], 0, &added, 1);
        return true;
    }
    struct rate_run *run = &list->runs[run_of(list, since)];
    uint32_t at = position_of(run->rates, run->count, since);
    if (at < run->count && run->rates[at].since == since) {
        struct decimal old = run->rates[at].rate;
        run->rates[at].rate = rate;
        return old.scale != rate.scale || decimal_compare(old, rate) != 0;
    }
    if (run->count == RUN_RATES_MAX) {
        run_split(list, (uint32_t)(run - list->runs));
        run = &list->runs[run_of(list, since)];
        at = position_of(run->rates, run->count, since);
    }
    run_insert(run, at, &added, 1);
    return true;
}

bool rate_table_remove(struct rate_table *table, struct bytes reseller, int32_t from, int32_t until)
{
    struct reseller_rates *list = list_find(table, reseller);
    if (list == NULL || list->count == 0)
        return false;
    uint32_t first = run_of(list, from);
    uint32_t empty_first = list->count;
    uint32_t empty_end = 0;
    bool any = false;
    for (uint32_t i = first; i < list->count && list->runs[i].rates[0].since < until; i++) {
        struct rate_run *run = &list->runs[i];
        uint32_t start = position_of(run->rates, run->count, from);
        uint32_t end = position_of(run->rates, run->count, until);
        memmove(&run->rates[start], &run->rates[end], (run->count - end) * sizeof(*run->rates));
        any = any || start < end;
        run->count -= end - start;
        if (run->count == 0) {
            empty_first = i < empty_first ? i : empty_first;
            empty_end = i + 1;
        }
    }
    if (empty_end > 0)
        runs_free(list, empty_first, empty_end);
    return any;
}

const struct rate *rate_at(const struct rate *rates, uint32_t count, int32_t day)
{
    uint32_t after = position_of(rates, count, day);
    if (after < count && rates[after].since == day)
        return &rates[after];
    return after > 0 ? &rates[after - 1] : NULL;
}

const struct rate *rate_table_at(const struct rate_table *table, struct bytes reseller, int32_t day)
{
    const struct reseller_rates *list = list_find(table, reseller);
    if (list == NULL || list->count == 0)
        return NULL;
    const struct rate_run *run = &list->runs[run_of(list, day)];
    return rate_at(run->rates, run->count, day);
}

int32_t rate_table_next(const struct rate_table *table, struct bytes reseller, int32_t since)
{
    const struct reseller_rates *list = list_find(table, reseller);
    if (list == NULL || list->count == 0 || since == RATE_DAY_END)
        return RATE_DAY_END;
    const struct rate_run *run = &list->runs[run_of(list, since)];
    uint32_t at = position_of(run->rates, run->count, since + 1);
    if (at < run->count)
        return run->rates[at].since;
    return run + 1 < list->runs + list->count ? run[1].rates[0].since : RATE_DAY_END;
}

struct rate *rate_table_rates(const struct rate_table *table, struct bytes reseller,
                              uint32_t *count_out)
{
    const struct reseller_rates *list = list_find(table, reseller);
    struct rate_run all = {0};
    for (uint32_t i = 0; list != NULL && i < list->count; i++)
        run_insert(&all, all.count, list->runs[i].rates, list->runs[i].count);
    *count_out = all.count;
    return all.rates;
}

struct bytes *rate_table_resellers(const struct rate_table *table, uint32_t *count_out)
{
    return key_map_sorted(table->map, count_out);
}

/* columnar_fixture: an event table with a column of each kind, and rows made from a seed, for the
 * tests of what keeps such rows. */
#ifndef DAYBOOK_TESTS_WIDE_FIXTURE_H
#define DAYBOOK_TESTS_WIDE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "storage/cell/columnar_rows.h"

enum { COLUMNAR_TABLE = 1, CLICK_TEXT_SIZE = 64 };

static const struct column_definition columnar_columns[] = {
    {1, "reseller_id", "text", COLUMN_PARTITION, false},
    {2, "day", "text", COLUMN_PARTITION, false},
    {3, "time", "timestamp", COLUMN_CLUSTERING, true},
    {4, "ad_id", "text", COLUMN_CLUSTERING, false},
    {5, "click_id", "bigint", COLUMN_CLUSTERING, false},
    {6, "amount", "decimal", COLUMN_REGULAR, false},
    {7, "derived", "boolean", COLUMN_REGULAR, false},
    {8, "note", "text", COLUMN_REGULAR, false},
};

static const struct table_definition columnar_definition = {
    .id = COLUMNAR_TABLE,
    .keyspace = "test",
    .name = "click",
    .flags = TABLE_OF_EVENTS,
    .columns = columnar_columns,
    .column_count = sizeof columnar_columns / sizeof columnar_columns[0],
};

static inline struct schema *columnar_schema(void)
{
    struct schema *schema = schema_new();
    struct error err;
    check(schema_add_keyspace(schema, "test", &err) == 0);
    check(schema_add_table(schema, &columnar_definition, &err) == 0);
    return schema;
}

/* One row; `derived` negative and `note` 0 are absent. */
struct click {
    int64_t time;
    uint32_t ad;
    int64_t amount;
    uint8_t scale;
    int derived;
    uint32_t note;
};

static inline uint64_t click_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* `times` is how many different times there are: few make many equals. */
static inline struct click click_make(uint64_t *state, uint32_t times, uint32_t ads)
{
    struct click click = {.time = INT64_C(1785542400000) +
                                  (int64_t)(click_random(state) % times) * 1000,
                          .ad = (uint32_t)(click_random(state) % ads),
                          .amount = (int64_t)(click_random(state) % 100000),
                          .scale = click_random(state) % 8 == 0 ? 3 : 2,
                          .derived = (int)(click_random(state) % 3) - 1,
                          .note = (uint32_t)(click_random(state) % 4)};
    if (click_random(state) % 50 == 0)
        click.amount = INT64_MIN + (int64_t)(click_random(state) % 3);
    return click;
}

static inline struct bytes click_text(const char *prefix, uint32_t number,
                                      char text[CLICK_TEXT_SIZE])
{
    snprintf(text, CLICK_TEXT_SIZE, "%s-%u", prefix, number);
    return bytes_text(text);
}

/* The dictionary's code of a string, added if it is new. */
static inline uint32_t click_code(struct block_dictionary *dictionary, struct bytes string)
{
    for (uint32_t code = 0; code < dictionary->count; code++)
        if (bytes_equal(block_dictionary_get(dictionary, code), string))
            return code;
    return block_dictionary_add(dictionary, string);
}

static inline void click_key(uint32_t partition, struct buffer *key)
{
    char text[CLICK_TEXT_SIZE];
    buffer_clear(key);
    type_key_put_component(key, 2, click_text("a reseller with a long name", partition, text));
    type_key_put_component(key, 2, bytes_text("2026-08-01"));
}

static inline void block_add_click(struct block *block, uint32_t partition,
                                   const struct click *click)
{
    char text[CLICK_TEXT_SIZE];
    struct buffer key = {0};
    block_reserve(block, 1);
    uint32_t row = block->rows++;
    click_key(partition, &key);
    block->partition_codes[row] = click_code(&block->partitions, buffer_view(&key));
    buffer_release(&key);
    block->columns[0].integers[row] = click->time;
    block->columns[1].codes[row] =
        click_code(&block->columns[1].dictionary, click_text("ad", click->ad, text));
    block->columns[2].integers[row] = click->amount;
    block->columns[2].scales[row] = click->scale;
    if (block->columns[2].absent != NULL)
        block->columns[2].absent[row] = 0;
    if (click->derived < 0)
        block_set_absent(block, &block->columns[3], row);
    else
        block->columns[3].integers[row] = click->derived;
    if (click->note == 0)
        block_set_absent(block, &block->columns[4], row);
    else
        block->columns[4].codes[row] =
            click_code(&block->columns[4].dictionary,
                       click_text("a note longer than most", click->note, text));
}

static inline struct bytes vector_string(const struct columnar_vector *vector, uint32_t row)
{
    return vector->strings[vector->codes[row]];
}

static inline bool vector_is_absent(const struct columnar_vector *vector, uint32_t row)
{
    return vector->absent != NULL && vector->absent[row];
}

/* Whether the row is that click, value by value. */
static inline bool row_is_click(const struct columnar_rows *rows, uint32_t row,
                                const struct click *click)
{
    char text[CLICK_TEXT_SIZE];
    const struct columnar_vector *vectors = rows->vectors;
    bool note = vector_is_absent(&vectors[4], row)
                    ? click->note == 0
                    : click->note > 0 &&
                          bytes_equal(vector_string(&vectors[4], row),
                                      click_text("a note longer than most", click->note, text));
    bool derived = vector_is_absent(&vectors[3], row) ? click->derived < 0
                                                      : click->derived == vectors[3].integers[row];
    return note && derived && vectors[0].integers[row] == click->time &&
           bytes_equal(vector_string(&vectors[1], row), click_text("ad", click->ad, text)) &&
           !vector_is_absent(&vectors[2], row) && vectors[2].integers[row] == click->amount &&
           vectors[2].scales[row] == click->scale;
}

/* Later times first, then ads as text. */
static inline int click_compare(const struct click *a, const struct click *b)
{
    char text_a[CLICK_TEXT_SIZE];
    char text_b[CLICK_TEXT_SIZE];
    if (a->time != b->time)
        return a->time > b->time ? -1 : 1;
    return bytes_compare(click_text("ad", a->ad, text_a), click_text("ad", b->ad, text_b));
}

/* The naive model of a partition: a list in order, each click behind those of its equals that came
 * before it. */
struct click_model {
    struct click *clicks;
    uint32_t count;
    uint32_t capacity;
};

/* Behind all others, until model_order puts it where it belongs. */
static inline void model_append(struct click_model *model, const struct click *click)
{
    if (model->count == model->capacity) {
        model->capacity = 2 * model->capacity + 1;
        model->clicks = memory_resize(model->clicks, model->capacity * sizeof *model->clicks);
    }
    model->clicks[model->count++] = *click;
}

/* As if each click had been added by model_add: by a stable merge sort, for many clicks. */
static inline void model_order(struct click_model *model)
{
    uint32_t count = model->count;
    struct click *from = model->clicks;
    struct click *to = memory_alloc((model->capacity + 1) * sizeof *to);
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t start = 0, at = 0; start < count; start += 2 * width) {
            uint32_t left = start;
            uint32_t middle = count - start > width ? start + width : count;
            uint32_t right = middle;
            uint32_t end = count - middle > width ? middle + width : count;
            while (left < middle || right < end) {
                bool is_left = right == end ||
                    (left < middle && click_compare(&from[left], &from[right]) <= 0);
                to[at++] = is_left ? from[left++] : from[right++];
            }
        }
        struct click *ordered = to;
        to = from;
        from = ordered;
    }
    model->clicks = from;
    memory_free(to);
}

static inline void model_add(struct click_model *model, const struct click *click)
{
    model_append(model, click);
    uint32_t at = model->count - 1;
    for (; at > 0 && click_compare(&model->clicks[at - 1], click) > 0; at--)
        model->clicks[at] = model->clicks[at - 1];
    model->clicks[at] = *click;
}

static inline bool rows_are_model(const struct columnar_rows *rows, const struct click_model *model)
{
    if (rows->rows != model->count)
        return false;
    for (uint32_t row = 0; row < rows->rows; row++)
        if (!row_is_click(rows, row, &model->clicks[row]))
            return false;
    return true;
}

static inline void model_stats(const struct click_model *model, struct partition_stats *stats)
{
    for (uint32_t i = 0; i < model->count; i++) {
        stats_add_row(stats, model->clicks[i].time);
        stats_add_value(stats, model->clicks[i].amount, model->clicks[i].scale);
    }
}

static inline void model_release(struct click_model *model)
{
    memory_free(model->clicks);
    *model = (struct click_model){0};
}
#endif

/* Rows grouped by ad and by partition say what was sent, whatever run they lie in. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/memory.h"
#include "tests/lib/engine_fixture.h"

enum { RESELLERS = 7, DAYS = 3, ADS = 40, GROUPS_MAX = 100 };

/* What was sent: the model. */
struct expected {
    char key[40];
    uint64_t rows;
    struct decimal sum;
};

struct model {
    struct expected groups[GROUPS_MAX];
    uint32_t count;
};

static void model_add(struct model *model, const char *key, const char *amount, int sign)
{
    struct decimal value;
    uint32_t i = 0;
    while (i < model->count && strcmp(model->groups[i].key, key) != 0)
        i++;
    cr_assert_lt(i, GROUPS_MAX);
    if (i == model->count) {
        snprintf(model->groups[i].key, sizeof model->groups[i].key, "%s", key);
        model->groups[model->count++].sum = decimal_from(0, 0);
    }
    cr_assert_eq(decimal_parse(bytes_text(amount), &value), 0);
    model->groups[i].rows += (uint64_t)sign;
    cr_assert_eq(sign > 0 ? decimal_add(model->groups[i].sum, value, &model->groups[i].sum)
                          : decimal_subtract(model->groups[i].sum, value, &model->groups[i].sum),
                 0);
}

struct models {
    struct model by_ad;
    struct model by_partition; /* "reseller day" */
};

static void models_add(struct models *models, const struct click *click, int sign)
{
    char key[40];
    snprintf(key, sizeof key, "%s %s", click->reseller, click->day);
    model_add(&models->by_ad, click->ad, click->amount, sign);
    model_add(&models->by_partition, key, click->amount, sign);
}

/* ---- what the store says ---- */

struct answer {
    const struct model *model;
    bool is_partition;
    bool is_done;
    int status;
};

static void key_text(struct bytes key, bool is_partition, char *text, size_t size)
{
    struct bytes reseller = key;
    struct bytes day = {0};
    if (is_partition) {
        cr_assert_eq(type_key_component(key, 2, 0, &reseller), 0);
        cr_assert_eq(type_key_component(key, 2, 1, &day), 0);
    }
    snprintf(text, size, is_partition ? "%.*s %.*s" : "%.*s", (int)reseller.size,
             (const char *)reseller.data, (int)day.size, (const char *)day.data);
}

static void take(void *context, int status, const struct error *err,
                 const struct partition_figure *figures, uint32_t count, struct bytes position)
{
    struct answer *answer = context;
    const struct model *model = answer->model;
    uint32_t present = 0;
    (void)err;
    answer->is_done = true;
    answer->status = status;
    cr_assert_eq(position.size, 0);
    for (uint32_t i = 0; status == 0 && i < model->count; i++)
        present += model->groups[i].rows > 0;
    cr_assert_eq(count, present, "%u groups of %u", count, present);
    for (uint32_t i = 0; i < count; i++) {
        char key[40];
        uint32_t at = 0;
        key_text(figures[i].key, answer->is_partition, key, sizeof key);
        while (at < model->count && strcmp(model->groups[at].key, key) != 0)
            at++;
        cr_assert_lt(at, model->count, "%s", key);
        cr_assert_eq(figures[i].stats.rows, model->groups[at].rows, "%s", key);
        cr_assert_eq(decimal_compare(stats_sum(&figures[i].stats), model->groups[at].sum), 0, "%s",
                     key);
    }
}

static int ask(struct engine_fixture *fixture, uint32_t column_id, const struct model *model)
{
    struct answer answer = {.model = model, .is_partition = column_id == 0};
    struct error err = {0};
    const struct group_request request = {.table_id = TABLE_AD_CLICK, .column_id = column_id};
    int rc = store_group(fixture->store, &request, take, &answer, &err);
    if (rc != 0)
        return rc;
    while (!answer.is_done)
        cr_assert(fixture->world->executor->step(fixture->world->executor));
    return answer.status;
}

static void expect(struct engine_fixture *fixture, const struct models *models)
{
    cr_assert_eq(ask(fixture, AD_CLICK_AD_ID, &models->by_ad), 0);
    cr_assert_eq(ask(fixture, 0, &models->by_partition), 0);
}

/* ---- histories ---- */

/* Amounts of several scales, and some whose sum leaves 64 bits. */
static const char *const amounts[] = {"0.01", "0.02",   "1.5", "3",
                                      "0.07", "0.0005", "0",   "999999999999999999"};

static void send(struct engine_fixture *fixture, struct models *models, uint32_t count,
                 uint32_t *number)
{
    struct click *clicks = memory_alloc(count * sizeof *clicks);
    char(*texts)[3][16] = memory_alloc(count * sizeof *texts);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = ++*number * 2654435761U >> 8;
        snprintf(texts[i][0], 16, "r%u", n % RESELLERS);
        snprintf(texts[i][1], 16, "2013-11-0%u", 1 + n / 7 % DAYS);
        snprintf(texts[i][2], 16, "ad-%u", n / 21 % ADS);
        bool is_even = strcmp(texts[i][0], "r0") != 0;
        clicks[i] = (struct click){texts[i][0], texts[i][1], 1383264000000 + *number, texts[i][2],
                                   amounts[is_even ? n / 840 % 2 : n / 840 % 8]};
        models_add(models, &clicks[i], 1);
    }
    cr_assert_eq(engine_fixture_clicks(fixture, clicks, count), 0);
    memory_free(clicks);
    memory_free(texts);
}

static void void_click(struct engine_fixture *fixture, struct models *models,
                       const struct click *click)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_AD_CLICK);
    struct column_value values[] = {
        {AD_CLICK_RESELLER_ID, false, bytes_text(click->reseller)},
        {AD_CLICK_DAY, false, bytes_text(click->day)},
        {AD_CLICK_TIME, false, write_batch_bigint(batch, click->time_ms)},
        {AD_CLICK_AD_ID, false, bytes_text(click->ad)},
        {AD_CLICK_CLICK_ID, false, write_batch_bigint(batch, 0)},
    };
    write_batch_delete(batch, table, values, 5);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
    models_add(models, click, -1);
}

Test(engine_group, groups_are_what_the_rows_say_wherever_they_lie)
{
    static const struct click voided = {"r1", "2013-11-02", 1383350400000, "gone", "0.25"};
    struct engine_fixture fixture = {0};
    struct models models = {0};
    uint32_t number = 0;
    engine_fixture_start(&fixture);
    expect(&fixture, &models);
    send(&fixture, &models, 900, &number);
    expect(&fixture, &models);
    engine_fixture_flush(&fixture);
    expect(&fixture, &models);
    send(&fixture, &models, 70, &number);
    cr_assert_eq(engine_fixture_clicks(&fixture, &voided, 1), 0);
    models_add(&models, &voided, 1);
    expect(&fixture, &models);
    engine_fixture_flush(&fixture);
    void_click(&fixture, &models, &voided);
    expect(&fixture, &models);
    engine_fixture_flush(&fixture);
    expect(&fixture, &models);
    send(&fixture, &models, 40, &number);
    engine_fixture_compact(&fixture);
    expect(&fixture, &models);
    engine_fixture_restart(&fixture);
    expect(&fixture, &models);
    engine_fixture_stop(&fixture);
}

/* One partition of more rows than a page has, so that jobs share the page it ends in. */
Test(engine_group, a_partition_of_several_pages_is_counted_once)
{
    enum { BATCHES = 4, ROWS = 40000 };
    struct engine_fixture fixture = {0};
    struct models models = {0};
    struct click *clicks = memory_alloc(ROWS * sizeof *clicks);
    engine_fixture_start(&fixture);
    for (uint32_t i = 0; i < BATCHES; i++) {
        for (uint32_t row = 0; row < ROWS; row++) {
            clicks[row] =
                (struct click){row % 100 == 0 ? "small" : "large", "2013-11-28",
                               1385605012000 + i * ROWS + row, row % 3 == 0 ? "a" : "b", "0.01"};
            models_add(&models, &clicks[row], 1);
        }
        cr_assert_eq(engine_fixture_clicks(&fixture, clicks, ROWS), 0);
    }
    engine_fixture_flush(&fixture);
    expect(&fixture, &models);
    engine_fixture_compact(&fixture);
    expect(&fixture, &models);
    engine_fixture_stop(&fixture);
    memory_free(clicks);
}

/* ---- some of it ---- */

/* Resellers other than r0, all days of one together. */
static bool takes_some(void *context, struct bytes *value)
{
    const uint32_t *refused = context;
    return type_key_component(*value, 2, 0, value) == 0 && value->data[1] != '0' + *refused;
}

struct some {
    uint32_t refused; /* first: what takes_some sees */
    const struct model *by_partition;
    bool is_done;
    int status;
    uint32_t count;
};

static void take_some(void *context, int status, const struct error *err,
                      const struct partition_figure *figures, uint32_t count, struct bytes position)
{
    struct some *some = context;
    (void)position;
    cr_assert(status == 0 || err->text[0] != '\0');
    some->is_done = true;
    some->status = status;
    some->count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t rows = 0;
        cr_assert_eq(figures[i].key.size, 2);
        for (uint32_t j = 0; j < some->by_partition->count; j++)
            if (memcmp(some->by_partition->groups[j].key, figures[i].key.data, 2) == 0)
                rows += some->by_partition->groups[j].rows;
        cr_assert_eq(figures[i].stats.rows, rows);
    }
}

static int ask_some(struct engine_fixture *fixture, struct some *some, size_t bytes_max)
{
    const struct group_request request = {
        .table_id = TABLE_AD_CLICK, .takes = takes_some, .bytes_max = bytes_max};
    some->is_done = false;
    cr_assert_eq(store_group(fixture->store, &request, take_some, some, NULL), 0);
    while (!some->is_done)
        cr_assert(fixture->world->executor->step(fixture->world->executor));
    return some->status;
}

Test(engine_group, takes_what_is_asked_for_under_a_part_of_its_key_and_ends_past_its_memory)
{
    struct engine_fixture fixture = {0};
    struct models models = {0};
    struct some some = {.by_partition = &models.by_partition};
    uint32_t number = 0;
    engine_fixture_start(&fixture);
    for (uint32_t times = 0; times < 2; times++) {
        send(&fixture, &models, 500, &number);
        cr_assert_eq(ask_some(&fixture, &some, 0), 0);
        cr_assert_eq(some.count, RESELLERS - 1);
        cr_assert_eq(ask_some(&fixture, &some, 1 << 20), 0);
        cr_assert_eq(ask_some(&fixture, &some, 1), ERROR_LIMIT);
        engine_fixture_flush(&fixture);
    }
    engine_fixture_stop(&fixture);
}

Test(engine_group, only_columns_of_strings_outside_the_key_group)
{
    static const uint32_t refused[] = {AD_CLICK_RESELLER_ID, AD_CLICK_TIME, AD_CLICK_AMOUNT, 999};
    struct engine_fixture fixture = {0};
    const struct model none = {0};
    engine_fixture_start(&fixture);
    for (uint32_t i = 0; i < sizeof refused / sizeof *refused; i++)
        cr_assert_eq(ask(&fixture, refused[i], &none), ERROR_INVALID, "%u", refused[i]);
    engine_fixture_stop(&fixture);
}

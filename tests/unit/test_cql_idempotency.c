/* Requests with an id: applied once, answered alike, whatever happens between the copies. */
#include <criterion/criterion.h>
#include <string.h>

#include "query/cql/session/cql.h"
#include "query/cql/write/cql_idempotency.h"
#include "tests/lib/rollup_fixture.h"

struct seen {
    bool is_answered;
    enum cql_result_kind kind;
    enum cql_error_code code;
    char message[256];
    char cells[256];
    char echo[32];
};

struct instance {
    struct rollup_fixture fixture;
    struct cql *cql;
    struct cql_session session;
    struct seen seen;
};

static const uint8_t host_id[16] = {2};
static const uint8_t first_id[16] = {0xAB, 1};
static const uint8_t other_id[16] = {0xAB, 2};

#define COUNT   "UPDATE k.n SET v = v + 1 WHERE p = 1"
#define COUNTED "SELECT v FROM k.n WHERE p = 1"

static void open_cql(struct instance *instance)
{
    struct cql_options options = {.store = instance->fixture.store,
                                  .world = instance->fixture.world,
                                  .streams = instance->fixture.streams,
                                  .host_id = host_id};
    instance->cql = cql_new(&options);
    cql_session_init(&instance->session, instance->cql);
}

static void keep_cells(struct seen *seen, const struct cql_rows *rows)
{
    struct reader cells = reader_of(rows->cells);
    struct buffer text = {0};
    for (uint32_t i = 0; i < rows->row_count * rows->metadata.count; i++) {
        uint32_t size = reader_u32_be(&cells);
        if (size == UINT32_MAX)
            buffer_append_text(&text, "-");
        else
            type_format(rows->metadata.columns[i % rows->metadata.count].type,
                        reader_bytes(&cells, size), &text);
        buffer_append_text(&text, ";");
    }
    snprintf(seen->cells, sizeof(seen->cells), "%.*s", (int)text.size, (const char *)text.data);
    buffer_release(&text);
}

static void answered(void *context, const struct cql_result *result)
{
    struct seen *seen = context;
    cr_assert(!seen->is_answered, "answered twice");
    *seen = (struct seen){.is_answered = true, .kind = result->kind, .code = result->error.code};
    if (result->kind == CQL_RESULT_ERROR)
        snprintf(seen->message, sizeof(seen->message), "%s", result->error.message);
    if (result->kind == CQL_RESULT_ROWS)
        keep_cells(seen, &result->rows);
    if (result->extras.payload_count == 1)
        snprintf(seen->echo, sizeof(seen->echo), "%.*s", (int)result->extras.payload[0].value.size,
                 (const char *)result->extras.payload[0].value.data);
}

static struct cql_request counting(const struct cql_payload *payload)
{
    return (struct cql_request){.kind = CQL_QUERY,
                                .text = bytes_text(COUNT),
                                .consistency = CQL_ONE,
                                .payload = payload,
                                .payload_count = 1};
}

static void run(struct instance *instance, struct cql_request request, const uint8_t *id)
{
    struct cql_payload payload = {bytes_text(CQL_IDEMPOTENCY_NAME), bytes_of(id, 16)};
    request.consistency = CQL_ONE;
    request.serial_consistency = CQL_SERIAL;
    request.payload = &payload;
    request.payload_count = id != NULL;
    instance->seen.is_answered = false;
    cql_run(&instance->session, &request, answered, &instance->seen);
    rollup_fixture_step_until(&instance->fixture, &instance->seen.is_answered);
}

static void send(struct instance *instance, const char *text, const uint8_t *id)
{
    run(instance, (struct cql_request){.kind = CQL_QUERY, .text = bytes_text(text)}, id);
}

static void query(struct instance *instance, const char *text)
{
    send(instance, text, NULL);
    cr_assert_neq(instance->seen.kind, CQL_RESULT_ERROR, "%s: %s", text, instance->seen.message);
}

static void expect_counted(struct instance *instance, const char *expected)
{
    query(instance, COUNTED);
    cr_expect_str_eq(instance->seen.cells, expected);
}

static void instance_open(struct instance *instance)
{
    instance->fixture.has_cql = true;
    rollup_fixture_start(&instance->fixture);
    open_cql(instance);
    query(instance, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', "
                    "'replication_factor': 1}");
    query(instance, "CREATE TABLE k.n (p int PRIMARY KEY, v counter)");
    query(instance, "CREATE TABLE k.t (p int, c int, v text, PRIMARY KEY (p, c))");
}

static void instance_close(struct instance *instance)
{
    cr_expect_eq(instance->cql->running, 0);
    cql_free(instance->cql);
    rollup_fixture_stop(&instance->fixture);
}

Test(cql_idempotency, a_counter_sent_again_under_its_id_is_counted_once)
{
    struct instance instance = {0};
    instance_open(&instance);
    send(&instance, COUNT, first_id);
    cr_expect_eq(instance.seen.kind, CQL_RESULT_VOID, "%s", instance.seen.message);
    cr_expect_str_eq(instance.seen.echo, "applied");
    send(&instance, COUNT, first_id);
    cr_expect_eq(instance.seen.kind, CQL_RESULT_VOID);
    cr_expect_str_eq(instance.seen.echo, "duplicate");
    expect_counted(&instance, "1;");
    send(&instance, COUNT, other_id);
    cr_expect_str_eq(instance.seen.echo, "applied");
    expect_counted(&instance, "2;");
    query(&instance, COUNT);
    cr_expect_str_eq(instance.seen.echo, "", "no id, no echo");
    expect_counted(&instance, "3;");
    instance_close(&instance);
}

Test(cql_idempotency, the_id_is_known_after_a_restart_and_a_flush)
{
    struct instance instance = {0};
    instance_open(&instance);
    send(&instance, COUNT, first_id);
    rollup_fixture_flush(&instance.fixture);
    cql_free(instance.cql);
    rollup_fixture_restart(&instance.fixture);
    open_cql(&instance);
    send(&instance, COUNT, first_id);
    cr_expect_str_eq(instance.seen.echo, "duplicate");
    expect_counted(&instance, "1;");
    instance_close(&instance);
}

/* The dangerous moment: the client has no answer, and cannot know on which side of the sync the
 * power went. */
Test(cql_idempotency, a_retry_after_a_crash_at_any_moment_leaves_one_increment)
{
    int lost = 0, kept = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct instance instance = {.fixture = {.seed = seed}};
        struct cql_payload payload = {bytes_text(CQL_IDEMPOTENCY_NAME), bytes_of(first_id, 16)};
        struct cql_request request = counting(&payload);
        instance_open(&instance);
        instance.seen.is_answered = false;
        cql_run(&instance.session, &request, answered, &instance.seen);
        for (uint64_t step = 0; step < seed % 8 && !instance.seen.is_answered; step++)
            instance.fixture.world->executor->step(instance.fixture.world->executor);
        struct sim_world *after = sim_world_crash(instance.fixture.sim, seed);
        rollup_fixture_step_until(&instance.fixture, &instance.seen.is_answered);
        cql_free(instance.cql);
        rollup_fixture_go_on(&instance.fixture, after);
        open_cql(&instance);
        send(&instance, COUNT, first_id);
        cr_expect_eq(instance.seen.kind, CQL_RESULT_VOID, "seed %d: %s", (int)seed,
                     instance.seen.message);
        lost += strcmp(instance.seen.echo, "applied") == 0;
        kept += strcmp(instance.seen.echo, "duplicate") == 0;
        expect_counted(&instance, "1;");
        instance_close(&instance);
    }
    cr_expect(lost > 0 && kept > 0 && lost + kept == 40, "%d lost, %d kept", lost, kept);
}

Test(cql_idempotency, two_copies_under_way_at_once_are_one_write_and_both_are_answered)
{
    enum { COPIES = 5 };
    struct instance instance = {0};
    struct seen seen[COPIES] = {{0}};
    struct cql_payload payload = {bytes_text(CQL_IDEMPOTENCY_NAME), bytes_of(first_id, 16)};
    struct cql_request request = counting(&payload);
    int applied = 0;
    instance_open(&instance);
    for (int i = 0; i < COPIES; i++)
        cql_run(&instance.session, &request, answered, &seen[i]);
    for (int i = 0; i < COPIES; i++) {
        rollup_fixture_step_until(&instance.fixture, &seen[i].is_answered);
        cr_expect_eq(seen[i].kind, CQL_RESULT_VOID);
        applied += strcmp(seen[i].echo, "applied") == 0;
    }
    cr_expect_eq(applied, 1);
    expect_counted(&instance, "1;");
    instance_close(&instance);
}

Test(cql_idempotency, an_id_with_another_statement_or_other_values_is_refused)
{
    struct instance instance = {0};
    struct cql_value value = {.state = CQL_VALUE_SET, .data = bytes_of("\0\0\0\1", 4)};
    struct cql_request bound = {.kind = CQL_QUERY,
                                .text = bytes_text("UPDATE k.n SET v = v + 1 WHERE p = ?"),
                                .values = &value,
                                .value_count = 1};
    instance_open(&instance);
    run(&instance, bound, first_id);
    cr_expect_str_eq(instance.seen.echo, "applied");
    run(&instance, bound, first_id);
    cr_expect_str_eq(instance.seen.echo, "duplicate");
    value.data = bytes_of("\0\0\0\2", 4);
    run(&instance, bound, first_id);
    cr_expect_eq(instance.seen.code, CQL_INVALID);
    cr_expect_not_null(strstr(instance.seen.message, "another statement"), "%s",
                       instance.seen.message);
    send(&instance, "UPDATE k.n SET v = v + 2 WHERE p = 1", first_id);
    cr_expect_eq(instance.seen.code, CQL_INVALID);
    expect_counted(&instance, "1;");
    instance_close(&instance);
}

Test(cql_idempotency, a_conditional_write_is_answered_as_the_first_time)
{
    struct instance instance = {0};
    instance_open(&instance);
    send(&instance, "INSERT INTO k.t (p, c, v) VALUES (1, 1, 'a') IF NOT EXISTS", first_id);
    cr_expect_str_eq(instance.seen.cells, "true;");
    send(&instance, "INSERT INTO k.t (p, c, v) VALUES (1, 1, 'a') IF NOT EXISTS", first_id);
    cr_expect_str_eq(instance.seen.cells, "true;", "what it found is what it wrote itself");
    cr_expect_str_eq(instance.seen.echo, "duplicate");
    send(&instance, "INSERT INTO k.t (p, c, v) VALUES (1, 1, 'b') IF NOT EXISTS", other_id);
    cr_expect_str_eq(instance.seen.cells, "false;1;1;a;");
    cr_expect_str_eq(instance.seen.echo, "applied");
    query(&instance, "DELETE FROM k.t WHERE p = 1 AND c = 1");
    send(&instance, "INSERT INTO k.t (p, c, v) VALUES (1, 1, 'b') IF NOT EXISTS", other_id);
    cr_expect_str_eq(instance.seen.cells, "false;1;1;a;", "refused then, refused now");
    cr_expect_str_eq(instance.seen.echo, "duplicate");
    instance_close(&instance);
}

Test(cql_idempotency, a_batch_is_one_request)
{
    struct instance instance = {0};
    struct cql_batch_item items[] = {{.text = bytes_text(COUNT)}, {.text = bytes_text(COUNT)}};
    struct cql_request batch = {
        .kind = CQL_BATCH, .batch_kind = CQL_BATCH_COUNTER, .items = items, .item_count = 2};
    instance_open(&instance);
    run(&instance, batch, first_id);
    cr_expect_str_eq(instance.seen.echo, "applied", "%s", instance.seen.message);
    run(&instance, batch, first_id);
    cr_expect_str_eq(instance.seen.echo, "duplicate");
    expect_counted(&instance, "2;");
    batch.item_count = 1;
    run(&instance, batch, first_id);
    cr_expect_eq(instance.seen.code, CQL_INVALID);
    instance_close(&instance);
}

Test(cql_idempotency, a_comment_names_the_id_where_a_driver_has_no_payload)
{
    static const char text[] = "/* daybook-request-id: 000102030405060708090a0B0c0D0e0f */ " COUNT;
    static const uint8_t named[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    struct instance instance = {0};
    instance_open(&instance);
    send(&instance, text, NULL);
    cr_expect_str_eq(instance.seen.echo, "applied", "%s", instance.seen.message);
    send(&instance, text, NULL);
    cr_expect_str_eq(instance.seen.echo, "duplicate");
    send(&instance, text, named);
    cr_expect_str_eq(instance.seen.echo, "duplicate", "the payload says the same");
    send(&instance, text, other_id);
    cr_expect_eq(instance.seen.code, CQL_INVALID, "the payload says another");
    expect_counted(&instance, "1;");
    send(&instance, "/* daybook-request-id: 12 */ " COUNT, NULL);
    cr_expect_eq(instance.seen.code, CQL_INVALID, "a mistyped id must not count twice in silence");
    send(&instance, "/* any other remark */ " COUNT, NULL);
    cr_expect_eq(instance.seen.kind, CQL_RESULT_VOID);
    expect_counted(&instance, "2;");
    instance_close(&instance);
}

Test(cql_idempotency, an_id_of_another_size_is_refused)
{
    struct instance instance = {0};
    struct cql_payload payload = {bytes_text(CQL_IDEMPOTENCY_NAME), bytes_of(first_id, 15)};
    struct cql_request request = counting(&payload);
    instance_open(&instance);
    instance.seen.is_answered = false;
    cql_run(&instance.session, &request, answered, &instance.seen);
    rollup_fixture_step_until(&instance.fixture, &instance.seen.is_answered);
    cr_expect_eq(instance.seen.code, CQL_INVALID);
    instance_close(&instance);
}

Test(cql_idempotency, an_id_is_forgotten_after_its_window_and_not_before)
{
    struct instance instance = {0};
    instance_open(&instance);
    send(&instance, COUNT, first_id);
    rollup_fixture_advance(&instance.fixture, CQL_IDEMPOTENCY_WINDOW_S - 60);
    send(&instance, COUNT, first_id);
    cr_expect_str_eq(instance.seen.echo, "duplicate");
    rollup_fixture_advance(&instance.fixture, 120);
    send(&instance, COUNT, first_id);
    cr_expect_str_eq(instance.seen.echo, "applied");
    expect_counted(&instance, "2;");
    instance_close(&instance);
}

Test(cql_idempotency, what_was_refused_is_not_remembered)
{
    struct instance instance = {0};
    instance_open(&instance);
    send(&instance, "UPDATE k.t SET v = 'a' WHERE p = 1", first_id);
    cr_expect_eq(instance.seen.code, CQL_INVALID);
    send(&instance, COUNT, first_id);
    cr_expect_str_eq(instance.seen.echo, "applied");
    instance_close(&instance);
}

/* ---- clicks that leave their rank to the store ---- */

#define CLICK                                                                                      \
    "INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, amount) "                        \
    "VALUES ('r', '2013-11-28', 1385654400123, 'ad', 0.50)"
#define CLICKS "SELECT click_id, amount, day_derived FROM daybook.ad_click"

Test(cql_idempotency, a_click_under_an_id_may_leave_its_click_id_to_the_store)
{
    struct instance instance = {0};
    instance_open(&instance);
    send(&instance, CLICK, NULL);
    cr_expect_eq(instance.seen.code, CQL_INVALID);
    cr_expect_not_null(strstr(instance.seen.message, CQL_IDEMPOTENCY_NAME), "%s",
                       instance.seen.message);
    send(&instance, CLICK, first_id);
    cr_expect_str_eq(instance.seen.echo, "applied", "%s", instance.seen.message);
    send(&instance, CLICK, first_id);
    cr_expect_str_eq(instance.seen.echo, "duplicate");
    query(&instance, CLICKS);
    cr_expect_str_eq(instance.seen.cells, "0;0.50;-;");
    send(&instance, CLICK, other_id);
    cr_expect_str_eq(instance.seen.echo, "applied", "two honest clicks can fall together");
    query(&instance, CLICKS);
    cr_expect_str_eq(instance.seen.cells, "0;0.50;-;1;0.50;-;");
    query(&instance, "SELECT clicks FROM daybook.clicks_per_ad WHERE ad_id = 'ad'");
    cr_expect_str_eq(instance.seen.cells, "2;");
    cr_assert_eq(rollup_fixture_refresh_now(&instance.fixture, false), 0);
    rollup_fixture_expect_figures(&instance.fixture, "r 2013-11-28 2 1.00 - - open\n");
    instance_close(&instance);
}

Test(cql_idempotency, a_click_that_is_wrong_is_refused_without_its_click_id_too)
{
    static const char *const wrong[] = {
        "INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, amount) "
        "VALUES ('r', '2013-13-01', 1385654400123, 'ad', 1)",
        "INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, amount) "
        "VALUES ('r', '2013-11-28', 1385654400123, 'ad', -1)",
        "INSERT INTO daybook.ad_click (reseller_id, day, time, amount) "
        "VALUES ('r', '2013-11-28', 1385654400123, 1)",
        "UPDATE daybook.ad_click SET amount = 1 WHERE reseller_id = 'r' AND day = '2013-11-28' "
        "AND time = 1385654400123 AND ad_id = 'ad'",
        CLICK " IF NOT EXISTS",
    };
    struct instance instance = {0};
    instance_open(&instance);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        send(&instance, wrong[i], first_id);
        cr_expect_eq(instance.seen.code, CQL_INVALID, "%s", wrong[i]);
    }
    query(&instance, CLICKS);
    cr_expect_str_eq(instance.seen.cells, "");
    instance_close(&instance);
}

Test(cql_idempotency, a_batch_of_clicks_and_rows_is_one_request)
{
    struct cql_batch_item items[] = {
        {.text = bytes_text(CLICK)},
        {.text = bytes_text(CLICK)},
        {.text = bytes_text("INSERT INTO k.t (p, c, v) VALUES (1, 1, 'a')")}};
    struct cql_request batch = {.kind = CQL_BATCH, .items = items, .item_count = 3};
    struct instance instance = {0};
    instance_open(&instance);
    run(&instance, batch, first_id);
    cr_expect_str_eq(instance.seen.echo, "applied", "%s", instance.seen.message);
    run(&instance, batch, first_id);
    cr_expect_str_eq(instance.seen.echo, "duplicate");
    query(&instance, CLICKS);
    cr_expect_str_eq(instance.seen.cells, "0;0.50;-;1;0.50;-;");
    query(&instance, "SELECT v FROM k.t");
    cr_expect_str_eq(instance.seen.cells, "a;");
    instance_close(&instance);
}

/* ---- the kept answer as bytes ---- */

static void pack_refusal(struct buffer *packed)
{
    static const char *names[] = {"[applied]", "p", "v"};
    struct buffer cells = {0};
    buffer_put_u32_be(&cells, 1);
    buffer_put_u8(&cells, 0);
    buffer_put_u32_be(&cells, UINT32_MAX);
    buffer_put_u32_be(&cells, 3);
    buffer_append_text(&cells, "abc");
    struct cql_idempotency_answer answer = {
        .names = names, .count = 3, .cells = buffer_view(&cells)};
    cql_idempotency_answer_pack(&answer, packed);
    buffer_release(&cells);
}

Test(cql_idempotency, a_kept_answer_comes_back_as_it_was)
{
    struct arena *arena = arena_new(4096);
    struct buffer packed = {0};
    struct buffer again = {0};
    struct cql_idempotency_answer answer;
    pack_refusal(&packed);
    cr_assert(cql_idempotency_answer_unpack(buffer_view(&packed), arena, &answer));
    cr_expect_eq(answer.count, 3);
    cr_expect_str_eq(answer.names[2], "v");
    cql_idempotency_answer_pack(&answer, &again);
    cr_expect(bytes_equal(buffer_view(&packed), buffer_view(&again)));
    buffer_release(&packed);
    buffer_release(&again);
    arena_free(arena);
}

Test(cql_idempotency, a_kept_answer_cut_anywhere_is_refused_and_any_bit_of_it_may_turn)
{
    struct arena *arena = arena_new(4096);
    struct buffer packed = {0};
    struct cql_idempotency_answer answer;
    pack_refusal(&packed);
    for (size_t size = 0; size < packed.size; size++)
        cr_expect_not(cql_idempotency_answer_unpack(bytes_of(packed.data, size), arena, &answer),
                      "cut to %zu bytes", size);
    for (size_t bit = 0; bit < 8 * packed.size; bit++) {
        struct buffer again = {0};
        packed.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        if (cql_idempotency_answer_unpack(buffer_view(&packed), arena, &answer)) {
            cql_idempotency_answer_pack(&answer, &again);
            cr_expect_geq(again.size, answer.cells.size);
        }
        packed.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        buffer_release(&again);
    }
    buffer_release(&packed);
    arena_free(arena);
}

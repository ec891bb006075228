/* What a parse job makes of lines: spans of records, and groups of batches that are whole. */
#include "ingest/parse/parse_job.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"
#include "storage/engine/store.h"
#include "tests/unit/clicks_fixture.h"

#define GOOD "r1,2013-11-28,1385654400123,ad42,0.005\n"

static struct schema *schema;

static const struct schema *store_has_schema(struct store *store)
{
    (void)store;
    return schema;
}

static const struct store_ops ops = {.schema = store_has_schema};
static struct store store = {.ops = &ops};

static uint32_t yields;

static void count_yield(void)
{
    yields++;
}

struct fixture {
    struct part_pool pool;
    struct parse_lane *lane;
    struct parse_job job;
    uint8_t *data;
};

static void fixture_open(struct fixture *fixture)
{
    struct error err = {0};

    *fixture = (struct fixture){0};
    schema = schema_new();
    cr_assert(schema_add_keyspace(schema, "daybook", &err) == 0);
    cr_assert(schema_add_table(schema, &clicks_definition, &err) == 0, "%s", err.text);
    part_pool_open(&fixture->pool, &store, NULL, 42);
    fixture->lane = parse_lane_new(&clicks_stream, 1, count_yield);
}

static void fixture_close(struct fixture *fixture)
{
    parse_job_release(&fixture->job, &fixture->pool);
    cr_expect_eq(fixture->pool.count, PARSE_JOB_SPANS_MAX, "the parts came back");
    parse_lane_free(fixture->lane);
    part_pool_close(&fixture->pool);
    memory_free(fixture->data);
    schema_unref(schema);
}

static void parse(struct fixture *fixture, const char *text)
{
    struct parse_job *job = &fixture->job;
    size_t size = strlen(text);

    fixture->data = memory_zeroed(1, size + LINE_PARSER_PADDING);
    memcpy(fixture->data, text, size);
    job->lane = fixture->lane;
    job->builder = parse_lane_builder(fixture->lane, &fixture->pool, &clicks_stream);
    cr_assert(job->builder != NULL);
    job->order = fixture->lane->parser.order;
    job->columns = RECORD_FIELDS;
    job->data = fixture->data;
    job->end = size;
    for (uint32_t i = 0; i < PARSE_JOB_SPANS_MAX; i++)
        job->spans[i].group.part = part_pool_take(&fixture->pool, &clicks_stream);
    parse_job_lines(job);
}

static uint32_t span_rows(const struct record_span *span)
{
    return span->group.part->block->rows;
}

Test(parse_job, stretches_of_records_are_spans_between_control_lines)
{
    struct fixture fixture;
    struct record_span *span;

    fixture_open(&fixture);
    parse(&fixture, GOOD GOOD "bad\n#sync\n" GOOD);
    cr_assert_eq(fixture.job.span_count, 2);
    span = parse_job_span_at(&fixture.job, 0);
    cr_assert(span != NULL);
    cr_expect_eq(span->group.count, 0);
    cr_expect_eq(span->group.lines, 3);
    cr_expect_eq(span_rows(span), 2);
    cr_expect_eq(span->group.part->rejects.count, 1);
    cr_expect(parse_job_span_at(&fixture.job, 1) == NULL);
    span = parse_job_span_at(&fixture.job, strlen(GOOD GOOD "bad\n#sync\n"));
    cr_assert(span != NULL);
    cr_expect_eq(span_rows(span), 1);
    fixture_close(&fixture);
}

Test(parse_job, whole_batches_that_follow_one_another_are_one_group)
{
    struct fixture fixture;
    struct record_span *span;
    uint32_t first;

    fixture_open(&fixture);
    parse(&fixture, "#batch 7 2\n" GOOD GOOD "#batch 8 2\nbad\n" GOOD "#batch 10 1\n" GOOD);
    span = parse_job_span_at(&fixture.job, 0);
    cr_assert(span != NULL);
    cr_assert_eq(span->group.count, 2, "10 is not the next of 8");
    cr_expect_eq(span->group.batches[0].sequence, 7);
    cr_expect_eq(span->group.batches[1].sequence, 8);
    cr_expect_eq(batch_group_rows(&span->group, 0, &first), 2);
    cr_expect_eq(first, 0);
    cr_expect_eq(batch_group_rows(&span->group, 1, &first), 1);
    cr_expect_eq(first, 2);
    cr_expect_eq(batch_group_rejects(&span->group, 0).count, 0);
    cr_expect_eq(batch_group_rejects(&span->group, 1).count, 1);
    cr_expect_eq(span->group.lines, 6, "control lines count");
    span = parse_job_span_at(&fixture.job, span->group.size);
    cr_assert(span != NULL);
    cr_expect_eq(span->group.batches[0].sequence, 10);
    fixture_close(&fixture);
}

Test(parse_job, a_batch_that_is_not_whole_is_in_no_group)
{
    struct fixture fixture;
    struct record_span *span;

    fixture_open(&fixture);
    parse(&fixture, "#batch 1 1\n" GOOD "#batch 2 3\n" GOOD GOOD);
    span = parse_job_span_at(&fixture.job, 0);
    cr_assert(span != NULL);
    cr_expect_eq(span->group.count, 1);
    cr_expect_eq(span_rows(span), 1);
    span = parse_job_span_at(&fixture.job, strlen("#batch 1 1\n" GOOD "#batch 2 3\n"));
    cr_assert(span != NULL, "its lines are a span behind its control line");
    cr_expect_eq(span->group.count, 0);
    cr_expect_eq(span->group.lines, 2);
    fixture_close(&fixture);
}

Test(parse_job, the_thread_yields_between_pieces)
{
    struct fixture fixture;
    struct buffer lines = {0};

    fixture_open(&fixture);
    yields = 0;
    for (uint32_t i = 0; i < 5 * PARSE_LANE_PIECE_ROWS / 2; i++)
        buffer_append_text(&lines, GOOD);
    buffer_put_u8(&lines, 0);
    parse(&fixture, (const char *)lines.data);
    cr_expect_eq(yields, 2);
    cr_expect_eq(span_rows(&fixture.job.spans[0]), 5 * PARSE_LANE_PIECE_ROWS / 2);
    buffer_release(&lines);
    fixture_close(&fixture);
}

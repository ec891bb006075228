/* test_columnar_rows_order: rows are put in order by steps of bounded work; what the order is, and
 * that equals keep theirs, test_columnar_rows.c says. */
#include "storage/cell/columnar_rows_order.h"

#include <criterion/criterion.h>

#include "base/arena.h"
#include "storage/memtable/columnar_memtable.h"
#include "tests/unit/columnar_fixture.h"

struct source {
    struct schema *schema;
    struct arena *arena;
    struct columnar_memtable *memtable;
    struct columnar_rows rows; /* as they came, */
    struct click_model model;
    uint32_t steps; /* and how many it took to take them */
};

static void source_init(struct source *source, uint32_t count, uint32_t times)
{
    uint64_t state = count;
    *source = (struct source){.schema = columnar_schema(), .arena = arena_new(1 << 16), .steps = 1};
    const struct table *table = schema_table(source->schema, COLUMNAR_TABLE);
    struct block *block = block_new(table, count);
    for (uint32_t i = 0; i < count; i++) {
        struct click click = click_make(&state, times, 20);
        block_add_click(block, 1, &click);
        model_append(&source->model, &click);
    }
    model_order(&source->model);
    source->memtable = columnar_memtable_new(table, source->arena);
    columnar_memtable_apply(source->memtable, block, 1, 7);
    columnar_rows_init(&source->rows, table);
    struct columnar_memtable_fill fill;
    columnar_memtable_fill_begin(&fill, source->memtable, 0, UINT64_MAX, &source->rows);
    while (columnar_memtable_fill_step(&fill))
        source->steps++;
    block_free(block);
}

static void source_release(struct source *source)
{
    columnar_rows_release(&source->rows);
    columnar_memtable_free(source->memtable);
    model_release(&source->model);
    arena_free(source->arena);
    schema_unref(source->schema);
}

static uint32_t order_steps(struct columnar_rows *rows)
{
    struct columnar_rows_order order;
    uint32_t steps = 1;
    columnar_rows_order_begin(&order, rows);
    while (columnar_rows_order_step(&order))
        steps++;
    columnar_rows_order_release(&order);
    return steps;
}

/* Two passes of the radix sort, and each of nine arrays gathered, are as many loops over all rows
 * at least. */
Test(columnar_rows_order, many_rows_take_many_steps)
{
    enum { ROWS = 10 * COLUMNAR_STEP_ROWS, LOOPS = 2 * 2 + 9 };
    struct source source;
    source_init(&source, ROWS, 1000000);
    cr_expect_geq(source.steps, ROWS / COLUMNAR_STEP_ROWS / 2, "%u", source.steps);
    uint32_t steps = order_steps(&source.rows);
    cr_expect_geq(steps, LOOPS * ROWS / COLUMNAR_STEP_ROWS, "%u", steps);
    cr_expect(rows_are_model(&source.rows, &source.model));
    steps = order_steps(&source.rows);
    cr_expect_leq(steps, ROWS / COLUMNAR_STEP_ROWS + 1, "in order already: %u", steps);
    source_release(&source);
}

Test(columnar_rows_order, few_rows_take_one)
{
    struct source source;
    source_init(&source, 100, 10);
    cr_expect_eq(order_steps(&source.rows), 1);
    cr_expect(rows_are_model(&source.rows, &source.model));
    source_release(&source);
}

/* A merge that is told to end. */
Test(columnar_rows_order, may_be_left_before_it_is_done)
{
    struct source source;
    struct columnar_rows_order order;
    source_init(&source, 3 * COLUMNAR_STEP_ROWS, 1000000);
    columnar_rows_order_begin(&order, &source.rows);
    for (int i = 0; i < 10; i++)
        cr_assert(columnar_rows_order_step(&order));
    columnar_rows_order_release(&order);
    source_release(&source);
}

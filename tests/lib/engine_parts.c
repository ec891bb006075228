#include "tests/lib/engine_parts.h"

#include <stddef.h>

static struct engine_parts *parts_of_executor(struct executor *executor)
{
    return (struct engine_parts *)(void *)((char *)executor -
                                           offsetof(struct engine_parts, executor));
}

static int64_t parts_wall_us(struct clock *clock)
{
    return ((struct engine_parts *)(void *)clock)->wall_us; /* its first member */
}

static void parts_timer_start(struct executor *executor, struct timer *timer, int64_t delay_ms)
{
    (void)delay_ms;
    timer->handle = executor;
    parts_of_executor(executor)->timers++;
}

static void parts_timer_stop(struct executor *executor, struct timer *timer)
{
    parts_of_executor(executor)->timers -= timer->handle != NULL;
    timer->handle = NULL;
}

void engine_parts_fire(struct engine_parts *parts, struct timer *timer)
{
    parts_timer_stop(&parts->executor, timer);
    timer->fire(timer);
}

static void note_failure(void *context)
{
    ((struct engine_parts *)context)->failures++;
}

static void note_job_done(void *context)
{
    (void)context;
}

static void note_frozen(void *context)
{
    ((struct engine_parts *)context)->frozen++;
}

static void note_given(void *context)
{
    ((struct engine_parts *)context)->given++;
}

static void note_change(void *context)
{
    ((struct engine_parts *)context)->changes++;
}

void engine_parts_start(struct engine_parts *parts, const struct engine_options *options)
{
    *parts = (struct engine_parts){
        .wall = {.wall_us = parts_wall_us,
                 .monotonic_us = parts_wall_us,
                 .boottime_us = parts_wall_us,
                 .boot_id = {1}},
        .wall_us = 1000000,
        .executor = {.timer_start = parts_timer_start, .timer_stop = parts_timer_stop},
        .schema = schema_new()};
    parts->world = (struct world){.clock = &parts->wall, .executor = &parts->executor};
    engine_env_init(&parts->env, &parts->world, options);
    parts->env.on_failure = note_failure;
    parts->env.on_job_done = note_job_done;
    parts->env.context = parts;
    parts->runs = (struct run_set){
        .env = &parts->env, .readers = reader_pool_new(0), .schema = schema_ref(parts->schema)};
    memory_account_init(&parts->account, &parts->runs);
    engine_clock_init(&parts->clock, &parts->env, NULL);
    memtable_set_init(&parts->memtables, &parts->env, &parts->account, parts->schema);
    parts->memtables.on_frozen = note_frozen;
    parts->memtables.on_given = note_given;
    parts->memtables.context = parts;
    memtable_set_begin(&parts->memtables, 1);
    sequencer_init(&parts->sequencer, &parts->env, &parts->clock, &parts->memtables, &parts->runs);
    parts->sequencer.frame = 1;
    maintenance_init(&parts->maintenance, &parts->sequencer, &parts->runs);
    parts->maintenance.on_change = note_change;
    parts->maintenance.context = parts;
    parts->reads = (struct reads){.env = &parts->env,
                                  .sequencer = &parts->sequencer,
                                  .memtables = &parts->memtables,
                                  .runs = &parts->runs,
                                  .account = &parts->account};
}

void engine_parts_stop(struct engine_parts *parts)
{
    maintenance_release(&parts->maintenance);
    sequencer_release(&parts->sequencer);
    memtable_set_release(&parts->memtables);
    reader_pool_unref(parts->runs.readers);
    schema_unref(parts->runs.schema);
    schema_unref(parts->schema);
}

struct schema *engine_parts_newer_schema(const struct engine_parts *parts)
{
    return schema_copy(parts->memtables.schema);
}

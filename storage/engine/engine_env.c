#include "storage/engine/engine_env.h"

#include "storage/engine/compact_plan.h"

enum {
    MEMTABLE_ROWS_DEFAULT = 16 << 20,
    DAY_ROWS_DEFAULT = 2 << 20 /* some 8 MB on disk */
};

void engine_env_init(struct engine_env *env, struct world *world,
                     const struct engine_options *options)
{
    *env = (struct engine_env){.world = world, .options = *options};
    if (env->options.memory_limit == 0)
        env->options.memory_limit = ENGINE_MEMORY_DEFAULT;
    if (env->options.memtable_rows_max == 0)
        env->options.memtable_rows_max = MEMTABLE_ROWS_DEFAULT;
    if (env->options.unflushed_log_max == 0)
        env->options.unflushed_log_max = ENGINE_UNFLUSHED_LOG_MAX;
    if (env->options.day_rows_min == 0)
        env->options.day_rows_min = DAY_ROWS_DEFAULT;
    if (env->options.tier_bytes == 0)
        env->options.tier_bytes = COMPACT_TIER_BYTES;
}

void engine_env_job_done(struct engine_env *env)
{
    check(env->jobs > 0);
    env->jobs--;
    env->on_job_done(env->context);
}

void engine_env_submit(struct engine_env *env, enum executor_lane lane, struct job *job,
                       void (*run)(struct job *job), void (*done)(struct job *job))
{
    env->jobs++;
    world_submit(env->world, lane, job, run, done);
}

void engine_env_fail(struct engine_env *env, int code, const char *why)
{
    check(code < 0);
    if (env->failed != 0)
        return;
    env->failed = code;
    error_set(&env->failure, code, "%s", why);
    env->on_failure(env->context);
}

int engine_env_check(const struct engine_env *env, struct error *err)
{
    return env->failed == 0 ? 0 : error_set(err, ERROR_FAILED, "%s", env->failure.text);
}

int engine_env_check_writable(const struct engine_env *env, struct error *err)
{
    if (env->options.read_only)
        return error_set(err, ERROR_READ_ONLY, "the directory was opened for reading only");
    return engine_env_check(env, err);
}

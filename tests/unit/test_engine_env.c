/* What the parts of the engine share: defaults, one failure for good, and jobs that are counted. */
#include <criterion/criterion.h>

#include "storage/engine/engine_env.h"

struct notices {
    int failures;
    int jobs_done;
};

static void note_failure(void *context)
{
    ((struct notices *)context)->failures++;
}

static void note_job_done(void *context)
{
    ((struct notices *)context)->jobs_done++;
}

static void start(struct engine_env *env, const struct engine_options *options,
                  struct notices *notices)
{
    engine_env_init(env, NULL, options);
    env->on_failure = note_failure;
    env->on_job_done = note_job_done;
    env->context = notices;
}

Test(engine_env, zeros_are_replaced_by_defaults)
{
    struct engine_env env;
    struct notices notices = {0};
    start(&env, &(struct engine_options){.tier_bytes = 5}, &notices);
    cr_expect_eq(env.options.memory_limit, ENGINE_MEMORY_DEFAULT);
    cr_expect_eq(env.options.unflushed_log_max, ENGINE_UNFLUSHED_LOG_MAX);
    cr_expect_eq(env.options.tier_bytes, 5);
}

Test(engine_env, only_the_first_failure_counts)
{
    struct engine_env env;
    struct notices notices = {0};
    struct error err = {0};
    start(&env, &(struct engine_options){0}, &notices);
    cr_expect_eq(engine_env_check(&env, &err), 0);
    engine_env_fail(&env, ERROR_CORRUPT, "the first");
    engine_env_fail(&env, ERROR_FULL, "the second");
    cr_expect_eq(notices.failures, 1);
    cr_expect_eq(env.failed, ERROR_CORRUPT);
    cr_expect_eq(engine_env_check_writable(&env, &err), ERROR_FAILED);
    cr_expect_str_eq(err.text, "the first");
}

Test(engine_env, a_directory_opened_for_reading_takes_no_writes)
{
    struct engine_env env;
    struct notices notices = {0};
    struct error err = {0};
    start(&env, &(struct engine_options){.read_only = true}, &notices);
    cr_expect_eq(engine_env_check(&env, &err), 0);
    cr_expect_eq(engine_env_check_writable(&env, &err), ERROR_READ_ONLY);
}

Test(engine_env, jobs_are_counted_and_their_end_is_told)
{
    struct engine_env env;
    struct notices notices = {0};
    start(&env, &(struct engine_options){0}, &notices);
    env.jobs++;
    env.jobs++;
    engine_env_job_done(&env);
    cr_expect_eq(env.jobs, 1);
    engine_env_job_done(&env);
    cr_expect_eq(env.jobs, 0);
    cr_expect_eq(notices.jobs_done, 2);
}

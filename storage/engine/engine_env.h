/* engine_env: what all parts of the engine share.
 *
 * Every part reports a failure by on_failure, and the end of a job by on_job_done.
 *
 * Engine thread, except that jobs read `world` and `options`, which do not change. */
#ifndef DAYBOOK_STORAGE_ENGINE_ENGINE_ENV_H
#define DAYBOOK_STORAGE_ENGINE_ENGINE_ENV_H

#include "base/error.h"
#include "base/world/world.h"
#include "storage/engine/engine.h"

struct engine_env {
    struct world *world;
    struct engine_options options;     /* zeros are replaced by defaults */
    uint32_t jobs;                     /* number of jobs under way, of all parts */
    bool is_closing;
    int failed;                        /* 0, or the negative status of the first error that is not
                                        * retried */
    struct error failure;
    void (*on_failure)(void *context); /* called once */
    void (*on_job_done)(void *context);
    void *context;                     /* of both */
};

/* The caller sets the callbacks. */
void engine_env_init(struct engine_env *env, struct world *world,
                     const struct engine_options *options);

/* Count a job as done.  A part that queues a request before it becomes a job adds 1 to `jobs`
 * itself. */
void engine_env_job_done(struct engine_env *env);
void engine_env_submit(struct engine_env *env, enum executor_lane lane, struct job *job,
                       void (*run)(struct job *job), void (*done)(struct job *job));

/* Note a failure, unless one was noted before.  From now on nothing is acknowledged or written. */
void engine_env_fail(struct engine_env *env, int code, const char *why);

/* 0, or ERROR_FAILED with the reason. */
must_check int engine_env_check(const struct engine_env *env, struct error *err);
/* As engine_env_check, or ERROR_READ_ONLY if the directory was opened for reading only. */
must_check int engine_env_check_writable(const struct engine_env *env, struct error *err);
#endif

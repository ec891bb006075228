/* engine_env: what all parts of the engine share: the system, the options, the number of jobs under
 * way, and whether the engine has failed.
 *
 *     part of the engine ──job, failure──▶ engine_env ──callback──▶ engine.c
 *
 * A part uses engine_env and the parts below it, never the engine.  The callbacks on_failure and
 * on_job_done report to the engine.
 *
 * Engine thread, except that jobs read `world` and `options`, which do not change. */
#ifndef DAYBOOK_STORAGE_ENGINE_ENGINE_ENV_H
#define DAYBOOK_STORAGE_ENGINE_ENGINE_ENV_H

#include "base/error.h"
#include "base/world/world.h"
#include "storage/engine/engine.h"

struct engine_env {
    struct world *world;
    struct engine_options options;     /* with defaults in the place of zeros */
    uint32_t jobs;                     /* under way, of all parts: closing waits for them */
    bool is_closing;                   /* no new work may begin */
    int failed;                        /* negative for good once a write, a sync or a job has failed
                                        * and is not tried again */
    struct error failure;              /* why */
    void (*on_failure)(void *context); /* once, when `failed` is set */
    void (*on_job_done)(void *context);        /* after each job */
    void *context;                     /* of both */
};

/* The caller sets the callbacks. */
void engine_env_init(struct engine_env *env, struct world *world,
                     const struct engine_options *options);

/* A job is counted in `jobs` until engine_env_job_done.  engine_env_submit counts a job and submits
 * it.  A part that turns a request into a job later counts the job itself. */
void engine_env_job_done(struct engine_env *env);
void engine_env_submit(struct engine_env *env, enum executor_lane lane, struct job *job,
                       void (*run)(struct job *job), void (*done)(struct job *job));

/* Note a failure: nothing is acknowledged or written from now on.  Only the first one counts. */
void engine_env_fail(struct engine_env *env, int code, const char *why);

/* 0, or ERROR_FAILED with the reason. */
must_check int engine_env_check(const struct engine_env *env, struct error *err);
/* The same, or ERROR_READ_ONLY for a directory that was opened for reading only. */
must_check int engine_env_check_writable(const struct engine_env *env, struct error *err);
#endif

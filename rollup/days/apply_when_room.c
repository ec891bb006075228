/* apply_when_room: see the header. */
#include "rollup/days/apply_when_room.h"

#include "base/memory.h"

enum { FULL_PAUSE_MS = 20 };

struct apply_call {
    struct store *store;
    struct executor *executor;
    struct write_batch *batch;
    struct timer again;
    bool is_accepted;
    bool is_durable; /* the store has called back */
    struct error err;
    int (*refuses)(void *context, struct error *err);
    void (*accepted)(void *context);
    store_done done;
    void *context;
};

static void apply_finish(struct apply_call *call)
{
    store_done done = call->done;
    void *context = call->context;
    const struct error err = call->err;
    memory_free(call);
    done(context, err.code, &err);
}

static void apply_done(void *context, int status, const struct error *err)
{
    struct apply_call *call = context;
    error_keep(&call->err, status, err);
    call->is_durable = true;
    if (call->is_accepted)
        apply_finish(call);
}

static void apply_try(struct timer *timer)
{
    struct apply_call *call = timer->context;
    struct error err = {0};
    int rc = call->refuses != NULL ? call->refuses(call->context, &err) : 0;
    if (rc == 0)
        rc = store_apply(call->store, call->batch, apply_done, call, &err);
    if (rc == ERROR_FULL) {
        call->executor->timer_start(call->executor, &call->again, FULL_PAUSE_MS);
        return;
    }
    error_keep(&call->err, rc, &err);
    if (rc == 0)
        call->accepted(call->context);
    call->is_accepted = true;
    if (rc < 0 || call->is_durable)
        apply_finish(call);
}

void apply_when_room(struct store *store, struct executor *executor, struct write_batch *batch,
                     int (*refuses)(void *context, struct error *err),
                     void (*accepted)(void *context), store_done done, void *context)
{
    struct apply_call *call = memory_zeroed(1, sizeof(*call));
    check(accepted != NULL && done != NULL);
    *call = (struct apply_call){.store = store,
                                .executor = executor,
                                .batch = batch,
                                .refuses = refuses,
                                .accepted = accepted,
                                .done = done,
                                .context = context};
    call->again = (struct timer){.fire = apply_try, .context = call};
    apply_try(&call->again);
}

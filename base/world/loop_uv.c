/* loop_uv: implements loop.h on libuv. */
#include "base/world/loop.h"

#include <sched.h>
#include <signal.h>

#include <uv.h>

#include "base/error.h"
#include "base/world/loop_poll.h"
#include "base/world/loop_times.h"
#include "base/memory.h"
#include "base/world/world.h"

enum {
    STOP_SIGNALS = 2,
    COMPUTED_NS = 2000000 /* the loop does not poll for this long after a job */
};

struct loop {
    uv_loop_t uv;
    struct loop_times times;
    struct loop_poll poll;
    const struct world *beside; /* its jobs prevent polling; NULL: no polling */
    uv_signal_t signals[STOP_SIGNALS];
    bool has_signals;
    void (*stop)(void *context, int signal_number);
    void *context;
    uv_signal_t hangup_signal;
    void (*hangup)(void *context);
    void *hangup_context;
};

struct loop *loop_new(void)
{
    struct loop *loop = memory_zeroed(1, sizeof(*loop));
    check(uv_loop_init(&loop->uv) == 0);
    loop->uv.data = &loop->times;
    return loop;
}

void loop_free(struct loop *loop)
{
    for (int i = 0; loop->has_signals && i < STOP_SIGNALS; i++)
        uv_close((uv_handle_t *)&loop->signals[i], NULL);
    if (loop->hangup != NULL)
        uv_close((uv_handle_t *)&loop->hangup_signal, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    check(uv_loop_close(&loop->uv) == 0);
    memory_free(loop);
}

void *loop_uv(struct loop *loop)
{
    return &loop->uv;
}

void loop_poll_beside(struct loop *loop, int64_t look_us, const struct world *world)
{
    bool has_room = uv_available_parallelism() > 1;
    loop->poll = (struct loop_poll){.look_ns = has_room ? look_us * 1000 : 0};
    loop->beside = world;
}

/* Whether the loop should poll.  Yields the processor before it returns true. */
static bool loop_looks(struct loop *loop)
{
    int64_t began_ns = loop_times_now_ns();
    if (!loop_poll_wants(&loop->poll, began_ns) || world_uv_computes(loop->beside, COMPUTED_NS))
        return false;
    sched_yield();
    loop_poll_gave_way(&loop->poll, began_ns, loop_times_now_ns());
    return true;
}

bool loop_step(struct loop *loop)
{
    bool looks = loop->beside != NULL && loop_looks(loop);
    bool is_alive = uv_run(&loop->uv, looks ? UV_RUN_NOWAIT : UV_RUN_ONCE) != 0;
    if (loop->times.turn_began_ns != 0)
        loop_poll_turn(&loop->poll, loop->times.turn_began_ns, loop_times_now_ns());
    loop_times_end_turn(&loop->times);
    return is_alive;
}

void loop_run_until(struct loop *loop, const bool *is_done)
{
    while (!*is_done) {
        bool is_alive = loop_step(loop);
        check(is_alive || *is_done);
    }
}

void loop_show_times(struct loop *loop, struct metrics *metrics)
{
    loop_times_show(&loop->times, metrics);
}

static void loop_watch(struct loop *loop, uv_signal_t *signal, uv_signal_cb callback, int number)
{
    check(uv_signal_init(&loop->uv, signal) == 0);
    signal->data = loop;
    check(uv_signal_start(signal, callback, number) == 0);
    uv_unref((uv_handle_t *)signal);
}

/* The handlers are removed, so that a second signal kills the process. */
static void loop_signalled(uv_signal_t *handle, int signal_number)
{
    struct loop *loop = handle->data;
    for (int i = 0; i < STOP_SIGNALS; i++)
        uv_signal_stop(&loop->signals[i]);
    loop->stop(loop->context, signal_number);
}

void loop_on_stop(struct loop *loop, void (*stop)(void *context, int signal_number), void *context)
{
    static const int numbers[STOP_SIGNALS] = {SIGINT, SIGTERM};
    check(!loop->has_signals);
    loop->has_signals = true;
    loop->stop = stop;
    loop->context = context;
    for (int i = 0; i < STOP_SIGNALS; i++)
        loop_watch(loop, &loop->signals[i], loop_signalled, numbers[i]);
}

static void loop_hung_up(uv_signal_t *handle, int signal_number)
{
    struct loop *loop = handle->data;
    (void)signal_number;
    loop->hangup(loop->hangup_context);
}

void loop_on_hangup(struct loop *loop, void (*hangup)(void *context), void *context)
{
    check(loop->hangup == NULL);
    loop->hangup = hangup;
    loop->hangup_context = context;
    loop_watch(loop, &loop->hangup_signal, loop_hung_up, SIGHUP);
}

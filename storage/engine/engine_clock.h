/* engine_clock: what time it is for the store, and whether that may be believed (trusted_clock.h).
 *
 * Write timestamps come after all that the store gave before, and from nothing else: a client's are
 * in cells alone.
 *
 * The mark of trusted time is written to the manifest when the directory is opened and as long as
 * the server runs, once it is an hour old; never while the clock is in doubt, so that a wrong clock
 * that is started with finds the mark of the right one.  One that there is no room for is tried
 * again a minute later.
 *
 * Engine thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_ENGINE_CLOCK_H
#define DAYBOOK_STORAGE_ENGINE_ENGINE_CLOCK_H

#include "base/log.h"
#include "base/world/trusted_clock.h"
#include "storage/engine/engine_env.h"
#include "storage/manifest/manifest.h"

struct engine_clock {
    struct engine_env *env;
    struct manifest *manifest;
    int64_t next_us;                   /* the next write timestamp to be given */
    struct trusted_clock trusted;
    int64_t marked_us;                 /* trusted time of the manifest's mark; 0: there is none */
    uint32_t markings;                 /* jobs that write one */
    struct log_group doubts;           /* in the clock */
    bool is_doubt_said;
    bool is_watched;                   /* by a server */
};

void engine_clock_init(struct engine_clock *clock, struct engine_env *env,
                       struct manifest *manifest);
/* Once the log is read, whose last timestamp is `log_last_us`: trust begins. */
void engine_clock_open(struct engine_clock *clock, int64_t log_last_us);

/* The store gave this timestamp, and gives later ones. */
void engine_clock_pass(struct engine_clock *clock, int64_t timestamp_us);
/* The next write timestamp. */
int64_t engine_clock_now_us(struct engine_clock *clock);
/* The last one that was given; 0: none was. */
int64_t engine_clock_given_us(const struct engine_clock *clock);
/* What expired before it has expired for good: the wall clock's time, or while that is in doubt the
 * earlier one. */
int64_t engine_clock_past_us(struct engine_clock *clock);

/* As store.h has them. */
int64_t engine_clock_store_us(struct engine_clock *clock);
struct store_clock engine_clock_read(struct engine_clock *clock);
void engine_clock_watch(struct engine_clock *clock);
must_check int engine_clock_accept(struct engine_clock *clock, store_done done, void *context,
                                   struct error *err);
#endif

/* engine_clock: gives write timestamps, and says whether the wall clock is in doubt
 * (trusted_clock.h).
 *
 * A write timestamp is later than all timestamps that the store gave before.  Timestamps that
 * clients give are in cells only, and do not move this clock.
 *
 * The mark of trusted time is written to the manifest when the directory is opened for writing and
 * while the server runs, once the last mark is an hour old.  No mark is written while the clock is
 * in doubt, so that a server that starts with a wrong clock finds a mark of the right time.  If the
 * disk has no room for a mark, the next try is a minute later.
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
    uint32_t markings;                 /* jobs under way that write a mark */
    struct log_group doubts;           /* limits the log lines about a clock in doubt */
    bool is_doubt_logged;
    bool is_watched;                   /* a server calls engine_clock_watch */
};

void engine_clock_init(struct engine_clock *clock, struct engine_env *env,
                       struct manifest *manifest);
/* Begin the trusted clock, after the log was read; `log_last_us` is the log's last timestamp. */
void engine_clock_open(struct engine_clock *clock, int64_t log_last_us);

/* The store has given this timestamp: the next ones are later. */
void engine_clock_pass(struct engine_clock *clock, int64_t timestamp_us);
/* The next write timestamp. */
int64_t engine_clock_now_us(struct engine_clock *clock);
/* The last write timestamp that was given; 0: none was. */
int64_t engine_clock_given_us(const struct engine_clock *clock);
/* The time up to which expired data may be removed for good: the wall clock's, or, while that clock
 * is in doubt, trusted time if it is earlier. */
int64_t engine_clock_past_us(struct engine_clock *clock);

/* As store_now_us, store_clock, store_watch_clock and store_accept_clock of store.h. */
int64_t engine_clock_store_us(struct engine_clock *clock);
struct store_clock engine_clock_read(struct engine_clock *clock);
void engine_clock_watch(struct engine_clock *clock);
must_check int engine_clock_accept(struct engine_clock *clock, store_done done, void *context,
                                   struct error *err);
#endif

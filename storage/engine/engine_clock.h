/* engine_clock: gives write timestamps, and says whether the wall clock is in doubt
 * (trusted_clock.h).
 *
 * A write timestamp is later than all timestamps that the store gave before.
 *
 * At opening, and while the server runs, a mark of trusted time is written to the manifest when the
 * last mark is an hour old.  While the clock is in doubt no mark is written, so that the last mark
 * is a correct time.
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
    int64_t next_us;
    struct trusted_clock trusted;
    int64_t marked_us;                 /* trusted time of the manifest's mark; 0: there is none */
    uint32_t markings;                 /* jobs under way */
    struct log_group doubts;
    bool is_doubt_logged;
    bool is_watched;
};

void engine_clock_init(struct engine_clock *clock, struct engine_env *env,
                       struct manifest *manifest);
/* The log must have been read; `log_last_us` is its last timestamp. */
void engine_clock_open(struct engine_clock *clock, int64_t log_last_us);

/* Note that the store has given this timestamp; the next ones are later. */
void engine_clock_pass(struct engine_clock *clock, int64_t timestamp_us);
/* The next write timestamp. */
int64_t engine_clock_now_us(struct engine_clock *clock);
/* The last write timestamp given; 0: none. */
int64_t engine_clock_given_us(const struct engine_clock *clock);
/* The time up to which expired data may be removed for good. */
int64_t engine_clock_past_us(struct engine_clock *clock);

/* As store_now_us, store_clock, store_watch_clock and store_accept_clock of store.h. */
int64_t engine_clock_store_us(struct engine_clock *clock);
struct store_clock engine_clock_read(struct engine_clock *clock);
void engine_clock_watch(struct engine_clock *clock);
must_check int engine_clock_accept(struct engine_clock *clock, store_done done, void *context,
                                   struct error *err);
#endif

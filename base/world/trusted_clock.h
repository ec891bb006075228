/* trusted_clock: finds out whether the wall clock can be right.
 *
 * A wrong wall clock must not cause an action that cannot be undone, such as the removal of expired
 * clicks.  So a directory keeps a mark: a wall time that was trusted, and the boot time
 * (CLOCK_BOOTTIME) of that moment.  Trusted time follows boot time:
 *
 *     same boot       trusted = mark + boot time since the mark, exactly
 *     another boot    trusted = mark + boot time: a lower bound, since it is not known how long the
 *                     machine was off
 *
 * The wall clock is in doubt while it differs from trusted time by more than CLOCK_DIFFERENCE_US.
 * A wall clock ahead of a lower bound by at most CLOCK_DIFFERENCE_US is trusted at once.  If it is
 * ahead by at most CLOCK_OFF_US, it is trusted after it ran in step with boot time for
 * 1/CLOCK_OFF_SHARE of the difference, but at least CLOCK_AGREED_US.  Otherwise doubt ends when the
 * clocks agree again, or by trusted_clock_accept.
 *
 * Times are in microseconds. */
#ifndef DAYBOOK_BASE_WORLD_TRUSTED_CLOCK_H
#define DAYBOOK_BASE_WORLD_TRUSTED_CLOCK_H

#include "base/world/world.h"

#define CLOCK_DIFFERENCE_US INT64_C(86400000000)
#define CLOCK_OFF_US        (14 * INT64_C(86400000000))
#define CLOCK_AGREED_US     INT64_C(3600000000)

enum { CLOCK_OFF_SHARE = 24 };

/* In a mark, `wall_us` was trusted; 0: there is no mark. */
struct clock_reading {
    int64_t wall_us;                   /* since 1970 */
    int64_t boot_us;
    uint8_t boot_id[BOOT_ID_SIZE];
};

struct trusted_clock {
    struct clock_reading mark;         /* its boot time is of the present boot */
    bool is_lower_bound;               /* trusted time may be too early */
    int64_t steady_wall_us;            /* the reading since which the wall clock is in step */
    int64_t steady_boot_us;
    bool is_in_doubt;
};

struct clock_reading trusted_clock_read(struct clock *clock);

void trusted_clock_init(struct trusted_clock *clock, const struct clock_reading *mark,
                        const struct clock_reading *now);
/* Begin without a mark.  `newest_us` is the time of the newest write; 0: there is none.  Trusted
 * time begins as the wall clock's.  If that is ahead of `newest_us` by more than
 * CLOCK_DIFFERENCE_US, trusted time begins as `newest_us`. */
void trusted_clock_init_unmarked(struct trusted_clock *clock, int64_t newest_us,
                                 const struct clock_reading *now);
/* Returns whether the wall clock is in doubt.  Call this about every minute. */
bool trusted_clock_look(struct trusted_clock *clock, const struct clock_reading *now);
/* An operator has confirmed the wall clock. */
void trusted_clock_accept(struct trusted_clock *clock, const struct clock_reading *now);

int64_t trusted_clock_us(const struct trusted_clock *clock, const struct clock_reading *now);
/* The mark that the directory must keep. */
struct clock_reading trusted_clock_mark(const struct trusted_clock *clock,
                                        const struct clock_reading *now);
#endif

/* trusted_clock: whether the wall clock is right, before an action that cannot be undone.
 *
 * Clicks that expire, days that are published and producers that are removed cannot be restored,
 * and a wall clock that is wrong for a minute must not cause that.  A directory keeps a mark: a
 * wall time that was trusted, and the boot time (CLOCK_BOOTTIME) of that moment.  From the mark on
 * trusted time follows boot time only:
 *
 *     same boot       trusted = mark + boot time since the mark, exactly
 *     another boot    trusted = mark + boot time: a lower bound, since it is not known how long the
 *                     machine was off
 *
 * The wall clock is in doubt while it is more than CLOCK_DIFFERENCE from trusted time.  A wall
 * clock behind a lower bound is certainly wrong.  Where it is ahead of a lower bound by at most
 * CLOCK_OFF, the machine may have been off: the wall clock is trusted once it has run in step with
 * boot time for 1/CLOCK_OFF_SHARE of the difference, which after a weekend of 60 hours is 2.5
 * hours.  Further ahead, and in any boot whose clocks have agreed for an hour, doubt ends when the
 * clocks agree again, or by trusted_clock_accept.
 *
 * The functions depend on readings of the clocks only; times are in microseconds. */
#ifndef DAYBOOK_BASE_WORLD_TRUSTED_CLOCK_H
#define DAYBOOK_BASE_WORLD_TRUSTED_CLOCK_H

#include "base/world/world.h"

#define CLOCK_DIFFERENCE_US INT64_C(86400000000)
#define CLOCK_OFF_US        (14 * INT64_C(86400000000))
#define CLOCK_AGREED_US     INT64_C(3600000000)

enum { CLOCK_OFF_SHARE = 24 };

struct clock_reading {
    int64_t wall_us;                   /* since 1970 */
    int64_t boot_us;
    uint8_t boot_id[BOOT_ID_SIZE];
};

/* What a manifest keeps; `trusted_us` 0: there is no mark yet. */
struct clock_mark {
    int64_t trusted_us;
    int64_t boot_us;
    uint8_t boot_id[BOOT_ID_SIZE];
};

struct trusted_clock {
    struct clock_mark mark;            /* of the present boot */
    bool is_lower_bound;               /* the machine was off since the mark was made */
    int64_t steady_wall_us;            /* the reading since which wall clock and boot time have */
    int64_t steady_boot_us;            /* run in step */
    bool is_in_doubt;                  /* when trusted_clock_look was last called */
};

struct clock_reading trusted_clock_read(struct clock *clock);
/* A mark that trusts the wall clock as it was read. */
struct clock_mark trusted_clock_mark_of(const struct clock_reading *now);

/* Begin with the mark that the directory keeps. */
void trusted_clock_init(struct trusted_clock *clock, const struct clock_mark *mark,
                        const struct clock_reading *now);
/* Begin in a directory that has no mark, whose newest write is of `newest_us` (0: there is none).
 * The wall clock is trusted, unless it is ahead of the newest write: that is then a lower bound. */
void trusted_clock_init_unmarked(struct trusted_clock *clock, int64_t newest_us,
                                 const struct clock_reading *now);
/* Compare the clocks again; returns whether the wall clock is in doubt.  Called about every minute
 * while the directory is open. */
bool trusted_clock_look(struct trusted_clock *clock, const struct clock_reading *now);
/* An operator confirms that the wall clock is right. */
void trusted_clock_accept(struct trusted_clock *clock, const struct clock_reading *now);

/* The trusted time. */
int64_t trusted_clock_us(const struct trusted_clock *clock, const struct clock_reading *now);
/* The mark that the directory is to keep; it never contains a wall time that is in doubt. */
struct clock_mark trusted_clock_mark(const struct trusted_clock *clock,
                                     const struct clock_reading *now);
#endif

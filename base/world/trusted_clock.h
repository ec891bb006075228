/* trusted_clock: whether the wall clock is right, before an action that cannot be undone.
 *
 * Expired clicks and removed producers cannot be restored, and a published day cannot be taken
 * back, so a wall clock that is wrong for a minute must not cause any of these.  A directory keeps
 * a mark: a wall time that was trusted, and the boot time (CLOCK_BOOTTIME) of that moment.  From
 * the mark on, trusted time follows boot time only:
 *
 *     same boot       trusted = mark + boot time since the mark, exactly
 *     another boot    trusted = mark + boot time: a lower bound, since it is not known how long the
 *                     machine was off
 *
 * The wall clock is in doubt while it differs from trusted time by more than CLOCK_DIFFERENCE_US.
 * If it is behind a lower bound, it is certainly wrong.  If it is ahead of a lower bound by at most
 * CLOCK_DIFFERENCE_US when the directory is opened, its time is used at once.  If it is ahead by
 * more, but by at most CLOCK_OFF_US, the machine may have been off.  The wall clock is then
 * trusted after it ran in step with boot time for 1/CLOCK_OFF_SHARE of the difference, but at least
 * CLOCK_AGREED_US: after a weekend of 60 hours this takes 2.5 hours.  In all other cases doubt ends
 * when the wall clock agrees with trusted time again, or by trusted_clock_accept.
 *
 * The functions depend on readings of the clocks only; times are in microseconds. */
#ifndef DAYBOOK_BASE_WORLD_TRUSTED_CLOCK_H
#define DAYBOOK_BASE_WORLD_TRUSTED_CLOCK_H

#include "base/world/world.h"

#define CLOCK_DIFFERENCE_US INT64_C(86400000000)
#define CLOCK_OFF_US        (14 * INT64_C(86400000000))
#define CLOCK_AGREED_US     INT64_C(3600000000)

enum { CLOCK_OFF_SHARE = 24 };

/* The times of both clocks at one moment.  In a mark `wall_us` was trusted; 0: there is no mark. */
struct clock_reading {
    int64_t wall_us;                   /* since 1970 */
    int64_t boot_us;
    uint8_t boot_id[BOOT_ID_SIZE];
};

struct trusted_clock {
    struct clock_reading mark;         /* its boot time is of the present boot */
    bool is_lower_bound;               /* trusted time may be too early */
    int64_t steady_wall_us;            /* when the wall clock began to run in step with boot time */
    int64_t steady_boot_us;            /* the boot time of that moment */
    bool is_in_doubt;                  /* as of the last look, init or accept */
};

struct clock_reading trusted_clock_read(struct clock *clock);

/* Begin with the mark that the directory keeps. */
void trusted_clock_init(struct trusted_clock *clock, const struct clock_reading *mark,
                        const struct clock_reading *now);
/* Begin in a directory that has no mark.  Its newest write has the time `newest_us` (0: there is no
 * write).  If the wall clock is ahead of that time, the time is a lower bound; else the wall clock
 * is trusted. */
void trusted_clock_init_unmarked(struct trusted_clock *clock, int64_t newest_us,
                                 const struct clock_reading *now);
/* Compare the clocks again; returns whether the wall clock is in doubt.  To be called about every
 * minute while the directory is open. */
bool trusted_clock_look(struct trusted_clock *clock, const struct clock_reading *now);
/* Trust the wall clock, because an operator has confirmed it. */
void trusted_clock_accept(struct trusted_clock *clock, const struct clock_reading *now);

/* The trusted time. */
int64_t trusted_clock_us(const struct trusted_clock *clock, const struct clock_reading *now);
/* The mark for the directory to keep: the trusted time now, whatever the wall clock shows. */
struct clock_reading trusted_clock_mark(const struct trusted_clock *clock,
                                        const struct clock_reading *now);
#endif

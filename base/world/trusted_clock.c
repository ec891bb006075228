/* trusted_clock: see the header.
 *
 * What must hold: trusted time is set to the wall clock's time in three cases only: there is no
 * mark; an operator accepts the wall clock; or the machine was off, and the rules of the header
 * trust the wall clock.
 *
 * Example: the mark is Friday 18:00, and the machine starts on Monday at 8:00.  The wall clock is
 * 62 hours ahead, and in doubt.  At 10:35 it has run in step with boot time for 62 h / 24, and
 * trusted time is set to Monday 10:35. */
#include "base/world/trusted_clock.h"

#include <string.h>

/* If the difference between wall clock and boot time changes by more, the wall clock was set; leap
 * seconds change it by less. */
#define STEP_US INT64_C(10000000)

struct clock_reading trusted_clock_read(struct clock *clock)
{
    struct clock_reading now = {.wall_us = clock->wall_us(clock),
                                .boot_us = clock->boottime_us(clock)};
    memcpy(now.boot_id, clock->boot_id, BOOT_ID_SIZE);
    return now;
}

int64_t trusted_clock_us(const struct trusted_clock *clock, const struct clock_reading *now)
{
    return clock->mark.wall_us + (now->boot_us - clock->mark.boot_us);
}

struct clock_reading trusted_clock_mark(const struct trusted_clock *clock,
                                        const struct clock_reading *now)
{
    struct clock_reading mark = *now;
    mark.wall_us = trusted_clock_us(clock, now);
    return mark;
}

static int64_t ahead_us(const struct trusted_clock *clock, const struct clock_reading *now)
{
    return now->wall_us - trusted_clock_us(clock, now);
}

static bool differs(int64_t ahead)
{
    return ahead > CLOCK_DIFFERENCE_US || ahead < -CLOCK_DIFFERENCE_US;
}

static void steady_begin(struct trusted_clock *clock, const struct clock_reading *now)
{
    clock->steady_wall_us = now->wall_us;
    clock->steady_boot_us = now->boot_us;
}

void trusted_clock_accept(struct trusted_clock *clock, const struct clock_reading *now)
{
    clock->mark = *now;
    clock->is_lower_bound = false;
    clock->is_in_doubt = false;
}

/* The time was at least `trusted_us` at boot time `boot_us`.  If the wall clock is ahead of this
 * bound by at most CLOCK_DIFFERENCE_US, the wall clock is the mark instead. */
static void begin_lower_bound(struct trusted_clock *clock, int64_t trusted_us, int64_t boot_us,
                              const struct clock_reading *now)
{
    clock->is_lower_bound = true;
    clock->mark = *now;
    clock->mark.wall_us = trusted_us;
    clock->mark.boot_us = boot_us;
    if (ahead_us(clock, now) > 0 && !differs(ahead_us(clock, now)))
        clock->mark = *now;
}

static bool is_same_boot(const struct clock_reading *mark, const struct clock_reading *now)
{
    static const uint8_t unknown[BOOT_ID_SIZE] = {0};
    return memcmp(mark->boot_id, now->boot_id, BOOT_ID_SIZE) == 0 &&
           memcmp(mark->boot_id, unknown, BOOT_ID_SIZE) != 0 && now->boot_us >= mark->boot_us;
}

void trusted_clock_init(struct trusted_clock *clock, const struct clock_reading *mark,
                        const struct clock_reading *now)
{
    *clock = (struct trusted_clock){.mark = *mark};
    steady_begin(clock, now);
    if (!is_same_boot(mark, now))
        begin_lower_bound(clock, mark->wall_us, 0, now);
    clock->is_in_doubt = differs(ahead_us(clock, now));
}

void trusted_clock_init_unmarked(struct trusted_clock *clock, int64_t newest_us,
                                 const struct clock_reading *now)
{
    *clock = (struct trusted_clock){.mark = *now};
    steady_begin(clock, now);
    if (newest_us > 0 && newest_us < now->wall_us)
        begin_lower_bound(clock, newest_us, now->boot_us, now);
    clock->is_in_doubt = differs(ahead_us(clock, now));
}

/* Whether the machine was probably off for as long as the wall clock is ahead. */
static bool is_proved(const struct trusted_clock *clock, const struct clock_reading *now)
{
    int64_t ahead = ahead_us(clock, now);
    int64_t wanted = ahead / CLOCK_OFF_SHARE;
    if (wanted < CLOCK_AGREED_US)
        wanted = CLOCK_AGREED_US;
    return clock->is_lower_bound && ahead <= CLOCK_OFF_US && ahead >= -CLOCK_DIFFERENCE_US &&
           now->boot_us - clock->steady_boot_us >= wanted;
}

bool trusted_clock_look(struct trusted_clock *clock, const struct clock_reading *now)
{
    int64_t step_us =
        (now->wall_us - clock->steady_wall_us) - (now->boot_us - clock->steady_boot_us);
    if (step_us > STEP_US || step_us < -STEP_US)
        steady_begin(clock, now);
    if (is_proved(clock, now)) {
        if (ahead_us(clock, now) > 0)
            clock->mark = *now;
        clock->is_lower_bound = false;
    }
    clock->is_in_doubt = differs(ahead_us(clock, now));
    return clock->is_in_doubt;
}

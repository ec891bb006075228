/* Turns for days: one after the other where they share a day, side by side where not. */
#include "rollup/days/day_lock.h"

#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

enum { TURNS_MAX = 2000 };

struct work {
    struct day_lock *lock;
    bool has_begun;
    bool ends_at_once;
};

static struct day_lock_table *locks;
static struct work works[TURNS_MAX];
static int order[TURNS_MAX];
static int begun;

static void setup(void)
{
    locks = day_lock_queues_new();
}

static void teardown(void)
{
    day_lock_queues_free(locks);
}

TestSuite(day_lock, .init = setup, .fini = teardown, .timeout = 20);

static void begin(void *context)
{
    struct work *work = context;
    work->has_begun = true;
    order[begun++] = (int)(work - works);
    if (work->ends_at_once)
        day_lock_release(work->lock);
}

/* `days` are letters. */
static void take(int number, const char *days)
{
    struct work *work = &works[number];
    work->lock = day_lock_new(locks, (uint32_t)strlen(days), begin, work);
    for (const char *day = days; *day != '\0'; day++)
        day_lock_add(work->lock, bytes_of(day, 1));
    day_lock_acquire(work->lock);
}

static void end(int number)
{
    day_lock_release(works[number].lock);
}

Test(day_lock, turns_of_a_day_follow_one_another_and_others_pass_by)
{
    take(0, "a");
    take(1, "a");
    take(2, "b");
    cr_expect(works[0].has_begun && !works[1].has_begun && works[2].has_begun);
    end(0);
    cr_expect(works[1].has_begun);
    end(1);
    end(2);
}

Test(day_lock, a_turn_of_many_days_waits_for_all_and_holds_all)
{
    take(0, "a");
    take(1, "b");
    take(2, "abba");
    take(3, "b");
    end(0);
    cr_expect(!works[2].has_begun && !works[3].has_begun);
    end(1);
    cr_expect(works[2].has_begun && !works[3].has_begun);
    end(2);
    cr_expect(works[3].has_begun);
    end(3);
}

Test(day_lock, thousands_that_end_as_they_begin_need_no_stack)
{
    take(0, "a");
    for (int i = 1; i < TURNS_MAX; i++) {
        works[i].ends_at_once = true;
        take(i, i % 2 ? "a" : "ab");
    }
    cr_expect(begun == 1);
    end(0);
    cr_expect(begun == TURNS_MAX);
    for (int i = 0; i < TURNS_MAX; i++)
        cr_expect(order[i] == i);
}

Test(day_lock, a_turn_of_no_day_begins_at_once)
{
    take(0, "");
    cr_expect(works[0].has_begun);
    end(0);
}

/* Whatever is taken and ended: those that have begun share no day, and all begin in the end. */
Test(day_lock, begun_turns_never_share_a_day)
{
    static char days[TURNS_MAX][4];
    unsigned seed = 7;
    int ended = 0;
    for (int i = 0; i < TURNS_MAX; i++) {
        for (int j = 0; j < 3; j++) {
            seed = seed * 1103515245 + 12345;
            days[i][j] = (char)('a' + (seed >> 16) % 20);
        }
        take(i, days[i]);
        while (begun - ended > 3 || (i == TURNS_MAX - 1 && ended < begun)) {
            bool is_held[26] = {false};
            for (int k = ended; k < begun; k++) {
                bool own[26] = {false};
                for (int j = 0; j < 3; j++)
                    own[days[order[k]][j] - 'a'] = true;
                for (int day = 0; day < 26; day++) {
                    cr_assert(!(own[day] && is_held[day]), "two have day %c", 'a' + day);
                    is_held[day] |= own[day];
                }
            }
            end(order[ended++]);
        }
    }
    cr_expect(begun == TURNS_MAX && ended == TURNS_MAX);
}

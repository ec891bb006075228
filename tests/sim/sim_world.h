/* sim_world: a world in memory that is deterministic from a seed.
 *
 * Time stands still unless a test moves it or nothing is left to do before the next timer.  Jobs
 * are run by `step`, one thing at a time, in an order drawn from the seed: jobs of one lane stay in
 * order, `run` and `done` of a job are different steps, and other lanes come between as they may.
 *
 * A crash gives a new world and leaves the old one as it is; the engine in the old one can be
 * closed as usual, before or after. */
#ifndef DAYBOOK_TESTS_SIM_SIM_WORLD_H
#define DAYBOOK_TESTS_SIM_SIM_WORLD_H

#include <stdint.h>

#include "base/world/world.h"
#include "tests/sim/sim_disk.h"

struct sim_world;

struct sim_world *sim_world_new(uint64_t seed);
/* Jobs and timers that are left are forgotten; their memory is their owner's. */
void sim_world_free(struct sim_world *world);                     /* NULL is fine */

struct world *sim_world_interface(struct sim_world *world);
struct sim_disk *sim_world_disk(struct sim_world *world);

/* The world after a loss of power (sim_disk_crash, sim_disk_crash_number), after the process was
 * killed (sim_disk_restart): the same time, nothing running, no faults.  A loss of power starts the
 * machine again. */
struct sim_world *sim_world_crash(const struct sim_world *world, uint64_t seed);
struct sim_world *sim_world_crash_number(const struct sim_world *world, uint64_t number);
struct sim_world *sim_world_restart(const struct sim_world *world, uint64_t seed);

/* Of all that decides what a world does in which nothing runs: its disk, clocks and seed. */
uint64_t sim_world_hash(const struct sim_world *world);

/* Both clocks; timers that come due fire in the steps that follow. */
void sim_world_advance_us(struct sim_world *world, int64_t us);
/* Only the wall clock jumps, to any time. */
void sim_world_set_wall_us(struct sim_world *world, int64_t wall_us);
/* The machine sleeps: wall clock and boot time go on, and no timer comes due. */
void sim_world_sleep_us(struct sim_world *world, int64_t us);
/* The machine is off and is started again, with whatever is on the disk: the wall clock goes on. */
void sim_world_reboot(struct sim_world *world, int64_t off_us);

/* Nothing of a lane is run or done while it is stalled: a disk that does not answer. */
void sim_world_stall(struct sim_world *world, enum executor_lane lane, bool is_stalled);
void sim_world_stall_merges(struct sim_world *world, bool is_stalled);
/* Whose job is being run; LANE_COUNT: none, so that who asks is on the engine thread. */
enum executor_lane sim_world_running(const struct sim_world *world);

/* Steps until nothing is left to do, but timers are only fired within `us` from now; the time is
 * then that much later.  For engines with a timer that always starts again. */
void sim_world_run_us(struct sim_world *world, int64_t us);
#endif

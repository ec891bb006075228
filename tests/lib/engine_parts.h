/* engine_parts: the parts of an engine as it has them while it opens, without directory and log.
 *
 * Time is what a test says, timers fire when it fires them, and notices are counted. */
#ifndef DAYBOOK_TESTS_LIB_ENGINE_PARTS_H
#define DAYBOOK_TESTS_LIB_ENGINE_PARTS_H

#include "storage/engine/maintenance.h"
#include "storage/engine/reads.h"

struct engine_parts {
    struct clock wall;
    int64_t wall_us;
    struct executor executor;
    uint32_t timers;                   /* that were started and neither stopped nor fired */
    struct world world;
    struct schema *schema;             /* version 1: the manifest's */
    struct engine_env env;
    struct run_set runs;
    struct memory_account account;
    struct engine_clock clock;
    struct memtable_set memtables;
    struct sequencer sequencer;
    struct maintenance maintenance;
    struct reads reads;
    uint32_t failures, frozen, given, changes;         /* notices */
};

/* `parts` stays where it is until it is stopped. */
void engine_parts_start(struct engine_parts *parts, const struct engine_options *options);
void engine_parts_stop(struct engine_parts *parts);
/* As the executor would. */
void engine_parts_fire(struct engine_parts *parts, struct timer *timer);
/* A schema one version newer, as a batch brings it. */
struct schema *engine_parts_newer_schema(const struct engine_parts *parts);
#endif

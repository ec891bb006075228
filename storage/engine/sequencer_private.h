/* sequencer_private: what sequencer.c asks sequencer_admit.c before it applies a batch. */
#ifndef DAYBOOK_STORAGE_ENGINE_SEQUENCER_PRIVATE_H
#define DAYBOOK_STORAGE_ENGINE_SEQUENCER_PRIVATE_H

#include "storage/engine/sequencer.h"

struct sequencer_admitted {
    size_t bytes_max;                  /* of the log, with what the hook may add */
    struct packed_mutations packed;
};

/* 0: the batch may be applied now, and is certain to be.  ERROR_FULL: later, and those who wait for
 * a drain are told when.  Of an empty batch nothing is filled in, and it needs no room.  May freeze
 * the open memtable, and begin one with the batch's schema. */
must_check int sequencer_admit(struct sequencer *sequencer, const struct write_batch *batch,
                               const struct store_expectation *expectations, uint32_t count,
                               struct sequencer_admitted *admitted_out, struct error *err);
#endif

/* sequencer_private: checks whether a batch may be applied (sequencer_admit.c), for sequencer.c
 * alone. */
#ifndef DAYBOOK_STORAGE_ENGINE_SEQUENCER_PRIVATE_H
#define DAYBOOK_STORAGE_ENGINE_SEQUENCER_PRIVATE_H

#include "storage/engine/sequencer.h"

struct sequencer_admitted {
    size_t bytes_max;                  /* of the batch in the log, with what the hook may add */
    struct packed_mutations packed;
};

/* 0: the caller may apply the batch now, and must do so.  ERROR_FULL: try again when the drain
 * functions are called.  An empty batch needs no room, and does not set `admitted_out`. */
must_check int sequencer_admit(struct sequencer *sequencer, const struct write_batch *batch,
                               struct store_expectation *expectations, uint32_t count,
                               struct sequencer_admitted *admitted_out, struct error *err);
#endif

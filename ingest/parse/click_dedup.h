/* click_dedup: deduplicates clicks that have ids: a click whose id was written before is not
 * written again.
 *
 *     rows of a batch ─▶ rows with the same ids are read from the store ─▶ each row is one of:
 *         new         the store does not have its id: it is written, and counted
 *         duplicate   the store has its id with the same amount: it is not written
 *         different   the store has its id with another amount: it is rejected
 *     ─▶ rows and increments are applied if the days have not changed since they were read;
 *        otherwise the days are read again
 *
 * The row builder's block is not applied itself, because the store would give ranks to its clicks.
 * New rows are written as rows of the stream's table.  All functions run on the engine thread; only
 * the rows of a large batch are sorted on LANE_COMPUTE. */
#ifndef DAYBOOK_INGEST_PARSE_CLICK_DEDUP_H
#define DAYBOOK_INGEST_PARSE_CLICK_DEDUP_H

#include "base/world/world.h"
#include "ingest/parse/row_builder.h"
#include "storage/engine/store.h"

struct click_dedup;

/* `store`, `world` and `stream` outlive the result. */
struct click_dedup *click_dedup_new(struct store *store, const struct world *world,
                                    const struct ingest_stream *stream);
void click_dedup_free(struct click_dedup *dedup);              /* may be NULL, but not READING */

enum click_dedup_state {
    CLICK_DEDUP_EMPTY,
    CLICK_DEDUP_READING,
    CLICK_DEDUP_JUDGED,
    CLICK_DEDUP_STALE,
    CLICK_DEDUP_FAILED
};
enum click_dedup_state click_dedup_state(const struct click_dedup *dedup);
const struct error *click_dedup_error(const struct click_dedup *dedup);

/* Find out which of the block's rows are new.  The state must be EMPTY, or STALE with the same
 * block.  `done` is called once, when the state is JUDGED or FAILED, possibly before this call
 * returns.  The block must not change until click_dedup_clear. */
void click_dedup_judge(struct click_dedup *dedup, const struct block *block,
                       void (*done)(void *context), void *context);
size_t click_dedup_bytes(const struct click_dedup *dedup);
/* Drop the rows, and release the write lock.  The state must not be READING. */
void click_dedup_clear(struct click_dedup *dedup);

enum click_dedup_verdict { CLICK_DEDUP_NEW, CLICK_DEDUP_DUPLICATE, CLICK_DEDUP_DIFFERENT };
uint64_t click_dedup_count(const struct click_dedup *dedup, enum click_dedup_verdict verdict);
void click_dedup_add_rejects(const struct click_dedup *dedup, struct reject_list *rejects);
void click_dedup_add_rows(const struct click_dedup *dedup, struct write_batch *batch);
/* Apply the batch, which has the rows of click_dedup_add_rows, by store_apply_if.  After
 * ERROR_CONFLICT the state is STALE, after ERROR_FULL still JUDGED, after any other result EMPTY.
 * After several conflicts in a row, the next click_dedup_judge takes the write lock
 * (store_write_lock) until its rows are applied or dropped. */
must_check int click_dedup_apply(struct click_dedup *dedup, struct write_batch *batch,
                                 store_done done, void *context, struct error *err);
#endif

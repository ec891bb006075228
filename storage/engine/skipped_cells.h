/* skipped_cells: counts the cells of the log that cannot be read and are left out.
 *
 * An earlier version wrote values that are not of their column's type.  An opening with salvage
 * leaves them out; any other opening refuses the directory, and its error describes the cells. */
#ifndef DAYBOOK_STORAGE_ENGINE_SKIPPED_CELLS_H
#define DAYBOOK_STORAGE_ENGINE_SKIPPED_CELLS_H

#include "storage/cell/write_batch.h"

struct skipped_cells {
    uint64_t count;
    struct error first;                /* describes the first of them */
    bool is_salvage;                   /* each is logged, up to a hundred */
    uint64_t frame;                    /* being read: the reader of the log sets it */
};

/* What a parser of the log's batches calls for such a cell; `cells` outlives it. */
struct cell_salvage skipped_cells_salvage(struct skipped_cells *cells);
/* ERROR_CORRUPT when there were some and the opening does not salvage. */
must_check int skipped_cells_refuse(const struct skipped_cells *cells, struct error *err);
#endif

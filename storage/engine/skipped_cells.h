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
    bool is_salvage;                   /* the opening salvages: up to 100 cells are logged */
    uint64_t frame;                    /* the frame that is parsed, set by the parser's caller */
};

/* The function that a parser of the log's batches calls for a cell that cannot be read.  `cells`
 * outlives the result. */
struct cell_salvage skipped_cells_salvage(struct skipped_cells *cells);
/* ERROR_CORRUPT if cells were skipped and the opening does not salvage. */
must_check int skipped_cells_refuse(const struct skipped_cells *cells, struct error *err);
#endif

/* skipped_cells: counts cells of the log that cannot be read, because an earlier version wrote
 * values that the column's type does not allow.  A salvage leaves these cells out; any other
 * opening refuses the directory. */
#ifndef DAYBOOK_STORAGE_ENGINE_SKIPPED_CELLS_H
#define DAYBOOK_STORAGE_ENGINE_SKIPPED_CELLS_H

#include "storage/cell/write_batch.h"

struct skipped_cells {
    uint64_t count;
    struct error first;
    bool is_salvage;                   /* the opening salvages; the first 100 cells are logged */
    uint64_t frame;                    /* now being parsed; set by the caller of the parser */
};

/* `cells` must outlive the result. */
struct cell_salvage skipped_cells_salvage(struct skipped_cells *cells);
/* ERROR_CORRUPT if cells were skipped and the opening does not salvage. */
must_check int skipped_cells_refuse(const struct skipped_cells *cells, struct error *err);
#endif

#include "storage/engine/skipped_cells.h"

#include <inttypes.h>

#include "base/log.h"

enum { CELLS_LOGGED_MAX = 100 };

static void cell_skipped(void *context, const char *text)
{
    struct skipped_cells *cells = context;
    if (cells->count++ == 0)
        error_set(&cells->first, ERROR_CORRUPT, "frame %" PRIu64 ": %.400s", cells->frame, text);
    if (cells->is_salvage && cells->count <= CELLS_LOGGED_MAX)
        log_event(LOG_WARNING, "cell_left_out", log_number("frame", (int64_t)cells->frame),
                  log_text("cell", text));
}

struct cell_salvage skipped_cells_salvage(struct skipped_cells *cells)
{
    return (struct cell_salvage){.skipped = cell_skipped, .context = cells};
}

int skipped_cells_refuse(const struct skipped_cells *cells, struct error *err)
{
    if (cells->count == 0 || cells->is_salvage)
        return 0;
    return error_set(err, ERROR_CORRUPT,
                     "%s; cells that cannot be read: %" PRIu64
                     "; they alone are at stake, the log is whole otherwise; daybook serve "
                     "--salvage goes on without them",
                     cells->first.text, cells->count);
}

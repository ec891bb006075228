/* Cells of the log that cannot be read: refused, unless somebody salvages. */
#include <string.h>

#include <criterion/criterion.h>

#include "storage/engine/skipped_cells.h"

static void skip(struct skipped_cells *cells, uint64_t frame, const char *what)
{
    const struct cell_salvage salvage = skipped_cells_salvage(cells);
    cells->frame = frame;
    salvage.skipped(salvage.context, what);
}

Test(skipped_cells, an_opening_refuses_and_names_the_first)
{
    struct skipped_cells cells = {0};
    struct error err = {0};
    cr_expect_eq(skipped_cells_refuse(&cells, &err), 0);
    skip(&cells, 41, "column a: no int");
    skip(&cells, 42, "column b: no text");
    cr_expect_eq(cells.count, 2);
    cr_expect_eq(skipped_cells_refuse(&cells, &err), ERROR_CORRUPT);
    cr_expect_not_null(strstr(err.text, "frame 41: column a: no int"));
    cr_expect_not_null(strstr(err.text, "cannot be read: 2"));
}

Test(skipped_cells, a_salvage_goes_on_without_them)
{
    struct skipped_cells cells = {.is_salvage = true};
    struct error err = {0};
    skip(&cells, 7, "column a: no int");
    cr_expect_eq(cells.count, 1);
    cr_expect_eq(skipped_cells_refuse(&cells, &err), 0);
}

/* cql_live_list: what a list is while a statement changes it: each operation finds what those
 * before it left.
 *
 *     cells that were read + cells that the statement made so far ─▶ live cells in path order
 *
 * A list that the statement has not changed yet costs nothing; otherwise the cells made since the
 * last look are put in by halves, and what lies between them is copied as it is.  Of two cells with
 * one path one stands as it will in the store; a cell that has the server's time is newer than any
 * that was read. */
#ifndef DAYBOOK_QUERY_CQL_WRITE_CQL_LIVE_LIST_H
#define DAYBOOK_QUERY_CQL_WRITE_CQL_LIVE_LIST_H

#include "base/arena.h"
#include "storage/cell/row.h"
#include "storage/schema/schema.h"

struct cql_live_list {
    const struct column *column;
    const struct cell *read;             /* live ones, in order of their paths */
    uint32_t read_count;
    uint32_t *numbers, *spare;           /* of cells; NULL: all that were read, and no other */
    uint32_t capacity;                   /* of each of the two */
    uint32_t count;
    uint32_t seen;                       /* of the cells that the statement made */
    struct cql_live_list *next;          /* of another column */
};

struct cql_live_list cql_live_list_of(const struct column *column, const struct cell *read,
                                      uint32_t read_count);
/* Take in what the statement made since the last call.  Of all its cells, in the order in which
 * they were made, those of other columns are left out.  Between two calls a path comes once, and
 * one that was deleted never again.  What is kept lies in `arena`. */
void cql_live_list_take(struct cql_live_list *list, const struct cell *made, uint32_t made_count,
                        struct arena *arena);
/* The live cell at `at`, below `list->count`; `made` as it was given at last. */
const struct cell *cql_live_list_cell(const struct cql_live_list *list, const struct cell *made,
                                      uint32_t at);
#endif

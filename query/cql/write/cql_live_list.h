/* cql_live_list: the live cells of a list while the operations of a statement change it.
 *
 *     cells that were read + cells that the statement made so far ─▶ live cells in path order
 *
 * A list that the statement has not changed yet needs no memory.  Of two cells with the same path,
 * the list keeps the one that the store would keep.  A cell with the server's time is newer than
 * any cell that was read. */
#ifndef DAYBOOK_QUERY_CQL_WRITE_CQL_LIVE_LIST_H
#define DAYBOOK_QUERY_CQL_WRITE_CQL_LIVE_LIST_H

#include "base/arena.h"
#include "storage/cell/row.h"
#include "storage/schema/schema.h"

struct cql_live_list {
    const struct column *column;
    const struct cell *read;             /* live cells, in the order of their paths */
    uint32_t read_count;
    uint32_t *numbers, *spare;           /* numbers of the live cells, and memory for a merge; NULL:
                                          * the live cells are `read` */
    uint32_t capacity;
    uint32_t count;
    uint32_t seen;                       /* made cells that the list has taken */
    struct cql_live_list *next;
};

struct cql_live_list cql_live_list_of(const struct column *column, const struct cell *read,
                                      uint32_t read_count);
/* Add the cells that the statement made since the last call.  `made` holds all cells of the
 * statement, in the order in which they were made.  Between two calls the statement makes at most
 * one cell of a path, and never one of a path whose element it has deleted before. */
void cql_live_list_take(struct cql_live_list *list, const struct cell *made, uint32_t made_count,
                        struct arena *arena);
/* Returns the live cell number `at`, which is below `list->count`.  `made` is as in the last call
 * of cql_live_list_take. */
const struct cell *cql_live_list_cell(const struct cql_live_list *list, const struct cell *made,
                                      uint32_t at);
#endif

/* A list that a statement changes, beside one that is put together anew for every look. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "query/cql/write/cql_live_list.h"
#include "storage/cell/mutation.h"

enum { COLUMN_ID = 3, OTHER_ID = 4, CELLS_MAX = 400, PATHS_MAX = 64, PATH_SIZE = 16 };

struct cells {
    struct cell cells[CELLS_MAX];
    uint32_t count;
};

static uint8_t paths[PATHS_MAX][PATH_SIZE];
static const uint8_t values[] = "abcdefgh";

/* Version 1 ids whose times are their numbers. */
static void make_paths(void)
{
    for (int i = 0; i < PATHS_MAX; i++) {
        paths[i][3] = (uint8_t)i;
        paths[i][6] = 0x10;
        paths[i][8] = 0x80;
    }
}

static struct cell cell_at(int path, int64_t timestamp_us, bool is_tombstone)
{
    struct bytes value = is_tombstone ? (struct bytes){0} : bytes_of(values + rand() % 8, 1);
    return (struct cell){.column_id = COLUMN_ID,
                         .flags = is_tombstone ? CELL_TOMBSTONE : 0,
                         .timestamp_us = timestamp_us,
                         .expiry_s = is_tombstone ? 1 : EXPIRY_NONE,
                         .path = bytes_of(paths[path], PATH_SIZE),
                         .value = value};
}

/* The cell of a path that stands after all that were made, as the store would have it. */
static const struct cell *standing(const struct cells *read, const struct cells *made, int path)
{
    const struct cell *found = NULL;
    for (uint32_t i = 0; i < read->count; i++)
        if (read->cells[i].path.data == paths[path])
            found = &read->cells[i];
    for (uint32_t i = 0; i < made->count; i++) {
        const struct cell *cell = &made->cells[i];
        if (cell->path.data != paths[path] || cell->column_id != COLUMN_ID)
            continue;
        bool is_newer = found == NULL || (cell->timestamp_us == TIMESTAMP_SERVER &&
                                          found->timestamp_us != TIMESTAMP_SERVER);
        if (is_newer || row_cell_reconcile(found, cell) > 0)
            found = cell;
    }
    return found != NULL && (found->flags & CELL_TOMBSTONE) == 0 ? found : NULL;
}

static void expect_same(const struct cql_live_list *list, const struct cells *read,
                        const struct cells *made)
{
    uint32_t at = 0;
    for (int path = 0; path < PATHS_MAX; path++) {
        const struct cell *wanted = standing(read, made, path);
        if (wanted == NULL)
            continue;
        cr_assert_lt(at, list->count);
        cr_assert_eq(cql_live_list_cell(list, made->cells, at), wanted);
        at++;
    }
    cr_assert_eq(at, list->count);
}

/* What a statement has deleted it does not come back to: it finds no such element any more. */
static bool was_deleted(const struct cells *made, int path)
{
    bool was = false;
    for (uint32_t i = 0; i < made->count; i++)
        was |= made->cells[i].path.data == paths[path] && made->cells[i].flags == CELL_TOMBSTONE;
    return was;
}

/* Up to five cells of paths that differ, and some of another column. */
static void make_some(struct cells *made, int64_t timestamp_us)
{
    int first = rand() % PATHS_MAX;
    int stride = 2 * (rand() % 8) + 1;
    for (int i = rand() % 6; i > 0; i--) {
        int path = (first + i * stride) % PATHS_MAX;
        struct cell cell = cell_at(path, timestamp_us, rand() % 8 == 0);
        cell.column_id = rand() % 8 == 0 ? OTHER_ID : COLUMN_ID;
        if (!was_deleted(made, path))
            made->cells[made->count++] = cell;
    }
}

static void play(int64_t timestamp_us)
{
    struct column column = {
        .id = COLUMN_ID,
        .type = &(struct type){.kind = TYPE_LIST,
                               .arguments = (const struct type *[]){type_builtin(TYPE_INT)},
                               .argument_count = 1}};
    struct arena *arena = arena_new(4096);
    struct cells read = {.count = 0};
    struct cells made = {.count = 0};
    for (int path = 0; path < PATHS_MAX; path++)
        if (rand() % 3 == 0)
            read.cells[read.count++] = cell_at(path, 1000 + rand() % 3, false);
    struct cql_live_list list = cql_live_list_of(&column, read.cells, read.count);
    expect_same(&list, &read, &made);
    for (int look = 0; look < 60; look++) {
        make_some(&made, timestamp_us);
        cql_live_list_take(&list, made.cells, made.count, arena);
        expect_same(&list, &read, &made);
    }
    arena_free(arena);
}

Test(cql_live_list, each_look_finds_what_all_operations_before_it_left)
{
    srand(1);
    make_paths();
    for (int round = 0; round < 50; round++) {
        play(TIMESTAMP_SERVER);
        play(1001); /* beats some of what was read */
    }
}

Test(cql_live_list, a_list_that_is_only_read_takes_no_memory)
{
    struct column column = {.id = COLUMN_ID};
    struct cell read[2] = {{.column_id = COLUMN_ID}, {.column_id = COLUMN_ID}};
    struct cell other = {.column_id = OTHER_ID};
    struct cql_live_list list = cql_live_list_of(&column, read, 2);
    struct arena *arena = arena_new(4096);
    cql_live_list_take(&list, &other, 1, arena);
    cr_expect_null(list.numbers);
    cr_expect_eq(list.count, 2);
    cr_expect_eq(cql_live_list_cell(&list, &other, 1), &read[1]);
    arena_free(arena);
}

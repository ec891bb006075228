#include "query/cql/common/cql_arena.h"

struct arena *cql_arena_take(struct cql *cql)
{
    return cql->spare_count > 0 ? cql->spare[--cql->spare_count] : arena_new(CQL_ARENA_CHUNK);
}

void cql_arena_give(struct cql *cql, struct arena *arena)
{
    check(arena != NULL && cql->spare_count <= CQL_ARENAS_SPARE_MAX);
    arena_set_budget(arena, NULL);
    if (cql->spare_count == CQL_ARENAS_SPARE_MAX || arena_held(arena) > CQL_ARENA_CHUNK) {
        arena_free(arena);
        return;
    }
    arena_reset(arena);
    cql->spare[cql->spare_count++] = arena;
}

void cql_arena_free_all(struct cql *cql)
{
    while (cql->spare_count > 0)
        arena_free(cql->spare[--cql->spare_count]);
}

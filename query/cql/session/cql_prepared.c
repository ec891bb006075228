/* In protocol 4 a client may ask for a result without its columns, because PREPARE described them.
 * Therefore a statement whose columns have changed is answered as unprepared, so that the client
 * prepares it again. */
#include "query/cql/session/cql_prepared.h"

#include <string.h>
#include <sys/queue.h>

#include "query/cql/read/cql_select.h"
#include "query/cql/session/cql_compile.h"
#include "query/cql/write/cql_write.h"
#include "storage/engine/store.h"
#include "base/md5.h"
#include "base/memory.h"

enum { BUCKETS = 4096 };

struct prepared {
    uint8_t id[CQL_ID_SIZE];
    struct buffer text;
    struct cql_compiled *compiled;
    size_t bytes;
    TAILQ_ENTRY(prepared) link;
    struct prepared *next; /* in the bucket */
};

struct cql_prepared_cache {
    struct store *store;
    struct prepared *buckets[BUCKETS];
    TAILQ_HEAD(prepared_list, prepared) by_use; /* the least recently used first */
    size_t bytes;
    size_t bytes_max;
};

struct cql_prepared_cache *cql_prepared_cache_new(struct store *store, size_t bytes_max)
{
    check(bytes_max > 0);
    struct cql_prepared_cache *cache = memory_zeroed(1, sizeof(*cache));
    cache->store = store;
    cache->bytes_max = bytes_max;
    TAILQ_INIT(&cache->by_use);
    return cache;
}

static struct prepared **find_place(struct cql_prepared_cache *cache, const uint8_t *id)
{
    struct prepared **at = &cache->buckets[load_u16(id) % BUCKETS];
    while (*at != NULL && memcmp((*at)->id, id, CQL_ID_SIZE) != 0)
        at = &(*at)->next;
    return at;
}

static void account_bytes(struct cql_prepared_cache *cache, int64_t change)
{
    cache->bytes += (size_t)change;
    memory_held_change(cache->store->held, MEMORY_HELD_STATEMENTS, change);
}

static void drop_prepared(struct cql_prepared_cache *cache, struct prepared *prepared)
{
    struct prepared **at = find_place(cache, prepared->id);
    *at = prepared->next;
    TAILQ_REMOVE(&cache->by_use, prepared, link);
    account_bytes(cache, -(int64_t)prepared->bytes);
    cql_compiled_unref(prepared->compiled);
    buffer_release(&prepared->text);
    memory_free(prepared);
}

void cql_prepared_cache_free(struct cql_prepared_cache *cache)
{
    while (!TAILQ_EMPTY(&cache->by_use))
        drop_prepared(cache, TAILQ_FIRST(&cache->by_use));
    memory_free(cache);
}

/* ---- ids ---- */

static void statement_id(struct bytes text, const char *keyspace, uint8_t id[CQL_ID_SIZE])
{
    struct buffer named = {0};
    buffer_append_text(&named, keyspace);
    buffer_append_bytes(&named, text);
    md5(named.data, named.size, id);
    buffer_release(&named);
}

/* ---- adding ---- */

static void describe_prepared(const struct prepared *prepared, struct arena *arena,
                              struct cql_prepared *out)
{
    const struct cql_compiled *compiled = prepared->compiled;
    memcpy(out->id, prepared->id, CQL_ID_SIZE);
    out->bind = (struct cql_metadata){compiled->markers, compiled->marker_count};
    out->result = cql_compile_results(compiled);
    memcpy(out->metadata_id, compiled->result_id, CQL_ID_SIZE);
    if (cql_compile_changes_rows(compiled))
        out->key_count = cql_write_key_markers(compiled->write, arena, &out->key_indexes);
    else if (compiled->statement->kind == CQL_STATEMENT_SELECT)
        out->key_count =
            cql_restrict_key_markers(&compiled->select->where, false, arena, &out->key_indexes);
    else if (compiled->statement->kind == CQL_STATEMENT_BATCH)
        out->key_count = cql_write_batch_key_markers(compiled->batch, arena, &out->key_indexes);
}

/* Make the statement the most recently used one, and drop others while the cache is over its
 * limit. */
static void use_prepared(struct cql_prepared_cache *cache, struct prepared *prepared)
{
    TAILQ_INSERT_TAIL(&cache->by_use, prepared, link);
    while (cache->bytes > cache->bytes_max && TAILQ_FIRST(&cache->by_use) != prepared)
        drop_prepared(cache, TAILQ_FIRST(&cache->by_use));
}

int cql_prepared_add(struct cql_execution *execution, struct cql_prepared *prepared_out)
{
    struct cql_prepared_cache *cache = execution->cql->prepared;
    struct bytes text = execution->request.text;
    struct cql_compiled *compiled = cql_compile_to_keep(execution, text, execution->keyspace);
    if (compiled == NULL)
        return ERROR_INVALID;
    uint8_t id[CQL_ID_SIZE];
    statement_id(text, execution->keyspace, id);
    struct prepared *prepared = *find_place(cache, id);
    if (prepared != NULL)
        drop_prepared(cache, prepared);
    prepared = memory_zeroed(1, sizeof(*prepared));
    memcpy(prepared->id, id, CQL_ID_SIZE);
    buffer_append_bytes(&prepared->text, text);
    prepared->compiled = compiled;
    prepared->bytes = sizeof(*prepared) + text.size + arena_held(compiled->arena);
    *find_place(cache, id) = prepared;
    account_bytes(cache, (int64_t)prepared->bytes);
    use_prepared(cache, prepared);
    describe_prepared(prepared, execution->arena, prepared_out);
    return 0;
}

/* ---- use ---- */

static int unprepared(struct bytes id, struct cql_fault *fault)
{
    struct buffer hex = {.arena = fault->arena};
    for (size_t i = 0; i < id.size && i < CQL_ID_SIZE; i++)
        buffer_printf(&hex, "%02x", id.data[i]);
    int rc = cql_refuse(fault, CQL_UNPREPARED,
                        "Prepared query with ID %.*s not found (either the query was not prepared "
                        "on this host (maybe the host has been restarted?) or you have prepared "
                        "too many queries and it has been evicted from the internal cache)",
                        CQL_SHOW(buffer_view(&hex)));
    memcpy(fault->error.id, id.data, id.size < CQL_ID_SIZE ? id.size : CQL_ID_SIZE);
    return rc;
}

/* False: the text is refused, or its markers or columns have changed. */
static bool compile_again(struct cql_execution *execution, struct prepared *prepared)
{
    const struct cql_compiled *before = prepared->compiled;
    struct cql_compiled *compiled =
        cql_compile_to_keep(execution, buffer_view(&prepared->text), before->keyspace);
    if (compiled == NULL)
        return false;
    if (memcmp(compiled->bind_id, before->bind_id, CQL_ID_SIZE) != 0 ||
        memcmp(compiled->result_id, before->result_id, CQL_ID_SIZE) != 0) {
        cql_compiled_unref(compiled);
        return false;
    }
    int64_t change = (int64_t)arena_held(compiled->arena) - (int64_t)arena_held(before->arena);
    prepared->bytes += (size_t)change;
    account_bytes(execution->cql->prepared, change);
    cql_compiled_unref(prepared->compiled);
    prepared->compiled = compiled;
    return true;
}

struct cql_compiled *cql_prepared_get(struct cql_execution *execution, struct bytes id)
{
    struct cql_prepared_cache *cache = execution->cql->prepared;
    struct prepared *prepared = id.size == CQL_ID_SIZE ? *find_place(cache, id.data) : NULL;
    if (prepared != NULL &&
        prepared->compiled->schema != store_schema(execution->cql->options.store) &&
        !compile_again(execution, prepared)) {
        drop_prepared(cache, prepared);
        prepared = NULL;
    }
    if (prepared == NULL) {
        unprepared(id, &execution->fault);
        return NULL;
    }
    TAILQ_REMOVE(&cache->by_use, prepared, link);
    use_prepared(cache, prepared);
    return cql_compiled_ref(prepared->compiled);
}

/* reader_pool: two lists of spares by age, and a few idle workspaces, under one mutex.
 *
 * A place and its list change together, under the mutex, so that no place points to a spare that
 * has been freed. */
#include "storage/segment/reader_pool.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/segment/segment_block.h"

enum {
    WORKSPACES_KEPT = 4, /* more lanes than this rarely read at once */
    PAGE_KEPT_MAX = 256 << 10
};

TAILQ_HEAD(spare_list, reader_spare);

struct reader_pool {
    atomic_uint references;
    pthread_mutex_t mutex; /* protects the members that follow */
    struct spare_list small;
    struct spare_list large; /* first those of closed segments, which have no place */
    size_t large_bytes;
    size_t bytes_max;
    atomic_size_t bytes; /* of both lists; written under the mutex */
    struct reader_workspace *workspaces[WORKSPACES_KEPT];
    uint32_t workspace_count;
};

/* ---- making and freeing ---- */

struct reader_pool *reader_pool_new(size_t bytes_max)
{
    struct reader_pool *pool = memory_zeroed(1, sizeof *pool);
    atomic_init(&pool->references, 1);
    atomic_init(&pool->bytes, 0);
    TAILQ_INIT(&pool->small);
    TAILQ_INIT(&pool->large);
    pool->bytes_max = bytes_max;
    check(pthread_mutex_init(&pool->mutex, NULL) == 0);
    return pool;
}

struct reader_pool *reader_pool_ref(struct reader_pool *pool)
{
    unsigned before = atomic_fetch_add_explicit(&pool->references, 1, memory_order_relaxed);
    check(before > 0);
    return pool;
}

static void workspace_free(struct reader_workspace *workspace)
{
    segment_block_decoder_free(workspace->blocks);
    buffer_release(&workspace->page);
    memory_free(workspace);
}

static void gone_free(struct spare_list *gone)
{
    struct reader_spare *spare;
    while ((spare = TAILQ_FIRST(gone)) != NULL) {
        TAILQ_REMOVE(gone, spare, link);
        spare->free(spare);
    }
}

void reader_pool_unref(struct reader_pool *pool)
{
    if (pool == NULL || atomic_fetch_sub_explicit(&pool->references, 1, memory_order_acq_rel) > 1)
        return;
    gone_free(&pool->large);
    check(TAILQ_EMPTY(&pool->small));
    while (pool->workspace_count > 0)
        workspace_free(pool->workspaces[--pool->workspace_count]);
    pthread_mutex_destroy(&pool->mutex);
    memory_free(pool);
}

size_t reader_pool_bytes(const struct reader_pool *pool)
{
    return atomic_load_explicit(&pool->bytes, memory_order_relaxed);
}

static void pool_lock(struct reader_pool *pool)
{
    check(pthread_mutex_lock(&pool->mutex) == 0);
}

static void pool_unlock(struct reader_pool *pool)
{
    check(pthread_mutex_unlock(&pool->mutex) == 0);
}

/* ---- spares ---- */

static void spare_link(struct reader_pool *pool, struct reader_spare **place,
                       struct reader_spare *spare)
{
    *place = spare;
    spare->place = place;
    TAILQ_INSERT_TAIL(spare->is_large ? &pool->large : &pool->small, spare, link);
    if (spare->is_large)
        pool->large_bytes += spare->bytes;
    atomic_fetch_add_explicit(&pool->bytes, spare->bytes, memory_order_relaxed);
}

static void spare_unlink(struct reader_pool *pool, struct reader_spare *spare)
{
    if (spare->place != NULL)
        *spare->place = NULL;
    TAILQ_REMOVE(spare->is_large ? &pool->large : &pool->small, spare, link);
    if (spare->is_large)
        pool->large_bytes -= spare->bytes;
    atomic_fetch_sub_explicit(&pool->bytes, spare->bytes, memory_order_relaxed);
}

struct reader_spare *reader_pool_take(struct reader_pool *pool, struct reader_spare **place)
{
    pool_lock(pool);
    struct reader_spare *spare = *place;
    if (spare != NULL)
        spare_unlink(pool, spare);
    pool_unlock(pool);
    return spare;
}

/* What large spares may take together. */
static size_t large_max(const struct reader_pool *pool)
{
    return pool->bytes_max / 4 * 3;
}

/* The caller frees the spares in `gone` after it has unlocked the mutex. */
static void spare_give_up(struct reader_pool *pool, struct reader_spare *spare,
                          struct spare_list *gone)
{
    spare_unlink(pool, spare);
    TAILQ_INSERT_TAIL(gone, spare, link);
}

static void closed_give_up(struct reader_pool *pool, struct spare_list *gone)
{
    struct reader_spare *spare;
    while ((spare = TAILQ_FIRST(&pool->large)) != NULL && spare->place == NULL)
        spare_give_up(pool, spare, gone);
}

void reader_pool_give(struct reader_pool *pool, struct reader_spare **place,
                      struct reader_spare *spare)
{
    check(spare->free != NULL);
    struct spare_list gone = TAILQ_HEAD_INITIALIZER(gone);
    struct reader_spare *oldest;
    if (spare->is_large && spare->bytes > large_max(pool)) {
        spare->free(spare);
        return;
    }
    pool_lock(pool);
    if (*place != NULL)
        spare_give_up(pool, *place, &gone);
    if (spare->is_large)
        closed_give_up(pool, &gone);
    spare_link(pool, place, spare);
    while (spare->is_large && pool->large_bytes > large_max(pool))
        spare_give_up(pool, TAILQ_FIRST(&pool->large), &gone);
    while (reader_pool_bytes(pool) > pool->bytes_max &&
           (oldest = TAILQ_FIRST(&pool->small)) != NULL && oldest != spare)
        spare_give_up(pool, oldest, &gone);
    pool_unlock(pool);
    gone_free(&gone);
}

static void spare_close(struct reader_pool *pool, struct reader_spare *spare,
                        struct spare_list *gone)
{
    if (!spare->is_large) {
        spare_give_up(pool, spare, gone);
        return;
    }
    *spare->place = NULL;
    spare->place = NULL;
    TAILQ_REMOVE(&pool->large, spare, link);
    TAILQ_INSERT_HEAD(&pool->large, spare, link);
}

void reader_pool_close(struct reader_pool *pool, struct reader_spare **places, uint32_t count)
{
    struct spare_list gone = TAILQ_HEAD_INITIALIZER(gone);
    pool_lock(pool);
    for (uint32_t i = 0; i < count; i++)
        if (places[i] != NULL)
            spare_close(pool, places[i], &gone);
    pool_unlock(pool);
    gone_free(&gone);
}

/* ---- workspaces ---- */

struct reader_workspace *reader_pool_borrow(struct reader_pool *pool)
{
    pool_lock(pool);
    struct reader_workspace *workspace =
        pool->workspace_count > 0 ? pool->workspaces[--pool->workspace_count] : NULL;
    pool_unlock(pool);
    if (workspace == NULL) {
        workspace = memory_zeroed(1, sizeof *workspace);
        workspace->blocks = segment_block_decoder_new();
    }
    return workspace;
}

void reader_pool_give_back(struct reader_pool *pool, struct reader_workspace *workspace)
{
    if (workspace->page.capacity > PAGE_KEPT_MAX)
        buffer_release(&workspace->page);
    pool_lock(pool);
    bool is_kept = pool->workspace_count < WORKSPACES_KEPT;
    if (is_kept)
        pool->workspaces[pool->workspace_count++] = workspace;
    pool_unlock(pool);
    if (!is_kept)
        workspace_free(workspace);
}

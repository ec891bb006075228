/* reader_pool: spares in a list by age, and a few idle workspaces, under one mutex.
 *
 * A place and the list change together, under the mutex, so that no place points to a spare that
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
    struct spare_list spares;
    size_t bytes_max;
    atomic_size_t bytes; /* written under the mutex */
    struct reader_workspace *workspaces[WORKSPACES_KEPT];
    uint32_t workspace_count;
};

/* ---- making and freeing ---- */

struct reader_pool *reader_pool_new(size_t bytes_max)
{
    struct reader_pool *pool = memory_zeroed(1, sizeof *pool);
    atomic_init(&pool->references, 1);
    atomic_init(&pool->bytes, 0);
    TAILQ_INIT(&pool->spares);
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

void reader_pool_unref(struct reader_pool *pool)
{
    if (pool == NULL || atomic_fetch_sub_explicit(&pool->references, 1, memory_order_acq_rel) > 1)
        return;
    check(TAILQ_EMPTY(&pool->spares));
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
    TAILQ_INSERT_TAIL(&pool->spares, spare, link);
    atomic_fetch_add_explicit(&pool->bytes, spare->bytes, memory_order_relaxed);
}

static void spare_unlink(struct reader_pool *pool, struct reader_spare *spare)
{
    *spare->place = NULL;
    TAILQ_REMOVE(&pool->spares, spare, link);
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

/* The caller frees the spares in `gone` after it has unlocked the mutex. */
static void spare_give_up(struct reader_pool *pool, struct reader_spare *spare,
                          struct spare_list *gone)
{
    spare_unlink(pool, spare);
    TAILQ_INSERT_TAIL(gone, spare, link);
}

void reader_pool_give(struct reader_pool *pool, struct reader_spare **place,
                      struct reader_spare *spare)
{
    check(spare == NULL || spare->free != NULL);
    struct spare_list gone = TAILQ_HEAD_INITIALIZER(gone);
    struct reader_spare *old;
    pool_lock(pool);
    if (*place != NULL)
        spare_give_up(pool, *place, &gone);
    if (spare != NULL)
        spare_link(pool, place, spare);
    while (reader_pool_bytes(pool) > pool->bytes_max &&
           (old = TAILQ_FIRST(&pool->spares)) != TAILQ_LAST(&pool->spares, spare_list))
        spare_give_up(pool, old, &gone);
    pool_unlock(pool);
    while ((old = TAILQ_FIRST(&gone)) != NULL) {
        TAILQ_REMOVE(&gone, old, link);
        old->free(old);
    }
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

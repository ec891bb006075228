/* sim_cheap: see the header.
 *
 * Tests are linked with --wrap for zstd's contexts (Makefile): making one asks the CPU what it can,
 * which a virtual machine answers in some 30 us, and every segment that is opened makes one.  A
 * context is put back as it was, by zstd's own reset of session and parameters, so that the bytes
 * are the same as with a new one. */
#include "tests/sim/sim_cheap.h"

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <zstd.h>

#include "base/error.h"

enum { KEPT_MAX = 64, MEMORY_KEPT = 256 << 20 };

void sim_cheap(void)
{
    /* Advice, which an allocator that is not glibc's does not take. */
    (void)mallopt(M_MMAP_THRESHOLD, MEMORY_KEPT);
    (void)mallopt(M_TRIM_THRESHOLD, MEMORY_KEPT);
    (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

/* ---- zstd ---- */

struct kept {
    void *items[KEPT_MAX];
    size_t count;
};

/* One thread runs a simulation. */
static struct kept compressing, decompressing;

static void *kept_take(struct kept *kept)
{
    return kept->count > 0 ? kept->items[--kept->count] : NULL;
}

static bool kept_give(struct kept *kept, void *context)
{
    if (context == NULL || kept->count == KEPT_MAX)
        return false;
    kept->items[kept->count++] = context;
    return true;
}

ZSTD_CCtx *__real_ZSTD_createCCtx(void);
ZSTD_CCtx *__wrap_ZSTD_createCCtx(void);
size_t __real_ZSTD_freeCCtx(ZSTD_CCtx *context);
size_t __wrap_ZSTD_freeCCtx(ZSTD_CCtx *context);
ZSTD_DCtx *__real_ZSTD_createDCtx(void);
ZSTD_DCtx *__wrap_ZSTD_createDCtx(void);
size_t __real_ZSTD_freeDCtx(ZSTD_DCtx *context);
size_t __wrap_ZSTD_freeDCtx(ZSTD_DCtx *context);

ZSTD_CCtx *__wrap_ZSTD_createCCtx(void)
{
    ZSTD_CCtx *context = kept_take(&compressing);
    return context != NULL ? context : __real_ZSTD_createCCtx();
}

size_t __wrap_ZSTD_freeCCtx(ZSTD_CCtx *context)
{
    if (context != NULL)
        check(!ZSTD_isError(ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters)));
    return kept_give(&compressing, context) ? 0 : __real_ZSTD_freeCCtx(context);
}

ZSTD_DCtx *__wrap_ZSTD_createDCtx(void)
{
    ZSTD_DCtx *context = kept_take(&decompressing);
    return context != NULL ? context : __real_ZSTD_createDCtx();
}

size_t __wrap_ZSTD_freeDCtx(ZSTD_DCtx *context)
{
    if (context != NULL)
        check(!ZSTD_isError(ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters)));
    return kept_give(&decompressing, context) ? 0 : __real_ZSTD_freeDCtx(context);
}

/* segment_alone: opens a segment that shares what its readers leave with no other. */
#ifndef DAYBOOK_TESTS_LIB_SEGMENT_ALONE_H
#define DAYBOOK_TESTS_LIB_SEGMENT_ALONE_H

#include "storage/segment/segment.h"

must_check static inline int segment_open_alone(struct world *world,
                                                const struct segment_info *info,
                                                struct segment **segment_out, struct error *err)
{
    struct reader_pool *readers = reader_pool_new(1 << 20);
    int rc = segment_open(world, info, NULL, readers, segment_out, err);

    reader_pool_unref(readers);
    return rc;
}
#endif

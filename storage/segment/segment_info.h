/* segment_info: what the manifest records of a segment. */
#ifndef DAYBOOK_STORAGE_SEGMENT_SEGMENT_INFO_H
#define DAYBOOK_STORAGE_SEGMENT_SEGMENT_INFO_H

#include <stdint.h>

/* Written to disk: the numbers cannot change; docs/FORMATS.md calls the kinds wide and narrow. */
enum segment_kind {
    SEGMENT_COLUMNAR = 1,             /* append-only run: columns, and stats that can be added to
                                       * those of other runs */
    SEGMENT_ROW = 2                   /* overwrite run: packed rows with the whole cell model */
};

enum { SEGMENT_KINDS = 2 };

struct segment_info {
    uint64_t id;                      /* of the file segments/<id as 16 hex digits>.seg; never used
                                       * again */
    uint32_t table_id;
    enum segment_kind kind;
    uint64_t frame_first;             /* the frames whose rows the segment has: first and last */
    uint64_t frame_last;
    uint64_t size;                    /* bytes of the file */
    uint64_t rows;
    uint64_t partitions;
    int64_t timestamp_max_us;         /* the newest write timestamp in the segment */
    uint32_t schema_version;
};
#endif

/* backup_point: encodes and reads the records of points.  A point is a backup of one moment; its
 * record lists its files with their sizes and hashes.
 *
 *     BACKUP/points/0000000000000003.point    the record; written last, when the point is complete
 *     BACKUP/segments/00000000000000a1.seg    as in the data directory; shared by points
 *     BACKUP/log/00000007.log                 the first bytes of a log file, more with each point
 *
 * docs/FORMATS.md "Backup" has the layout. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_POINT_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_POINT_H

#include "base/hash128.h"
#include "base/world/world.h"
#include "storage/log/commit_log.h"
#include "storage/manifest/manifest.h"

enum { BACKUP_PATH = 64, BACKUP_POINT_MAX = 1 << 28 /* bytes */ };

struct backup_log_file {
    struct commit_log_extent extent;
    struct hash128 hash;               /* of extent.size bytes */
};

struct backup_point {
    uint64_t number;                   /* from 1 on, ascending */
    uint64_t frame;
    int64_t timestamp_us;              /* no write of the point is later */
    int64_t taken_us;
    struct manifest_state state;
    struct hash128 *segment_hashes;    /* of whole files, in the order of state.segments */
    struct backup_log_file *log;       /* by file id; the frames after state.flushed_frame */
    uint32_t log_count;
    struct manifest *owner;            /* owns `state`; NULL: `state` is borrowed */
};

void backup_point_encode(const struct backup_point *point, struct buffer *to);
/* ERROR_CORRUPT, ERROR_NEWER_FORMAT; after success the caller releases the point. */
must_check int backup_point_decode(struct bytes bytes, struct backup_point *point_out,
                                   struct error *err);
void backup_point_release(struct backup_point *point);

const struct hash128 *backup_point_segment(const struct backup_point *point, uint64_t segment_id);

void backup_point_path(uint64_t number, char path[BACKUP_PATH]);
void backup_point_log_path(uint32_t file_id, char path[BACKUP_PATH]);
void backup_point_temporary_path(uint64_t segment_id, char path[BACKUP_PATH]);

/* The numbers of all points, ascending.  The caller frees *numbers_out.  ERROR_NOT_OURS: the
 * directory has other files than those of a backup. */
must_check int backup_point_list(struct disk *disk, uint64_t **numbers_out, size_t *count_out,
                                 struct error *err);
/* Errors name the file. */
must_check int backup_point_read(struct disk *disk, uint64_t number,
                                 struct backup_point *point_out, struct error *err);
#endif

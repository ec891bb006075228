/* backup_following: writes and reads the record of the backup directory that follows the store.
 *
 *     DIR/following        the record; if it is missing, no directory follows
 *     DIR/following.tmp    a record that is being written
 *
 * The record is not part of a backup.  docs/FORMATS.md "Following" has the layout. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_FOLLOWING_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_FOLLOWING_H

#include "base/buffer.h"
#include "base/world/world.h"

enum { FOLLOWING_PATH_MAX = 4096 };

struct backup_following {
    char *path;                        /* of the backup, absolute; owned */
    uint32_t keep;                     /* points to keep */
    bool copies;                       /* never make hard links */
};

void backup_following_encode(const struct backup_following *following, struct buffer *to);
/* ERROR_CORRUPT, ERROR_NEWER_FORMAT; after success the caller releases the record. */
must_check int backup_following_decode(struct bytes bytes, struct backup_following *following_out,
                                       struct error *err);
void backup_following_release(struct backup_following *following);

/* Writing and removing are durable when they return 0.  Removing a missing record is no error. */
must_check int backup_following_write(struct disk *disk, const struct backup_following *following,
                                      struct error *err);
must_check int backup_following_remove(struct disk *disk, struct error *err);
/* -ENOENT: there is no record.  Other errors name the file. */
must_check int backup_following_read(struct disk *disk, struct backup_following *following_out,
                                     struct error *err);
#endif

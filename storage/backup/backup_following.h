/* backup_following: the record of the directory that follows the store, in the data directory, so
 * that a server that is started again continues with it.
 *
 *     DIR/following        the record; without it nothing follows
 *     DIR/following.tmp    a record that is being written
 *
 * It is no part of a backup: a restored store is not followed by the backup it came from.  Layout
 * by bytes:  FORMATS.md "Following". */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_FOLLOWING_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_FOLLOWING_H

#include "base/buffer.h"
#include "base/world/world.h"

enum { FOLLOWING_PATH_MAX = 4096 };

struct backup_following {
    char *path;                        /* of the backup, absolute; owned */
    uint32_t keep;                     /* points */
    bool copies;
};

void backup_following_encode(const struct backup_following *following, struct buffer *to);
/* ERROR_CORRUPT, ERROR_NEWER_FORMAT; else released by backup_following_release. */
must_check int backup_following_decode(struct bytes bytes, struct backup_following *following_out,
                                       struct error *err);
void backup_following_release(struct backup_following *following);

/* Both are durable when they return.  To remove a record that is not there is no error. */
must_check int backup_following_write(struct disk *disk, const struct backup_following *following,
                                      struct error *err);
must_check int backup_following_remove(struct disk *disk, struct error *err);
/* -ENOENT: nothing follows.  Other errors name the file. */
must_check int backup_following_read(struct disk *disk, struct backup_following *following_out,
                                     struct error *err);
#endif

/* fuzz_backup_following: what follows a directory; a record that is read is written the same.
 *
 * Input: the record, without its checksum's being looked at (open_checksum.c). */
#include <string.h>

#include "storage/backup/backup_following.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct backup_following following;
    struct error err = {0};
    int rc = backup_following_decode(bytes_of(data, size), &following, &err);
    check(rc == 0 || err.text[0] != '\0');
    if (rc == 0) {
        struct buffer again = {0};
        struct backup_following second;
        backup_following_encode(&following, &again);
        check(backup_following_decode(buffer_view(&again), &second, NULL) == 0);
        check(strcmp(second.path, following.path) == 0 && second.keep == following.keep &&
              second.copies == following.copies);
        backup_following_release(&second);
        buffer_release(&again);
        backup_following_release(&following);
    }
    return 0;
}

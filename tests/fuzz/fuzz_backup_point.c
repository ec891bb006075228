/* fuzz_backup_point: points of backups; one that is read can be written and read again.
 *
 * Input: the record, without its checksum's being looked at (open_checksum.c). */
#include "storage/backup/backup_point.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct backup_point point;
    struct error err = {0};
    int rc = backup_point_decode(bytes_of(data, size), &point, &err);
    check(rc == 0 || err.text[0] != '\0');
    if (rc == 0) {
        struct buffer again = {0};
        struct backup_point second;
        backup_point_encode(&point, &again);
        check(backup_point_decode(buffer_view(&again), &second, NULL) == 0);
        check(second.number == point.number && second.log_count == point.log_count &&
              second.state.segment_count == point.state.segment_count);
        backup_point_release(&second);
        buffer_release(&again);
        backup_point_release(&point);
    }
    return 0;
}

/* fuzz_manifest_snapshot: what stands in for a lost manifest; one that is read is written the same.
 *
 * Input: the record; its checksum is not looked at (open_checksum.c). */
#include "storage/manifest/manifest_snapshot.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct manifest *manifest;
    struct error err = {0};
    int rc = manifest_snapshot_decode(bytes_of(data, size), &manifest, &err);
    check(rc == 0 || err.text[0] != '\0');
    if (rc == 0) {
        struct buffer again = {0};
        struct manifest *second;
        manifest_snapshot_encode(manifest_state(manifest), &again);
        check(manifest_snapshot_decode(buffer_view(&again), &second, NULL) == 0);
        check(manifest_state(second)->segment_count == manifest_state(manifest)->segment_count);
        manifest_close(second);
        manifest_close(manifest);
        buffer_release(&again);
    }
    return 0;
}

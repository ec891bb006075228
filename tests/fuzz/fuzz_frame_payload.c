/* fuzz_frame_payload: batches out of a log frame; what was read is written and read the same. */
#include "storage/cell/write_batch.h"
#include "tests/fuzz/fuzz.h"

static void check_rewritten(const struct write_batch *batch)
{
    struct buffer first = {0}, second = {0};
    struct write_batch *again = write_batch_new();
    struct schema *schema = schema_ref(fuzz_schema());
    write_batch_serialize(batch, NULL, &first);
    struct reader reader = reader_of(buffer_view(&first));
    check(write_batch_deserialize(&reader, &schema, NULL, again, NULL) == 0);
    check(reader_left(&reader) == 0);
    write_batch_serialize(again, NULL, &second);
    check(bytes_equal(buffer_view(&first), buffer_view(&second)));
    write_batch_free_blocks(again);
    write_batch_free(again);
    schema_unref(schema);
    buffer_release(&first);
    buffer_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader reader = reader_of(bytes_of(data, size));
    struct schema *schema = schema_ref(fuzz_schema());
    int rc = 0;
    while (rc == 0 && reader_left(&reader) > 0) {
        struct write_batch *batch = write_batch_new();
        rc = write_batch_deserialize(&reader, &schema, NULL, batch, NULL);
        if (rc == 0 && batch->schema == NULL && schema == fuzz_schema())
            check_rewritten(batch);
        write_batch_free_blocks(batch);
        write_batch_free(batch);
    }
    schema_unref(schema);
    return 0;
}

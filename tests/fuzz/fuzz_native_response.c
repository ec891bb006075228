/* fuzz_native_response: what a server answers, read as a client does. */
#include "codec/native_response.h"
#include "base/arena.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_native.h"

static void each_response(const struct native_envelope *envelope)
{
    struct arena *arena = arena_new(0);
    struct native_response response;

    if (!envelope->is_too_large && native_response_decode(envelope, arena, &response, NULL) == 0 &&
        response.opcode == NATIVE_RESULT) {
        struct buffer body = {0};

        native_response_put_result(&response.result, !response.has_metadata,
                                   response.new_metadata_id, envelope->version, &body);
        buffer_release(&body);
    }
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_native_read(bytes_of(data, size), true, each_response);
    return 0;
}

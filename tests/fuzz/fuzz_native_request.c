/* fuzz_native_request: what a client sends to the CQL door: a request that is read is written, and
 * read again, as the same one. */
#include "codec/native_request.h"
#include "base/arena.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_native.h"

static void write_and_read(const struct native_request *request, uint8_t version,
                           struct arena *arena)
{
    struct buffer first = {0};
    struct buffer second = {0};
    struct native_envelope envelope = {.version = version,
                                       .flags = native_request_flags(request),
                                       .opcode = (uint8_t)request->opcode};
    struct native_request again;

    native_request_encode(request, version, &first);
    envelope.body = buffer_view(&first);
    check(native_request_decode(&envelope, arena, &again, NULL) == 0);
    native_request_encode(&again, version, &second);
    check(bytes_equal(buffer_view(&first), buffer_view(&second)));
    buffer_release(&first);
    buffer_release(&second);
}

static void each_request(const struct native_envelope *envelope)
{
    struct arena *arena = arena_new(0);
    struct native_request request;

    if (!envelope->is_too_large && native_opcode_is_request(envelope->opcode) &&
        native_request_decode(envelope, arena, &request, NULL) == 0)
        write_and_read(&request, envelope->version, arena);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_native_read(bytes_of(data, size), false, each_request);
    return 0;
}

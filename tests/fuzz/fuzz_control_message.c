/* fuzz_control_message: messages of the control socket, in pieces of any size. */
#include "program/control/control_message.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_of(data, size);
    size_t piece = 1 + fuzz_take_byte(&input);
    struct message_reader reader = {0};
    int rc = 0;
    for (size_t at = 0; at < input.size && rc >= 0; at += piece) {
        uint8_t *to;
        size_t room;
        size_t count = input.size - at < piece ? input.size - at : piece;
        control_message_space(&reader, &to, &room);
        check(room >= count);
        memcpy(to, input.data + at, count);
        control_message_added(&reader, count);
        enum control_kind kind;
        struct bytes body;
        while ((rc = control_message_next(&reader, &kind, &body)) == 1) {
            check(kind >= CONTROL_RUN && kind <= CONTROL_OPEN);
            check(body.size < CONTROL_MESSAGE_MAX);
        }
    }
    control_message_release(&reader);
    return 0;
}

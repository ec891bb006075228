/* fuzz_native_stream: see fuzz_native.h. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_native.h"

enum { FORMS = 10, BODY_MAX = 1 << 20 };

struct summary {
    uint32_t envelopes;
    uint32_t bytes;
    int rc;
};

static void inbox_open(struct native_inbox *inbox, unsigned form, bool is_client)
{
    static const enum native_compression compressions[] = {NATIVE_PLAIN, NATIVE_LZ4, NATIVE_SNAPPY};

    native_inbox_init(inbox, is_client, BODY_MAX);
    if (form == 0)
        return;
    inbox->version = (uint8_t)(NATIVE_VERSION_MIN + (form - 1) / 3);
    native_inbox_start(inbox, compressions[(form - 1) % 3]);
}

static struct summary read_pieces(struct bytes input, unsigned form, bool is_client, size_t piece,
                                  void (*each)(const struct native_envelope *envelope))
{
    struct native_inbox inbox;
    struct summary summary = {0};

    inbox_open(&inbox, form, is_client);
    for (size_t at = 0; at < input.size && summary.rc >= 0; at += piece) {
        size_t left = input.size - at;
        struct native_envelope envelope;

        native_inbox_add(&inbox, bytes_of(input.data + at, left < piece ? left : piece));
        while ((summary.rc = native_inbox_next(&inbox, &envelope, NULL)) > 0) {
            summary.envelopes++;
            summary.bytes += (uint32_t)envelope.body.size;
            if (each != NULL)
                each(&envelope);
        }
    }
    native_inbox_release(&inbox);
    return summary;
}

void fuzz_native_read(struct bytes input, bool is_client,
                      void (*each)(const struct native_envelope *envelope))
{
    unsigned form = fuzz_take_byte(&input) % FORMS;
    struct summary whole = read_pieces(input, form, is_client, input.size + 1, each);
    struct summary pieces = read_pieces(input, form, is_client, 7, NULL);

    check(whole.envelopes == pieces.envelopes && whole.bytes == pieces.bytes &&
          whole.rc == pieces.rc);
}

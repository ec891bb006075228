/* fuzz_native: what the fuzzers of the native protocol share.
 *
 * The first byte of an input chooses what the two sides have agreed on:
 *
 *     0 nothing yet   1 to 9: version 3, 4 or 5, each plain, LZ4, snappy
 */
#ifndef DAYBOOK_TESTS_FUZZ_NATIVE_H
#define DAYBOOK_TESTS_FUZZ_NATIVE_H

#include "codec/native_inbox.h"

/* Put the input through an inbox whole, and again in pieces: `each` gets every envelope, the same
 * ones both times. */
void fuzz_native_read(struct bytes input, bool is_client,
                      void (*each)(const struct native_envelope *envelope));
#endif

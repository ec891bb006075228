/* A batch that is coming in counts what came, and is recognised by it. */
#include "ingest/connection/numbered_batch.h"

#include <criterion/criterion.h>

static struct hash128 hash_of(const char *text)
{
    struct hash128_stream *stream = hash128_stream_new();
    struct hash128 hash;

    hash128_stream_add(stream, text, strlen(text));
    hash = hash128_stream_digest(stream);
    hash128_stream_free(stream);
    return hash;
}

Test(numbered_batch, what_comes_in_pieces_is_counted_and_hashed_as_one)
{
    struct numbered_batch batch = {0};
    struct hash128 expected = hash_of("one\ntwo\n");
    struct hash128 hash;

    numbered_batch_open(&batch, 7, 2, PRODUCER_NEXT, hash128_stream_new());
    numbered_batch_add(&batch, bytes_text("one\n"), 1);
    numbered_batch_add(&batch, bytes_text("tw"), 0);
    cr_expect_eq(batch.lines_left, 1);
    numbered_batch_add(&batch, bytes_text("o\n"), 1);
    cr_expect_eq(batch.lines_left, 0);
    cr_expect_eq(batch.bytes, 8);
    hash = hash128_stream_digest(batch.hash);
    cr_expect(hash.low == expected.low && hash.high == expected.high);
    numbered_batch_close(&batch);
    cr_expect_not(batch.is_open);
    numbered_batch_close(&batch);
}

Test(numbered_batch, one_byte_over_the_limit_is_too_much)
{
    struct numbered_batch batch = {0};

    numbered_batch_open(&batch, 1, 2, PRODUCER_NEXT, hash128_stream_new());
    batch.bytes = NUMBERED_BATCH_BYTES_MAX - 1;
    numbered_batch_add(&batch, bytes_text("x"), 0);
    cr_expect_not(numbered_batch_is_too_large(&batch));
    numbered_batch_add(&batch, bytes_text("x"), 0);
    cr_expect(numbered_batch_is_too_large(&batch));
    numbered_batch_close(&batch);
}

/* native_compress: see the header. */
#include "query/native/native_compress.h"

#include <lz4.h>
#include <snappy-c.h>

#include "storage/base/error.h"

enum { BODY_SIZE_BYTES = 4 };

_Static_assert(NATIVE_BODY_MAX <= LZ4_MAX_INPUT_SIZE, "a body is one block");

size_t native_compress_block(struct bytes plain, struct buffer *block)
{
    int size_max = LZ4_compressBound((int)plain.size);
    int size;

    check(plain.size <= LZ4_MAX_INPUT_SIZE);
    buffer_reserve(block, (size_t)size_max);
    size = LZ4_compress_default((const char *)plain.data, (char *)block->data + block->size,
                                (int)plain.size, size_max);
    check(size > 0);
    block->size += (size_t)size;
    return (size_t)size;
}

int native_decompress_block(struct bytes block, uint8_t *plain, size_t size)
{
    int taken;

    check(size <= LZ4_MAX_INPUT_SIZE && block.size <= LZ4_MAX_INPUT_SIZE);
    taken =
        LZ4_decompress_safe((const char *)block.data, (char *)plain, (int)block.size, (int)size);
    return taken >= 0 && (size_t)taken == size ? 0 : ERROR_CORRUPT;
}

/* ---- bodies ---- */

static void snappy_compress_body(struct bytes plain, struct buffer *body)
{
    size_t size = snappy_max_compressed_length(plain.size);

    buffer_reserve(body, size);
    check(snappy_compress((const char *)plain.data, plain.size, (char *)body->data + body->size,
                          &size) == SNAPPY_OK);
    body->size += size;
}

void native_compress_body(enum native_compression compression, struct bytes plain,
                          struct buffer *body)
{
    check(compression != NATIVE_PLAIN && plain.size <= UINT32_MAX);
    if (compression == NATIVE_SNAPPY) {
        snappy_compress_body(plain, body);
        return;
    }
    buffer_put_u32_be(body, (uint32_t)plain.size);
    (void)native_compress_block(plain, body);
}

/* How much a body says that it holds. */
static int body_size(enum native_compression compression, struct bytes body, size_t *size_out)
{
    if (compression == NATIVE_SNAPPY)
        return snappy_uncompressed_length((const char *)body.data, body.size, size_out) == SNAPPY_OK
                   ? 0
                   : ERROR_CORRUPT;
    if (body.size < BODY_SIZE_BYTES)
        return ERROR_CORRUPT;
    *size_out = load_u32_be(body.data);
    return 0;
}

int native_decompress_body(enum native_compression compression, struct bytes body, size_t size_max,
                           struct buffer *plain)
{
    size_t size;
    uint8_t *to;
    int rc;

    check(compression != NATIVE_PLAIN && size_max <= LZ4_MAX_INPUT_SIZE);
    if (body.size > size_max || body_size(compression, body, &size) != 0)
        return ERROR_CORRUPT;
    if (size > size_max)
        return ERROR_LIMIT;
    buffer_reserve(plain, size + 1);
    to = plain->data + plain->size;
    if (compression == NATIVE_SNAPPY)
        rc = snappy_uncompress((const char *)body.data, body.size, (char *)to, &size) == SNAPPY_OK
                 ? 0
                 : ERROR_CORRUPT;
    else
        rc = native_decompress_block(
            bytes_of(body.data + BODY_SIZE_BYTES, body.size - BODY_SIZE_BYTES), to, size);
    if (rc == 0)
        plain->size += size;
    return rc;
}

/* native_compress: see the header.
 *
 * snappy's library needs the C++ library, which takes long to load.  So snappy is loaded only when
 * it is first needed. */
#include "codec/native_compress.h"

#include <dlfcn.h>
#include <lz4.h>
#include <snappy-c.h>

#include "base/error.h"

#define SNAPPY_LIBRARY "libsnappy.so.1"

enum { BODY_SIZE_BYTES = 4 };

_Static_assert(NATIVE_BODY_MAX <= LZ4_MAX_INPUT_SIZE, "a body is one block");

size_t native_compress_block(struct bytes plain, struct buffer *block)
{
    int size_max = LZ4_compressBound((int)plain.size);

    check(plain.size <= LZ4_MAX_INPUT_SIZE);
    buffer_reserve(block, (size_t)size_max);
    int size = LZ4_compress_default((const char *)plain.data, (char *)block->data + block->size,
                                    (int)plain.size, size_max);
    check(size > 0);
    block->size += (size_t)size;
    return (size_t)size;
}

int native_compress_undo_block(struct bytes block, uint8_t *plain, size_t size)
{
    check(size <= LZ4_MAX_INPUT_SIZE && block.size <= LZ4_MAX_INPUT_SIZE);
    int taken =
        LZ4_decompress_safe((const char *)block.data, (char *)plain, (int)block.size, (int)size);
    return taken >= 0 && (size_t)taken == size ? 0 : ERROR_CORRUPT;
}

/* ---- snappy ---- */

static void *snappy_find(const char *function)
{
    void *library = dlopen(SNAPPY_LIBRARY, RTLD_LAZY | RTLD_NODELETE);

    if (library == NULL)
        return NULL;
    void *found = dlsym(library, function);
    (void)dlclose(library);
    return found;
}

bool native_compress_has_snappy(void)
{
    return snappy_find("snappy_compress") != NULL;
}

static void snappy_compress_body(struct bytes plain, struct buffer *body)
{
    __typeof__(snappy_max_compressed_length) *size_max =
        snappy_find("snappy_max_compressed_length");
    __typeof__(snappy_compress) *compress = snappy_find("snappy_compress");

    check(size_max != NULL && compress != NULL);
    size_t size = size_max(plain.size);
    buffer_reserve(body, size);
    check(compress((const char *)plain.data, plain.size, (char *)body->data + body->size, &size) ==
          SNAPPY_OK);
    body->size += size;
}

static int snappy_body_size(struct bytes body, size_t *size_out)
{
    __typeof__(snappy_uncompressed_length) *size_of = snappy_find("snappy_uncompressed_length");

    check(size_of != NULL);
    return size_of((const char *)body.data, body.size, size_out) == SNAPPY_OK ? 0 : ERROR_CORRUPT;
}

static int snappy_decompress_body(struct bytes body, uint8_t *plain, size_t size)
{
    __typeof__(snappy_uncompress) *uncompress = snappy_find("snappy_uncompress");

    check(uncompress != NULL);
    return uncompress((const char *)body.data, body.size, (char *)plain, &size) == SNAPPY_OK
               ? 0
               : ERROR_CORRUPT;
}

/* ---- bodies ---- */

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

static int body_size(enum native_compression compression, struct bytes body, size_t *size_out)
{
    if (compression == NATIVE_SNAPPY)
        return snappy_body_size(body, size_out);
    if (body.size < BODY_SIZE_BYTES)
        return ERROR_CORRUPT;
    *size_out = load_u32_be(body.data);
    return 0;
}

int native_compress_undo_body(enum native_compression compression, struct bytes body,
                              size_t size_max, struct buffer *plain)
{
    size_t size;
    int rc;

    check(compression != NATIVE_PLAIN && size_max <= LZ4_MAX_INPUT_SIZE);
    if (body.size > size_max || body_size(compression, body, &size) != 0)
        return ERROR_CORRUPT;
    if (size > size_max)
        return ERROR_LIMIT;
    buffer_reserve(plain, size + 1);
    uint8_t *to = plain->data + plain->size;
    if (compression == NATIVE_SNAPPY)
        rc = snappy_decompress_body(body, to, size);
    else
        rc = native_compress_undo_block(
            bytes_of(body.data + BODY_SIZE_BYTES, body.size - BODY_SIZE_BYTES), to, size);
    if (rc == 0)
        plain->size += size;
    return rc;
}

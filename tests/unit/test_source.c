/* Sources: the content of plain and packed files is the same, and damage is never taken for an
 * end. */
#include "ingest/load/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <zlib.h>

#include "base/compressor.h"

static char path[] = "/tmp/daybook-source-XXXXXX";

static void setup(void)
{
    int fd = mkstemp(path);

    cr_assert(fd >= 0);
    close(fd);
}

static void teardown(void)
{
    unlink(path);
}

TestSuite(source, .init = setup, .fini = teardown);

static void content_append(struct buffer *content, int lines)
{
    for (int i = 0; i < lines; i++)
        buffer_printf(content, "reseller-%d,,%d,ad-%d,0.%d\n", i % 13, i, i * 7919 % 1000, i);
}

/* One gzip member; the caller's file grows by it. */
static void gzip_append(struct buffer *file, struct bytes content)
{
    z_stream stream = {0};
    size_t bound;

    cr_assert(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    bound = deflateBound(&stream, content.size);
    buffer_reserve(file, bound);
    stream.next_in = (Bytef *)(uintptr_t)content.data;
    stream.avail_in = (uInt)content.size;
    stream.next_out = file->data + file->size;
    stream.avail_out = (uInt)bound;
    cr_assert(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    file->size += stream.total_out;
    deflateEnd(&stream);
}

static void zstd_append(struct buffer *file, struct bytes content)
{
    struct compressor *compressor = compressor_new(COMPRESS_LEVEL);

    (void)compressor_append(compressor, content, file);
    compressor_free(compressor);
}

static void file_write(struct bytes bytes)
{
    FILE *file = fopen(path, "w");

    cr_assert(file != NULL && fwrite(bytes.data, 1, bytes.size, file) == bytes.size);
    cr_assert(fclose(file) == 0);
}

/* All of the file's content, read `step` bytes at a time; the end's status. */
static int64_t read_all(struct buffer *content, size_t step)
{
    struct source *source;
    struct error err = {0};
    int64_t count;

    buffer_clear(content);
    cr_assert(source_open(path, &source, &err) == 0, "%s", err.text);
    do {
        buffer_reserve(content, step);
        count = source_read(source, content->data + content->size, step, &err);
        if (count > 0)
            content->size += (size_t)count;
    } while (count > 0);
    if (count == 0)
        cr_expect(source_fraction(source) == 1);
    source_close(source);
    return count;
}

Test(source, plain_and_packed_content_is_the_same_in_pieces_of_any_size)
{
    static const size_t steps[] = {1 << 20, 4096, 7};
    struct buffer content = {0};
    struct buffer files[3] = {{0}};
    struct buffer got = {0};

    content_append(&content, 30000);
    buffer_append_bytes(&files[0], buffer_view(&content));
    /* Two members or frames one behind the other are one content. */
    gzip_append(&files[1], bytes_of(content.data, 1000));
    gzip_append(&files[1], bytes_of(content.data + 1000, content.size - 1000));
    zstd_append(&files[2], bytes_of(content.data, 1000));
    zstd_append(&files[2], bytes_of(content.data + 1000, content.size - 1000));
    for (int i = 0; i < 3; i++) {
        file_write(buffer_view(&files[i]));
        for (int step = 0; step < 3; step++) {
            cr_expect(read_all(&got, steps[step]) == 0);
            cr_expect(bytes_equal(buffer_view(&got), buffer_view(&content)), "%d %d", i, step);
        }
        buffer_release(&files[i]);
    }
    buffer_release(&content);
    buffer_release(&got);
}

Test(source, packed_files_cut_anywhere_are_errors_and_flipped_bits_do_no_harm)
{
    struct buffer content = {0};
    struct buffer got = {0};

    content_append(&content, 40);
    for (int kind = 0; kind < 2; kind++) {
        struct buffer file = {0};

        if (kind == 0)
            gzip_append(&file, buffer_view(&content));
        else
            zstd_append(&file, buffer_view(&content));
        for (size_t size = 4; size < file.size; size++) {
            file_write(bytes_of(file.data, size));
            cr_assert(read_all(&got, 100) == ERROR_CORRUPT, "%d cut at %zu", kind, size);
        }
        for (size_t bit = 0; bit < 8 * file.size; bit++) {
            file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            file_write(buffer_view(&file));
            (void)read_all(&got, 100);
            file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        buffer_release(&file);
    }
    buffer_release(&content);
    buffer_release(&got);
}

static bool fstat_fails;

/* In place of the C library's, so that a test can let it fail. */
int fstat(int fd, struct stat *status)
{
    if (!fstat_fails)
        return fstatat(fd, "", status, AT_EMPTY_PATH);
    errno = EIO;
    return -1;
}

Test(source, a_file_whose_kind_is_not_known_is_not_read)
{
    struct source *source = NULL;
    struct error err = {0};

    file_write(bytes_text("r1,,1,a,1\n"));
    fstat_fails = true;
    cr_expect_eq(source_open(path, &source, &err), -EIO);
    fstat_fails = false;
    cr_expect(strstr(err.text, path) != NULL, "%s", err.text);
    cr_expect_null(source);
}

Test(source, what_is_no_file_is_named)
{
    struct source *source;
    struct error err = {0};

    cr_expect(source_open("/", &source, &err) < 0 && strstr(err.text, "directory") != NULL);
    cr_expect(source_open("/nowhere/at/all", &source, &err) < 0);
    cr_expect(strstr(err.text, "/nowhere/at/all") != NULL);
    file_write(bytes_of("", 0));
    cr_assert(source_open(path, &source, &err) == 0);
    cr_expect(source_read(source, path, 1, &err) == 0);
    source_close(source);
}

/* source: see source.h. */
#include "ingest/load/source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { SOURCE_INPUT_SIZE = 256 << 10, SOURCE_MAGIC_SIZE = 4 };

struct source {
    int fd;
    uint64_t size; /* 0: not a regular file */
    uint64_t position;
    struct source_decoder *decoder;
    uint8_t *input;
    struct bytes rest;
    bool has_ended;
};

/* The result is 0 at the end of the file, too. */
static int source_fill(struct source *source, struct error *err)
{
    size_t used = source->rest.size;
    ssize_t count;

    if (used > 0)
        memmove(source->input, source->rest.data, used);
    do {
        count = read(source->fd, source->input + used, SOURCE_INPUT_SIZE - used);
    } while (count < 0 && errno == EINTR);
    if (count < 0)
        return error_set(err, -errno, "cannot read: %s", error_text(-errno));
    source->has_ended = count == 0;
    source->position += (uint64_t)count;
    source->rest = bytes_of(source->input, used + (size_t)count);
    return 0;
}

static int source_detect(struct source *source, struct error *err)
{
    static const uint8_t gzip_magic[] = {0x1F, 0x8B};
    static const uint8_t zstd_magic[] = {0x28, 0xB5, 0x2F, 0xFD};

    while (source->rest.size < SOURCE_MAGIC_SIZE && !source->has_ended) {
        int rc = source_fill(source, err);

        if (rc != 0)
            return rc;
    }
    if (source->rest.size >= sizeof gzip_magic &&
        memcmp(source->rest.data, gzip_magic, sizeof gzip_magic) == 0)
        source->decoder = source_gzip_new();
    else if (source->rest.size >= sizeof zstd_magic &&
             memcmp(source->rest.data, zstd_magic, sizeof zstd_magic) == 0)
        source->decoder = source_zstd_new();
    return 0;
}

int source_open(const char *path, struct source **source_out, struct error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct stat status;
    int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

    *source_out = NULL;
    if (fd < 0)
        return error_set(err, -errno, "cannot open %s: %s", path, error_text(-errno));
    if (fstat(fd, &status) != 0) {
        int rc = -errno;

        close(fd);
        return error_set(err, rc, "cannot open %s: %s", path, error_text(rc));
    }
    if (S_ISDIR(status.st_mode)) {
        close(fd);
        return error_set(err, -EISDIR, "cannot open %s: it is a directory", path);
    }
    struct source *source = memory_zeroed(1, sizeof *source);
    source->fd = fd;
    source->size = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    source->input = memory_alloc(SOURCE_INPUT_SIZE);
    source->rest = bytes_of(source->input, 0);
    int rc = source_detect(source, err);
    if (rc != 0) {
        source_close(source);
        return rc;
    }
    *source_out = source;
    return 0;
}

void source_close(struct source *source)
{
    if (source == NULL)
        return;
    if (source->decoder != NULL)
        source->decoder->free(source->decoder);
    close(source->fd);
    memory_free(source->input);
    memory_free(source);
}

static int64_t source_read_plain(struct source *source, void *to, size_t size, struct error *err)
{
    if (source->rest.size == 0 && !source->has_ended) {
        int rc = source_fill(source, err);

        if (rc != 0)
            return rc;
    }
    size_t taken = size < source->rest.size ? size : source->rest.size;
    memcpy(to, source->rest.data, taken);
    source->rest = bytes_of(source->rest.data + taken, source->rest.size - taken);
    return (int64_t)taken;
}

int64_t source_read(struct source *source, void *to, size_t size, struct error *err)
{
    struct source_decoder *decoder = source->decoder;

    if (decoder == NULL)
        return source_read_plain(source, to, size, err);
    for (;;) {
        int64_t made = decoder->decode(decoder, &source->rest, to, size);

        if (made > 0)
            return made;
        if (made < 0)
            return error_set(err, (int)made, "the compressed content is damaged");
        if (source->has_ended && source->rest.size == 0) {
            if (decoder->is_between)
                return 0;
            return error_set(err, ERROR_CORRUPT, "the compressed content is cut off");
        }
        int rc = source_fill(source, err);
        if (rc != 0)
            return rc;
    }
}

double source_fraction(const struct source *source)
{
    uint64_t used = source->position - source->rest.size;

    return source->size == 0 ? -1 : (double)used / (double)source->size;
}

/* load_file: see load_file.h.
 *
 * What must hold: a recorded prefix counts as a beginning of this file only if two things hold.
 * All of its bytes are the same (a 128-bit hash shows this), and it ends at the end of a line of
 * this file.  The second condition is necessary if the last line of the prefix had no line end:
 * that line may be the beginning of a longer line of this file.
 *
 *   recorded   a,,1,b,1          not a beginning of   a,,1,b,15      but of   a,,1,b,1\nc,...
 */
#include "ingest/load/load_file.h"

#include <stdlib.h>

#include "base/memory.h"

enum { READ_SIZE = 256 << 10, PEEK_MAX = 2 * LOAD_LINE_MAX };

static const uint8_t byte_order_mark[] = {0xEF, 0xBB, 0xBF};

static bool begins_with_mark(struct bytes content)
{
    return content.size >= sizeof byte_order_mark &&
           memcmp(content.data, byte_order_mark, sizeof byte_order_mark) == 0;
}

/* ---- content ---- */

static struct bytes content_rest(const struct load_file *file)
{
    return bytes_of(file->content.data + file->content_at, file->content.size - file->content_at);
}

static int content_fill(struct load_file *file, struct error *err)
{
    size_t used = file->content.size - file->content_at;

    if (file->content_at > 0 && used > 0)
        memmove(file->content.data, file->content.data + file->content_at, used);
    file->content_at = 0;
    file->content.size = used;
    buffer_reserve(&file->content, READ_SIZE);
    int64_t count = source_read(file->source, file->content.data + used, READ_SIZE, err);
    if (count < 0) {
        error_wrap(err, "%s", file->path);
        return (int)count;
    }
    file->content.size += (size_t)count;
    file->has_ended = count == 0;
    return 0;
}

static int content_need(struct load_file *file, size_t size, struct error *err)
{
    int rc = 0;

    while (rc == 0 && content_rest(file).size < size && !file->has_ended)
        rc = content_fill(file, err);
    return rc;
}

static void content_consume(struct load_file *file, size_t size)
{
    struct bytes rest = content_rest(file);

    hash128_stream_add(file->hash, rest.data, size);
    file->content_at += size;
    file->bytes += size;
}

static int content_skip_to(struct load_file *file, uint64_t bytes, struct error *err)
{
    while (file->bytes < bytes) {
        int rc = content_need(file, 1, err);
        size_t size = content_rest(file).size;

        if (rc != 0 || size == 0)
            return rc;
        content_consume(file, size < bytes - file->bytes ? size : (size_t)(bytes - file->bytes));
    }
    return 0;
}

int load_file_at_end(struct load_file *file, struct error *err)
{
    int rc = content_need(file, 1, err);

    return rc != 0 ? rc : content_rest(file).size == 0;
}

static int file_begin(struct load_file *file, struct error *err)
{
    source_close(file->source);
    hash128_stream_free(file->hash);
    file->hash = hash128_stream_new();
    file->bytes = 0;
    file->lines = 0;
    file->ends_line = true;
    file->content_at = 0;
    file->has_ended = false;
    buffer_clear(&file->content);
    return source_open(file->path, &file->source, err);
}

void load_file_hash(const struct load_file *file, uint8_t hash_out[16])
{
    struct hash128 hash = hash128_stream_digest(file->hash);

    memcpy(hash_out, &hash, sizeof hash);
}

/* ---- lines ---- */

int load_file_line(struct load_file *file, struct buffer *to, struct error *err)
{
    size_t start = to->size;

    for (bool is_begun = false;; is_begun = true) {
        int rc = content_need(file, 1, err);
        struct bytes rest = content_rest(file);

        if (rc != 0 || (rest.size == 0 && !is_begun))
            return rc;
        const uint8_t *end = rest.size == 0 ? NULL : memchr(rest.data, '\n', rest.size);
        size_t size = end == NULL ? rest.size : (size_t)(end - rest.data);
        size_t room = LOAD_LINE_MAX - (to->size - start);

        buffer_append(to, rest.data, size < room ? size : room);
        content_consume(file, size + (end != NULL));
        if (end != NULL || rest.size == 0) {
            buffer_put_u8(to, '\n');
            file->ends_line = end != NULL;
            return 1;
        }
    }
}

/* ---- the beginning ---- */

/* The line at offset *at of the content read so far, without its line end; *at is set to the next
 * line. */
static struct bytes peek_line(const struct load_file *file, size_t *at)
{
    struct bytes rest = bytes_of(file->content.data + *at, file->content.size - *at);
    const uint8_t *end = rest.size == 0 ? NULL : memchr(rest.data, '\n', rest.size);
    size_t size = end == NULL ? rest.size : (size_t)(end - rest.data);

    *at += size + (end != NULL);
    struct bytes line = row_builder_without_cr(bytes_of(rest.data, size));
    return bytes_of(line.data, line.size < LOAD_LINE_MAX ? line.size : LOAD_LINE_MAX);
}

static void file_set_key(struct load_file *file, const char *identity, struct bytes header,
                         struct bytes record)
{
    struct hash128_stream *stream = hash128_stream_new();
    const char *kind = file->is_stdin ? "producer" : identity != NULL ? "as" : "file";

    hash128_stream_add(stream, kind, strlen(kind) + 1);
    if (identity != NULL)
        hash128_stream_add(stream, identity, strlen(identity) + 1);
    if (!file->is_stdin) {
        hash128_stream_add(stream, header.data, header.size);
        hash128_stream_add(stream, "\n", 1);
        hash128_stream_add(stream, record.data, record.size);
    }
    struct hash128 hash = hash128_stream_digest(stream);
    hash128_stream_free(stream);
    memcpy(file->key, &hash, sizeof hash);
}

static bool has_two_lines(const struct load_file *file)
{
    size_t at = 0;

    (void)peek_line(file, &at);
    (void)peek_line(file, &at);
    return at > 0 && at <= file->content.size && file->content.data[at - 1] == '\n' &&
           memchr(file->content.data, '\n', at - 1) != NULL;
}

int load_file_open(struct load_file *file, const char *path, const char *identity,
                   const struct line_columns *columns, struct error *err)
{
    struct bytes header = bytes_of("", 0);
    size_t at = 0;

    *file = (struct load_file){.path = path, .is_stdin = strcmp(path, "-") == 0};
    int rc = file_begin(file, err);
    while (rc == 0 && !file->has_ended && file->content.size < PEEK_MAX && !has_two_lines(file))
        rc = content_fill(file, err);
    if (rc != 0)
        return rc;
    if (begins_with_mark(content_rest(file)))
        at = sizeof byte_order_mark;
    if (at == file->content.size)
        return 0;
    struct bytes record = peek_line(file, &at);
    if (line_parser_is_header(record, columns)) {
        header = record;
        buffer_append_bytes(&file->header, header);
        buffer_put_u8(&file->header, '\n');
        if (at == file->content.size)
            return 0;
        record = peek_line(file, &at);
    }
    file_set_key(file, identity, header, record);
    return 1;
}

void load_file_close(struct load_file *file)
{
    source_close(file->source);
    buffer_release(&file->header);
    buffer_release(&file->content);
    memory_free(file->prefixes);
    hash128_stream_free(file->hash);
    *file = (struct load_file){0};
}

/* ---- prefixes ---- */

void load_file_add_prefix(struct load_file *file, const struct load_prefix *prefix)
{
    for (uint32_t i = 0; i < file->prefix_count; i++) {
        struct load_prefix *known = &file->prefixes[i];

        if (memcmp(known->producer, prefix->producer, UUID_SIZE) == 0) {
            if (known->batch < prefix->batch)
                *known = *prefix;
            return;
        }
    }
    file->prefixes = memory_make_room(file->prefixes, file->prefix_count, &file->prefix_capacity,
                                      sizeof *file->prefixes);
    file->prefixes[file->prefix_count++] = *prefix;
}

static int prefix_compare(const void *a, const void *b)
{
    const struct load_prefix *first = a;
    const struct load_prefix *second = b;

    return first->bytes < second->bytes ? -1 : first->bytes > second->bytes;
}

/* Consume bytes up to the end of `prefix`.  Returns 1 if all consumed bytes equal the prefix and
 * end a line, 0 if not, or an error. */
static int prefix_matches(struct load_file *file, const struct load_prefix *prefix,
                          struct error *err)
{
    uint8_t hash[16];
    int rc = content_skip_to(file, prefix->bytes, err);

    if (rc != 0)
        return rc;
    load_file_hash(file, hash);
    if (file->bytes != prefix->bytes || memcmp(hash, prefix->hash, sizeof hash) != 0)
        return 0;
    if (prefix->ends_line)
        return 1;
    rc = content_need(file, 2, err);
    if (rc != 0)
        return rc;
    struct bytes rest = content_rest(file);
    return rest.size == 0 || rest.data[0] == '\n' ||
           (rest.size > 1 && rest.data[0] == '\r' && rest.data[1] == '\n');
}

/* Consume the line end that the last line of `prefix` lacked, if there is one now. */
static void prefix_take(struct load_file *file, const struct load_prefix *prefix)
{
    struct bytes rest = content_rest(file);

    file->lines = prefix->lines;
    file->ends_line = prefix->ends_line;
    if (prefix->ends_line || rest.size == 0)
        return;
    content_consume(file, rest.data[0] == '\n' ? 1 : 2);
    file->ends_line = true;
}

static int file_skip_header(struct load_file *file, struct error *err)
{
    struct buffer header = {0};
    int rc = content_need(file, sizeof byte_order_mark, err);

    if (rc != 0)
        return rc;
    if (begins_with_mark(content_rest(file)))
        content_consume(file, sizeof byte_order_mark);
    if (file->header.size > 0)
        rc = load_file_line(file, &header, err);
    buffer_release(&header);
    return rc < 0 ? rc : 0;
}

int load_file_match(struct load_file *file, const struct load_prefix **prefix_out,
                    struct error *err)
{
    const struct load_prefix *longest = NULL;
    uint32_t first = 0;
    int rc;

    *prefix_out = NULL;
    if (file->prefix_count == 0)
        return file_skip_header(file, err);
    qsort(file->prefixes, file->prefix_count, sizeof *file->prefixes, prefix_compare);
    if (file->is_stdin)
        first = file->prefix_count - 1;
    for (uint32_t i = first; i < file->prefix_count; i++) {
        rc = prefix_matches(file, &file->prefixes[i], err);
        if (rc < 0)
            return rc;
        if (rc == 1)
            longest = &file->prefixes[i];
    }
    if (file->is_stdin && longest == NULL)
        return error_set(err, ERROR_CONFLICT,
                         "standard input does not begin with what this producer sent before");
    if (!file->is_stdin) {
        rc = file_begin(file, err);
        if (rc != 0)
            return rc;
        if (longest == NULL)
            return file_skip_header(file, err);
        rc = prefix_matches(file, longest, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            return error_set(err, ERROR_CONFLICT, "%s changes while it is read", file->path);
    }
    prefix_take(file, longest);
    *prefix_out = longest;
    return 0;
}

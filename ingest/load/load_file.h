/* load_file: reads the lines of a file that is being loaded, and finds out how much of it was
 * loaded before.
 *
 * Offsets count bytes of the uncompressed content. */
#ifndef DAYBOOK_INGEST_LOAD_LOAD_FILE_H
#define DAYBOOK_INGEST_LOAD_LOAD_FILE_H

#include "base/hash128.h"
#include "base/uuid.h"
#include "ingest/load/source.h"
#include "ingest/parse/line_parser.h"

/* Longer lines are cut to this size before they are sent; the server still refuses them as too
 * long. */
enum { LOAD_LINE_MAX = RECORD_LINE_MAX + 2 };

struct load_prefix {
    uint8_t producer[UUID_SIZE];
    uint64_t batch;
    uint64_t bytes;
    uint8_t hash[16];
    uint64_t lines;
    bool ends_line;
};

struct load_file {
    const char *path;
    bool is_stdin;
    uint64_t bytes;                    /* bytes consumed */
    uint64_t lines;                    /* records consumed, without the header */
    bool ends_line;                    /* the last consumed byte ends a line, or none is consumed */
    struct buffer header;              /* with its LF; empty: none */
    uint8_t key[16];                   /* hash of the identity, if any, the header and the first
                                        * record; of standard input: of the identity */
    struct load_prefix *prefixes;
    uint32_t prefix_count, prefix_capacity;
    struct source *source;
    /* private */
    struct buffer content;
    size_t content_at;
    bool has_ended;
    struct hash128_stream *hash;
};

/* Open `path` and read its beginning, without consuming it.  1: the file has a record, and header
 * and key are set; 0: it has no record; negative: an error.  `identity` is the option --as, or
 * --producer for standard input, or NULL. */
must_check int load_file_open(struct load_file *file, const char *path, const char *identity,
                              const struct line_columns *columns, struct error *err);
void load_file_close(struct load_file *file);

/* Add a beginning that the server has recorded.  If one producer has several, only the one with the
 * latest batch is kept. */
void load_file_add_prefix(struct load_file *file, const struct load_prefix *prefix);

/* Consume the longest recorded beginning that the content begins with.  If there is none,
 * *prefix_out is NULL, and only the header is consumed.  Standard input, which cannot be read
 * twice, must begin with its longest recorded beginning, or the result is an error. */
must_check int load_file_match(struct load_file *file, const struct load_prefix **prefix_out,
                               struct error *err);

/* Consume a line and append it to `to`, cut to LOAD_LINE_MAX bytes, with an LF.  1: a line; 0: the
 * end of the file; negative: an error. */
must_check int load_file_line(struct load_file *file, struct buffer *to, struct error *err);
must_check int load_file_at_end(struct load_file *file, struct error *err);

void load_file_hash(const struct load_file *file, uint8_t hash_out[16]);
#endif

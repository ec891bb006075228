/* load_file: the content of a file that is being loaded: its lines, its hash, what is known of it.
 *
 * Offsets count bytes of the uncompressed content.  The hash is over all that was consumed. */
#ifndef DAYBOOK_INGEST_LOAD_LOAD_FILE_H
#define DAYBOOK_INGEST_LOAD_LOAD_FILE_H

#include "base/hash128.h"
#include "base/uuid.h"
#include "ingest/load/source.h"
#include "ingest/parse/line_parser.h"

enum { LOAD_LINE_MAX = RECORD_LINE_MAX + 2 };      /* sent of a line: enough to be refused */

/* A recorded beginning: what `file` of the protocol says. */
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
    uint64_t bytes;                    /* consumed */
    uint64_t lines;                    /* records consumed, the header not among them */
    bool ends_line;                    /* what was consumed ends with a line end, or is empty */
    struct buffer header;              /* with its LF; empty: there is none */
    uint8_t key[16];
    struct load_prefix *prefixes;
    uint32_t prefix_count, prefix_capacity;
    /* private */
    struct source *source;
    struct buffer content;             /* read, from content_at on not yet consumed */
    size_t content_at;
    bool has_ended;
    struct hash128_stream *hash;
};

/* Open `path` and look at its beginning.  1: it has a record, header and key are known; 0: it has
 * none; negative: an error.  Nothing is consumed.  `identity` (may be NULL) makes the key another:
 * --as, or --producer for standard input, whose content is no part of its key. */
must_check int load_file_open(struct load_file *file, const char *path, const char *identity,
                              const struct line_columns *columns, struct error *err);
void load_file_close(struct load_file *file);

/* Of two of one producer the one with the later batch stays. */
void load_file_add_prefix(struct load_file *file, const struct load_prefix *prefix);

/* Consume the longest prefix that the content begins with, or only the header.  *prefix_out is NULL
 * when there is none (for standard input, which cannot be read twice, an error when one is known).
 */
must_check int load_file_match(struct load_file *file, const struct load_prefix **prefix_out,
                               struct error *err);

/* Consume a line and append it to `to`, an LF at its end, cut to LOAD_LINE_MAX bytes.  1: a line,
 * 0: the end, negative: an error. */
must_check int load_file_line(struct load_file *file, struct buffer *to, struct error *err);
must_check int load_file_at_end(struct load_file *file, struct error *err);    /* 1: yes, 0: no */

void load_file_hash(const struct load_file *file, uint8_t hash_out[16]);
double load_file_fraction(const struct load_file *file);       /* read so far; negative: unknown */
#endif

/* control_line: splits control lines, which begin with '#', into words, and reads the words.
 *
 *     #producer UUID EPOCH [new]      #batch SEQUENCE LINES      #stream [NAME]    #sync
 *     #columns      #files KEY      #file KEY BYTES HASH LINES lf|cut      #notes
 *
 * Words are separated by one space.  All functions may be called on any thread. */
#ifndef DAYBOOK_INGEST_PARSE_CONTROL_LINE_H
#define DAYBOOK_INGEST_PARSE_CONTROL_LINE_H

#include "base/bytes.h"

enum control_kind {
    CONTROL_UNKNOWN,
    CONTROL_PRODUCER,
    CONTROL_BATCH,
    CONTROL_STREAM,
    CONTROL_SYNC,
    CONTROL_FILE,
    CONTROL_FILES,
    CONTROL_COLUMNS,
    CONTROL_NOTES
};

enum { CONTROL_WORDS_MAX = 8, CONTROL_LINE_MAX = 1024 };

struct control_words {
    struct bytes words[CONTROL_WORDS_MAX];
    uint32_t count;                    /* if it is CONTROL_WORDS_MAX, the line may have more */
};

/* The kind that the first word names; CONTROL_UNKNOWN for more than CONTROL_LINE_MAX bytes.  In all
 * functions `line` is without its line end. */
enum control_kind control_line_kind(struct bytes line);
void control_line_split(struct bytes line, struct control_words *words_out);

/* Whether `line` is a control line that does not change the stream.  The meaning of later rows
 * depends on the stream. */
bool control_line_keeps_stream(struct bytes line);
bool control_line_opens_batch(struct bytes line, uint64_t *sequence_out, uint64_t *lines_out);
bool control_line_batch(const struct control_words *words, uint64_t *sequence_out,
                        uint64_t *lines_out);

bool control_line_is_word(struct bytes word, const char *text);
/* Read a decimal number without sign or leading zeros, which must fit a bigint. */
bool control_line_number(struct bytes word, uint64_t *number_out);
/* Read 16 bytes that are written as 32 hexadecimal digits in lower case. */
bool control_line_hash(struct bytes word, uint8_t hash_out[16]);
#endif

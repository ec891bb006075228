/* delimiter_index: finds the positions of the commas and line ends in a piece of text.
 *
 * One implementation uses AVX2.  The portable one reads eight bytes at a time, with the same
 * result. */
#ifndef DAYBOOK_INGEST_PARSE_DELIMITER_INDEX_H
#define DAYBOOK_INGEST_PARSE_DELIMITER_INDEX_H

#include <stddef.h>
#include <stdint.h>

enum {
    DELIMITER_PADDING = 64,            /* bytes that must be readable after the text */
    DELIMITER_EXTRA = 64               /* entries that may be written past the last position */
};

/* Write the ascending positions of ',' and LF within `text` to `positions`, an array of `size` +
 * DELIMITER_EXTRA entries; returns the number of positions. */
typedef size_t (*delimiter_index)(const uint8_t *text, size_t size, uint32_t *positions);

delimiter_index delimiter_index_best(void);
size_t delimiter_index_portable(const uint8_t *text, size_t size, uint32_t *positions);
#endif

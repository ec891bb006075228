/* delimiter_index: where the commas and line ends of a piece of text are.
 *
 * The first step of parsing: with the positions known, a line's fields are five subtractions and no
 * byte is looked at twice.  AVX2 where the processor has it, else eight bytes at a time in general
 * registers; both give the same positions. */
#ifndef DAYBOOK_INGEST_PARSE_DELIMITER_INDEX_H
#define DAYBOOK_INGEST_PARSE_DELIMITER_INDEX_H

#include <stddef.h>
#include <stdint.h>

enum {
    DELIMITER_PADDING = 64,            /* bytes that must be readable after the text */
    DELIMITER_EXTRA = 64               /* positions written past the last one */
};

/* Write the ascending positions of ',' and LF within `text` to `positions` (room for `size` +
 * DELIMITER_EXTRA of them); returns how many there are. */
typedef size_t (*delimiter_index)(const uint8_t *text, size_t size, uint32_t *positions);

/* The fastest one that this processor can run. */
delimiter_index delimiter_index_best(void);
size_t delimiter_index_portable(const uint8_t *text, size_t size, uint32_t *positions);
#endif

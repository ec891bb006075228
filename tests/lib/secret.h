/* secret: bytes that a test gives to a program, and where in its memory they can still be found.
 *
 * All that the test itself does with them happens in `secret`, whose pages the search passes over:
 * it passes them on without another copy, and they stand in no file of the test. */
#ifndef DAYBOOK_TESTS_SECRET_H
#define DAYBOOK_TESTS_SECRET_H

#include "base/buffer.h"

enum { SECRET_SIZE = 24, SECRET_ROOM = 4096, SECRET_WINDOW = 1 << 20 };

struct secret {
    char text[SECRET_SIZE];                /* "dkryfmtahovcjqxelszgnubi" */
    struct buffer body, sent;              /* to build what is sent; SECRET_ROOM bytes each */
    /* private */
    uint8_t rooms[2][SECRET_ROOM];
    uint8_t window[SECRET_WINDOW];
};

struct secret *secret_new(void);
void secret_free(struct secret *secret);
/* How often it lies in memory that this process can write to, freed memory and the stacks of
 * threads included. */
uint32_t secret_count(struct secret *secret);
#endif

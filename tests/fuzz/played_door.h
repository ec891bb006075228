/* played_door: the HTTP door, played by a fuzzer: a request goes to the route of its path, and what
 * is answered must be sound; a body of JSON must be JSON.
 *
 * It defines the functions of door/http_door.h that handlers call, in the place of the door, as
 * there is nothing to listen to. */
#ifndef DAYBOOK_TESTS_FUZZ_PLAYED_DOOR_H
#define DAYBOOK_TESTS_FUZZ_PLAYED_DOOR_H

#include "door/http_door.h"

struct played_exchange {
    struct http_exchange exchange;     /* the first member */
    struct buffer head;
    struct buffer answer;              /* the body */
    uint16_t status;                   /* 0: not yet answered */
};

/* Hand the request over.  `head` is without Content-Length, which is added, and without its empty
 * line.  False: it is none that the door serves, or no route takes it, and nothing happened.
 * `body` must stay until the answer; played_door_end releases the rest. */
bool played_door_ask(struct played_exchange *played, struct bytes head, struct bytes body);
/* The exchange must have been answered. */
void played_door_end(struct played_exchange *played);
#endif

/* memory_parts: lists the parts of the memory that --memory limits, for `status` and for
 * metrics. */
#ifndef DAYBOOK_QUERY_MEMORY_PARTS_H
#define DAYBOOK_QUERY_MEMORY_PARTS_H

#include "storage/engine/engine.h"

enum { MEMORY_PARTS = 5 + MEMORY_HOLDERS };

struct memory_part {
    const char *name;                  /* "cql_requests", for programs */
    const char *what;                  /* "CQL requests", for people */
    uint64_t bytes;
};

void memory_parts(const struct engine_status *engine, struct memory_part parts_out[MEMORY_PARTS]);
/* Returns the `what` of the part with this name, or NULL if there is no such part. */
const char *memory_parts_what(struct bytes name);
#endif

/* memory_parts: see the header. */
#include "query/memory_parts.h"

void memory_parts(const struct engine_status *engine, struct memory_part parts_out[MEMORY_PARTS])
{
    static const struct memory_part holders[MEMORY_HOLDERS] = {
        [MEMORY_HELD_DAYS] = {"days", "days to work off", 0},
        [MEMORY_HELD_PRODUCERS] = {"producers", "producers", 0},
        [MEMORY_HELD_STRINGS] = {"strings", "connections' strings", 0},
        [MEMORY_HELD_INPUT] = {"input", "batches and lines that have come in part", 0},
        [MEMORY_HELD_INGEST_ANSWERS] = {"ingest_answers", "answers to senders", 0},
        [MEMORY_HELD_STATEMENTS] = {"statements", "prepared statements", 0},
        [MEMORY_HELD_REQUESTS] = {"cql_requests", "CQL requests", 0},
        [MEMORY_HELD_ANSWERS] = {"cql_answers", "CQL answers", 0},
        [MEMORY_HELD_FIGURES] = {"figures", "reports' figures", 0},
        [MEMORY_HELD_COMMANDS] = {"commands", "commands, with answers that wait to be read", 0}};
    struct memory_part *part = parts_out;
    *part++ = (struct memory_part){"rows", "clicks and rows that are not in segments",
                                   engine->memory_bytes};
    *part++ = (struct memory_part){"ready", "memory ready for the next clicks and rows",
                                   engine->memory_ready_bytes};
    *part++ =
        (struct memory_part){"segments", "segments' directories", engine->memory_segments_bytes};
    *part++ = (struct memory_part){"sums", "days' sums", engine->memory_sums_bytes};
    *part++ = (struct memory_part){"readers", "what readers of segments left for the next",
                                   engine->memory_readers_bytes};
    for (uint32_t i = 0; i < MEMORY_HOLDERS; i++) {
        *part = holders[i];
        part++->bytes = engine->held.bytes[i];
    }
}

const char *memory_parts_what(struct bytes name)
{
    const struct engine_status none = {0};
    struct memory_part parts[MEMORY_PARTS];

    memory_parts(&none, parts);
    for (uint32_t i = 0; i < MEMORY_PARTS; i++)
        if (bytes_equal(name, bytes_text(parts[i].name)))
            return parts[i].what;
    return NULL;
}

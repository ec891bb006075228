/* metrics_page: see the header. */
#include "query/metrics_page.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/world/descriptors.h"
#include "query/memory_parts.h"
#include "rollup/streams/streams.h"

enum { LABEL_SIZE = 64 };

/* A value of UINT64_MAX means that the value is not known. */
static void set(struct metrics *metrics, const char *name, uint64_t value, const char *help)
{
    metrics_add(metrics, METRIC_GAUGE, name, "", help)->value =
        value < UINT64_MAX ? (int64_t)value : METRIC_UNKNOWN;
}

static void set_engine(struct metrics *metrics, const struct engine_status *engine)
{
    struct memory_part parts[MEMORY_PARTS];
    char label[LABEL_SIZE];
    memory_parts(engine, parts);
    for (uint32_t i = 0; i < MEMORY_PARTS; i++) {
        (void)snprintf(label, sizeof label, "holder=\"%s\"", parts[i].name);
        metrics_add(metrics, METRIC_GAUGE, "daybook_memory_bytes", label,
                    "Memory that --memory limits, by what it is for.")
            ->value = (int64_t)parts[i].bytes;
    }
    set(metrics, "daybook_log_bytes", engine->log_bytes, "Files of the log, with spare ones.");
    set(metrics, "daybook_log_unflushed_bytes", engine->log_unflushed_bytes,
        "Log whose rows are not in segments: a restart replays it.");
    set(metrics, "daybook_segments", engine->segments, "Segments in use.");
}

static void set_disk(struct metrics *metrics, struct store *store)
{
    struct engine_examination disk;
    engine_examine(store, &disk);
    set(metrics, "daybook_disk_free_bytes", disk.disk_free_bytes,
        "Room on the disk that the server may write.");
    set(metrics, "daybook_disk_wanted_bytes", disk.disk_wanted_bytes,
        "What the server will write next: log files, and memory to segments.");
    set(metrics, "daybook_files_unlinked", disk.unlinked,
        "Files in use that were removed from the directory.");
}

static void set_process(struct metrics *metrics, const char *version)
{
    char label[LABEL_SIZE];
    (void)snprintf(label, sizeof label, "version=\"%s\"", version);
    metrics_add(metrics, METRIC_GAUGE, "daybook_build_info", label, "1; the version is a label.")
        ->value = 1;
    set(metrics, "process_resident_memory_bytes", memory_resident(), "Resident memory.");
    set(metrics, "process_open_fds", descriptors_open_count(), "File descriptors in use.");
    set(metrics, "process_max_fds", descriptors_look().limit, "How many there may be.");
}

static void count_unpriced(const struct streams *streams)
{
    struct rollup *rollup;
    for (uint32_t i = 0; (rollup = streams_at(streams, i)) != NULL; i++)
        rollup_count_unpriced(rollup);
}

void metrics_page_write(const struct query *query, struct buffer *text)
{
    struct engine_status engine;
    engine_status(query->store, &engine);
    set_process(query->metrics, query->version);
    set_engine(query->metrics, &engine);
    set_disk(query->metrics, query->store);
    count_unpriced(query->streams);
    set(query->metrics, "daybook_clock_in_doubt", store_clock(query->store).is_in_doubt,
        "1 while nothing is published, sealed or expired because the clock is not believed.");
    metrics_write(query->metrics, text);
}

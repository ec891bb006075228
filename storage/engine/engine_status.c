#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "storage/engine/engine_private.h"
#include "storage/manifest/manifest_probe.h"

void engine_status(struct store *store, struct engine_status *status_out)
{
    const struct engine *engine = engine_of(store);
    *status_out = (struct engine_status){
        .frame_flushed = engine->runs.frame_flushed,
        .log_bytes = commit_log_disk_bytes(engine->sequencer.log),
        .log_unflushed_bytes = commit_log_unflushed_bytes(engine->sequencer.log),
        .memory_bytes = memtable_set_bytes(&engine->memtables),
        .memory_ready_bytes = arena_supply_bytes(engine->memtables.supply),
        .memory_segments_bytes = engine->runs.bytes,
        .memory_sums_bytes = run_set_index_bytes(&engine->runs),
        .memory_readers_bytes = reader_pool_bytes(engine->runs.readers),
        .held = engine->account.held,
        .memtables_frozen = engine->memtables.frozen_count,
        .segments = engine->runs.count,
        .failed_reads = engine->env.world->disk->failed_reads,
    };
}

struct table_list {
    struct engine_table_status *tables;
    uint32_t count;
};

static struct engine_table_status *table_entry(struct table_list *list, uint32_t table_id)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->tables[i].table_id == table_id)
            return &list->tables[i];
    list->tables = memory_resize(list->tables, (list->count + 1) * sizeof *list->tables);
    list->tables[list->count] =
        (struct engine_table_status){.table_id = table_id, .newest_us = INT64_MIN};
    return &list->tables[list->count++];
}

struct engine_table_status *engine_table_status(struct store *store, uint32_t *count_out)
{
    struct engine *engine = engine_of(store);
    struct table_list list = {0};
    for (uint32_t i = 0; i < engine->runs.count; i++) {
        const struct segment_info *info = segment_info(engine->runs.segments[i]);
        struct engine_table_status *entry = table_entry(&list, info->table_id);
        entry->segments++;
        entry->segment_bytes += info->size;
        entry->segment_rows += info->rows;
        if (info->timestamp_max_us > entry->newest_us)
            entry->newest_us = info->timestamp_max_us;
    }
    for (uint32_t i = 0; i <= engine->memtables.frozen_count; i++) {
        const struct memtable *memtable = memtable_set_at(&engine->memtables, i);
        for (uint32_t c = 0; c < memtable->columnar_count; c++)
            table_entry(&list, memtable->columnar[c].table_id)->memory_rows +=
                columnar_memtable_row_count(memtable->columnar[c].rows);
    }
    *count_out = list.count;
    return list.tables;
}

/* ---- files ---- */

static void count_unlinked(struct engine *engine, struct engine_examination *examination)
{
    examination->unlinked = commit_log_unlinked(engine->sequencer.log, examination->unlinked_path);
    for (uint32_t i = 0; i < engine->runs.count; i++) {
        if (segment_is_linked(engine->runs.segments[i]))
            continue;
        examination->unlinked++;
        segment_path(segment_info(engine->runs.segments[i])->id, examination->unlinked_path);
    }
    if (!manifest_is_linked(engine->runs.manifest)) {
        examination->unlinked++;
        memcpy(examination->unlinked_path, MANIFEST_PATH, sizeof(MANIFEST_PATH));
    }
}

void engine_examine(struct store *store, struct engine_examination *examination_out)
{
    struct engine *engine = engine_of(store);
    struct disk *disk = engine->env.world->disk;
    *examination_out = (struct engine_examination){
        .disk_free_bytes = disk->free_bytes(disk),
        .disk_wanted_bytes = commit_log_status(engine->sequencer.log)->next_bytes +
                             memtable_set_bytes(&engine->memtables)};
    count_unlinked(engine, examination_out);
}

/* ---- the dump ---- */

static void dump_memtable(const struct memtable *memtable, const char *state, struct buffer *text)
{
    buffer_printf(text, "  %s memtable: frames from %" PRIu64, state, memtable->frame_first);
    if (memtable->is_frozen)
        buffer_printf(text, " to %" PRIu64, memtable->frame_last);
    buffer_printf(text, ", %" PRIu64 " clicks, %zu bytes\n", memtable->columnar_rows,
                  arena_used(memtable->arena));
}

static void dump_segment(const struct segment_info *info, struct buffer *text)
{
    char path[64];
    segment_path(info->id, path);
    buffer_printf(text,
                  "  %s: table %" PRIu32 ", %s, frames %" PRIu64 " to %" PRIu64 ", %" PRIu64
                  " rows, %" PRIu64 " bytes\n",
                  path, info->table_id, info->kind == SEGMENT_COLUMNAR ? "wide" : "narrow",
                  info->frame_first, info->frame_last, info->rows, info->size);
}

static void dump_work(const struct engine *engine, struct buffer *text)
{
    const struct maintenance *maintenance = &engine->maintenance;
    if (maintenance->flush != NULL)
        buffer_append_text(text, "  a flush is under way\n");
    for (uint32_t i = 0; i < SEGMENT_KINDS; i++)
        if (maintenance->compactions[i] != NULL)
            buffer_printf(text, "  a merge of %s is under way\n",
                          SEGMENT_COLUMNAR + i == SEGMENT_COLUMNAR ? "clicks" : "other rows");
    if (engine->sequencer.lock.first != NULL)
        buffer_append_text(text, "  a writer has the write lock\n");
    if (engine->shortage.waiting.shortage != STORE_SHORT_OF_NOTHING)
        buffer_printf(text, "  waits: %s\n",
                      store_shortage_name(engine->shortage.waiting.shortage));
    if (engine->env.failed != 0)
        buffer_printf(text, "  has failed: %s\n", engine->env.failure.text);
}

void engine_dump(const struct store *store, struct buffer *text)
{
    const struct engine *engine = (const struct engine *)store;
    buffer_printf(text, "engine\n  open frame %" PRIu64 ": %zu bytes\n", engine->sequencer.frame,
                  engine->sequencer.payload.size);
    dump_work(engine, text);
    dump_memtable(engine->memtables.open, "open", text);
    for (uint32_t i = 0; i < engine->memtables.frozen_count; i++)
        dump_memtable(engine->memtables.frozen[i], "frozen", text);
    for (uint32_t i = 0; i < engine->runs.count; i++)
        dump_segment(segment_info(engine->runs.segments[i]), text);
    commit_log_dump(engine->sequencer.log, text);
}

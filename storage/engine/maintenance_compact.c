/* Merges runs of one table and kind, in the background.
 *
 * A merge of row runs and a merge of columnar runs, which may take minutes, may be under way at the
 * same time.  A table has only one merge at a time, because a columnar merge also reads the table's
 * row runs.
 *
 * Merges that engine_compact requested begin before all others.  The `done` of engine_compact waits
 * for them, and for merges that were under way when they were requested.
 *
 * Purges.  The ranks of purged clicks may be given again only to clicks that come after the purge
 * is published.  So at the end of the merge, memtables and all other runs are searched for clicks
 * of the purged partitions.  If one is found, the purge is disturbed, and its outputs are
 * discarded.  From that search until the manifest names the outputs, no click is accepted.
 *
 * A disturbed purge is tried again when engine_compact is called, or an hour later, but not before
 * the disturbing clicks are in segments.
 *
 * Nothing is purged while the log is kept for restores, because a replay over a state from before
 * the purge would give clicks other ranks.  The manifest counts each purge.  The first frame after
 * a purge has the count, so that this frame is never replayed over segments without the purge.
 *
 * A tombstone of a table whose clients give timestamps may hide a later write with an earlier time.
 * A merge drops such a tombstone only if the merge includes the newest run, and the tombstone is
 * older than a minute and older than all writes in memtables.  If a write with an older timestamp
 * arrives during the merge, the outputs are discarded.
 *
 * A run with an unreadable page is left out of merges until it is replaced or the directory is
 * opened again.  No run may lie between merged runs, so the runs before and behind it are merged
 * separately. */
#include <string.h>

#include "base/memory.h"
#include "storage/engine/maintenance_merge.h"

enum {
    CLOCKS_DIFFER_US = 60000000, /* younger tombstones stay */
    PURGES_FIRST = 4
};

#define PURGE_AGAIN_US (INT64_C(3600) * 1000000) /* until a disturbed purge is retried */

/* A purge was tried for all days before `day`, with the overwrites up to `frame`. */
struct purge_tried {
    uint32_t table_id;
    uint64_t frame;
    int32_t day;
    bool was_disturbed;   /* the table's last merge was disturbed: its next one purges only if the
                           * plan chose a purge */
    int64_t again_us;     /* monotonic: when days from `again_day` on may be retried; 0: no purge
                           * was disturbed */
    uint64_t again_frame; /* the days are not retried before this frame is in segments */
    int32_t again_day;
};

/* ---- the end of a merge ---- */

static void list_release(struct segment_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        segment_unref(list->segments[i]);
    memory_free(list->segments);
}

static void release_run(struct job *job)
{
    struct compact_job *compact = (struct compact_job *)job;
    list_release(&compact->inputs);
    list_release(&compact->beside);
    list_release(&compact->overwrites);
    run_change_release(&compact->change);
}

static struct compact_job **place_of(struct maintenance *maintenance, enum segment_kind kind)
{
    return &maintenance->compactions[kind - SEGMENT_COLUMNAR];
}

static enum executor_lane lane_of(enum segment_kind kind)
{
    return kind == SEGMENT_COLUMNAR ? LANE_MERGE : LANE_MERGE_BESIDE;
}

static void release_done(struct job *job)
{
    struct compact_job *compact = (struct compact_job *)job;
    struct maintenance *maintenance = compact->maintenance;
    *place_of(maintenance, compact->kind) = NULL;
    partition_index_free(compact->purged);
    schema_unref(compact->schema);
    memory_free(compact);
    maintenance_start_compaction(maintenance);
    engine_env_job_done(maintenance->env);
}

/* A job on the merge's lane releases the runs, because closing a large file that was removed takes
 * about ten milliseconds. */
static void compact_end(struct compact_job *compact)
{
    world_submit(compact->maintenance->env->world, lane_of(compact->kind), &compact->job,
                 release_run, release_done);
}

static bool purged_all(const struct compact_job *compact,
                       bool (*each)(const struct compact_job *compact, int64_t token,
                                    struct bytes key))
{
    struct partition_index_entry entry = {.token = INT64_MIN};
    if (compact->purged == NULL)
        return true;
    for (bool after = false;
         partition_index_seek(compact->purged, entry.token, entry.key, after, &entry);
         after = true) {
        if (!each(compact, entry.token, entry.key))
            return false;
    }
    return true;
}

static bool has_purged(const struct compact_job *compact)
{
    return compact->purged != NULL && partition_index_count(compact->purged) > 0;
}

/* ---- which purges were tried ---- */

static void purges_shrink(struct maintenance *maintenance)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < maintenance->purge_count; i++)
        if (schema_table(maintenance->memtables->schema, maintenance->purges[i].table_id) != NULL)
            maintenance->purges[kept++] = maintenance->purges[i];
    maintenance->purge_count = kept;
}

static uint32_t purge_place(const struct maintenance *maintenance, uint32_t table_id)
{
    uint32_t low = 0;
    uint32_t high = maintenance->purge_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (maintenance->purges[middle].table_id < table_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The result is valid until the next call for another table. */
static struct purge_tried *purge_tried_of(struct maintenance *maintenance, uint32_t table_id)
{
    uint32_t place = purge_place(maintenance, table_id);
    if (place < maintenance->purge_count && maintenance->purges[place].table_id == table_id)
        return &maintenance->purges[place];
    if (maintenance->purge_count == maintenance->purge_count_max) {
        purges_shrink(maintenance);
        maintenance->purge_count_max = 2 * maintenance->purge_count + PURGES_FIRST;
        maintenance->purges = memory_resize(maintenance->purges, maintenance->purge_count_max *
                                                                     sizeof(struct purge_tried));
        place = purge_place(maintenance, table_id);
    }
    struct purge_tried *added = &maintenance->purges[place];
    memmove(added + 1, added, (maintenance->purge_count++ - place) * sizeof *added);
    *added = (struct purge_tried){.table_id = table_id};
    return added;
}

static void note_tried(struct purge_tried *tried, const struct compact_job *compact)
{
    if (compact->purge_frame > tried->frame)
        tried->frame = compact->purge_frame;
    tried->day = compact->day + 1;
}

/* A purge that dropped runs unread is not noted, because other runs of the day may still have
 * deleted rows. */
static void note_published(const struct compact_job *compact)
{
    if (compact->purges && !compact->drops_whole)
        note_tried(purge_tried_of(compact->maintenance, compact->table->id), compact);
}

static void note_disturbed(const struct compact_job *compact)
{
    struct maintenance *maintenance = compact->maintenance;
    struct purge_tried *tried = purge_tried_of(maintenance, compact->table->id);
    tried->was_disturbed = true;
    if (!compact->purges)
        return;
    if (tried->again_us == 0 || compact->day < tried->again_day)
        tried->again_day = compact->day;
    tried->again_us = world_monotonic_us(maintenance->env->world) + PURGE_AGAIN_US;
    tried->again_frame = sequencer_applied_frame(maintenance->sequencer);
    note_tried(tried, compact);
}

/* Allow a disturbed purge again if the table has no merge under way, again_frame is in segments and
 * again_us has come.  If only again_us has not come yet, *again_us is lowered to it. */
static void purge_renew(const struct maintenance *maintenance, struct purge_tried *tried,
                        int64_t *again_us)
{
    const struct world *world = maintenance->env->world;
    if (tried->again_us == 0 || maintenance_is_merging(maintenance, tried->table_id) ||
        !maintenance_is_flushed(maintenance, tried->again_frame))
        return;
    int64_t left_us = tried->again_us - world_monotonic_us(world);
    int64_t at_us = world_wall_us(world) + left_us;
    if (left_us > 0) {
        *again_us = at_us < *again_us ? at_us : *again_us;
        return;
    }
    tried->day = tried->again_day < tried->day ? tried->again_day : tried->day;
    tried->again_us = 0;
}

/* ---- swapping ---- */

static bool reindex(const struct compact_job *compact, int64_t token, struct bytes key)
{
    run_set_index_partition(compact->maintenance->runs, compact->table->id, token, key);
    return true;
}

static void compact_swap(struct compact_job *compact)
{
    struct maintenance *maintenance = compact->maintenance;
    run_change_apply(&compact->change);
    if (has_purged(compact)) {
        purged_all(compact, reindex);
        partition_versions_end(&maintenance->sequencer->versions);
    }
    /* The log must have the purge's number before it gets a batch that may depend on the purge. */
    if (compact->purge != 0) {
        maintenance->runs->purges = compact->purge;
        commit_log_note_purges(maintenance->sequencer->log, compact->purge);
    }
    if (maintenance->metric_compactions != NULL)
        maintenance->metric_compactions->value++;
}

/* ---- publishing ---- */

static void publish_run(struct job *job)
{
    struct compact_job *compact = (struct compact_job *)job;
    const struct manifest_edit edit = {.purges = compact->purge};
    for (uint32_t i = 0; i < compact->inputs.count; i++)
        run_change_remove(&compact->change, compact->inputs.segments[i]);
    for (uint32_t i = 0; has_purged(compact) && i < compact->overwrites.count; i++)
        run_change_remove(&compact->change, compact->overwrites.segments[i]);
    compact->status = run_change_publish(&compact->change, edit, &compact->err);
}

static void log_purged(const struct compact_job *compact)
{
    uint64_t before = 0, after = 0;
    if (!compact->maintenance->clock->is_watched || !has_purged(compact))
        return;
    for (uint32_t i = 0; i < compact->inputs.count; i++)
        before += segment_info(compact->inputs.segments[i])->rows;
    for (uint32_t i = 0; i < compact->change.added_count; i++)
        after += compact->change.infos[i].rows;
    log_event(LOG_NOTICE, "deleted_rows_purged", log_text("keyspace", compact->table->keyspace),
              log_text("table", compact->table->name),
              log_number("rows", (int64_t)(before - after)),
              log_number("segments_removed", compact->inputs.count));
}

static void publish_done(struct job *job)
{
    struct compact_job *compact = (struct compact_job *)job;
    struct maintenance *maintenance = compact->maintenance;
    if (has_purged(compact))
        maintenance->sequencer->refuses_clicks = false;
    maintenance->purges_under_way -= compact->purge != 0;
    if (compact->status == 0) {
        maintenance_job_succeeded(maintenance, MAINTENANCE_MERGE);
        log_purged(compact);
        note_published(compact);
        compact_swap(compact);
    } else {
        /* After an error that is not temporary, it is unknown which files the manifest names. */
        if (error_is_passing(compact->status))
            run_change_discard(&compact->change);
        maintenance_job_failed(maintenance, MAINTENANCE_MERGE, compact->status, &compact->err);
    }
    sequencer_drain(maintenance->sequencer);
    compact_end(compact);
}

/* ---- between merge and publication ---- */

static bool is_input(const struct compact_job *compact, const struct segment *segment)
{
    for (uint32_t i = 0; i < compact->inputs.count; i++)
        if (compact->inputs.segments[i] == segment)
            return true;
    return false;
}

static bool is_untouched(const struct compact_job *compact, int64_t token, struct bytes key)
{
    const struct maintenance *maintenance = compact->maintenance;
    const struct memtable_set *memtables = maintenance->memtables;
    uint32_t table_id = compact->table->id;
    struct columnar_memtable *columnar;
    for (uint32_t i = 0; i < maintenance->runs->count; i++) {
        struct segment *segment = maintenance->runs->segments[i];
        if (segment_is(segment, table_id, SEGMENT_COLUMNAR) && !is_input(compact, segment) &&
            segment_has(segment, token, key))
            return false;
    }
    for (uint32_t i = 0; i <= memtables->frozen_count; i++)
        if (memtable_find(memtable_set_at(memtables, i), table_id, key, &columnar) != UINT32_MAX)
            return false;
    return true;
}

/* Whether clients may give timestamps to writes of the table. */
static bool has_client_times(const struct table *table)
{
    return !table_is_builtin(table) && (table->flags & TABLE_HIDDEN) == 0;
}

static int64_t tombstones_before(struct maintenance *maintenance, const struct table *table)
{
    int64_t before_us = engine_clock_past_us(maintenance->clock) - CLOCKS_DIFFER_US;
    if (!has_client_times(table))
        return INT64_MAX;
    for (uint32_t i = 0; i <= maintenance->memtables->frozen_count; i++) {
        const struct memtable *memtable = memtable_set_at(maintenance->memtables, i);
        before_us = memtable->oldest_us < before_us ? memtable->oldest_us : before_us;
    }
    return before_us;
}

/* Whether this merge may change the result of a later write. */
static bool is_purge(const struct compact_job *compact)
{
    return has_purged(compact) || (compact->has_dropped && compact->clients_give_times);
}

/* Whether the outputs must be discarded because of a write that arrived during the merge, or
 * because the log is kept for restores by now. */
static bool is_disturbed(const struct compact_job *compact)
{
    const struct maintenance *maintenance = compact->maintenance;
    if (is_purge(compact) && commit_log_is_kept(maintenance->sequencer->log))
        return true;
    return !purged_all(compact, is_untouched) ||
           (compact->has_dropped && compact->clients_give_times &&
            maintenance->memtables->oldest_us < compact->drops_before_us);
}

static uint32_t count_failed_reads(const struct segment_list *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++)
        count += segment_has_failed_read(list->segments[i]);
    return count;
}

/* Whether an unreadable page ended the merge: more runs have one than at the start.  This is wrong,
 * at most once for each run, if another error ended the merge while a reader found such a page. */
static bool is_failed_read(const struct compact_job *compact)
{
    return !error_is_passing(compact->status) && count_failed_reads(&compact->inputs) +
                                                         count_failed_reads(&compact->beside) +
                                                         count_failed_reads(&compact->overwrites) >
                                                     compact->unread;
}

static void merge_failed(struct compact_job *compact)
{
    struct maintenance *maintenance = compact->maintenance;
    if (compact->status == ERROR_CLOSED || compact->status == ERROR_CONFLICT)
        return;
    if (!is_failed_read(compact)) {
        maintenance_job_failed(maintenance, MAINTENANCE_MERGE, compact->status, &compact->err);
        return;
    }
    maintenance_log_failure(maintenance, MAINTENANCE_MERGE, &compact->err,
                            "the segments stay as they are; daybook verify names the damage");
    if (compact->is_awaited)
        callbacks_call(&maintenance->compact_waiters, compact->status, &compact->err);
}

static void merge_done(struct job *job)
{
    struct compact_job *compact = (struct compact_job *)job;
    struct maintenance *maintenance = compact->maintenance;
    if (compact->status == 0 && is_disturbed(compact)) {
        compact->status = ERROR_CONFLICT;
        note_disturbed(compact);
    }
    if (compact->status == 0) {
        maintenance->sequencer->refuses_clicks |= has_purged(compact);
        if (is_purge(compact)) {
            compact->purge = ++maintenance->purges_begun;
            maintenance->purges_under_way++;
        }
        world_submit(maintenance->env->world, LANE_BACKGROUND, &compact->job, publish_run,
                     publish_done);
        return;
    }
    run_change_discard(&compact->change);
    merge_failed(compact);
    compact_end(compact);
}

/* ---- choosing ---- */

static uint64_t list_size(const struct segment_list *list)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < list->count; i++)
        size += segment_info(list->segments[i])->size;
    return size;
}

struct group {
    uint32_t start;
    uint32_t end;
};

static struct group group_at(const struct maintenance *maintenance, uint32_t start)
{
    struct group group = {start, start};
    while (group.end < maintenance->runs->count) {
        const struct segment_info *first = segment_info(maintenance->runs->segments[start]);
        const struct segment_info *info = segment_info(maintenance->runs->segments[group.end]);
        if (info->table_id != first->table_id || info->kind != first->kind)
            break;
        group.end++;
    }
    return group;
}

/* The next part of the group whose runs are all readable; false: there is none. */
static bool part_next(const struct maintenance *maintenance, struct group group, struct group *part)
{
    part->start = part->end;
    while (part->start < group.end &&
           segment_has_failed_read(maintenance->runs->segments[part->start]))
        part->start++;
    part->end = part->start;
    while (part->end < group.end &&
           !segment_has_failed_read(maintenance->runs->segments[part->end]))
        part->end++;
    return part->start < part->end;
}

static struct group overwrites_of(const struct maintenance *maintenance, struct group columnar)
{
    struct group none = {columnar.end, columnar.end};
    const struct segment_info *first = segment_info(maintenance->runs->segments[columnar.start]);
    if (first->kind != SEGMENT_COLUMNAR || columnar.end == maintenance->runs->count ||
        segment_info(maintenance->runs->segments[columnar.end])->table_id != first->table_id) {
        return none;
    }
    return group_at(maintenance, columnar.end);
}

static struct compact_run *runs_of(const struct maintenance *maintenance, struct group group,
                                   bool with_days)
{
    static const struct segment_days none = {0};
    struct compact_run *runs = memory_alloc((group.end - group.start) * sizeof *runs);
    for (uint32_t i = group.start; i < group.end; i++) {
        runs[i - group.start] =
            (struct compact_run){segment_info(maintenance->runs->segments[i]),
                                 with_days ? segment_days(maintenance->runs->segments[i]) : &none};
    }
    return runs;
}

struct need {
    struct group group;
    struct group part;
    struct group overwrites;
    struct compact_choice choice;
    bool is_asked;
};

static void fill_lists(struct compact_job *compact, const struct need *need)
{
    struct maintenance *maintenance = compact->maintenance;
    const struct compact_choice *choice = &need->choice;
    uint32_t next = 0;
    for (uint32_t i = need->group.start; i < need->group.end; i++) {
        if (next < choice->count && need->part.start + choice->runs[next] == i) {
            maintenance_merge_list_add(&compact->inputs,
                                       segment_ref(maintenance->runs->segments[i]));
            next++;
        } else if (compact->kind == SEGMENT_COLUMNAR) {
            maintenance_merge_list_add(&compact->beside,
                                       segment_ref(maintenance->runs->segments[i]));
        }
    }
    for (uint32_t i = need->overwrites.start; i < need->overwrites.end; i++)
        maintenance_merge_list_add(&compact->overwrites,
                                   segment_ref(maintenance->runs->segments[i]));
}

/* A merge of row runs from the oldest on may drop tombstones, but not in an event table.  Where
 * clients give timestamps, the merge must also end with the newest run, the log must not be kept
 * for restores, and the table's last merge must not have been disturbed. */
static bool drops_tombstones(const struct compact_job *compact, const struct need *need)
{
    struct maintenance *maintenance = compact->maintenance;
    const struct compact_choice *choice = &need->choice;
    if (compact->kind != SEGMENT_ROW || need->part.start + choice->runs[0] != need->group.start ||
        (compact->table->flags & TABLE_OF_EVENTS) != 0) {
        return false;
    }
    return !has_client_times(compact->table) ||
           (need->part.start + choice->runs[choice->count - 1] == need->group.end - 1 &&
            !commit_log_is_kept(maintenance->sequencer->log) &&
            !purge_tried_of(maintenance, compact->table->id)->was_disturbed);
}

static bool may_purge(const struct maintenance *maintenance, struct group overwrites)
{
    const struct segment_list list = {&maintenance->runs->segments[overwrites.start],
                                      overwrites.end - overwrites.start};
    return !commit_log_is_kept(maintenance->sequencer->log) && count_failed_reads(&list) == 0;
}

static void compact_submit(struct maintenance *maintenance, const struct need *need)
{
    const struct segment_info *first = segment_info(maintenance->runs->segments[need->group.start]);
    const struct compact_choice *choice = &need->choice;
    struct purge_tried *tried = purge_tried_of(maintenance, first->table_id);
    struct compact_job *compact = memory_zeroed(1, sizeof(*compact));
    compact->maintenance = maintenance;
    compact->change.runs = maintenance->runs;
    compact->schema = schema_ref(maintenance->memtables->schema);
    compact->table = schema_table(compact->schema, first->table_id);
    compact->kind = first->kind;
    compact->splits = choice->splits;
    compact->purges = choice->purges;
    compact->purge_frame = choice->purge_frame;
    compact->day = choice->day;
    compact->is_awaited = need->is_asked;
    compact->now_s = engine_clock_past_us(maintenance->clock) / 1000000;
    fill_lists(compact, need);
    compact->drops_tombstones = drops_tombstones(compact, need);
    compact->drops_before_us = tombstones_before(maintenance, compact->table);
    compact->clients_give_times = has_client_times(compact->table);
    if (compact->kind == SEGMENT_ROW)
        maintenance->memtables->oldest_us = INT64_MAX;
    bool is_worth = list_size(&compact->overwrites) <= list_size(&compact->inputs);
    compact->may_purge =
        choice->purges ||
        (!tried->was_disturbed && may_purge(maintenance, need->overwrites) &&
         (maintenance->compact_waiters.count > 0 || (choice->day != DAY_NONE && is_worth)));
    compact->unread = count_failed_reads(&compact->beside) +
                      (compact->may_purge ? 0 : count_failed_reads(&compact->overwrites));
    tried->was_disturbed = false;
    *place_of(maintenance, compact->kind) = compact;
    engine_env_submit(maintenance->env, lane_of(compact->kind), &compact->job,
                      maintenance_merge_run, merge_done);
}

/* `asked_until` is as in compact_facts. */
static bool part_plan(struct maintenance *maintenance, struct need *need, uint64_t asked_until,
                      int64_t *again_us)
{
    const struct segment_info *first = segment_info(maintenance->runs->segments[need->group.start]);
    struct purge_tried *tried = purge_tried_of(maintenance, first->table_id);
    bool is_columnar = first->kind == SEGMENT_COLUMNAR;
    bool purges = is_columnar && may_purge(maintenance, need->overwrites);
    purge_renew(maintenance, tried, again_us);
    struct compact_run *runs = runs_of(maintenance, need->part, is_columnar);
    struct compact_run *beside = runs_of(maintenance, need->overwrites, true);
    const struct compact_facts facts = {
        .runs = runs,
        .run_count = need->part.end - need->part.start,
        .overwrites = beside,
        .overwrite_count = purges ? need->overwrites.end - need->overwrites.start : 0,
        .asked_until = asked_until,
        .day_rows_min = maintenance->env->options.day_rows_min,
        .tier_bytes = maintenance->env->options.tier_bytes,
        .now_us = world_wall_us(maintenance->env->world),
        .purge_frame = tried->frame,
        .purge_day = tried->day};
    bool found = compact_plan(&facts, &need->choice);
    memory_free(runs);
    memory_free(beside);
    if (need->choice.again_us < *again_us)
        *again_us = need->choice.again_us;
    return found;
}

static bool group_plan(struct maintenance *maintenance, struct group group, uint64_t asked_until,
                       struct need *need_out, int64_t *again_us)
{
    *need_out = (struct need){.group = group,
                              .part = {group.start, group.start},
                              .overwrites = overwrites_of(maintenance, group),
                              .is_asked = asked_until > 0};
    while (part_next(maintenance, group, &need_out->part))
        if (part_plan(maintenance, need_out, asked_until, again_us))
            return true;
    return false;
}

static struct group table_at(const struct maintenance *maintenance, uint32_t start)
{
    struct group first = group_at(maintenance, start);
    return (struct group){start, overwrites_of(maintenance, first).end};
}

/* True: a merge was begun, or a requested merge has yet to begin. */
static bool table_compact(struct maintenance *maintenance, struct group table, uint64_t asked_until,
                          int64_t *again_us)
{
    uint32_t table_id = segment_info(maintenance->runs->segments[table.start])->table_id;
    bool needs = false;
    if (schema_table(maintenance->memtables->schema, table_id) == NULL)
        return false;
    for (uint32_t start = table.start; start < table.end;) {
        struct group group = group_at(maintenance, start);
        struct need need;
        enum segment_kind kind = segment_info(maintenance->runs->segments[start])->kind;
        bool may_begin =
            *place_of(maintenance, kind) == NULL && !maintenance_is_merging(maintenance, table_id);
        if ((may_begin || asked_until > 0) &&
            group_plan(maintenance, group, asked_until, &need, again_us)) {
            needs = true;
            if (may_begin)
                compact_submit(maintenance, &need);
        }
        start = group.end;
    }
    return needs;
}

/* A table with a requested merge gets no other merge, because that would delay the requested one.
 * True: a requested merge is under way, or has yet to begin. */
static bool tables_compact(struct maintenance *maintenance, int64_t *again_us)
{
    uint64_t asked_until = maintenance->compact_waiters.count > 0 ? maintenance->compact_until : 0;
    bool *is_asked =
        memory_zeroed(maintenance->runs->count + 1, sizeof *is_asked); /* by the table's start */
    bool is_awaited = false;
    struct group table;
    for (uint32_t at = 0; asked_until > 0 && at < maintenance->runs->count; at = table.end) {
        table = table_at(maintenance, at);
        is_asked[at] = table_compact(maintenance, table, asked_until, again_us);
        is_awaited |= is_asked[at];
    }
    for (uint32_t at = 0; at < maintenance->runs->count; at = table.end) {
        table = table_at(maintenance, at);
        if (!is_asked[at])
            table_compact(maintenance, table, 0, again_us);
    }
    memory_free(is_asked);
    for (uint32_t i = 0; i < SEGMENT_KINDS; i++)
        is_awaited |=
            maintenance->compactions[i] != NULL && maintenance->compactions[i]->is_awaited;
    return is_awaited;
}

static void compact_timer_fire(struct timer *timer)
{
    maintenance_start_compaction(timer->context);
}

void maintenance_start_compaction(struct maintenance *maintenance)
{
    int64_t again_us = INT64_MAX;
    if (maintenance->env->is_closing) {
        struct error err;
        error_set(&err, ERROR_CLOSED, "the store is closing");
        callbacks_call(&maintenance->compact_waiters, ERROR_CLOSED, &err);
        return;
    }
    if (maintenance->env->failed != 0 || maintenance->env->options.read_only ||
        maintenance_is_waiting_for_space(maintenance))
        return;
    world_timer_stop(maintenance->env->world, &maintenance->compact_timer);
    bool is_awaited = tables_compact(maintenance, &again_us);
    if (again_us != INT64_MAX) {
        int64_t delay_us = again_us - world_wall_us(maintenance->env->world);
        world_timer_start(maintenance->env->world, &maintenance->compact_timer, compact_timer_fire,
                          maintenance, delay_us / 1000 + 1);
    }
    if (!is_awaited)
        callbacks_call(&maintenance->compact_waiters, 0, NULL);
}

static void compact_flushed(void *context, int status, const struct error *err)
{
    struct maintenance *maintenance = context;
    if (status != 0) {
        callbacks_call(&maintenance->compact_requests, status, err);
        return;
    }
    maintenance->compact_until = maintenance->runs->frame_flushed;
    for (uint32_t i = 0; i < maintenance->purge_count; i++)
        if (maintenance->purges[i].again_us != 0)
            maintenance->purges[i].again_us = world_monotonic_us(maintenance->env->world);
    for (uint32_t i = 0; i < SEGMENT_KINDS; i++)
        if (maintenance->compactions[i] != NULL)
            maintenance->compactions[i]->is_awaited = true;
    callbacks_move(&maintenance->compact_requests, &maintenance->compact_waiters);
    maintenance_start_compaction(maintenance);
}

int maintenance_compact(struct maintenance *maintenance, store_done done, void *context,
                        struct error *err)
{
    int rc = engine_env_check_writable(maintenance->env, err);
    if (rc != 0)
        return rc;
    callbacks_add(&maintenance->compact_requests, done, context);
    return maintenance_flush(maintenance, compact_flushed, maintenance, err);
}

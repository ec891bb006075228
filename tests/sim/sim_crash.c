/* sim_crash: what a loss of power leaves of a simulated disk.
 *
 * A crash takes the durable names, applies each unsynced change or not, and does the same with the
 * unsynced writes of every file that still has a name; a write can also reach the disk in parts.
 * Two ways of choosing:
 *
 * - from a seed: every sector of a torn write by a throw of its own;
 * - by number: all that matters, one after the other.  The number is taken apart into a digit for
 *   each change (kept or dropped) and one for each write (its fate, see write_fates).  So crash n
 *   of a disk is the same crash however often it is asked for, and no two of them have the same
 *   fates, though they may leave the same bytes: sim_disk_hash tells.
 *
 * Example: a frame of one 4 KiB block is being written and nothing else is under way.  It can be
 * there, not be there, lack any one of its 8 sectors, have only one, or only the first few. */
#include <stdlib.h>
#include <string.h>

#include "base/hash64.h"
#include "tests/sim/sim_disk_private.h"
#include "tests/sim/sim_random.h"

enum {
    SECTOR_SMALL = 512,
    SECTOR_LARGE = 4096,
    CUTS_MAX = 8 /* places in a write where it is torn, spread over it evenly */
};

/* ---- how a write can be torn ---- */

enum tear_kind { TEAR_AFTER, TEAR_WITHOUT, TEAR_ONLY, TEAR_KINDS };

/* Of the sectors of a write: the first ones up to one, all but one, one alone. */
struct tear {
    enum tear_kind kind;
    uint64_t sector_size;
    uint64_t sector; /* counted from the write's first */
    bool is_longer;  /* the file has its new size, with zeros where nothing came */
};

static uint64_t sector_count(const struct pending_write *write, uint64_t sector_size)
{
    uint64_t end = write->offset + write->data.size;
    return (end + sector_size - 1) / sector_size - write->offset / sector_size;
}

static bool tear_keeps(const struct tear *tear, uint64_t sector)
{
    switch (tear->kind) {
    case TEAR_AFTER:
        return sector < tear->sector;
    case TEAR_WITHOUT:
        return sector != tear->sector;
    case TEAR_ONLY:
    case TEAR_KINDS:
        break;
    }
    return sector == tear->sector;
}

/* Sectors are those of the file, not of the write, so the first and last may be cut short. */
static void tear_apply(struct sim_content *content, const struct pending_write *write,
                       const struct tear *tear)
{
    uint64_t end = write->offset + write->data.size;
    uint64_t number = 0;
    if (tear->is_longer && content->size < end)
        sim_content_resize(content, end);
    for (uint64_t at = write->offset; at < end; number++) {
        uint64_t next = (at / tear->sector_size + 1) * tear->sector_size;
        next = next < end ? next : end;
        if (tear_keeps(tear, number))
            sim_content_put(content, at,
                            bytes_of(write->data.data + (at - write->offset), next - at));
        at = next;
    }
}

static uint64_t cut_count(const struct pending_write *write, uint64_t sector_size)
{
    uint64_t sectors = sector_count(write, sector_size);
    return sectors == 1 ? 0 : sectors < CUTS_MAX ? sectors : CUTS_MAX;
}

/* ---- fates by number ---- */

static bool is_lengthening(const struct node *node, const struct pending_write *write)
{
    return write->offset + write->data.size > node->durable.size;
}

/* 0: dropped; 1: kept; then torn in small sectors, then in large ones; all of these again with the
 * file's size ahead of its bytes, where it grows. */
static uint64_t write_fates(const struct node *node, const struct pending_write *write)
{
    uint64_t cuts = cut_count(write, SECTOR_SMALL) + cut_count(write, SECTOR_LARGE);
    uint64_t tears = cuts * TEAR_KINDS;
    return 2 + (is_lengthening(node, write) ? 2 * tears : tears);
}

static void write_apply(struct sim_content *content, const struct pending_write *write,
                        uint64_t fate)
{
    if (fate == 1)
        sim_content_put(content, write->offset, buffer_view(&write->data));
    if (fate < 2)
        return;
    uint64_t small = cut_count(write, SECTOR_SMALL);
    uint64_t cuts = small + cut_count(write, SECTOR_LARGE);
    uint64_t number = (fate - 2) % (cuts * TEAR_KINDS);
    uint64_t cut = number / TEAR_KINDS;
    struct tear tear = {.kind = (enum tear_kind)(number % TEAR_KINDS),
                        .sector_size = cut < small ? SECTOR_SMALL : SECTOR_LARGE,
                        .is_longer = fate - 2 >= cuts * TEAR_KINDS};
    if (cut >= small)
        cut -= small;
    tear.sector = cut * sector_count(write, tear.sector_size) / cut_count(write, tear.sector_size);
    tear_apply(content, write, &tear);
}

static uint64_t times_capped(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

uint64_t sim_disk_crash_count(const struct sim_disk *disk)
{
    uint64_t count = 1;
    for (size_t i = 0; i < disk->change_count; i++)
        count = times_capped(count, 2);
    for (const struct node *node = disk->nodes; node != NULL; node = node->next)
        for (size_t i = 0; i < node->pending_count; i++)
            count = times_capped(count, write_fates(node, &node->pending[i]));
    return count;
}

/* ---- fates from a seed ---- */

static void crash_tear(struct sim_content *content, const struct pending_write *write,
                       uint64_t sector, struct sim_random *random)
{
    uint64_t end = write->offset + write->data.size;
    uint64_t old_size = content->size;
    for (uint64_t at = write->offset; at < end;) {
        uint64_t next = (at / sector + 1) * sector;
        next = next < end ? next : end;
        struct bytes part = bytes_of(write->data.data + (at - write->offset), (size_t)(next - at));
        if (sim_random_chance(random, 50))
            sim_content_put(content, at, part);
        else if (next > old_size && content->size < next && sim_random_chance(random, 50))
            sim_content_resize(content, next);
        at = next;
    }
}

static void crash_content(const struct node *node, struct sim_content *content, uint64_t sector,
                          struct sim_random *random)
{
    sim_content_copy(content, &node->durable);
    for (size_t i = 0; i < node->pending_count; i++) {
        const struct pending_write *write = &node->pending[i];
        uint64_t fate = sim_random_below(random, 3);
        if (fate == 0)
            sim_content_put(content, write->offset, buffer_view(&write->data));
        else if (fate == 1)
            crash_tear(content, write, sector, random);
    }
}

/* ---- the disk that is left ---- */

static int name_compare(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->path, ((const struct name *)b)->path);
}

/* An empty disk for the files of `names`, which are then in a fixed order: what is drawn for a file
 * depends on those drawn before. */
static struct sim_disk *disk_after(const struct sim_disk *old, struct name_table *names)
{
    struct sim_disk *sim = sim_disk_new();
    sim->space = old->space;
    name_table_drop_orphans(names);
    if (names->count > 0)
        qsort(names->names, names->count, sizeof *names->names, name_compare);
    return sim;
}

/* Put a file or directory on it; what it holds is moved out of `content`. */
static void disk_put(struct sim_disk *sim, const struct name *name, struct sim_content *content)
{
    struct node *node = sim_disk_node_new(sim, name->node->is_directory);
    sim_content_copy(&node->current, content);
    node->durable = *content;
    name_assign(&sim->durable, name->path, node);
    name_assign(&sim->current, name->path, node);
}

struct sim_disk *sim_disk_crash(const struct sim_disk *old, uint64_t seed)
{
    struct sim_random random = {.state = seed};
    struct name_table names = {0};
    name_table_copy(&names, &old->durable);
    for (size_t i = 0; i < old->change_count; i++)
        if (sim_random_chance(&random, 50))
            name_change_apply(&names, &old->changes[i]);
    struct sim_disk *sim = disk_after(old, &names);
    uint64_t sector = sim_random_chance(&random, 50) ? SECTOR_SMALL : SECTOR_LARGE;
    for (size_t i = 0; i < names.count; i++) {
        struct sim_content content = {0};
        crash_content(names.names[i].node, &content, sector, &random);
        disk_put(sim, &names.names[i], &content);
    }
    name_table_release(&names);
    return sim;
}

/* What is left of a file; `number` is what remains of the crash's behind the changes, from which
 * the nodes take their digits in the order of the disk's list. */
static void numbered_content(const struct sim_disk *old, const struct node *wanted, uint64_t number,
                             struct sim_content *content)
{
    sim_content_copy(content, &wanted->durable);
    for (const struct node *node = old->nodes; node != NULL; node = node->next) {
        for (size_t i = 0; i < node->pending_count; i++) {
            const struct pending_write *write = &node->pending[i];
            uint64_t fates = write_fates(node, write);
            if (node == wanted)
                write_apply(content, write, number % fates);
            number /= fates;
        }
        if (node == wanted)
            return;
    }
}

struct sim_disk *sim_disk_crash_number(const struct sim_disk *old, uint64_t number)
{
    struct name_table names = {0};
    name_table_copy(&names, &old->durable);
    for (size_t i = 0; i < old->change_count; i++, number /= 2)
        if (number % 2 != 0)
            name_change_apply(&names, &old->changes[i]);
    struct sim_disk *sim = disk_after(old, &names);
    for (size_t i = 0; i < names.count; i++) {
        struct sim_content content = {0};
        numbered_content(old, names.names[i].node, number, &content);
        disk_put(sim, &names.names[i], &content);
    }
    name_table_release(&names);
    return sim;
}

struct sim_disk *sim_disk_restart(const struct sim_disk *old)
{
    struct name_table names = {0};
    name_table_copy(&names, &old->current);
    struct sim_disk *sim = disk_after(old, &names);
    for (size_t i = 0; i < names.count; i++) {
        struct sim_content content = {0};
        sim_content_copy(&content, &names.names[i].node->current);
        disk_put(sim, &names.names[i], &content);
    }
    name_table_release(&names);
    return sim;
}

uint64_t sim_disk_hash(const struct sim_disk *disk)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < disk->current.count; i++) {
        const struct name *name = &disk->current.names[i];
        uint64_t path = hash64(name->path, strlen(name->path));
        uint64_t content = sim_content_hash(&name->node->current);
        /* A sum: the order of names says nothing. */
        hash += (path ^ content) * UINT64_C(0xff51afd7ed558ccd) ^ path >> 32;
    }
    return hash;
}

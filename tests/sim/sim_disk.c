/* sim_disk: the calls of a simulated disk, on files as what is on it and what is on its way there.
 *
 * How files and names are kept is in sim_disk_private.h, what a crash does to them in sim_crash.c.
 */
#include "tests/sim/sim_disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tests/sim/sim_disk_private.h"

enum { DIRECT_ALIGNMENT = 4096 };

struct disk_file {
    struct node *node;
    int flags;
    struct disk_file *next; /* of all that are open */
};

static struct sim_disk *sim_of(struct disk *disk)
{
    return (struct sim_disk *)disk;
}

/* Count a call and say with what it fails: 0 for not at all. */
static int sim_disk_enter(struct sim_disk *sim, enum sim_call call)
{
    if (sim->before != NULL)
        sim->before(sim->before_context, call);
    uint64_t number = ++sim->calls[call];
    const struct fault *fault = &sim->faults[call];
    bool fails = fault->at != 0 && (number == fault->at || (fault->for_ever && number > fault->at));
    return fails ? fault->code : 0;
}

/* ---- nodes ---- */

struct node *sim_disk_node_new(struct sim_disk *sim, bool is_directory)
{
    struct node *node = memory_zeroed(1, sizeof *node);
    node->is_directory = is_directory;
    node->next = sim->nodes;
    sim->nodes = node;
    return node;
}

static void node_drop_pending(struct node *node)
{
    for (size_t i = 0; i < node->pending_count; i++)
        buffer_release(&node->pending[i].data);
    node->pending_count = 0;
}

static void node_free(struct node *node)
{
    node_drop_pending(node);
    memory_free(node->pending);
    sim_content_release(&node->durable);
    sim_content_release(&node->current);
    memory_free(node);
}

static void node_write(struct node *node, uint64_t offset, struct bytes data)
{
    node->pending = memory_make_room(node->pending, node->pending_count, &node->pending_capacity,
                                     sizeof *node->pending);
    struct pending_write *write = &node->pending[node->pending_count++];
    *write = (struct pending_write){.offset = offset};
    buffer_append_bytes(&write->data, data);
    sim_content_put(&node->current, offset, data);
}

static void node_sync(struct node *node)
{
    uint32_t kept = 0;
    for (size_t i = 0; i < node->pending_count; i++) {
        struct pending_write *write = &node->pending[i];
        if (write->is_lost) {
            node->pending[kept++] = *write;
            continue;
        }
        sim_content_put(&node->durable, write->offset, buffer_view(&write->data));
        buffer_release(&write->data);
    }
    node->pending_count = kept;
}

/* Make a change in the current table and remember it; `second_path` may be NULL. */
static void sim_disk_change(struct sim_disk *sim, const char *path, struct node *node,
                            const char *second_path, struct node *second_node)
{
    sim->changes = memory_make_room(sim->changes, sim->change_count, &sim->change_capacity,
                                    sizeof *sim->changes);
    struct name_change *change = &sim->changes[sim->change_count++];
    *change = (struct name_change){
        .path = memory_string(path),
        .node = node,
        .second_path = second_path != NULL ? memory_string(second_path) : NULL,
        .second_node = second_node,
    };
    name_change_apply(&sim->current, change);
}

static void mark_table(const struct name_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        table->names[i].node->is_marked = true;
}

static void sim_disk_sweep(struct sim_disk *sim)
{
    for (struct node *node = sim->nodes; node != NULL; node = node->next)
        node->is_marked = node->open_count > 0;
    mark_table(&sim->durable);
    mark_table(&sim->current);
    for (size_t i = 0; i < sim->change_count; i++) {
        if (sim->changes[i].node != NULL)
            sim->changes[i].node->is_marked = true;
        if (sim->changes[i].second_node != NULL)
            sim->changes[i].second_node->is_marked = true;
    }
    struct node **link = &sim->nodes;
    while (*link != NULL) {
        struct node *node = *link;
        if (node->is_marked) {
            link = &node->next;
            continue;
        }
        *link = node->next;
        node_free(node);
    }
}

/* ---- the calls: files ---- */

static int sim_open(struct disk *disk, const char *path, int flags, struct disk_file **file_out,
                    struct error *err)
{
    struct sim_disk *sim = sim_of(disk);
    *file_out = NULL;
    int rc = sim_disk_enter(sim, SIM_OPEN);
    struct node *node = name_node(&sim->current, path);
    bool creates = (flags & DISK_CREATE) != 0;
    if (rc == 0 && creates && node != NULL)
        rc = -EEXIST;
    else if (rc == 0 && ((!creates && node == NULL) || !name_has_parent(&sim->current, path)))
        rc = -ENOENT;
    else if (rc == 0 && node != NULL && node->is_directory)
        rc = -EISDIR;
    if (rc < 0)
        return error_set(err, rc, "open %s: %s", path, error_text(rc));
    if (node == NULL) {
        node = sim_disk_node_new(sim, false);
        sim_disk_change(sim, path, node, NULL, NULL);
    }
    node->open_count++;
    struct disk_file *file = memory_alloc(sizeof *file);
    *file = (struct disk_file){.node = node, .flags = flags, .next = sim->files};
    sim->files = file;
    *file_out = file;
    return 0;
}

static void sim_close(struct disk *disk, struct disk_file *file)
{
    if (file == NULL)
        return;
    struct disk_file **link = &sim_of(disk)->files;
    while (*link != file) {
        check(*link != NULL);
        link = &(*link)->next;
    }
    *link = file->next;
    file->node->open_count--;
    memory_free(file);
}

static void check_alignment(const struct disk_file *file, uint64_t offset, const void *memory,
                            size_t size)
{
    if ((file->flags & DISK_DIRECT) == 0)
        return;
    check(offset % DIRECT_ALIGNMENT == 0);
    check(size % DIRECT_ALIGNMENT == 0);
    check((uintptr_t)memory % DIRECT_ALIGNMENT == 0);
}

/* What the system has of it in memory, which may be damaged. */
static void flip_cached(struct sim_disk *sim, uint8_t *bytes, int64_t size)
{
    if (sim->flip_number == 0 || size <= 0 || --sim->flip_number > 0)
        return;
    uint64_t bit = sim->flip_bit % ((uint64_t)size * 8);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
}

static int64_t sim_read(struct disk *disk, struct disk_file *file, uint64_t offset, void *to,
                        size_t size)
{
    check_alignment(file, offset, to, size);
    int rc = sim_disk_enter(sim_of(disk), SIM_READ);
    if (rc < 0)
        return rc;
    int64_t got = (int64_t)sim_content_read(&file->node->current, offset, to, size);
    flip_cached(sim_of(disk), to, got);
    return got;
}

/* Every other time it would have to wait. */
static int64_t sim_read_now(struct disk *disk, struct disk_file *file, uint64_t offset, void *to,
                            size_t size)
{
    struct sim_disk *sim = sim_of(disk);
    if (sim->reads_now++ % 2 == 0 && !sim->is_cached)
        return -EAGAIN;
    return sim_read(disk, file, offset, to, size);
}

/* -ENOSPC if a file that grows to `size` takes more than there is. */
static int sim_disk_check_space(const struct sim_disk *sim, const struct node *node, uint64_t size)
{
    uint64_t old = node->current.size;
    return size > old && sim_disk_used(sim) + (size - old) > sim->space ? -ENOSPC : 0;
}

static int sim_write(struct disk *disk, struct disk_file *file, uint64_t offset, const void *from,
                     size_t size)
{
    struct sim_disk *sim = sim_of(disk);
    check_alignment(file, offset, from, size);
    int rc = sim_disk_enter(sim, SIM_WRITE);
    if ((file->flags & DISK_WRITE) == 0)
        return -EBADF;
    if (rc == 0)
        rc = sim_disk_check_space(sim, file->node, offset + size);
    else
        node_write(file->node, offset, bytes_of(from, size / 2));
    if (rc == 0)
        node_write(file->node, offset, bytes_of(from, size));
    return rc;
}

static int sim_sync(struct disk *disk, struct disk_file *file)
{
    int rc = sim_disk_enter(sim_of(disk), SIM_SYNC);
    struct node *node = file->node;
    if (rc == 0)
        node_sync(node);
    for (size_t i = 0; i < node->pending_count; i++)
        node->pending[i].is_lost = true;
    return rc;
}

static int sim_allocate(struct disk *disk, struct disk_file *file, uint64_t size)
{
    struct sim_disk *sim = sim_of(disk);
    int rc = sim_disk_enter(sim, SIM_ALLOCATE);
    if ((file->flags & DISK_WRITE) == 0)
        return -EBADF;
    if (rc == 0)
        rc = sim_disk_check_space(sim, file->node, size);
    if (rc < 0)
        return rc;
    struct node *node = file->node;
    node_drop_pending(node);
    sim_content_release(&node->durable);
    sim_content_release(&node->current);
    sim_content_resize(&node->durable, size);
    sim_content_resize(&node->current, size);
    return 0;
}

static int64_t sim_size(struct disk *disk, struct disk_file *file)
{
    int rc = sim_disk_enter(sim_of(disk), SIM_SIZE);
    return rc < 0 ? rc : (int64_t)file->node->current.size;
}

static bool sim_is_linked(struct disk *disk, struct disk_file *file)
{
    const struct name_table *names = &sim_of(disk)->current;
    for (size_t i = 0; i < names->count; i++)
        if (names->names[i].node == file->node)
            return true;
    return false;
}

static uint64_t sim_free_bytes(struct disk *disk)
{
    const struct sim_disk *sim = sim_of(disk);
    uint64_t used = sim_disk_used(sim);
    return sim->space > used ? sim->space - used : 0;
}

/* ---- the calls: names ---- */

static int sim_rename(struct disk *disk, const char *from, const char *to)
{
    struct sim_disk *sim = sim_of(disk);
    int rc = sim_disk_enter(sim, SIM_RENAME);
    struct node *node = name_node(&sim->current, from);
    const struct node *target = name_node(&sim->current, to);
    if (rc < 0)
        return rc;
    if (node == NULL || !name_has_parent(&sim->current, to))
        return -ENOENT;
    check(!node->is_directory);
    if (target != NULL && target->is_directory)
        return -EISDIR;
    if (strcmp(from, to) != 0)
        sim_disk_change(sim, from, NULL, to, node);
    return 0;
}

static int sim_remove(struct disk *disk, const char *path)
{
    struct sim_disk *sim = sim_of(disk);
    int rc = sim_disk_enter(sim, SIM_REMOVE);
    if (rc < 0)
        return rc;
    if (name_node(&sim->current, path) == NULL)
        return -ENOENT;
    for (size_t i = 0; i < sim->current.count; i++)
        if (name_is_child(sim->current.names[i].path, path))
            return -ENOTEMPTY;
    sim_disk_change(sim, path, NULL, NULL, NULL);
    return 0;
}

/* Two disks of a simulation never share a file. */
static int sim_link(struct disk *disk, const char *path, struct disk *to, const char *to_path)
{
    (void)disk;
    (void)path;
    (void)to;
    (void)to_path;
    return -EXDEV;
}

static int sim_make_directory(struct disk *disk, const char *path)
{
    struct sim_disk *sim = sim_of(disk);
    int rc = sim_disk_enter(sim, SIM_MAKE_DIRECTORY);
    if (rc < 0 || name_node(&sim->current, path) != NULL)
        return rc;
    if (!name_has_parent(&sim->current, path))
        return -ENOENT;
    sim_disk_change(sim, path, sim_disk_node_new(sim, true), NULL, NULL);
    return 0;
}

static bool directory_exists(const struct name_table *table, const char *path)
{
    const struct node *node = name_node(table, path);
    return path[0] == '\0' || (node != NULL && node->is_directory);
}

static int sim_sync_directory(struct disk *disk, const char *path)
{
    struct sim_disk *sim = sim_of(disk);
    int rc = sim_disk_enter(sim, SIM_SYNC_DIRECTORY);
    if (rc < 0)
        return rc;
    if (!directory_exists(&sim->current, path))
        return -ENOENT;
    uint32_t kept = 0;
    for (size_t i = 0; i < sim->change_count; i++) {
        struct name_change *change = &sim->changes[i];
        if (name_is_child(change->path, path) ||
            (change->second_path != NULL && name_is_child(change->second_path, path))) {
            name_change_apply(&sim->durable, change);
            name_change_release(change);
        } else {
            sim->changes[kept++] = *change;
        }
    }
    sim->change_count = kept;
    sim_disk_sweep(sim);
    return 0;
}

static int text_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* `each` may change names, so it is given copies. */
static int sim_list(struct disk *disk, const char *path,
                    void (*each)(void *context, const char *name), void *context)
{
    struct sim_disk *sim = sim_of(disk);
    int rc = sim_disk_enter(sim, SIM_LIST);
    if (rc < 0)
        return rc;
    if (!directory_exists(&sim->current, path))
        return -ENOENT;
    char **names = memory_zeroed(sim->current.count, sizeof *names);
    size_t skip = path[0] != '\0' ? strlen(path) + 1 : 0;
    size_t count = 0;
    for (size_t i = 0; i < sim->current.count; i++)
        if (name_is_child(sim->current.names[i].path, path))
            names[count++] = memory_string(sim->current.names[i].path + skip);
    if (count > 0)
        qsort(names, count, sizeof *names, text_compare);
    for (size_t i = 0; i < count; i++) {
        each(context, names[i]);
        memory_free(names[i]);
    }
    memory_free(names);
    return 0;
}

static int sim_lock(struct disk *disk, enum disk_lock kind, struct error *err)
{
    (void)kind;
    struct sim_disk *sim = sim_of(disk);
    if (sim->is_locked)
        return error_set(err, ERROR_BUSY, "the directory is locked");
    sim->is_locked = true;
    return 0;
}

static void sim_unlock(struct disk *disk)
{
    sim_of(disk)->is_locked = false;
}

/* ---- the disk ---- */

struct sim_disk *sim_disk_new(void)
{
    struct sim_disk *sim = memory_zeroed(1, sizeof *sim);
    sim->disk = (struct disk){
        .open = sim_open,
        .close = sim_close,
        .read = sim_read,
        .read_now = sim_read_now,
        .write = sim_write,
        .sync = sim_sync,
        .allocate = sim_allocate,
        .size = sim_size,
        .is_linked = sim_is_linked,
        .free_bytes = sim_free_bytes,
        .rename = sim_rename,
        .remove = sim_remove,
        .link = sim_link,
        .make_directory = sim_make_directory,
        .sync_directory = sim_sync_directory,
        .list = sim_list,
        .lock = sim_lock,
        .unlock = sim_unlock,
    };
    sim->space = UINT64_MAX;
    return sim;
}

void sim_disk_free(struct sim_disk *sim)
{
    if (sim == NULL)
        return;
    while (sim->files != NULL)
        sim_close(&sim->disk, sim->files);
    while (sim->nodes != NULL) {
        struct node *next = sim->nodes->next;
        node_free(sim->nodes);
        sim->nodes = next;
    }
    for (size_t i = 0; i < sim->change_count; i++)
        name_change_release(&sim->changes[i]);
    memory_free(sim->changes);
    name_table_release(&sim->durable);
    name_table_release(&sim->current);
    memory_free(sim);
}

struct disk *sim_disk_interface(struct sim_disk *sim)
{
    return &sim->disk;
}

void sim_disk_fail(struct sim_disk *sim, enum sim_call call, uint64_t number, int code,
                   bool for_ever)
{
    sim->faults[call] = (struct fault){
        .at = code != 0 ? sim->calls[call] + number : 0,
        .code = code,
        .for_ever = for_ever,
    };
}

bool sim_call_keeps(enum sim_call call)
{
    return call == SIM_SYNC || call == SIM_SYNC_DIRECTORY || call == SIM_RENAME ||
           call == SIM_REMOVE;
}

uint64_t sim_disk_calls(const struct sim_disk *sim, enum sim_call call)
{
    return sim->calls[call];
}

void sim_disk_watch(struct sim_disk *sim, void (*before)(void *context, enum sim_call call),
                    void *context)
{
    sim->before = before;
    sim->before_context = context;
}

void sim_disk_set_space(struct sim_disk *sim, uint64_t bytes)
{
    sim->space = bytes;
}

/* What has no name any more counts while it is open. */
uint64_t sim_disk_used(const struct sim_disk *sim)
{
    uint64_t used = 0;
    for (struct node *node = sim->nodes; node != NULL; node = node->next)
        node->is_marked = node->open_count > 0;
    mark_table(&sim->current);
    for (const struct node *node = sim->nodes; node != NULL; node = node->next)
        used += node->is_marked ? node->current.size : 0;
    return used;
}

static void content_flip(struct sim_content *content, uint64_t bit)
{
    uint8_t byte;
    check(sim_content_read(content, bit / 8, &byte, 1) == 1);
    byte ^= (uint8_t)(1 << bit % 8);
    sim_content_put(content, bit / 8, bytes_of(&byte, 1));
}

bool sim_disk_flip_cached(struct sim_disk *sim, uint64_t number, uint64_t bit)
{
    bool was_reached = sim->is_cached && sim->flip_number == 0;
    sim->is_cached = number != 0;
    sim->flip_number = number;
    sim->flip_bit = bit;
    return was_reached;
}

uint64_t sim_disk_reads_now(const struct sim_disk *sim)
{
    return sim->reads_now;
}

void sim_disk_flip_bit(struct sim_disk *sim, const char *path, uint64_t bit)
{
    struct node *node = name_node(&sim->current, path);
    check(node != NULL && bit / 8 < node->current.size);
    content_flip(&node->current, bit);
    if (bit / 8 < node->durable.size)
        content_flip(&node->durable, bit);
}

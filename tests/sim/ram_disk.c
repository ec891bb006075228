/* ram_disk: a list of named buffers behind struct disk.
 *
 * An open file is its entry in the list; rename and remove change the name and keep the entry, as
 * on POSIX an open file stays.  Direct files check what O_DIRECT asks for. */
#include "tests/sim/ram_disk.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/memory.h"

enum { RAM_DISK_ALIGNMENT = 4096 };

struct disk_file {
    char *path; /* NULL: removed */
    struct buffer content;
    bool direct;
    struct disk_file *next;
};

struct ram_disk {
    struct disk disk;
    struct world world;
    struct disk_file *files;
    int calls_left; /* before calls fail; negative: none does */
};

static struct disk_file *ram_find(struct ram_disk *ram, const char *path)
{
    for (struct disk_file *file = ram->files; file != NULL; file = file->next)
        if (file->path != NULL && strcmp(file->path, path) == 0)
            return file;
    return NULL;
}

static bool ram_fails(struct ram_disk *ram)
{
    if (ram->calls_left > 0)
        ram->calls_left--;
    else if (ram->calls_left == 0)
        return true;
    return false;
}

static int ram_open(struct disk *disk, const char *path, int flags, struct disk_file **file_out,
                    struct error *err)
{
    struct ram_disk *ram = (struct ram_disk *)disk;
    struct disk_file *file = ram_find(ram, path);
    if (flags & DISK_CREATE) {
        if (file != NULL)
            return error_set(err, -EEXIST, "%s is there", path);
        if (ram_fails(ram))
            return error_set(err, -EIO, "%s: made to fail", path);
        file = memory_zeroed(1, sizeof *file);
        file->path = memory_string(path);
        file->next = ram->files;
        ram->files = file;
    }
    if (file == NULL)
        return error_set(err, -ENOENT, "%s is not there", path);
    file->direct = (flags & DISK_DIRECT) != 0;
    *file_out = file;
    return 0;
}

static void ram_close(struct disk *disk, struct disk_file *file)
{
    (void)disk;
    (void)file;
}

static int64_t ram_read(struct disk *disk, struct disk_file *file, uint64_t offset, void *to,
                        size_t size)
{
    (void)disk;
    if (offset >= file->content.size)
        return 0;
    size_t left = file->content.size - (size_t)offset;
    size_t got = size < left ? size : left;
    if (got > 0)
        memcpy(to, file->content.data + offset, got);
    return (int64_t)got;
}

static int ram_write(struct disk *disk, struct disk_file *file, uint64_t offset, const void *from,
                     size_t size)
{
    if (ram_fails((struct ram_disk *)disk))
        return -EIO;
    if (file->direct) {
        cr_assert_eq(offset % RAM_DISK_ALIGNMENT, 0);
        cr_assert_eq(size % RAM_DISK_ALIGNMENT, 0);
        cr_assert_eq((uintptr_t)from % RAM_DISK_ALIGNMENT, 0);
    }
    if (offset + size > file->content.size)
        buffer_put_zeros(&file->content, (size_t)(offset + size - file->content.size));
    memcpy(file->content.data + offset, from, size);
    return 0;
}

static int ram_sync(struct disk *disk, struct disk_file *file)
{
    (void)file;
    return ram_fails((struct ram_disk *)disk) ? -EIO : 0;
}

static int64_t ram_size(struct disk *disk, struct disk_file *file)
{
    (void)disk;
    return (int64_t)file->content.size;
}

static int ram_remove(struct disk *disk, const char *path)
{
    struct ram_disk *ram = (struct ram_disk *)disk;
    struct disk_file *file = ram_find(ram, path);
    if (file == NULL)
        return -ENOENT;
    if (ram_fails(ram))
        return -EIO;
    memory_free(file->path);
    file->path = NULL;
    return 0;
}

static int ram_rename(struct disk *disk, const char *from, const char *to)
{
    struct ram_disk *ram = (struct ram_disk *)disk;
    struct disk_file *file = ram_find(ram, from);
    if (file == NULL)
        return -ENOENT;
    if (ram_fails(ram))
        return -EIO;
    struct disk_file *replaced = ram_find(ram, to);
    if (replaced != NULL) {
        memory_free(replaced->path);
        replaced->path = NULL;
    }
    memory_free(file->path);
    file->path = memory_string(to);
    return 0;
}

static int ram_sync_directory(struct disk *disk, const char *path)
{
    (void)path;
    return ram_fails((struct ram_disk *)disk) ? -EIO : 0;
}

struct ram_disk *ram_disk_new(void)
{
    struct ram_disk *ram = memory_zeroed(1, sizeof *ram);
    ram->calls_left = -1;
    ram->world.disk = &ram->disk;
    ram->disk.open = ram_open;
    ram->disk.close = ram_close;
    ram->disk.read = ram_read;
    ram->disk.read_now = ram_read;
    ram->disk.write = ram_write;
    ram->disk.sync = ram_sync;
    ram->disk.size = ram_size;
    ram->disk.rename = ram_rename;
    ram->disk.remove = ram_remove;
    ram->disk.sync_directory = ram_sync_directory;
    return ram;
}

void ram_disk_free(struct ram_disk *ram)
{
    while (ram->files != NULL) {
        struct disk_file *file = ram->files;
        ram->files = file->next;
        memory_free(file->path);
        buffer_release(&file->content);
        memory_free(file);
    }
    memory_free(ram);
}

struct world *ram_disk_world(struct ram_disk *ram)
{
    return &ram->world;
}

struct buffer *ram_disk_content(struct ram_disk *ram, const char *path)
{
    struct disk_file *file = ram_find(ram, path);
    return file != NULL ? &file->content : NULL;
}

uint32_t ram_disk_file_count(const struct ram_disk *ram)
{
    uint32_t count = 0;
    for (const struct disk_file *file = ram->files; file != NULL; file = file->next)
        count += file->path != NULL;
    return count;
}

void ram_disk_fail_after(struct ram_disk *ram, int calls)
{
    ram->calls_left = calls;
}

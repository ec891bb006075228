/* disk_posix: files below one directory, reached through its descriptor.
 *
 * What must hold: a write writes all its bytes or fails, and a read ends early only at the end of
 * the file.  A sync that failed is never tried again, because the kernel may have dropped the
 * pages.
 *
 * Allocation: the first write to an extent that fallocate made changes metadata, which would make
 * the next sync longer.  So a file is filled with zeros when it is allocated.
 *
 * Lock: the directory itself is locked by flock, so that a reader needs no right to create a file.
 * The file `lock` only names the process that has the lock.  While nobody has the lock, the file
 * may contain an old pid. */
#include "base/world/disk_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/world/disk_modes.h"
#include "base/memory.h"

#define LOCK_FILE "lock"

enum { DIRECT_ALIGNMENT = 4096, ZEROS_SIZE = 1 << 20 };

struct disk_posix {
    struct disk disk;
    int directory;
    char *path; /* for messages */
    bool wrote_lock_file;
};

struct disk_file {
    int fd;
    bool is_direct;
};

static struct disk_posix *disk_posix_of(struct disk *disk)
{
    return (struct disk_posix *)disk;
}

/* ---- files ---- */

/* On a file system without O_DIRECT, open with O_CREAT | O_DIRECT would make the file and then
 * fail. */
static bool disk_posix_make_direct(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_DIRECT) == 0;
}

static int disk_posix_open_file(struct disk *disk, const char *path, int flags,
                                struct disk_file **file_out, struct error *err)
{
    *file_out = NULL;
    int open_flags = O_CLOEXEC | ((flags & DISK_WRITE) != 0 ? O_RDWR : O_RDONLY);
    if ((flags & DISK_CREATE) != 0)
        open_flags |= O_CREAT | O_EXCL;
    int fd = openat(disk_posix_of(disk)->directory, path, open_flags, DISK_MODE_FILE);
    if (fd < 0)
        return error_set(err, -errno, "open %s: %s", path, error_text(-errno));
    struct disk_file *file = memory_zeroed(1, sizeof *file);
    file->fd = fd;
    file->is_direct = (flags & DISK_DIRECT) != 0 && disk_posix_make_direct(fd);
    *file_out = file;
    return 0;
}

static void disk_posix_close_file(struct disk *disk, struct disk_file *file)
{
    (void)disk;
    if (file == NULL)
        return;
    close(file->fd);
    memory_free(file);
}

static int64_t disk_posix_read(struct disk *disk, struct disk_file *file, uint64_t offset, void *to,
                               size_t size)
{
    (void)disk;
    size_t done = 0;
    while (done < size) {
        ssize_t count = pread(file->fd, (uint8_t *)to + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        done += (size_t)count;
        /* A direct read that ends within a block has reached the end of the file. */
        if (count == 0 || (file->is_direct && done % DIRECT_ALIGNMENT != 0))
            break;
    }
    return (int64_t)done;
}

static int64_t disk_posix_read_now(struct disk *disk, struct disk_file *file, uint64_t offset,
                                   void *to, size_t size)
{
    (void)disk;
    const struct iovec piece = {.iov_base = to, .iov_len = size};
    ssize_t count = preadv2(file->fd, &piece, 1, (off_t)offset, RWF_NOWAIT);
    /* Some file systems do not support RWF_NOWAIT. */
    return count == (ssize_t)size ? count : -EAGAIN;
}

static int disk_posix_write(struct disk *disk, struct disk_file *file, uint64_t offset,
                            const void *from, size_t size)
{
    (void)disk;
    size_t done = 0;
    while (done < size) {
        ssize_t count =
            pwrite(file->fd, (const uint8_t *)from + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        if (count == 0)
            return -EIO;
        done += (size_t)count;
    }
    return 0;
}

static int disk_posix_sync(struct disk *disk, struct disk_file *file)
{
    (void)disk;
    return fdatasync(file->fd) == 0 ? 0 : -errno;
}

static int disk_posix_write_zeros(struct disk *disk, struct disk_file *file, uint64_t size)
{
    uint8_t *zeros = memory_aligned(ZEROS_SIZE);
    memset(zeros, 0, ZEROS_SIZE);
    int rc = 0;
    for (uint64_t offset = 0; offset < size && rc == 0; offset += ZEROS_SIZE) {
        uint64_t left = size - offset;
        rc = disk_posix_write(disk, file, offset, zeros, left < ZEROS_SIZE ? left : ZEROS_SIZE);
    }
    memory_free(zeros);
    return rc;
}

static int disk_posix_allocate(struct disk *disk, struct disk_file *file, uint64_t size)
{
    if (fallocate(file->fd, 0, 0, (off_t)size) != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
        return -errno;
    if (ftruncate(file->fd, (off_t)size) != 0)
        return -errno;
    int rc = disk_posix_write_zeros(disk, file, size);
    return rc < 0 ? rc : disk_posix_sync(disk, file);
}

static int64_t disk_posix_size(struct disk *disk, struct disk_file *file)
{
    (void)disk;
    struct stat status;
    return fstat(file->fd, &status) == 0 ? (int64_t)status.st_size : -errno;
}

static bool disk_posix_is_linked(struct disk *disk, struct disk_file *file)
{
    (void)disk;
    struct stat status;
    return fstat(file->fd, &status) != 0 || status.st_nlink > 0;
}

static uint64_t disk_posix_free_bytes(struct disk *disk)
{
    struct statvfs status;
    if (fstatvfs(disk_posix_of(disk)->directory, &status) != 0)
        return UINT64_MAX;
    return (uint64_t)status.f_bavail * status.f_frsize;
}

/* ---- names ---- */

static int disk_posix_rename(struct disk *disk, const char *from, const char *to)
{
    int directory = disk_posix_of(disk)->directory;
    return renameat(directory, from, directory, to) == 0 ? 0 : -errno;
}

static int disk_posix_remove(struct disk *disk, const char *path)
{
    int directory = disk_posix_of(disk)->directory;
    if (unlinkat(directory, path, 0) == 0)
        return 0;
    if (errno == EISDIR && unlinkat(directory, path, AT_REMOVEDIR) == 0)
        return 0;
    return -errno;
}

static int disk_posix_link(struct disk *disk, const char *path, struct disk *to,
                           const char *to_path)
{
    if (to->link != disk->link)
        return -EXDEV;
    return linkat(disk_posix_of(disk)->directory, path, disk_posix_of(to)->directory, to_path, 0) ==
                   0
               ? 0
               : -errno;
}

static int disk_posix_make_directory(struct disk *disk, const char *path)
{
    if (mkdirat(disk_posix_of(disk)->directory, path, DISK_MODE_DIRECTORY) == 0 || errno == EEXIST)
        return 0;
    return -errno;
}

static const char *directory_name(const char *path)
{
    return path[0] != '\0' ? path : ".";
}

static int disk_posix_sync_directory(struct disk *disk, const char *path)
{
    int fd = openat(disk_posix_of(disk)->directory, directory_name(path),
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = fsync(fd) == 0 ? 0 : -errno;
    close(fd);
    return rc;
}

static int is_name(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int name_compare(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int disk_posix_list(struct disk *disk, const char *path,
                           void (*each)(void *context, const char *name), void *context)
{
    struct dirent **entries;
    int count = scandirat(disk_posix_of(disk)->directory, directory_name(path), &entries, is_name,
                          name_compare);
    if (count < 0)
        return -errno;
    for (int i = 0; i < count; i++) {
        each(context, entries[i]->d_name);
        memory_free(entries[i]);
    }
    memory_free(entries);
    return 0;
}

/* ---- lock ---- */

static int64_t lock_file_read(int directory)
{
    char text[24] = "";
    int fd = openat(directory, LOCK_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t count = read(fd, text, sizeof text - 1);
    close(fd);
    return count > 0 ? strtoll(text, NULL, 10) : 0;
}

static int lock_file_write(int directory, const char *text)
{
    int fd = openat(directory, LOCK_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                    DISK_MODE_FILE);
    if (fd < 0)
        return -errno;
    ssize_t size = (ssize_t)strlen(text);
    ssize_t written = write(fd, text, (size_t)size);
    int rc = written == size ? 0 : written < 0 ? -errno : -ENOSPC;
    close(fd);
    return rc;
}

static int disk_posix_lock_busy(struct disk_posix *posix, enum disk_lock kind, struct error *err)
{
    /* If a shared lock is granted, readers prevented the exclusive one. */
    if (kind == DISK_LOCK_EXCLUSIVE && flock(posix->directory, LOCK_SH | LOCK_NB) == 0) {
        flock(posix->directory, LOCK_UN);
        return error_set(err, ERROR_BUSY, "another process is reading the directory");
    }
    int64_t pid = lock_file_read(posix->directory);
    if (pid <= 0)
        return error_set(err, ERROR_BUSY, "another process has the directory");
    return error_set(err, ERROR_BUSY, "process %" PRId64 " has the directory", pid);
}

static int disk_posix_lock(struct disk *disk, enum disk_lock kind, struct error *err)
{
    struct disk_posix *posix = disk_posix_of(disk);
    int operation = kind == DISK_LOCK_EXCLUSIVE ? LOCK_EX : LOCK_SH;
    int rc =
        kind == DISK_LOCK_EXCLUSIVE ? disk_modes_tighten(posix->directory, posix->path, err) : 0;
    if (rc != 0)
        return rc;
    if (flock(posix->directory, operation | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return disk_posix_lock_busy(posix, kind, err);
        return error_set(err, -errno, "lock the directory: %s", error_text(-errno));
    }
    if (kind == DISK_LOCK_SHARED)
        return 0;
    char text[24];
    snprintf(text, sizeof text, "%lld\n", (long long)getpid());
    /* A server must start on a full disk, too, so a temporary error is ignored. */
    rc = lock_file_write(posix->directory, text);
    if (rc < 0 && !error_is_passing(rc)) {
        flock(posix->directory, LOCK_UN);
        return error_set(err, rc, "write %s: %s", LOCK_FILE, error_text(rc));
    }
    posix->wrote_lock_file = true;
    return 0;
}

static void disk_posix_unlock(struct disk *disk)
{
    struct disk_posix *posix = disk_posix_of(disk);
    if (posix->wrote_lock_file)
        (void)unlinkat(posix->directory, LOCK_FILE, 0);
    posix->wrote_lock_file = false;
    flock(posix->directory, LOCK_UN);
}

/* ---- the disk ---- */

static const struct disk disk_posix_calls = {
    .open = disk_posix_open_file,
    .close = disk_posix_close_file,
    .read = disk_posix_read,
    .read_now = disk_posix_read_now,
    .write = disk_posix_write,
    .sync = disk_posix_sync,
    .allocate = disk_posix_allocate,
    .size = disk_posix_size,
    .is_linked = disk_posix_is_linked,
    .free_bytes = disk_posix_free_bytes,
    .rename = disk_posix_rename,
    .remove = disk_posix_remove,
    .link = disk_posix_link,
    .make_directory = disk_posix_make_directory,
    .sync_directory = disk_posix_sync_directory,
    .list = disk_posix_list,
    .lock = disk_posix_lock,
    .unlock = disk_posix_unlock,
};

int disk_posix_open(const char *path, bool create, struct disk **disk_out, struct error *err)
{
    *disk_out = NULL;
    if (create && mkdir(path, DISK_MODE_DIRECTORY) != 0 && errno != EEXIST)
        return error_set(err, -errno, "make directory %s: %s", path, error_text(-errno));
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return error_set(err, -errno, "open directory %s: %s", path, error_text(-errno));
    struct disk_posix *posix = memory_zeroed(1, sizeof *posix);
    posix->disk = disk_posix_calls;
    posix->directory = directory;
    posix->path = memory_string(path);
    *disk_out = &posix->disk;
    return 0;
}

void disk_posix_close(struct disk *disk)
{
    if (disk == NULL)
        return;
    disk_posix_unlock(disk);
    close(disk_posix_of(disk)->directory);
    memory_free(disk_posix_of(disk)->path);
    memory_free(disk);
}

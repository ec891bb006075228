/* disk_modes: see the header.
 *
 * The directory's own mode keeps other users out, so errors in changing its files are ignored. */
#include "base/world/disk_modes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "base/log.h"

enum { OTHERS = S_IRWXG | S_IRWXO };

/* Also closes the descriptor. */
static void tighten_files(int directory)
{
    DIR *stream = directory >= 0 ? fdopendir(directory) : NULL;
    if (stream == NULL) {
        if (directory >= 0)
            (void)close(directory);
        return;
    }
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream)) {
        struct stat status;
        if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && (status.st_mode & OTHERS) != 0) {
            int rc = fchmodat(directory, entry->d_name, DISK_MODE_FILE, 0);
            (void)rc;
        }
    }
    (void)closedir(stream);
}

static void tighten_content(int directory)
{
    static const char *const folders[] = {".", "log", "segments", "archive"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        int folder = openat(directory, folders[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder >= 0)
            (void)fchmod(folder, DISK_MODE_DIRECTORY);
        tighten_files(folder);
    }
}

int disk_modes_tighten(int directory, const char *path, struct error *err)
{
    struct stat status;
    if (fstat(directory, &status) != 0)
        return error_set(err, -errno, "look at %s: %s", path, error_text(-errno));
    if ((status.st_mode & OTHERS) == 0)
        return 0;
    if (status.st_uid != geteuid() || fchmod(directory, DISK_MODE_DIRECTORY) != 0)
        return error_set(err, -EACCES,
                         "other users may enter it (mode %04o); its owner, user %u, has to say "
                         "chmod 700 '%s'",
                         (unsigned)status.st_mode & 07777, (unsigned)status.st_uid, path);
    tighten_content(directory);
    log_event(LOG_NOTICE, "directory_closed_to_others", log_text("path", path),
              log_text("effect", "directories have mode 0700 now, and files 0600"));
    return 0;
}

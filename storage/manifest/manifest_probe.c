/* manifest_probe: see the header.
 *
 * A directory with a file of another program is never taken for an empty one.  A directory with log
 * files or segments is never taken for a new one. */
#include "storage/manifest/manifest_probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "storage/manifest/manifest_copy.h"

struct listing {
    char foreign[64]; /* the first file that is not daybook's */
    bool has_entries;
};

static void listing_add(void *context, const char *name)
{
    static const char *const ours[] = {
        "lock", "daybook.sock", MANIFEST_NEW_PATH, MANIFEST_COPY_PATH, MANIFEST_COPY_NEW_PATH,
        "log",  "segments",     "archive",         "following",        "following.tmp"};
    struct listing *listing = context;

    listing->has_entries = true;
    if (strncmp(name, MANIFEST_DAMAGED_PREFIX, strlen(MANIFEST_DAMAGED_PREFIX)) == 0)
        return;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (strcmp(name, ours[i]) == 0)
            return;
    if (listing->foreign[0] == '\0')
        snprintf(listing->foreign, sizeof(listing->foreign), "%s", name);
}

int manifest_probe_missing(struct disk *disk, struct error *err)
{
    struct listing root = {0}, inner = {0};
    int rc = disk->list(disk, "", listing_add, &root);

    if (rc < 0 && rc != -ENOENT)
        return error_set(err, rc, "cannot list the directory: %s", error_text(rc));
    if (root.foreign[0] != '\0')
        return error_set(err, ERROR_NOT_OURS, "the directory has no manifest, but has \"%s\"",
                         root.foreign);
    (void)disk->list(disk, "log", listing_add, &inner); /* may be missing */
    (void)disk->list(disk, "segments", listing_add, &inner);
    if (inner.has_entries)
        return error_set(err, ERROR_CORRUPT,
                         "the manifest is missing, though there are log files or segments");
    return error_set(err, ERROR_NOT_FOUND, "there is no daybook in the directory");
}

int manifest_probe(struct disk *disk, struct error *err)
{
    char magic[MANIFEST_MAGIC_SIZE];
    struct disk_file *file;
    int rc = disk->open(disk, MANIFEST_PATH, DISK_READ, &file, err);

    if (rc == -ENOENT)
        return manifest_probe_missing(disk, err);
    if (rc != 0)
        return rc;
    int64_t got = disk->read(disk, file, 0, magic, sizeof(magic));
    disk->close(disk, file);
    if (got < 0)
        return error_set(err, (int)got, "cannot read the manifest: %s", error_text((int)got));
    if (got < MANIFEST_MAGIC_SIZE || memcmp(magic, MANIFEST_MAGIC, MANIFEST_MAGIC_SIZE) != 0)
        return error_set(err, ERROR_NOT_OURS, "the file manifest is not one of daybook's");
    return 0;
}

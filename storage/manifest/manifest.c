/* manifest: makes, reads, appends to and replaces the manifest's file.
 *
 * An edit takes effect when its record is synced.  The file is zero-filled before it gets the
 * manifest's name.  Every record begins a new block, and no block is overwritten with other bytes.
 * After a crash a record is therefore complete, or some sector of it is still zero; anything else
 * is damage.
 *
 * If there is no space for a new file, the error is returned and the old file stays in use.  A
 * failed write or sync of a record is final, because it is unknown whether the record is on
 * disk. */
#include "storage/manifest/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "storage/manifest/manifest_copy.h"
#include "storage/manifest/manifest_probe.h"
#include "storage/manifest/manifest_record.h"
#include "storage/manifest/manifest_snapshot.h"
#include "storage/manifest/manifest_state.h"
#include "base/world/whole_file.h"

enum {
    MANIFEST_EDIT_ROOM = 256 << 10, /* bytes for edits in a new file */
    MANIFEST_SIZE_MAX = 1 << 30
};

struct manifest {
    struct world *world;
    /* Locked while the next two members change, because manifest_is_linked reads them on another
     * thread. */
    pthread_mutex_t file_mutex;
    bool is_replacing; /* `file` has lost its name, or soon will */
    struct disk_file *file;
    struct disk_file *copy; /* manifest_copy.h; NULL: read only, or no space for it */
    bool read_only;
    struct manifest_state state;
    struct buffer properties; /* state.properties is a view of it */
    uint64_t size;
    uint64_t offset;      /* where the next record is written */
    uint64_t last_offset; /* where the last loaded record begins */
    uint64_t number;
    uint32_t crc;
    bool is_failed;
    struct buffer content; /* the file's bytes, while it is loaded and checked */
    bool is_torn;          /* `content` ends with a torn record */
};

static const struct manifest_copy_names copy_names = {
    .folder = "",
    .path = MANIFEST_COPY_PATH,
    .path_new = MANIFEST_COPY_NEW_PATH,
};

static struct manifest *manifest_new(void)
{
    struct manifest *manifest = memory_zeroed(1, sizeof(*manifest));
    check(pthread_mutex_init(&manifest->file_mutex, NULL) == 0);
    return manifest;
}

static struct disk_file *file_swap(struct manifest *manifest, struct disk_file *file)
{
    check(pthread_mutex_lock(&manifest->file_mutex) == 0);
    struct disk_file *before = manifest->file;
    manifest->file = file;
    check(pthread_mutex_unlock(&manifest->file_mutex) == 0);
    return before;
}

static void set_replacing(struct manifest *manifest, bool is_replacing)
{
    check(pthread_mutex_lock(&manifest->file_mutex) == 0);
    manifest->is_replacing = is_replacing;
    check(pthread_mutex_unlock(&manifest->file_mutex) == 0);
}

/* Without effect for a manifest of manifest_state_decode, which has no files and no world. */
static void files_close(struct manifest *manifest)
{
    struct disk_file *file = file_swap(manifest, NULL);
    if (file != NULL)
        manifest->world->disk->close(manifest->world->disk, file);
    if (manifest->copy != NULL)
        manifest->world->disk->close(manifest->world->disk, manifest->copy);
    manifest->copy = NULL;
}

/* ---- writing ---- */

/* Mark the manifest as failed.  The returned code is never one for which error_is_passing is true,
 * because another try cannot succeed. */
static int fail_for_good(struct manifest *manifest, int rc, const char *action, struct error *err)
{
    manifest->is_failed = true;
    return error_set(err, error_is_passing(rc) ? -EIO : rc, "cannot %s: %s", action,
                     error_text(rc));
}

static int snapshot_replace(struct manifest *manifest, struct error *err)
{
    int rc = manifest_snapshot_write(manifest->world->disk, &manifest->state, false);

    return rc < 0 ? fail_for_good(manifest, rc, "write the roster", err) : 0;
}

/* Make the content of a file: the whole state, and `room` bytes of zeros for edits.  Returns the
 * checksum of the state's record; *offset_out is the place of the next record.  The zeros are not
 * made by disk->allocate, because that would sync the file once more. */
static uint32_t content_make(const struct manifest *manifest, uint64_t room, struct buffer *content,
                             uint64_t *offset_out)
{
    buffer_put_zeros(content, MANIFEST_BLOCK + MANIFEST_RECORD_HEADER);
    manifest_state_encode(&manifest->state, content);
    uint32_t crc = manifest_record_seal(content, MANIFEST_BLOCK, MANIFEST_RECORD_STATE, 1, 0);
    *offset_out = content->size;
    buffer_put_zeros(content, room);
    manifest_record_put_file(content->data, content->size);
    return crc;
}

/* After an error it is unknown which file has the manifest's name. */
static int file_rename(struct manifest *manifest, struct error *err)
{
    struct disk *disk = manifest->world->disk;
    int rc = disk->rename(disk, MANIFEST_NEW_PATH, MANIFEST_PATH);

    if (rc == 0)
        rc = disk->sync_directory(disk, "");
    return rc < 0 ? fail_for_good(manifest, rc, "make the manifest", err) : 0;
}

static int file_write(struct manifest *manifest, struct bytes content, struct disk_file **file_out,
                      struct error *err)
{
    struct disk *disk = manifest->world->disk;

    (void)disk->remove(disk, MANIFEST_NEW_PATH); /* left by a crash */
    int rc = disk->open(disk, MANIFEST_NEW_PATH, DISK_WRITE | DISK_CREATE, file_out, err);
    if (rc < 0)
        return rc;
    rc = manifest_copy_write(disk, *file_out, 0, content);
    rc = rc < 0 ? error_set(err, rc, "cannot make the manifest: %s", error_text(rc))
                : file_rename(manifest, err);
    if (rc < 0) {
        disk->close(disk, *file_out);
        (void)disk->remove(disk, MANIFEST_NEW_PATH);
    }
    return rc;
}

/* After an error before the rename the old files stay in use; after a later error the manifest has
 * failed. */
static int file_make(struct manifest *manifest, uint64_t room, struct error *err)
{
    struct buffer content = {0};
    struct disk_file *file;
    uint64_t offset;
    uint32_t crc = content_make(manifest, room, &content, &offset);

    set_replacing(manifest, true);
    int rc = file_write(manifest, buffer_view(&content), &file, err);
    if (rc == 0) {
        files_close(manifest);
        (void)file_swap(manifest, file);
        manifest->size = content.size;
        manifest->offset = offset;
        manifest->number = 1;
        manifest->crc = crc;
        rc = manifest_copy_make(manifest->world->disk, &copy_names, buffer_view(&content),
                                &manifest->copy);
        if (rc < 0)
            rc = fail_for_good(manifest, rc, "make the copy of the manifest", err);
    }
    set_replacing(manifest, false);
    buffer_release(&content);
    return rc;
}

/* ---- reading ---- */

static int load_record(struct manifest *manifest, struct bytes content, struct error *err)
{
    const struct manifest_record record = manifest_record_at(content, manifest->offset);
    uint64_t number = manifest->number + 1;
    struct error inner = {0};
    bool is_good;

    if (record.number != number || record.previous_crc != manifest->crc)
        return manifest_record_damage(manifest->offset, number, "it does not follow the one before",
                                      err);
    if (record.kind != (number == 1 ? MANIFEST_RECORD_STATE : MANIFEST_RECORD_EDIT))
        return manifest_record_damage(manifest->offset, number,
                                      "a record of this kind cannot be here", err);
    is_good =
        record.kind == MANIFEST_RECORD_STATE
            ? manifest_state_load(&manifest->state, &manifest->properties, record.body, &inner)
            : manifest_state_load_edit(&manifest->state, record.body, &inner);
    if (!is_good && inner.code == ERROR_NEWER_FORMAT)
        return error_set(err, ERROR_NEWER_FORMAT, "manifest: %s", inner.text);
    if (!is_good)
        return manifest_record_damage(manifest->offset, number, "its content makes no sense", err);
    manifest->number = number;
    manifest->crc = record.crc;
    manifest->last_offset = manifest->offset;
    manifest->offset += record.size;
    return 0;
}

static int load_content(struct manifest *manifest, struct error *err)
{
    const struct bytes content = buffer_view(&manifest->content);
    int rc = manifest_record_check_file(content, err);

    manifest->offset = MANIFEST_BLOCK;
    manifest->size = content.size;
    while (rc == 0 && manifest->offset < content.size) {
        if (!manifest_record_is_valid(content, manifest->offset)) {
            if (manifest->number == 0 ||
                !manifest_record_is_torn(content, manifest->offset, manifest->number + 1))
                return manifest_record_damage(manifest->offset, manifest->number + 1,
                                              "it is damaged", err);
            manifest->is_torn = !manifest_record_is_unused(content, manifest->offset);
            return 0;
        }
        rc = load_record(manifest, content, err);
    }
    if (rc == 0 && manifest->number == 0)
        return manifest_record_damage(manifest->offset, 1, "it is missing", err);
    return rc;
}

/* ---- the interface ---- */

/* ERROR_EXISTS: the directory has a manifest.  A second manifest would not name the segments of the
 * first. */
static int manifest_absent(struct disk *disk, struct error *err)
{
    struct disk_file *file;
    int rc = disk->open(disk, MANIFEST_PATH, DISK_READ, &file, err);

    if (rc == 0) {
        disk->close(disk, file);
        return error_set(err, ERROR_EXISTS, "the directory has a manifest already");
    }
    return rc == -ENOENT ? 0 : rc;
}

static int files_make(struct manifest *manifest, struct error *err)
{
    int rc = file_make(manifest, MANIFEST_EDIT_ROOM, err);

    return rc == 0 ? snapshot_replace(manifest, err) : rc;
}

int manifest_create_from(struct world *world, const struct manifest_state *state, struct error *err)
{
    struct manifest manifest = {
        .world = world, .file_mutex = PTHREAD_MUTEX_INITIALIZER, .state = *state};
    int rc = manifest_absent(world->disk, err);

    if (rc == 0)
        rc = files_make(&manifest, err);
    files_close(&manifest);
    return rc;
}

int manifest_create(struct world *world, struct schema *schema, const uint8_t directory_id[16],
                    struct bytes properties, struct manifest **manifest_out, struct error *err)
{
    const struct clock_reading now = trusted_clock_read(world->clock);
    struct manifest *manifest;
    int rc = manifest_absent(world->disk, err);

    *manifest_out = NULL;
    if (rc == 0)
        rc = manifest_probe_missing(world->disk, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    manifest = manifest_new();
    manifest->world = world;
    buffer_append_bytes(&manifest->properties, properties);
    manifest->state.properties = buffer_view(&manifest->properties);
    manifest->state.schema = schema_ref(schema);
    manifest->state.segment_id_next = 1;
    manifest->state.clock = now;
    memcpy(manifest->state.directory_id, directory_id, sizeof(manifest->state.directory_id));
    rc = files_make(manifest, err);
    if (rc < 0)
        manifest_close(manifest);
    else
        *manifest_out = manifest;
    return rc;
}

int manifest_state_decode(struct bytes bytes, struct manifest **manifest_out, struct error *err)
{
    struct manifest *manifest = manifest_new();
    struct error inner = {0};

    manifest->read_only = true;
    *manifest_out = manifest;
    if (manifest_state_load(&manifest->state, &manifest->properties, bytes, &inner))
        return 0;
    manifest_close(manifest);
    *manifest_out = NULL;
    if (inner.code == ERROR_NEWER_FORMAT)
        return error_set(err, ERROR_NEWER_FORMAT, "%s", inner.text);
    return error_set(err, ERROR_CORRUPT, "the state of a manifest makes no sense");
}

static int content_read(struct manifest *manifest, struct error *err)
{
    struct disk *disk = manifest->world->disk;
    int rc = whole_file_read(disk, manifest->file, MANIFEST_SIZE_MAX, &manifest->content);

    if (rc == ERROR_LIMIT)
        return error_set(err, rc, "manifest: %" PRId64 " bytes are over the limit",
                         disk->size(disk, manifest->file));
    return rc < 0 ? error_set(err, rc, "cannot read the manifest: %s", error_text(rc)) : 0;
}

/* Make the loaded manifest durable.  After a failed sync, the kernel may treat the last record as
 * written, and never write it.  So the record is written again in the same place, and so are the
 * same bytes of the copy and the roster.  If the last record is torn or the file has an older
 * format, a new file is made instead.  If there is no space for the new file, a file of an older
 * format stays in use. */
static int manifest_settle(struct manifest *manifest, struct error *err)
{
    const struct bytes content = buffer_view(&manifest->content);
    struct disk *disk = manifest->world->disk;
    uint64_t from = manifest->last_offset;
    int rc;

    if (manifest->is_torn || manifest_record_is_older(content)) {
        rc = file_make(manifest, MANIFEST_EDIT_ROOM, err);
        if (rc == 0)
            return snapshot_replace(manifest, err);
        if (manifest->is_torn || !error_is_passing(rc))
            return rc;
    }
    rc = manifest_copy_write(disk, manifest->file, from,
                             bytes_of(content.data + from, manifest->offset - from));
    if (rc == 0)
        rc = disk->sync_directory(disk, "");
    if (rc == 0)
        rc = manifest_copy_settle(disk, &copy_names, content, from, manifest->offset,
                                  &manifest->copy);
    if (rc < 0)
        return error_set(err, rc, "cannot sync the manifest: %s", error_text(rc));
    rc = manifest_snapshot_write(disk, &manifest->state, true);
    return rc < 0 ? fail_for_good(manifest, rc, "sync the roster", err) : 0;
}

/* -ENOENT: there is no such file.  After an error *manifest_out is NULL. */
static int manifest_load(struct world *world, const char *path, bool read_only,
                         struct manifest **manifest_out, struct error *err)
{
    struct manifest *manifest = manifest_new();
    int rc = world->disk->open(world->disk, path, read_only ? DISK_READ : DISK_WRITE,
                               &manifest->file, err);

    manifest->world = world;
    manifest->read_only = read_only;
    if (rc == 0)
        rc = content_read(manifest, err);
    if (rc == 0)
        rc = load_content(manifest, err);
    if (rc < 0) {
        manifest_close(manifest);
        manifest = NULL;
    }
    *manifest_out = manifest;
    return rc;
}

/* Load the copy; if that fails, load the roster and move the copy aside.  *from is the file that
 * was loaded.  If neither file can be loaded, `why` has both reasons. */
static int mirror_load(struct world *world, struct manifest **manifest_out, const char **from,
                       struct error *why)
{
    struct error of_copy = {0}, of_roster = {0};
    int rc = manifest_load(world, MANIFEST_COPY_PATH, false, manifest_out, &of_copy);

    *from = MANIFEST_COPY_PATH;
    if (rc == 0) {
        files_close(*manifest_out);
        return 0;
    }
    *from = "segments/" MANIFEST_SNAPSHOT_NAME;
    rc = manifest_snapshot_read(world, manifest_out, &of_roster);
    if (rc < 0)
        return error_set(why, rc, "its copy cannot be read: %.120s; nor can %s: %.200s",
                         of_copy.text, *from, of_roster.text);
    (*manifest_out)->world = world;
    (*manifest_out)->read_only = false;
    rc = manifest_copy_keep_damaged(world->disk, MANIFEST_COPY_PATH);
    if (rc < 0) {
        manifest_close(*manifest_out);
        return error_set(why, rc, "its copy cannot be moved aside: %s", error_text(rc));
    }
    return 0;
}

/* After a crash, the next salvage can start again from the copy or the roster. */
static int manifest_salvage(struct world *world, const struct error *damage,
                            struct manifest **manifest_out, struct error *err)
{
    struct error why = {0};
    const char *from;
    int rc = mirror_load(world, manifest_out, &from, &why);

    if (rc < 0)
        return error_set(err, damage->code, "%.120s; %s; restore the directory from a backup",
                         damage->text, why.text);
    rc = manifest_copy_keep_damaged(world->disk, MANIFEST_PATH);
    if (rc < 0)
        error_set(err, rc, "cannot move the damaged manifest aside: %s", error_text(rc));
    else
        rc = files_make(*manifest_out, err);
    if (rc < 0)
        manifest_close(*manifest_out);
    else
        error_set(err, 0,
                  "%s; it was made again from %s (%" PRIu32 " segments, up to frame %" PRIu64
                  "), and nothing is lost",
                  damage->text, from, (*manifest_out)->state.segment_count,
                  (*manifest_out)->state.flushed_frame);
    return rc;
}

int manifest_open(struct world *world, const struct manifest_options *options,
                  struct manifest **manifest_out, struct error *err)
{
    struct error inner = {0};
    struct manifest *manifest;
    int rc = manifest_load(world, MANIFEST_PATH, options->read_only, &manifest, &inner);

    *manifest_out = NULL;
    if (rc == -ENOENT)
        rc = manifest_probe_missing(world->disk, &inner);
    if (rc == ERROR_CORRUPT && options->salvage && !options->read_only) {
        rc = manifest_salvage(world, &inner, &manifest, err);
    } else if (rc == ERROR_CORRUPT) {
        error_set(err, rc,
                  "%s; without it nobody knows which segments are live: daybook serve --salvage "
                  "makes it again from manifest.copy or segments/" MANIFEST_SNAPSHOT_NAME
                  ", or restore the directory from a backup",
                  inner.text);
    } else if (rc < 0) {
        error_set(err, rc, "%s", inner.text);
    } else if (!options->read_only) {
        rc = manifest_settle(manifest, err);
        if (rc < 0)
            manifest_close(manifest);
    }
    if (rc == 0) {
        buffer_release(&manifest->content);
        *manifest_out = manifest;
    }
    return rc;
}

bool manifest_is_linked(struct manifest *manifest)
{
    check(pthread_mutex_lock(&manifest->file_mutex) == 0);
    bool is_linked = manifest->file == NULL || manifest->is_replacing ||
                     manifest->world->disk->is_linked(manifest->world->disk, manifest->file);
    check(pthread_mutex_unlock(&manifest->file_mutex) == 0);
    return is_linked;
}

const struct manifest_state *manifest_state(const struct manifest *manifest)
{
    return &manifest->state;
}

static bool states_equal(const struct manifest_state *a, const struct manifest_state *b)
{
    struct buffer bytes_of_a = {0}, bytes_of_b = {0};

    manifest_state_encode(a, &bytes_of_a);
    manifest_state_encode(b, &bytes_of_b);
    bool is_equal = bytes_equal(buffer_view(&bytes_of_a), buffer_view(&bytes_of_b));
    buffer_release(&bytes_of_a);
    buffer_release(&bytes_of_b);
    return is_equal;
}

/* `may_lack_last`: a crash may have cut off the copy's last record, and an opening for reading only
 * does not repair it. */
static bool copy_has_all(const struct manifest *file, const struct manifest *copy,
                         bool may_lack_last)
{
    return (copy->offset == file->offset || (may_lack_last && copy->offset == file->last_offset)) &&
           memcmp(file->content.data, copy->content.data, copy->offset) == 0;
}

static int copy_verify(const struct manifest *manifest, const struct manifest *file,
                       struct error *err)
{
    struct error inner = {0};
    struct manifest *copy;
    int rc = manifest_load(manifest->world, MANIFEST_COPY_PATH, true, &copy, &inner);

    if (rc == 0 && !copy_has_all(file, copy, manifest->read_only))
        rc = error_set(&inner, ERROR_CORRUPT, "it has other records than the manifest");
    manifest_close(copy);
    return rc == 0 ? 0
                   : error_set(err, rc,
                               MANIFEST_COPY_PATH
                               ", of which a lost manifest is made again: %s; "
                               "the next start of a server makes it anew, and `daybook verify "
                               "--repair` where none runs, if there is room",
                               inner.text);
}

int manifest_verify(const struct manifest *manifest, struct error *err)
{
    struct error inner = {0};
    struct manifest *file;
    int rc = manifest_load(manifest->world, MANIFEST_PATH, true, &file, &inner);

    if (rc == 0 && !states_equal(&file->state, &manifest->state))
        rc = error_set(&inner, ERROR_CORRUPT, "it has other records than were written");
    if (rc < 0)
        error_set(err, rc,
                  MANIFEST_PATH
                  ": %s; stop the server, and start it with --salvage, which makes it "
                  "again from its copy",
                  inner.text);
    else
        rc = copy_verify(manifest, file, err);
    manifest_close(file);
    return rc;
}

static int edit_write(struct manifest *manifest, struct buffer *record,
                      const struct manifest_edit *edit, struct error *err)
{
    struct disk *disk = manifest->world->disk;
    uint32_t crc;
    int rc;

    buffer_put_zeros(record, MANIFEST_RECORD_HEADER);
    manifest_state_encode_edit(edit, record);
    uint64_t size = (record->size + MANIFEST_RECORD_TRAILER + MANIFEST_BLOCK - 1) / MANIFEST_BLOCK *
                    MANIFEST_BLOCK;
    if (size > manifest->size - manifest->offset) {
        rc = file_make(manifest, size + MANIFEST_EDIT_ROOM, err);
        if (rc < 0)
            return rc;
    }
    crc =
        manifest_record_seal(record, 0, MANIFEST_RECORD_EDIT, manifest->number + 1, manifest->crc);
    rc = manifest_copy_write(disk, manifest->file, manifest->offset, buffer_view(record));
    if (rc == 0 && manifest->copy != NULL)
        rc = manifest_copy_write(disk, manifest->copy, manifest->offset, buffer_view(record));
    if (rc < 0)
        return fail_for_good(manifest, rc, "write the manifest", err);
    manifest->offset += size;
    manifest->number++;
    manifest->crc = crc;
    return 0;
}

int manifest_apply(struct manifest *manifest, const struct manifest_edit *edit, struct error *err)
{
    struct buffer record = {0};

    check(!manifest->read_only);
    check(manifest_state_takes(&manifest->state, edit));
    if (manifest->is_failed)
        return error_set(err, ERROR_FAILED, "an earlier change of the manifest failed");
    int rc = edit_write(manifest, &record, edit, err);
    buffer_release(&record);
    if (rc < 0)
        return rc;
    check(manifest_state_edit(&manifest->state, edit));
    return snapshot_replace(manifest, err);
}

void manifest_close(struct manifest *manifest)
{
    if (manifest == NULL)
        return;
    files_close(manifest);
    (void)pthread_mutex_destroy(&manifest->file_mutex);
    manifest_state_release(&manifest->state);
    buffer_release(&manifest->properties);
    buffer_release(&manifest->content);
    memory_free(manifest);
}

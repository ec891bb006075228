/* golden: see the header. */
#include "tests/lib/golden.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 512 };

struct buffer golden_read(const char *path)
{
    struct buffer content = {0};
    FILE *file = fopen(path, "rb");
    check(file != NULL);
    for (size_t got = 1; got > 0; content.size += got) {
        buffer_reserve(&content, 65536);
        got = fread(content.data + content.size, 1, 65535, file);
    }
    fclose(file);
    content.data[content.size] = '\0';
    return content;
}

void golden_write(const char *path, struct bytes content)
{
    FILE *file = fopen(path, "wb");
    check(file != NULL && fwrite(content.data, 1, content.size, file) == content.size);
    check(fclose(file) == 0);
}

/* ---- from here to there ---- */

static void load_file(const char *from, struct disk *disk, const char *to)
{
    struct buffer content = golden_read(from);
    struct disk_file *file;
    check(disk->open(disk, to, DISK_WRITE | DISK_CREATE, &file, NULL) == 0);
    check(disk->write(disk, file, 0, content.data, content.size) == 0);
    check(disk->sync(disk, file) == 0);
    disk->close(disk, file);
    buffer_release(&content);
}

static void load_directory(const char *from, struct disk *disk, const char *to)
{
    DIR *stream = opendir(from);
    struct dirent *entry;
    check(stream != NULL);
    while ((entry = readdir(stream)) != NULL) {
        char source[PATH_SIZE];
        char target[PATH_SIZE];
        struct stat status;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(source, sizeof(source), "%.200s/%.255s", from, entry->d_name);
        snprintf(target, sizeof(target), "%.200s%s%.255s", to, to[0] != '\0' ? "/" : "",
                 entry->d_name);
        check(stat(source, &status) == 0);
        if (S_ISDIR(status.st_mode)) {
            check(disk->make_directory(disk, target) == 0);
            load_directory(source, disk, target);
        } else {
            load_file(source, disk, target);
        }
    }
    closedir(stream);
    check(disk->sync_directory(disk, to) == 0);
}

void golden_load(const char *path, struct sim_disk *disk)
{
    load_directory(path, sim_disk_interface(disk), "");
}

/* ---- from there to here ---- */

struct saving {
    struct disk *disk;
    const char *from;
    const char *to;
};

static void save_directory(struct disk *disk, const char *from, const char *to);

static void save_name(void *context, const char *name)
{
    const struct saving *saving = context;
    char source[PATH_SIZE];
    char target[PATH_SIZE];
    struct disk_file *file;
    snprintf(source, sizeof(source), "%.200s%s%.255s", saving->from,
             saving->from[0] != '\0' ? "/" : "", name);
    snprintf(target, sizeof(target), "%.200s/%.255s", saving->to, name);
    int rc = saving->disk->open(saving->disk, source, DISK_READ, &file, NULL);
    if (rc == -EISDIR) {
        save_directory(saving->disk, source, target);
        return;
    }
    check(rc == 0);
    struct buffer content = {0};
    size_t size = (size_t)saving->disk->size(saving->disk, file);
    buffer_reserve(&content, size);
    check(saving->disk->read(saving->disk, file, 0, content.data, size) == (int64_t)size);
    saving->disk->close(saving->disk, file);
    golden_write(target, bytes_of(content.data, size));
    buffer_release(&content);
}

static void save_directory(struct disk *disk, const char *from, const char *to)
{
    struct saving saving = {disk, from, to};
    check(mkdir(to, 0777) == 0 || errno == EEXIST);
    check(disk->list(disk, from, save_name, &saving) == 0);
}

void golden_save(struct sim_disk *disk, const char *path)
{
    save_directory(sim_disk_interface(disk), "", path);
}

/* ---- what is in it ---- */

static void describe_table(struct engine_fixture *fixture, const char *name, uint32_t table_id,
                           struct buffer *text)
{
    struct buffer rows = engine_fixture_rows(fixture, table_id, bytes_of(NULL, 0), 1000, false);
    buffer_printf(text, "%s\n%s", name, (const char *)rows.data);
    buffer_release(&rows);
}

struct buffer golden_describe(struct engine_fixture *fixture)
{
    static const char *const days[] = {"2013-11-28", "2013-11-29"};
    struct buffer text = {0};
    describe_table(fixture, "ad_click", TABLE_AD_CLICK, &text);
    describe_table(fixture, "reseller", TABLE_RESELLER, &text);
    describe_table(fixture, "clicks_per_ad", TABLE_CLICKS_PER_AD, &text);
    describe_table(fixture, "clicks_per_reseller", TABLE_CLICKS_PER_RESELLER, &text);
    for (uint32_t i = 0; i < 6; i++) {
        char reseller[8];
        snprintf(reseller, sizeof(reseller), "r%u", 1 + i / 2);
        struct buffer stats = engine_fixture_stats(fixture, reseller, days[i % 2]);
        buffer_printf(&text, "%s %s: %s\n", reseller, days[i % 2], (const char *)stats.data);
        buffer_release(&stats);
    }
    buffer_put_u8(&text, 0);
    text.size--;
    return text;
}

struct buffer golden_rollup_describe(struct engine_fixture *fixture)
{
    struct buffer text = {0};
    describe_table(fixture, "ad_click", TABLE_AD_CLICK, &text);
    describe_table(fixture, "clicks_per_ad", TABLE_CLICKS_PER_AD, &text);
    describe_table(fixture, "amount_by_day", TABLE_AMOUNT_BY_DAY, &text);
    describe_table(fixture, "restatement", TABLE_RESTATEMENT, &text);
    describe_table(fixture, "sealed_day", TABLE_SEALED_DAY, &text);
    describe_table(fixture, "sealed_ad", TABLE_SEALED_AD, &text);
    describe_table(fixture, "retention", TABLE_RETENTION, &text);
    describe_table(fixture, "stream", TABLE_DEFINED_STREAM, &text);
    buffer_put_u8(&text, 0);
    text.size--;
    return text;
}

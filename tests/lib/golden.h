/* golden: small directories and backups of every released format, kept as files for ever.
 *
 * tests/golden/v<N>/data and v<N>/backup were written by the first version with that format;
 * v<N>/data.txt and v<N>/backup.txt say what is in them.  Paths are relative to the sources. */
#ifndef DAYBOOK_TESTS_LIB_GOLDEN_H
#define DAYBOOK_TESTS_LIB_GOLDEN_H

#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_disk.h"

/* Every file below `path` of this machine's disk onto a simulated one, and back. */
void golden_load(const char *path, struct sim_disk *disk);
void golden_save(struct sim_disk *disk, const char *path);
/* A file's content, NUL-terminated behind its size; the caller's to release. */
struct buffer golden_read(const char *path);
void golden_write(const char *path, struct bytes content);

/* What the directory holds: rows of its tables, one a line, and the stats of its partitions. */
struct buffer golden_describe(struct engine_fixture *fixture);

/* v<N>/rollup, which a rollup has worked in, and v<N>/rollup.txt: the rows of its tables of clicks,
 * figures, ledger, seals and streams.  Its clicks were kept for so many days, on 2013-12-10. */
enum { GOLDEN_KEEP_DAYS = 10 };
struct buffer golden_rollup_describe(struct engine_fixture *fixture);
#endif

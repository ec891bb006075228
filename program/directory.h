/* directory: makes data directories, reads their settings, and explains errors about them. */
#ifndef DAYBOOK_PROGRAM_DIRECTORY_H
#define DAYBOOK_PROGRAM_DIRECTORY_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/world/world.h"
#include "storage/engine/engine.h"
#include "storage/schema/schema.h"

/* The settings of `daybook init`.  The manifest has them as `key=value` lines.  Unknown keys are
 * ignored, and stay in the manifest. */
enum { DIRECTORY_ZONE_MAX = 64, DIRECTORY_CURRENCY_MAX = 16, DIRECTORY_CLICK_ID_MAX = 8,
       DIRECTORY_KEEP_DAYS_MAX = 8 };
struct directory_settings {
    char zone[DIRECTORY_ZONE_MAX];             /* IANA name */
    char currency[DIRECTORY_CURRENCY_MAX];     /* "": not given */
    /* "serial", a rank that the store assigns; or the type of an id that the sender assigns:
     * "uuid", "text" or "bigint". */
    char click_id[DIRECTORY_CLICK_ID_MAX];
    char keep_days[DIRECTORY_KEEP_DAYS_MAX];   /* in digits; "": clicks never expire; `daybook
                                                * retention` overrides it */
};

/* Return `given`, the argument of -d, or, if it is NULL, $DAYBOOK_DIR.  If the result would be NULL
 * or empty, return ./daybook-data. */
const char *directory_path(const char *given);

/* ERROR_INVALID: the error names the wrong setting. */
must_check int directory_settings_check(const struct directory_settings *settings,
                                        struct error *err);
void directory_settings_read(struct bytes properties, struct directory_settings *settings_out);

/* Make an empty or missing directory a data directory.  ERROR_EXISTS: it is a data directory
 * already. */
must_check int directory_init(const char *path, const struct directory_settings *settings,
                              struct error *err);
/* Make an empty or missing directory a data directory with the default settings, and open its
 * store. */
must_check int directory_open_new(struct world *world, const struct engine_options *options,
                                  struct store **store_out, struct error *err);

bool directory_has_click_ids(const struct directory_settings *settings);

/* List all built-in tables: those of the rollup, of ingest and of CQL.  Returns their number.
 * Tables of clicks have the columns for click_id "serial". */
enum { DIRECTORY_TABLES_MAX = 32 };
uint32_t directory_tables(const struct table_definition *tables_out[DIRECTORY_TABLES_MAX]);

/* Rewrite `err` so that it names the directory and says what to do about `rc`. */
void directory_explain(const char *path, int rc, struct error *err);
#endif

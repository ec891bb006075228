/* directory: what makes a directory daybook's: its first manifest, its settings, its refusals. */
#ifndef DAYBOOK_PROGRAM_DIRECTORY_H
#define DAYBOOK_PROGRAM_DIRECTORY_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/world/world.h"
#include "storage/engine/engine.h"
#include "storage/schema/schema.h"

/* Settings given once, by init; kept in the manifest as `key=value` lines.  Keys that a version
 * does not know are left alone. */
enum { DIRECTORY_ZONE_MAX = 64, DIRECTORY_CURRENCY_MAX = 16, DIRECTORY_CLICK_ID_MAX = 8,
       DIRECTORY_KEEP_DAYS_MAX = 8 };
struct directory_settings {
    char zone[DIRECTORY_ZONE_MAX];             /* IANA name; "UTC" */
    char currency[DIRECTORY_CURRENCY_MAX];     /* what amounts are counted in; "": not said */
    /* What a click's last key column is: "serial", its rank, which the store gives; or the type of
     * an id that the network gives, "uuid", "text" or "bigint". */
    char click_id[DIRECTORY_CLICK_ID_MAX];
    char keep_days[DIRECTORY_KEEP_DAYS_MAX];   /* of clicks, in digits, until `daybook retention`
                                                * says other; "": for ever */
};

/* -d's argument, else $DAYBOOK_DIR, else ./daybook-data.  `given` may be NULL. */
const char *directory_path(const char *given);

/* ERROR_INVALID names the setting. */
must_check int directory_settings_check(const struct directory_settings *settings,
                                        struct error *err);
void directory_settings_read(struct bytes properties, struct directory_settings *settings_out);

/* Make an empty or missing directory daybook's.  ERROR_EXISTS when it is already. */
must_check int directory_init(const char *path, const struct directory_settings *settings,
                              struct error *err);
/* The same on a world that is open, with the settings of a bare init, and be ready in it
 * (engine_open_new). */
must_check int directory_open_new(struct world *world, const struct engine_options *options,
                                  struct store **store_out, struct error *err);

bool directory_has_click_ids(const struct directory_settings *settings);

/* The tables that every directory has, of all rooms; how many there are.  Those of clicks are as
 * `serial` has them: a directory with ids of its own has had its own ones from the first. */
enum { DIRECTORY_TABLES_MAX = 32 };
uint32_t directory_tables(const struct table_definition *tables_out[DIRECTORY_TABLES_MAX]);

/* Rewrite `err` so that it names the directory and what to do about `rc`. */
void directory_explain(const char *path, int rc, struct error *err);
#endif

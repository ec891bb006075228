/* config_file: reads settings from a file, as an alternative to options of the command line.
 *
 *     # of the server that takes clicks
 *     ingest = 10.0.0.5:7600
 *     memory = 4G
 *
 * The format is INI without sections.  Each setting is a line of at most CONFIG_LINE_MAX bytes.
 * Blanks around names and values are ignored.  A line that begins with # or ; is a comment, as is
 * the rest of a line after a blank and a ;. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONFIG_FILE_H
#define DAYBOOK_PROGRAM_CONTROL_CONFIG_FILE_H

#include "base/bytes.h"
#include "base/error.h"

enum { CONFIG_SIZE_MAX = 64 << 10, CONFIG_LINE_MAX = 197 };

/* Called for each setting, in the order of the file; the texts are valid during the call.  Returns
 * 0, or an error code with the reason in `err`. */
typedef int (*config_set)(void *context, const char *name, const char *value, struct error *err);

/* Call `set` for all settings of `text`.  Returns 0, or for the first wrong line ERROR_INVALID,
 * ERROR_LIMIT or the error of `set`; `err` contains the number of that line.  `set` may have been
 * called for other lines before. */
must_check int config_file_parse(struct bytes text, config_set set, void *context,
                                 struct error *err);
/* Parse the file at `path` in the same way; messages name the path, too. */
must_check int config_file_load(const char *path, config_set set, void *context,
                                struct error *err);
#endif

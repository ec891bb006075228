/* config_file: reads a program's settings from a file, as these can be too many for a command line.
 *
 *     # of the server that takes clicks
 *     ingest = 10.0.0.5:7600
 *     memory = 4G
 *
 * INI without sections, as libinih reads it: a setting a line, of CONFIG_LINE_MAX bytes at most;
 * blanks around names and values do not count; a line that begins with # or ; is a comment, and so
 * is what follows a blank and a ;. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONFIG_FILE_H
#define DAYBOOK_PROGRAM_CONTROL_CONFIG_FILE_H

#include "base/bytes.h"
#include "base/error.h"

enum { CONFIG_SIZE_MAX = 64 << 10, CONFIG_LINE_MAX = 197 };

/* Called for each setting, in the order of the file; the texts are valid only during the call.
 * Returns 0, or an error code where the setting is refused, and then `err` says why. */
typedef int (*config_set)(void *context, const char *name, const char *value, struct error *err);

/* Call `set` for all settings of `text`.  Returns ERROR_INVALID, ERROR_LIMIT or what `set` returned
 * for the first line that is wrong, with the line's number in the message; settings of other lines
 * may have been set by then. */
must_check int config_file_parse(struct bytes text, config_set set, void *context,
                                 struct error *err);
/* The same of the file at `path`, which the message names too. */
must_check int config_file_load(const char *path, config_set set, void *context,
                                struct error *err);
#endif

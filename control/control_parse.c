/* control_parse: a command's words to its options, by its argp, printing or silent. */
#include <string.h>

#include "control/control.h"
#include "storage/base/memory.h"

int control_parse(const struct command *command, int word_count, char **words, bool prints,
                  void **options_out, struct error *err)
{
    void *options = memory_zeroed(1, command->options_size);
    unsigned flags = prints ? 0 : ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP;
    error_t rc = argp_parse(command->argp, word_count, words, flags, NULL, options);
    if (rc != 0) {
        memory_free(options);
        *options_out = NULL;
        return error_set(err, ERROR_USAGE, "%s: wrong usage (%s); see daybook %s --help",
                         command->name, strerror(rc), command->name);
    }
    *options_out = options;
    return 0;
}

/* fuzz_config_file: settings of a file: each has a name, and what is wrong has a line. */
#include <string.h>

#include "program/control/config_file.h"
#include "tests/fuzz/fuzz.h"

static int take_setting(void *context, const char *name, const char *value, struct error *err)
{
    size_t *bytes = context;
    *bytes += strlen(name) + strlen(value);
    return strcmp(name, "wrong") == 0 ? error_set(err, ERROR_INVALID, "it is wrong") : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    size_t bytes = 0;
    int rc = config_file_parse(bytes_of(data, size), take_setting, &bytes, &err);
    /* A name may come again, with each line that goes on with its value. */
    check(bytes <= size * CONFIG_LINE_MAX);
    check((rc != 0) == (err.text[0] != '\0'));
    check(rc == 0 || size > CONFIG_SIZE_MAX || strncmp(err.text, "line ", 5) == 0);
    return 0;
}

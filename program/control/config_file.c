/* config_file: see the header.  No other file includes ini.h.
 *
 * libinih does not give its handler the line's number, reads the rest of an overlong line as
 * another line, and stops at a zero byte.  So config_line counts and checks each line first. */
#include "program/control/config_file.h"

#include <ini.h>
#include <stdio.h>
#include <string.h>

#include "base/text_file.h"

struct config_reader {
    struct bytes left;
    uint32_t line;
    int rc; /* the first error, after which libinih gets no line; 0: none */
    struct error *err;
    config_set set;
    void *context;
};

/* Like fgets: the next line; NULL at the end or after an error. */
static char *config_line(char *to, int capacity, void *context)
{
    struct config_reader *config = context;
    struct bytes *left = &config->left;
    if (config->rc != 0 || left->size == 0)
        return NULL;
    config->line++;
    const uint8_t *end = memchr(left->data, '\n', left->size);
    struct bytes line = bytes_of(left->data, end == NULL ? left->size : (size_t)(end - left->data));
    if (line.size > CONFIG_LINE_MAX || line.size + 2 > (size_t)capacity) {
        config->rc = error_set(config->err, ERROR_LIMIT, "over %d bytes", CONFIG_LINE_MAX);
        return NULL;
    }
    if (memchr(line.data, '\0', line.size) != NULL) {
        config->rc = error_set(config->err, ERROR_INVALID, "a byte of it is zero");
        return NULL;
    }
    size_t taken = line.size + (end != NULL);
    *left = bytes_of(left->data + taken, left->size - taken);
    (void)snprintf(to, (size_t)capacity, "%.*s\n", (int)line.size, (const char *)line.data);
    return to;
}

static int config_setting(void *context, const char *section, const char *name, const char *value)
{
    struct config_reader *config = context;
    if (config->rc != 0)
        return 0;
    if (section[0] != '\0')
        config->rc = error_set(config->err, ERROR_INVALID, "[%s]: there are no sections", section);
    else
        config->rc = config->set(config->context, name, value, config->err);
    return config->rc == 0;
}

int config_file_parse(struct bytes text, config_set set, void *context, struct error *err)
{
    struct config_reader config = {.left = text, .err = err, .set = set, .context = context};
    if (text.size > CONFIG_SIZE_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d bytes", CONFIG_SIZE_MAX);
    int wrong = ini_parse_stream(config_line, &config, config_setting, &config);
    if (wrong > 0 && (config.rc == 0 || (uint32_t)wrong < config.line)) {
        config.line = (uint32_t)wrong;
        config.rc = error_set(err, ERROR_INVALID, "it is not NAME = VALUE");
    }
    if (config.rc != 0)
        error_wrap(err, "line %u", config.line);
    return config.rc;
}

int config_file_load(const char *path, config_set set, void *context, struct error *err)
{
    struct buffer text = {0};
    int rc = text_file_read(path, CONFIG_SIZE_MAX, &text, err);
    if (rc == 0) {
        rc = config_file_parse(buffer_view(&text), set, context, err);
        if (rc != 0)
            error_wrap(err, "%s", path);
    }
    buffer_release(&text);
    return rc;
}

/* text_file: see the header. */
#include "base/text_file.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"

int text_file_read(const char *path, size_t size_max, struct buffer *text, struct error *err)
{
    FILE *file = fopen(path, "rbe");
    int rc = 0;
    if (file == NULL)
        return error_set(err, -errno, "cannot read %s: %s", path, error_text(-errno));
    buffer_reserve(text, size_max + 1);
    size_t count = fread(text->data + text->size, 1, size_max + 1, file);
    if (ferror(file))
        rc = error_set(err, -errno, "cannot read %s: %s", path, error_text(-errno));
    else if (count > size_max)
        rc = error_set(err, ERROR_LIMIT, "%s has more than %zu bytes", path, size_max);
    else
        text->size += count;
    (void)fclose(file);
    return rc;
}

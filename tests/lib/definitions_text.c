/* definitions_text: see the header. */
#include "tests/lib/definitions_text.h"

#include <criterion/criterion.h>

static bool is_taken(void *context, const char *keyspace)
{
    return context != NULL && strcmp(context, keyspace) == 0;
}

void definitions_show(definitions_read read, struct bytes text,
                      const struct definitions_options *options, const char *taken,
                      struct buffer *shown)
{
    struct definitions *definitions = definitions_new(options);
    const struct definition *statements;
    struct error err = {0};
    uint32_t count;
    int rc = read(text, definitions, &err);

    rc = rc == 0 ? definitions_write(definitions, is_taken, (void *)(uintptr_t)taken, &statements,
                                     &count, &err)
                 : rc;
    if (rc < 0) {
        cr_assert_eq(err.code, rc);
        buffer_printf(shown, "! %s\n", err.text);
    } else {
        for (uint32_t i = 0; i < count; i++)
            buffer_printf(shown, "%s\n", statements[i].cql);
        buffer_append_bytes(shown, definitions_notes(definitions));
    }
    buffer_put_u8(shown, '\0');
    definitions_free(definitions);
}

void definitions_expect(definitions_read read, const char *text,
                        const struct definitions_options *options, const char *wanted)
{
    struct buffer shown = {0};

    definitions_show(read, bytes_text(text), options, NULL, &shown);
    cr_assert_str_eq((const char *)shown.data, wanted, "%s\n%s", text, (const char *)shown.data);
    buffer_release(&shown);
}

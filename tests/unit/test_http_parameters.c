/* Parameters of queries and forms: what they stand for, and what is refused. */
#include <criterion/criterion.h>

#include "door/http_parameters.h"

TestSuite(http_parameters, .timeout = 60);

/* The parameters as lines NAME=VALUE, or the refusal's code. */
static const char *outcome(struct bytes text)
{
    static char lines[1000];
    struct http_parameters parameters;
    struct buffer buffer = {0};
    const struct http_refusal *refusal = http_parameters_parse(text, &parameters);

    for (uint32_t i = 0; refusal == NULL && i < parameters.count; i++) {
        buffer_append_bytes(&buffer, parameters.items[i].name);
        buffer_put_u8(&buffer, '=');
        buffer_append_bytes(&buffer, parameters.items[i].value);
        buffer_put_u8(&buffer, '\n');
    }
    if (refusal != NULL)
        buffer_append_text(&buffer, refusal->code);
    buffer_put_u8(&buffer, '\0');
    cr_assert(buffer.size <= sizeof lines);
    memcpy(lines, buffer.data, buffer.size);
    buffer_release(&buffer);
    http_parameters_release(&parameters);
    return lines;
}

Test(http_parameters, are_decoded)
{
    static const struct {
        const char *text, *lines;
    } cases[] = {
        {"", ""},
        {"&&", ""},
        {"a=1", "a=1\n"},
        {"a=1&b=2&a=3", "a=1\nb=2\na=3\n"},
        {"live&a=", "live=\na=\n"},
        {"=x", "=x\n"},
        {"a=b=c", "a=b=c\n"},
        {"reseller=caf%C3%A9+3%2B", "reseller=caf\xC3\xA9 3+\n"},
        {"a%26b=%3d%3D", "a&b===\n"},
        {"cql=SELECT%0A1", "cql=SELECT\n1\n"},
        {"a=%", "bad_escape"},
        {"a=%2", "bad_escape"},
        {"a=%2g", "bad_escape"},
        {"a%=%41", "bad_escape"},
        {"a=%00", "bad_text"},
        {"a=%C3", "bad_text"},
        {"%ff=1", "bad_text"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_str_eq(outcome(bytes_text(cases[i].text)), cases[i].lines);
    cr_expect_str_eq(outcome(bytes_of(NULL, 0)), "");
}

Test(http_parameters, are_found_by_name)
{
    struct http_parameters parameters;

    cr_assert(http_parameters_parse(bytes_text("from=a&to=&from=b"), &parameters) == NULL);
    cr_expect(bytes_equal(http_parameters_find(&parameters, "from"), bytes_text("a")));
    cr_expect(http_parameters_find(&parameters, "to").data != NULL);
    cr_expect(http_parameters_find(&parameters, "to").size == 0);
    cr_expect(http_parameters_find(&parameters, "fro").data == NULL);
    http_parameters_release(&parameters);
}

Test(http_parameters, have_a_limit)
{
    struct buffer text = {0};
    struct http_parameters parameters;

    for (int i = 0; i < HTTP_PARAMETERS_MAX; i++)
        buffer_append_text(&text, "a=%41&");
    cr_assert(http_parameters_parse(buffer_view(&text), &parameters) == NULL);
    cr_expect(parameters.count == HTTP_PARAMETERS_MAX);
    http_parameters_release(&parameters);
    buffer_append_text(&text, "b");
    cr_expect_str_eq(outcome(buffer_view(&text)), "too_many_parameters");
    buffer_release(&text);
}

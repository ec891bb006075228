/* fuzz_http_parameters: the parameters of a query or form: refused, or sound, and the same again
 * when they are encoded anew. */
#include "door/http_parameters.h"
#include "tests/fuzz/fuzz.h"

static void put_escaped(struct bytes text, struct buffer *query)
{
    for (size_t i = 0; i < text.size; i++)
        buffer_printf(query, "%%%02x", text.data[i]);
}

static void check_again(const struct http_parameters *parameters)
{
    struct http_parameters again;
    struct buffer query = {0};

    for (uint32_t i = 0; i < parameters->count; i++) {
        const struct http_parameter *item = &parameters->items[i];

        check(bytes_valid_utf8(item->name) && bytes_valid_utf8(item->value));
        put_escaped(item->name, &query);
        buffer_put_u8(&query, '=');
        put_escaped(item->value, &query);
        buffer_put_u8(&query, '&');
    }
    check(http_parameters_parse(buffer_view(&query), &again) == NULL);
    check(again.count == parameters->count);
    for (uint32_t i = 0; i < again.count; i++) {
        check(bytes_equal(again.items[i].name, parameters->items[i].name));
        check(bytes_equal(again.items[i].value, parameters->items[i].value));
    }
    http_parameters_release(&again);
    buffer_release(&query);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_parameters parameters;

    if (http_parameters_parse(bytes_of(data, size), &parameters) == NULL)
        check_again(&parameters);
    (void)http_parameters_find(&parameters, "from");
    http_parameters_release(&parameters);
    return 0;
}

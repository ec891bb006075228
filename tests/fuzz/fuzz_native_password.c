/* fuzz_native_password: files of names and hashes: somebody comes out, or a line is wrong. */
#include "query/native/native_password.h"
#include "base/error.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct native_passwords *passwords;
    struct error err = {0};
    int rc = native_password_parse(bytes_of(data, size), &passwords, &err);
    check((rc == 0) == (passwords != NULL));
    check((rc != 0) == (err.text[0] != '\0'));
    native_password_free(passwords);
    return 0;
}

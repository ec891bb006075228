#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/md5.h"

struct known {
    const char *text;
    const char *digest;
};

/* RFC 1321, A.5. */
static const struct known known[] = {
    {"", "d41d8cd98f00b204e9800998ecf8427e"},
    {"a", "0cc175b9c0f1b6a831c399e269772661"},
    {"abc", "900150983cd24fb0d6963f7d28e17f72"},
    {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
    {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
    {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
     "d174ab98d277d9f5a5611c2c9f419d9f"},
    {"1234567890123456789012345678901234567890123456789012345678901234567890"
     "1234567890",
     "57edf4a22be3c955ac49da2e2107b67a"},
};

Test(md5, digests_are_those_of_the_standard)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        uint8_t digest[MD5_SIZE];
        char text[2 * MD5_SIZE + 1];
        md5(known[i].text, strlen(known[i].text), digest);
        for (size_t b = 0; b < MD5_SIZE; b++)
            snprintf(text + 2 * b, 3, "%02x", digest[b]);
        cr_expect_str_eq(text, known[i].digest, "%s", known[i].text);
    }
}

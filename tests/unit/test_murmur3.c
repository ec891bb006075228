/* test_murmur3: tokens against those that Cassandra makes. */
#include "base/murmur3.h"

#include <criterion/criterion.h>
#include <string.h>

/* Made by cassandra-driver's murmur3 (Python) from random keys and from keys of bytes 80..ff, whose
 * sign is what Cassandra's variant differs by. */
static const struct {
    const char *key_hex;
    int64_t token;
} token_rows[] = {
    {"4d", INT64_C(-7912594386904524724)},
    {"c2", INT64_C(2184255773311133613)},
    {"33a7", INT64_C(3654280899234490486)},
    {"ab86", INT64_C(5904355188850682302)},
    {"d2d026", INT64_C(6979134956986563403)},
    {"9aa0d1", INT64_C(-6475625957555204119)},
    {"791c06998f46ab", INT64_C(-3525460263735967569)},
    {"f2a7c6eea8aae7", INT64_C(-3400376363140557812)},
    {"3d40dbb0723b1a63", INT64_C(-6630299674224528079)},
    {"efacac949dcb80d0", INT64_C(2612897659330176742)},
    {"cdea1b543ce9aa0625", INT64_C(5818875656613334066)},
    {"9b97d5c195cd8b86b1", INT64_C(-6404766752242795092)},
    {"472ae5f9015b609fcf3097", INT64_C(6384099339073631318)},
    {"b4ddcca49981c68fe3dfc8", INT64_C(8966782064153118278)},
    {"3f891361bdc86d9df15b45418c0c27", INT64_C(-136465282116596312)},
    {"abd6c6bed195a5c3c298a1cd93fe8a", INT64_C(5690099819708935261)},
    {"16f3f1c830449fd657e9e2f74e5b6167", INT64_C(1241013982304077179)},
    {"ca9eb0f2e6f791ce9db7b4ceb5c9eff9", INT64_C(8381940848062154044)},
    {"30ba7d5ebe954d05abc14b9141215b123b", INT64_C(-106832465773046038)},
    {"c7ea96b1f1f1e88bacac98ffcca8bec6bb", INT64_C(-1625848595432928121)},
    {"6f18f7830137ec14733c08442572c60eaf68838ea06f74", INT64_C(4019033274472071034)},
    {"ea8cc082bcf0d6ebd3de9496e5f9adc4a093a68ba2ba9e", INT64_C(1342987132762122170)},
    {"0c6c2ea97a16f97546c937eb816819a3c924dbe2d9d53f71", INT64_C(2798054681113809833)},
    {"bed09885b0818ad6abebd78cbba6c2cdf9c89ad392baf4b8", INT64_C(3103439474944471169)},
    {"92076ec33c6a2ee0cef6d56b452c45c9f71de97f2fc4a4232a", INT64_C(-1439808328151678079)},
    {"dfa1b78a8abfa1879ba0c2f9eec1abf7afa38bb19cdaf7f8d3", INT64_C(534953487186386613)},
    {"ba1eaa222cffc9a25bbdd9988bdfedc8641c10d01c8f1f5738764a08e03b0f",
     INT64_C(-7625369872322063638)},
    {"a0d8a8b58cc2f0c383e79bf7a1eedfaf9bdcdfcdddf7cafcbaecffebc99794",
     INT64_C(3435866883060444120)},
    {"0c562bb7dabc1b3d6bce54d839844887b03b7b9b6c6bcbfff7d6d91a5aed3d1a",
     INT64_C(5841703457422406749)},
    {"b1bcb4e4bdaaa8bee694b7c880b99cceffa6d6afefa38a87d7fddcadfc93ecde",
     INT64_C(6318108413305641355)},
    {"003b22843793606c941a0e72507092d17fdaa8d0475c9e382bb6122f3ac1c09f26",
     INT64_C(7330817267161846521)},
    {"86f9c0e0a7a8aba5b8f7f7c9e2e188f899e4959f8bbabdbbe3d38ce581bbf9d5b5",
     INT64_C(-5602245653652215963)},
    {"4659afef2415340345a6d6fda937eff18fa1ff26708f0c9c53ee028e2dac809701fe62529e38a31c",
     INT64_C(3300593672008662834)},
    {"d8a894cbb8b08bd28bf58e8dc3c0f0a48686d19fefb9efc5b6a5b0f28ed8c98ad0a7d9a39bb786da",
     INT64_C(1342186399048974960)},
    {"73757061626f6f6273", INT64_C(-85646927156857716)},
};

static uint8_t hex_digit(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

Test(murmur3, tokens_are_those_of_cassandra)
{
    for (size_t i = 0; i < sizeof token_rows / sizeof token_rows[0]; i++) {
        const char *hex = token_rows[i].key_hex;
        uint8_t key[64];
        size_t size = strlen(hex) / 2;
        for (size_t k = 0; k < size; k++)
            key[k] = (uint8_t)(hex_digit(hex[2 * k]) << 4 | hex_digit(hex[2 * k + 1]));
        cr_assert_eq(murmur3_token(key, size), token_rows[i].token, "key %s", hex);
    }
}

Test(murmur3, the_empty_key_has_the_least_token)
{
    cr_assert_eq(murmur3_token("", 0), INT64_MIN);
}

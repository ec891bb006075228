/* test_decimal: exact arithmetic against tables made by Python's decimal with 400 digits. */
#include "base/decimal.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static struct decimal value_of(const char *text)
{
    struct decimal value;
    cr_assert_eq(decimal_parse(bytes_text(text), &value), 0, "%s", text);
    return value;
}

static void expect_text(struct decimal value, const char *expected)
{
    char text[DECIMAL_TEXT_MAX];
    size_t length = decimal_format(value, text);
    cr_assert_str_eq(text, expected);
    cr_assert_eq(length, strlen(expected));
}

static const struct {
    const char *a;
    const char *b;
    const char *sum;
    const char *difference;
    const char *product;
    int order;
} arithmetic_rows[] = {
    {"-5071050.724", "1", "-5071049.724", "-5071051.724", "-5071050.724", -1},
    {"4.74", "-5878443475691729738671317714030301321.72",
     "-5878443475691729738671317714030301316.98", "5878443475691729738671317714030301326.46",
     "-27863822074778798961302045964503628264.9528", 1},
    {"-6.64", "0.00000000000000000025", "-6.63999999999999999975", "-6.64000000000000000025",
     "-0.0000000000000000016600", -1},
    {"0.00000000000000000017", "117515906923511541.958060401308",
     "117515906923511541.95806040130800000017", "-117515906923511541.95806040130799999983",
     "0.01997770417699696213287026822236", -1},
    {"-0.47959", "9784730140414146584559843206819149072.84",
     "9784730140414146584559843206819149072.36041", "-9784730140414146584559843206819149073.31959",
     "-4692658728041220560489055203558395703.8433356", -1},
    {"4058492.450", "-0.00000000000000000036", "4058492.44999999999999999964",
     "4058492.45000000000000000036", "-0.00000000000146105728200", 1},
    {"9390008386005706647108582408736414557.42", "2287489.453",
     "9390008386005706647108582408738702046.873", "9390008386005706647108582408734127067.967",
     "21479545146569606753072875205765883357133912.89126", 1},
    {"-0.762265446085718847", "-86365181059660604995.193033986063008455",
     "-86365181059660604995.955299432148727302", "86365181059660604994.430768539977289608",
     "65833193266716067416.670991178989864339769481084113851385", 1},
    {"2.20", "-0.54833", "1.65167", "2.74833", "-1.2063260", 1},
    {"-63381373252803255894.848670173893890910", "7847766.477",
     "-63381373252795408128.371670173893890910", "-63381373252811103661.325670173893890910",
     "-497402216279573837888046030.778714237638593024070", -1},
    {"58421420319531289917.363753844373557043", "-7277933.458",
     "58421420319524011983.905753844373557043", "58421420319538567850.821753844373557043",
     "-425187209607397825767479719.260442435853721244694", 1},
    {"-6.05", "-951275016977543375", "-951275016977543381.05", "951275016977543368.95",
     "5755213852714137418.75", 1},
    {"-218565476439448024.787537131474", "328445202777776416.181746931729",
     "109879726338328391.394209800255", "-547010679217224440.969284063203",
     "-71786782229375820235973570691764997.496272927948057575138546", -1},
    {"7759597200492030390986925337132562253.57", "-191185349055308975.165592690525",
     "7759597200492030390795739988077253278.404407309475",
     "7759597200492030391178110686187871228.735592690525",
     "-1483521299304667170876458049430700818774931079971720462.90571358642425", 1},
    {"-0.369018191401094281", "-0.00000000000000000033", "-0.36901819140109428133",
     "-0.36901819140109428067", "0.00000000000000000012177600316236111273", -1},
    {"-2", "-4177351.297", "-4177353.297", "4177349.297", "8354702.594", 1},
    {"-2341120926860937812203943647182524870.75", "-192087145887126870.447879192842",
     "-2341120926860937812396030793069651741.197879192842",
     "-2341120926860937812011856501295398000.302120807158",
     "449699237017342637554983730601302569804338773824964919.05910037517150", -1},
    {"-1", "-0.80335", "-1.80335", "-0.19665", "0.80335", -1},
    {"-3635981.472", "-0.533762923252523036", "-3635982.005762923252523036",
     "-3635980.938237076747476964", "1940752.099386731736149188992", -1},
    {"500512881346055548", "93040476140347748901.279776890086921899",
     "93540989021693804449.279776890086921899", "-92539963259001693353.279776890086921899",
     "46567956794814385101373090874893396713.107246544391645652", -1},
    {"-24612518988707180055.936336102719958120", "-8474751.589",
     "-24612518988715654807.525336102719958120", "-24612518988698705304.347336102719958120",
     "208584984408838847234755573.269364032299483452680", -1},
    {"-0.77676", "-4090643682039381364692967618323756119.12",
     "-4090643682039381364692967618323756119.89676", "4090643682039381364692967618323756118.34324",
     "3177448386460909868838909527209160803.0876512", 1},
    {"0.724384377636780452", "3733497.277", "3733498.001384377636780452",
     "-3733496.552615622363219548", "2704487.101408259512588829204", -1},
    {"0.375995194608528018", "-0.696796817718235953", "-0.320801623109707935",
     "1.072792012326763971", "-0.261992255080571150920795288935431154", 1},
    {"0", "69467688395724614447.797574883159875335", "69467688395724614447.797574883159875335",
     "-69467688395724614447.797574883159875335", "0.000000000000000000", -1},
    {"-1345908.635", "92119204043485995438.938810712810280413",
     "92119204043484649530.303810712810280413", "-92119204043487341347.573810712810280413",
     "-123984032171454716762838360.575001861524628066255", -1},
    {"0.00", "-0.5", "-0.50", "0.50", "0.000", 1},
    {"0.25", "-0.25", "0.00", "0.50", "-0.0625", 1},
    {"99.99", "0.01", "100.00", "99.98", "0.9999", 1},
    {"18446744073709551615", "1", "18446744073709551616", "18446744073709551614",
     "18446744073709551615", 1},
    {"340282366920938463463374607431768211455", "1", "340282366920938463463374607431768211456",
     "340282366920938463463374607431768211454", "340282366920938463463374607431768211455", 1},
    {"-18446744073709551616", "0.0001", "-18446744073709551615.9999", "-18446744073709551616.0001",
     "-1844674407370955.1616", -1},
};

Test(decimal, sums_differences_and_products_are_exact)
{
    for (size_t i = 0; i < COUNT(arithmetic_rows); i++) {
        struct decimal a = value_of(arithmetic_rows[i].a);
        struct decimal b = value_of(arithmetic_rows[i].b);
        struct decimal result;
        cr_assert_eq(decimal_add(a, b, &result), 0);
        expect_text(result, arithmetic_rows[i].sum);
        cr_assert_eq(decimal_subtract(a, b, &result), 0);
        expect_text(result, arithmetic_rows[i].difference);
        cr_assert_eq(decimal_multiply(a, b, &result), 0);
        expect_text(result, arithmetic_rows[i].product);
        cr_assert_eq(decimal_compare(a, b), arithmetic_rows[i].order);
        cr_assert_eq(decimal_compare(b, a), -arithmetic_rows[i].order);
    }
}

static const struct {
    const char *value;
    int32_t scale;
    const char *rounded;
} round_rows[] = {
    {"-0.00000000000000000010", 18, "0.000000000000000000"},
    {"9.54", 25, "9.5400000000000000000000000"},
    {"0.600281545206241663", 18, "0.600281545206241663"},
    {"9.20", 25, "9.2000000000000000000000000"},
    {"24448261311012207845.560647108899457358", 2, "24448261311012207845.56"},
    {"-0.13610", -2, "0"},
    {"0.90160", -2, "0"},
    {"-3354868.575", 1, "-3354868.6"},
    {"-3973750927591110590082548906911435682.49", 3, "-3973750927591110590082548906911435682.490"},
    {"377323033978086870", 18, "377323033978086870.000000000000000000"},
    {"583088577943221230", 0, "583088577943221230"},
    {"9150576.634", 25, "9150576.6340000000000000000000000"},
    {"-9587047945825200669653003352251444560.61", -2, "-9587047945825200669653003352251444600"},
    {"-0.89764", 2, "-0.90"},
    {"-0.28554", 1, "-0.3"},
    {"9569496609839598003292172724280481018.34", 1, "9569496609839598003292172724280481018.3"},
    {"1942299973543887202551219534536499477.96", -2, "1942299973543887202551219534536499500"},
    {"-4105035898087138642698070045803194751.38", 3, "-4105035898087138642698070045803194751.380"},
    {"685864155644096259", -2, "685864155644096300"},
    {"-4816681737342360042931589646059685288.29", 1, "-4816681737342360042931589646059685288.3"},
    {"-0.184302504688851591", 5, "-0.18430"},
    {"-8.95", 18, "-8.950000000000000000"},
    {"0.43175", -2, "0"},
    {"0.559158908021807860", 2, "0.56"},
    {"0.5", 0, "0"},
    {"1.5", 0, "2"},
    {"2.5", 0, "2"},
    {"-0.5", 0, "0"},
    {"-1.5", 0, "-2"},
    {"-2.5", 0, "-2"},
    {"0.50000000000000000000000000000001", 0, "1"},
    {"2.4999999999999999999999999999", 0, "2"},
    {"0.125", 2, "0.12"},
    {"0.135", 2, "0.14"},
    {"0.1250000000000000000000000000001", 2, "0.13"},
    {"7", 3, "7.000"},
    {"99.995", 2, "100.00"},
    {"-99.995", 2, "-100.00"},
    {"0.000000000000000000000000000000000000000000000000000000000000000000000000000000000000001", 2,
     "0.00"},
    {"149", -2, "100"},
    {"150", -2, "200"},
    {"250", -2, "200"},
    {"0.00", 1, "0.0"},
};

Test(decimal, rounding_is_half_even)
{
    for (size_t i = 0; i < COUNT(round_rows); i++) {
        struct decimal rounded;
        cr_assert_eq(decimal_round(value_of(round_rows[i].value), round_rows[i].scale, &rounded),
                     0);
        expect_text(rounded, round_rows[i].rounded);
        cr_assert_eq(rounded.scale, round_rows[i].scale);
    }
}

Test(decimal, a_sum_has_the_larger_scale)
{
    struct decimal sum;
    cr_assert_eq(decimal_add(value_of("0.50"), value_of("1.500"), &sum), 0);
    expect_text(sum, "2.000");
}

Test(decimal, a_product_has_the_sum_of_the_scales)
{
    struct decimal product;
    cr_assert_eq(decimal_multiply(value_of("0.50"), value_of("0.20"), &product), 0);
    expect_text(product, "0.1000");
}

Test(decimal, equal_values_of_different_scale_compare_equal)
{
    cr_assert_eq(decimal_compare(value_of("0.50"), value_of("0.5")), 0);
    cr_assert_eq(decimal_compare(value_of("-2"), value_of("-2.0000")), 0);
    cr_assert_eq(decimal_compare(value_of("0"), value_of("0e-100")), 0);
    cr_assert_eq(decimal_compare(value_of("1e40"), value_of("1e-40")), 1);
    cr_assert_eq(decimal_compare(value_of("-1e40"), value_of("-1e-40")), -1);
}

static const struct {
    const char *text;
    int code;
    const char *plain;
} input_rows[] = {
    {"0", 0, "0"},
    {"0.00", 0, "0.00"},
    {"0.0025", 0, "0.0025"},
    {"007.50", 0, "7.50"},
    {"999999999999999999", 0, "999999999999999999"},
    {"0.999999999999999999", 0, "0.999999999999999999"},
    {"0.000000000000000001", 0, "0.000000000000000001"},
    {"0000000000000000000000000001", 0, "1"},
    {"1000000000000000000", ERROR_LIMIT, NULL},
    {"1.000000000000000000", ERROR_LIMIT, NULL},
    {"0.0000000000000000001", ERROR_LIMIT, NULL},
    {"", ERROR_INVALID, NULL},
    {".", ERROR_INVALID, NULL},
    {".5", ERROR_INVALID, NULL},
    {"5.", ERROR_INVALID, NULL},
    {"1.2.3", ERROR_INVALID, NULL},
    {"-1", ERROR_INVALID, NULL},
    {"+1", ERROR_INVALID, NULL},
    {"1e3", ERROR_INVALID, NULL},
    {" 1", ERROR_INVALID, NULL},
    {"1 ", ERROR_INVALID, NULL},
    {"1,5", ERROR_INVALID, NULL},
    {"99999999999999999999999999999x", ERROR_INVALID, NULL},
    {"NaN", ERROR_INVALID, NULL},
};

Test(decimal, input_is_digits_with_a_point_inside)
{
    for (size_t i = 0; i < COUNT(input_rows); i++) {
        struct decimal value;
        int rc = decimal_parse_input(bytes_text(input_rows[i].text), &value);
        cr_assert_eq(rc, input_rows[i].code, "'%s' gave %d", input_rows[i].text, rc);
        if (rc == 0)
            expect_text(value, input_rows[i].plain);
    }
}

/* 2^255 - 1 and -2^255, the ends of the range. */
#define LARGEST "57896044618658097711785492504343953926634992332820282019728792003956564819967"
#define LEAST   "-57896044618658097711785492504343953926634992332820282019728792003956564819968"

static const struct {
    const char *text;
    int code;
    const char *plain;
    int32_t scale;
} literal_rows[] = {
    {"12", 0, "12", 0},
    {"-12.50", 0, "-12.50", 2},
    {"+3", 0, "3", 0},
    {".5", 0, "0.5", 1},
    {"5.", 0, "5", 0},
    {"-0", 0, "0", 0},
    {"1e3", 0, "1000", -3},
    {"1E+3", 0, "1000", -3},
    {"1.50e1", 0, "15.0", 1},
    {"25e-4", 0, "0.0025", 4},
    {"0e3", 0, "0", -3},
    {LARGEST, 0, LARGEST, 0},
    {LEAST, 0, LEAST, 0},
    {"57896044618658097711785492504343953926634992332820282019728792003956564819968", ERROR_LIMIT,
     NULL, 0},
    {"-57896044618658097711785492504343953926634992332820282019728792003956564819969", ERROR_LIMIT,
     NULL, 0},
    {"115792089237316195423570985008687907853269984665640564039457584007913129639936", ERROR_LIMIT,
     NULL, 0},
    {"1e-120", 0,
     "0.00000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "0000000000000000000000000000000001",
     120},
    {"1e-121", ERROR_LIMIT, NULL, 0},
    {"1e40", 0, "10000000000000000000000000000000000000000", -40},
    {"1e41", ERROR_LIMIT, NULL, 0},
    {"1e99999999999999999999999999", ERROR_LIMIT, NULL, 0},
    {"1e-99999999999999999999999999", ERROR_LIMIT, NULL, 0},
    {"", ERROR_INVALID, NULL, 0},
    {"-", ERROR_INVALID, NULL, 0},
    {".", ERROR_INVALID, NULL, 0},
    {"e5", ERROR_INVALID, NULL, 0},
    {"1e", ERROR_INVALID, NULL, 0},
    {"1e+", ERROR_INVALID, NULL, 0},
    {"1e5x", ERROR_INVALID, NULL, 0},
    {"1x", ERROR_INVALID, NULL, 0},
    {"--1", ERROR_INVALID, NULL, 0},
    {"1.2.3", ERROR_INVALID, NULL, 0},
};

Test(decimal, literals_have_sign_and_exponent)
{
    for (size_t i = 0; i < COUNT(literal_rows); i++) {
        struct decimal value;
        int rc = decimal_parse(bytes_text(literal_rows[i].text), &value);
        cr_assert_eq(rc, literal_rows[i].code, "'%s' gave %d", literal_rows[i].text, rc);
        if (rc < 0)
            continue;
        expect_text(value, literal_rows[i].plain);
        cr_assert_eq(value.scale, literal_rows[i].scale);
    }
}

Test(decimal, what_leaves_256_bits_is_a_limit_not_a_wrong_number)
{
    struct decimal largest = value_of(LARGEST);
    struct decimal least = value_of(LEAST);
    struct decimal result;
    cr_assert_eq(decimal_add(largest, value_of("1"), &result), ERROR_LIMIT);
    cr_assert_eq(decimal_subtract(least, value_of("1"), &result), ERROR_LIMIT);
    cr_assert_eq(decimal_add(largest, value_of("0.1"), &result), ERROR_LIMIT);
    cr_assert_eq(decimal_multiply(largest, value_of("-2"), &result), ERROR_LIMIT);
    cr_assert_eq(decimal_multiply(least, value_of("-1"), &result), ERROR_LIMIT);
    cr_assert_eq(decimal_multiply(value_of("1e-90"), value_of("1e-90"), &result), ERROR_LIMIT);
    cr_assert_eq(decimal_round(largest, 1, &result), ERROR_LIMIT);
    cr_assert_eq(decimal_round(value_of("1"), 121, &result), ERROR_LIMIT);
    cr_assert_eq(decimal_add(least, largest, &result), 0);
    expect_text(result, "-1");
    cr_assert_eq(decimal_multiply(least, value_of("1"), &result), 0);
    expect_text(result, LEAST);
}

Test(decimal, int128_values_pass_through_and_larger_ones_say_so)
{
    int128 largest = (int128)(~(uint128)0 >> 1);
    int128 rows[] = {0, 1, -1, INT64_MAX, INT64_MIN, largest, -largest - 1};
    for (size_t i = 0; i < COUNT(rows); i++) {
        int128 back;
        cr_assert(decimal_to_int128(decimal_from(rows[i], 3), &back));
        cr_assert(back == rows[i]);
    }
    struct decimal sum;
    int128 back;
    cr_assert_eq(decimal_add(decimal_from(largest, 0), decimal_from(1, 0), &sum), 0);
    cr_assert_not(decimal_to_int128(sum, &back));
    expect_text(sum, "170141183460469231731687303715884105728");
}

Test(decimal, a_number_is_split_where_64_bits_and_the_scale_hold_it)
{
    int64_t unscaled;
    uint8_t scale;
    cr_assert(decimal_split(decimal_from(INT64_MIN, 18), 18, &unscaled, &scale));
    cr_assert(unscaled == INT64_MIN && scale == 18);
    cr_assert(decimal_split(decimal_from(INT64_MAX, 0), 0, &unscaled, &scale));
    cr_assert(unscaled == INT64_MAX && scale == 0);
    cr_assert_not(decimal_split(decimal_from((int128)INT64_MAX + 1, 0), 18, &unscaled, &scale));
    cr_assert_not(decimal_split(decimal_from((int128)INT64_MIN - 1, 0), 18, &unscaled, &scale));
    cr_assert_not(decimal_split(decimal_from(1, 19), 18, &unscaled, &scale));
    cr_assert_not(decimal_split(decimal_from(1, -1), 18, &unscaled, &scale));
}

static const struct {
    const char *text;
    const char *serialized;
    size_t size;
} serialized_rows[] = {
    {"0", "\0\0\0\0\0", 5},
    {"1", "\0\0\0\0\1", 5},
    {"-1", "\0\0\0\0\xff", 5},
    {"127", "\0\0\0\0\x7f", 5},
    {"128", "\0\0\0\0\0\x80", 6},
    {"-128", "\0\0\0\0\x80", 5},
    {"-129", "\0\0\0\0\xff\x7f", 6},
    {"0.0025", "\0\0\0\4\x19", 5},
    {"255.00", "\0\0\0\2\x63\x9c", 6},
    {"1e3", "\xff\xff\xff\xfd\1", 5},
    {"18446744073709551616", "\0\0\0\0\1\0\0\0\0\0\0\0\0", 13},
};

Test(decimal, serialized_as_cassandra_does)
{
    for (size_t i = 0; i < COUNT(serialized_rows); i++) {
        struct buffer buffer = {0};
        struct decimal value = value_of(serialized_rows[i].text);
        decimal_serialize(&buffer, value);
        cr_assert(bytes_equal(buffer_view(&buffer),
                              bytes_of(serialized_rows[i].serialized, serialized_rows[i].size)),
                  "%s", serialized_rows[i].text);
        struct decimal back;
        cr_assert_eq(decimal_deserialize(buffer_view(&buffer), &back), 0);
        cr_assert_eq(memcmp(&back, &value, sizeof back.limb), 0);
        cr_assert_eq(back.scale, value.scale);
        buffer_release(&buffer);
    }
}

/* The plain way: whole bytes from the most significant on, without those that only say the sign. */
static size_t serialize_plainly(struct decimal value, uint8_t *bytes)
{
    uint8_t whole[32];
    size_t from = 0;
    for (size_t i = 0; i < sizeof whole; i++)
        whole[i] = (uint8_t)(value.limb[3 - i / 8] >> (56 - 8 * (i % 8)));
    uint8_t sign = (whole[0] & 0x80) != 0 ? 0xff : 0;
    while (from < sizeof whole - 1 && whole[from] == sign && ((whole[from + 1] ^ sign) & 0x80) == 0)
        from++;
    store_u32_be(bytes, (uint32_t)value.scale);
    memcpy(bytes + 4, whole + from, sizeof whole - from);
    return 4 + sizeof whole - from;
}

/* Around each power of two, of either sign. */
Test(decimal, every_size_is_serialized_in_the_fewest_bytes)
{
    for (int bit = 0; bit < 255; bit++) {
        for (int variant = 0; variant < 8; variant++) {
            struct decimal value = {.scale = variant - 3};
            struct decimal one = decimal_from(variant % 2 == 0 ? 0 : 1, value.scale);
            uint8_t plain[DECIMAL_SERIALIZED_MAX];
            uint8_t bytes[DECIMAL_SERIALIZED_MAX];
            value.limb[bit / 64] = UINT64_C(1) << (bit % 64);
            cr_assert_eq(decimal_subtract(value, one, &value), 0);
            if (variant & 2)
                cr_assert_eq(decimal_subtract(decimal_from(0, value.scale), value, &value), 0);
            size_t size = serialize_plainly(value, plain);
            cr_assert_eq(decimal_store(value, bytes), size, "bit %d variant %d", bit, variant);
            cr_assert_eq(memcmp(bytes, plain, size), 0, "bit %d variant %d", bit, variant);
        }
    }
}

Test(decimal, the_ends_of_the_range_are_serialized_in_32_bytes)
{
    const char *rows[] = {LARGEST, LEAST};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buffer buffer = {0};
        struct decimal back;
        decimal_serialize(&buffer, value_of(rows[i]));
        cr_assert_eq(buffer.size, 36);
        cr_assert_eq(decimal_deserialize(buffer_view(&buffer), &back), 0);
        expect_text(back, rows[i]);
        buffer_release(&buffer);
    }
}

/* Every cut and every flipped bit either is refused or gives a decimal that can be printed. */
Test(decimal, damaged_serialized_bytes_are_refused_or_harmless)
{
    struct buffer buffer = {0};
    char text[DECIMAL_TEXT_MAX];
    struct decimal value;
    decimal_serialize(&buffer, value_of(LEAST));
    for (size_t size = 0; size <= buffer.size; size++) {
        uint8_t *cut = memory_copy(buffer.data, size);
        if (decimal_deserialize(bytes_of(cut, size), &value) == 0)
            decimal_format(value, text);
        else
            cr_assert_lt(size, 5);
        memory_free(cut);
    }
    for (size_t bit = 0; bit < 8 * buffer.size; bit++) {
        buffer.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (decimal_deserialize(buffer_view(&buffer), &value) == 0)
            decimal_format(value, text);
        buffer.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    buffer_release(&buffer);
}

Test(decimal, more_bytes_than_needed_are_read_if_they_only_repeat_the_sign)
{
    uint8_t bytes[4 + 40] = {0, 0, 0, 2};
    struct decimal value;
    bytes[43] = 150;
    cr_assert_eq(decimal_deserialize(bytes_of(bytes, sizeof bytes), &value), 0);
    expect_text(value, "1.50");
    bytes[4] = 1;
    cr_assert_eq(decimal_deserialize(bytes_of(bytes, sizeof bytes), &value), ERROR_LIMIT);
}

Test(decimal, append_adds_the_text_to_a_buffer)
{
    struct buffer buffer = {0};
    decimal_append(&buffer, value_of("0.00250"));
    buffer_append_text(&buffer, "|");
    decimal_append(&buffer, value_of("-7"));
    cr_assert(bytes_equal(buffer_view(&buffer), bytes_text("0.00250|-7")));
    buffer_release(&buffer);
}

/* Quotient and remainder, with the scales of Java's BigDecimal. */
static const struct {
    const char *a;
    const char *b;
    const char *quotient;
    const char *remainder;
} division_rows[] = {
    {"10.50", "3", "3.5", "1.50"},
    {"3", "10.50", "0.285714285714285714285714285714286", "3"},
    {"1", "8", "0.125", "1"},
    {"-10.50", "3", "-3.5", "-1.50"},
    {"10.50", "-3", "-3.5", "1.50"},
    {"0", "7", "0", "0"},
    {"0.000", "7", "0", "0.000"},
    {"200", "2", "1E+2", "0"},
    {"1", "3000000000000", "0.00000000000033333333333333333333333333333333", "1"},
    {"100000000000000000000", "10.50", "9523809523809523809.52380952380952380952380952380952",
     "5.50"},
    {"2.5", "0.1", "25", "0.0"},
    {"-12404900082", "-132479807365.56", "0.093636157303356928472765975779959", "-12404900082"},
    {"-639462831406031.468", "-0.056", "11418979132250561.92857142857142857142857142857143",
     "-0.052"},
    {"12.174294", "-1742281595771.2", "-0.0000000000069875581705902111299297913874813",
     "12.174294"},
    {"-9085238639320573.420", "-92177349.1", "98562594.04318857136671551341022455157587",
     "-3981008.020"},
    {"7608455515408.4", "8763.09004", "868238883.85019948967681724288205533490102", "7450.37468"},
    {"-390.149", "0.00071", "-549505.63380281690140845070422535211268", "-0.00045"},
    {"9157231070389.318135", "78592.783", "116514910.41345765978283273160081377955531",
     "32494.788135"},
    {"-1270546548.57", "-0.74", "1716954795.36486486486486486486486486486486", "-0.27"},
    {"100", "0.03", "3333.33333333333333333333333333333333", "0.01"},
    {"99", "0.03", "33E+2", "0"},
    {"3300.5", "0.25", "13202", "0.00"},
};

Test(decimal, division_gives_32_digits_and_its_remainder_the_scale_of_java)
{
    for (size_t i = 0; i < COUNT(division_rows); i++) {
        struct decimal a = value_of(division_rows[i].a);
        struct decimal b = value_of(division_rows[i].b);
        struct decimal quotient;
        struct decimal remainder;
        struct decimal wanted = value_of(division_rows[i].quotient);
        cr_assert_eq(decimal_quotient(a, b, &quotient), 0);
        cr_expect(decimal_compare(quotient, wanted) == 0 && quotient.scale == wanted.scale,
                  "%s / %s", division_rows[i].a, division_rows[i].b);
        cr_assert_eq(decimal_remainder(a, b, &remainder), 0);
        expect_text(remainder, division_rows[i].remainder);
    }
}

Test(decimal, a_quotient_is_rounded_as_asked)
{
    static const struct {
        const char *a;
        const char *b;
        int32_t scale;
        const char *down;
        const char *half_up;
        const char *half_even;
    } rows[] = {
        {"1.105", "2", 3, "0.552", "0.553", "0.552"},
        {"-1.105", "2", 3, "-0.552", "-0.553", "-0.552"},
        {"1.107", "2", 3, "0.553", "0.554", "0.554"},
        {"-5", "3", 0, "-1", "-2", "-2"},
        {"7", "2", 0, "3", "4", "4"},
        {"5", "2", 0, "2", "3", "2"},
        {"1", "3", 5, "0.33333", "0.33333", "0.33333"},
        {"12345", "10", -2, "1200", "1200", "1200"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct decimal a = value_of(rows[i].a);
        struct decimal b = value_of(rows[i].b);
        const char *wanted[] = {rows[i].down, rows[i].half_up, rows[i].half_even};
        for (int rounding = DECIMAL_DOWN; rounding <= DECIMAL_HALF_EVEN; rounding++) {
            struct decimal quotient;
            cr_assert_eq(
                decimal_divide(a, b, rows[i].scale, (enum decimal_rounding)rounding, &quotient), 0);
            cr_expect_eq(decimal_compare(quotient, value_of(wanted[rounding])), 0, "row %zu", i);
            cr_expect_eq(quotient.scale, rows[i].scale);
        }
    }
}

Test(decimal, division_by_zero_and_results_past_the_limits_are_errors)
{
    struct decimal result;
    struct decimal one = value_of("1");
    struct decimal zero = value_of("0.00");
    cr_expect_eq(decimal_quotient(one, zero, &result), ERROR_INVALID);
    cr_expect_eq(decimal_remainder(one, zero, &result), ERROR_INVALID);
    cr_expect_eq(decimal_divide(one, one, DECIMAL_SCALE_MAX, DECIMAL_DOWN, &result), ERROR_LIMIT);
    cr_expect_eq(decimal_divide(one, one, DECIMAL_SCALE_MAX + 1, DECIMAL_DOWN, &result),
                 ERROR_LIMIT);
}

/* test_hash64: hashes against published results. */
#include "base/hash64.h"

#include <criterion/criterion.h>

Test(hash64, xxh3_gives_the_published_results)
{
    /* Sanity values of xxHash 0.8 for the empty input, and of its command line for "abc". */
    cr_assert_eq(hash64("", 0), UINT64_C(0x2d06800538d394c2));
    cr_assert_eq(hash64("abc", 3), UINT64_C(0x78af5f94892f3950));
}

/* The record of what follows: read back as written, and never taken from bytes that are none. */
#include "storage/backup/backup_following.h"

#include <string.h>

#include <criterion/criterion.h>

#include "base/crc32c.h"

static void encode(struct buffer *bytes)
{
    const struct backup_following following = {
        .path = (char[]){"/mnt/host2/daybook"}, .keep = 7, .copies = true};
    backup_following_encode(&following, bytes);
}

/* The record's CRC made right again, so that what is inside is looked at. */
static int decode_patched(struct buffer *bytes, struct error *err)
{
    struct backup_following following;
    store_u32(bytes->data + bytes->size - 4, crc32c(0, bytes->data, bytes->size - 4));
    int rc = backup_following_decode(buffer_view(bytes), &following, err);
    if (rc == 0)
        backup_following_release(&following);
    return rc;
}

Test(backup_following, is_read_back_as_it_was_written)
{
    struct buffer bytes = {0};
    struct backup_following following;
    encode(&bytes);
    cr_assert_eq(backup_following_decode(buffer_view(&bytes), &following, NULL), 0);
    cr_expect_str_eq(following.path, "/mnt/host2/daybook");
    cr_expect(following.keep == 7 && following.copies);
    backup_following_release(&following);
    buffer_release(&bytes);
}

Test(backup_following, cut_or_turned_over_is_refused)
{
    struct buffer bytes = {0};
    struct backup_following following;
    encode(&bytes);
    for (size_t size = 0; size < bytes.size; size++) {
        struct bytes cut = bytes_of(bytes.data, size);
        cr_assert_eq(backup_following_decode(cut, &following, NULL), ERROR_CORRUPT);
    }
    for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cr_assert_eq(backup_following_decode(buffer_view(&bytes), &following, NULL), ERROR_CORRUPT);
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    buffer_release(&bytes);
}

Test(backup_following, whose_content_makes_no_sense_is_refused_and_a_newer_one_too)
{
    /* format, keep, copies, size of the path, its first byte */
    static const struct {
        size_t offset;
        uint8_t value;
        int rc;
    } cases[] = {{8, 2, ERROR_NEWER_FORMAT}, {12, 0, ERROR_CORRUPT},
                 {16, 2, ERROR_CORRUPT},     {17, 17, ERROR_CORRUPT},
                 {17, 0, ERROR_CORRUPT},     {18, 'm', ERROR_CORRUPT},
                 {20, 0, ERROR_CORRUPT},     {12, 9, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buffer bytes = {0};
        encode(&bytes);
        bytes.data[cases[i].offset] = cases[i].value;
        cr_expect_eq(decode_patched(&bytes, NULL), cases[i].rc, "case %zu", i);
        buffer_release(&bytes);
    }
}

/* native_password: see the header; the only file that knows crypt.h.
 *
 * What decides correctness: a name that is not there costs as much time as one that is, so that
 * nobody learns who is; and a hash that crypt does not know never matches. */
#include "query/native/native_password.h"

#include <crypt.h>
#include <string.h>

#include "storage/base/memory.h"
#include "storage/base/text_file.h"

enum { HASH_SIZE = 60, FILE_SIZE_MAX = 4 << 20 };

struct native_user {
    char name[NATIVE_USER_MAX + 1];
    char hash[HASH_SIZE + 1];
};

struct native_passwords {
    struct native_user *users;
    uint32_t count;
};

static const struct native_user *find_user(const struct native_passwords *passwords,
                                           struct bytes name)
{
    for (uint32_t i = 0; i < passwords->count; i++)
        if (bytes_equal(bytes_text(passwords->users[i].name), name))
            return &passwords->users[i];
    return NULL;
}

/* ---- reading ---- */

/* $2a$10$ and 53 characters of salt and hash. */
static bool is_bcrypt(struct bytes hash)
{
    return hash.size == HASH_SIZE && memcmp(hash.data, "$2", 2) == 0 &&
           strchr("abxy", hash.data[2]) != NULL && hash.data[3] == '$' && hash.data[6] == '$' &&
           memchr(hash.data, '\0', hash.size) == NULL;
}

static int parse_line(struct native_passwords *passwords, struct bytes line, uint32_t number,
                      struct error *err)
{
    const uint8_t *colon = memchr(line.data, ':', line.size);
    struct native_user *user = &passwords->users[passwords->count];
    struct bytes name;
    struct bytes hash;

    if (colon == NULL)
        return error_set(err, ERROR_INVALID, "line %u is not NAME:HASH", number);
    name = bytes_of(line.data, (size_t)(colon - line.data));
    hash = bytes_of(colon + 1, line.size - name.size - 1);
    if (name.size == 0 || name.size > NATIVE_USER_MAX || !bytes_valid_utf8(name) ||
        memchr(name.data, '\0', name.size) != NULL)
        return error_set(err, ERROR_INVALID, "line %u: a name has 1 to %d bytes of UTF-8", number,
                         NATIVE_USER_MAX);
    if (!is_bcrypt(hash))
        return error_set(err, ERROR_INVALID,
                         "line %u: the hash is not bcrypt's ($2b$..., 60 characters)", number);
    if (find_user(passwords, name) != NULL)
        return error_set(err, ERROR_INVALID, "line %u: %.*s is there already", number,
                         (int)name.size, (const char *)name.data);
    if (passwords->count == NATIVE_USERS_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d names", NATIVE_USERS_MAX);
    memcpy(user->name, name.data, name.size);
    memcpy(user->hash, hash.data, hash.size);
    passwords->count++;
    return 0;
}

static uint32_t count_lines(struct bytes text)
{
    uint32_t count = 1;

    for (size_t i = 0; i < text.size; i++)
        count += text.data[i] == '\n';
    return count;
}

int native_passwords_parse(struct bytes text, struct native_passwords **passwords_out,
                           struct error *err)
{
    struct native_passwords *passwords = memory_zeroed(1, sizeof *passwords);
    uint32_t lines = count_lines(text);
    size_t at = 0;
    int rc = 0;

    *passwords_out = NULL;
    passwords->users = memory_zeroed(lines < NATIVE_USERS_MAX ? lines : NATIVE_USERS_MAX + 1,
                                     sizeof *passwords->users);
    for (uint32_t number = 1; at < text.size && rc == 0; number++) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
        size_t size = (end == NULL ? text.size : (size_t)(end - text.data)) - at;
        struct bytes line = bytes_of(text.data + at, size);

        at += size + 1;
        if (line.size > 0 && line.data[line.size - 1] == '\r')
            line.size--;
        if (line.size > 0 && line.data[0] != '#')
            rc = parse_line(passwords, line, number, err);
    }
    if (rc == 0 && passwords->count == 0)
        rc = error_set(err, ERROR_INVALID, "nobody is named in it");
    if (rc != 0) {
        native_passwords_free(passwords);
        return rc;
    }
    *passwords_out = passwords;
    return 0;
}

int native_passwords_load(const char *path, struct native_passwords **passwords_out,
                          struct error *err)
{
    struct buffer text = {0};
    int rc = text_file_read(path, FILE_SIZE_MAX, &text, err);

    *passwords_out = NULL;
    if (rc == 0) {
        rc = native_passwords_parse(buffer_view(&text), passwords_out, err);
        if (rc != 0)
            error_wrap(err, "%s", path);
    }
    buffer_release(&text);
    return rc;
}

void native_passwords_free(struct native_passwords *passwords)
{
    if (passwords == NULL)
        return;
    memory_free(passwords->users);
    memory_free(passwords);
}

/* ---- checking ---- */

/* Bytes that are equal are not told from others by time. */
static bool is_same(const char *a, const char *b, size_t size)
{
    unsigned difference = 0;

    for (size_t i = 0; i < size; i++)
        difference |= (unsigned)(a[i] ^ b[i]);
    return difference == 0;
}

bool native_passwords_match(const struct native_passwords *passwords, const char *user,
                            const char *password)
{
    const struct native_user *found = find_user(passwords, bytes_text(user));
    const char *hash = found != NULL ? found->hash : passwords->users[0].hash;
    struct crypt_data *data = memory_zeroed(1, sizeof *data);
    /* Unlike crypt_r it says NULL when it fails. */
    const char *made = crypt_rn(password, hash, data, sizeof *data);
    bool is_right = made != NULL && strlen(made) == HASH_SIZE && is_same(made, hash, HASH_SIZE);

    memory_free(data);
    return found != NULL && is_right;
}

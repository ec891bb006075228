/* native_password: see the header; the only file that includes crypt.h.
 *
 * A login takes the same time whether its name is known or not, so that no client learns which
 * names exist.  A hash of cost c takes 2^c steps.  After the hash of a known name, of cost c, dummy
 * hashes of cost c, c + 1, ... are computed, up to one less than the file's highest cost.  All of
 * them together take as long as one hash of the highest cost. */
#include "query/native/native_password.h"

#include <crypt.h>
#include <string.h>

#include <sys/stat.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text_file.h"

enum {
    HASH_SIZE = 60,
    FILE_SIZE_MAX = 4 << 20,
    COST_AT = 4, /* where a hash has its cost, two digits */
    COST_MIN = 10,
    COST_MAX = 14
};

struct native_user {
    char name[NATIVE_USER_MAX + 1];
    char hash[HASH_SIZE + 1];
};

struct native_passwords {
    struct native_user *users;
    uint32_t count, capacity;
    uint32_t references;
    int cost_max;
};

/* Compares all names, so that the time does not show the name's position in the file. */
static const struct native_user *find_user(const struct native_passwords *passwords,
                                           struct bytes name)
{
    const struct native_user *found = NULL;

    for (uint32_t i = 0; i < passwords->count; i++)
        if (bytes_equal(bytes_text(passwords->users[i].name), name))
            found = &passwords->users[i];
    return found;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static int cost_of(const char *hash)
{
    if (!is_digit(hash[COST_AT]) || !is_digit(hash[COST_AT + 1]))
        return 0;
    return (hash[COST_AT] - '0') * 10 + hash[COST_AT + 1] - '0';
}

/* ---- reading ---- */

/* Whether the text has bcrypt's form: $2a$10$, then 53 characters of salt and hash. */
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

    if (colon == NULL)
        return error_set(err, ERROR_INVALID, "line %u is not NAME:HASH", number);
    struct bytes name = bytes_of(line.data, (size_t)(colon - line.data));
    struct bytes hash = bytes_of(colon + 1, line.size - name.size - 1);
    if (name.size == 0 || name.size > NATIVE_USER_MAX || !bytes_valid_utf8(name) ||
        memchr(name.data, '\0', name.size) != NULL)
        return error_set(err, ERROR_INVALID, "line %u: a name has 1 to %d bytes of UTF-8", number,
                         NATIVE_USER_MAX);
    if (!is_bcrypt(hash))
        return error_set(err, ERROR_INVALID,
                         "line %u: the hash is not bcrypt's ($2b$..., 60 characters)", number);
    int cost = cost_of((const char *)hash.data);
    if (cost < COST_MIN || cost > COST_MAX)
        return error_set(err, ERROR_INVALID,
                         "line %u: the hash has cost %d, and %d to %d are taken; htpasswd -nBC 12 "
                         "NAME makes one",
                         number, cost, COST_MIN, COST_MAX);
    if (find_user(passwords, name) != NULL)
        return error_set(err, ERROR_INVALID, "line %u: %.*s is there already", number,
                         (int)name.size, (const char *)name.data);
    if (passwords->count == NATIVE_USERS_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d names", NATIVE_USERS_MAX);
    passwords->users = memory_make_room(passwords->users, passwords->count, &passwords->capacity,
                                        sizeof(*passwords->users));
    struct native_user *user = &passwords->users[passwords->count];
    *user = (struct native_user){0};
    memcpy(user->name, name.data, name.size);
    memcpy(user->hash, hash.data, hash.size);
    passwords->count++;
    passwords->cost_max = cost > passwords->cost_max ? cost : passwords->cost_max;
    return 0;
}

int native_password_parse(struct bytes text, struct native_passwords **passwords_out,
                          struct error *err)
{
    struct native_passwords *passwords = memory_zeroed(1, sizeof *passwords);
    size_t at = 0;
    int rc = 0;

    passwords->references = 1;
    *passwords_out = NULL;
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
        native_password_free(passwords);
        return rc;
    }
    *passwords_out = passwords;
    return 0;
}

/* A user who can write the file can log in under any name.  One who can read it can try passwords
 * without limit. */
static int check_mode(const char *path, struct error *err)
{
    struct stat status;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return 0; /* text_file_read reports a missing file; a pipe has no mode to check */
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return error_set(err, ERROR_INVALID,
                         "%s: other users may write it (mode %04o); chmod 640 '%s'", path,
                         (unsigned)status.st_mode & 07777, path);
    if ((status.st_mode & S_IROTH) != 0)
        log_event(LOG_WARNING, "passwords_readable", log_text("path", path),
                  log_text("effect", "any user may read the hashes; chmod 640 ends that"));
    return 0;
}

int native_password_load(const char *path, struct native_passwords **passwords_out,
                         struct error *err)
{
    struct buffer text = {0};
    int rc = check_mode(path, err);

    *passwords_out = NULL;
    rc = rc == 0 ? text_file_read(path, FILE_SIZE_MAX, &text, err) : rc;
    if (rc == 0) {
        rc = native_password_parse(buffer_view(&text), passwords_out, err);
        if (rc != 0)
            error_wrap(err, "%s", path);
    }
    buffer_release(&text);
    return rc;
}

struct native_passwords *native_password_keep(struct native_passwords *passwords)
{
    passwords->references++;
    return passwords;
}

uint32_t native_password_count(const struct native_passwords *passwords)
{
    return passwords->count;
}

void native_password_free(struct native_passwords *passwords)
{
    if (passwords == NULL || --passwords->references > 0)
        return;
    memory_free(passwords->users);
    memory_free(passwords);
}

/* ---- checking ---- */

/* Compare in a time that does not depend on where the bytes differ. */
static bool is_same(const char *a, const char *b, size_t size)
{
    unsigned difference = 0;

    for (size_t i = 0; i < size; i++)
        difference |= (unsigned)(a[i] ^ b[i]);
    return difference == 0;
}

static bool check_password(const char *password, const char *hash, struct crypt_data *data)
{
    /* Unlike crypt_r, crypt_rn returns NULL when it fails. */
    const char *made = crypt_rn(password, hash, data, sizeof *data);

    return made != NULL && strlen(made) == HASH_SIZE && is_same(made, hash, HASH_SIZE);
}

/* Make a hash that takes 2^cost steps and belongs to no password, except by chance. */
static void make_dummy(int cost, char hash[HASH_SIZE + 1])
{
    memcpy(hash, "$2b$00$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW", HASH_SIZE + 1);
    hash[COST_AT] = (char)('0' + cost / 10);
    hash[COST_AT + 1] = (char)('0' + cost % 10);
}

bool native_password_match(const struct native_passwords *passwords, const char *user,
                           const char *password)
{
    const struct native_user *found = find_user(passwords, bytes_text(user));
    struct crypt_data *data = memory_zeroed(1, sizeof *data);
    char dummy[HASH_SIZE + 1];

    make_dummy(passwords->cost_max, dummy);
    bool is_right = check_password(password, found != NULL ? found->hash : dummy, data);
    for (int cost = found != NULL ? cost_of(found->hash) : passwords->cost_max;
         cost < passwords->cost_max; cost++) {
        make_dummy(cost, dummy);
        (void)check_password(password, dummy, data);
    }
    explicit_bzero(data, sizeof *data);
    memory_free(data);
    return found != NULL && is_right;
}

/* native_password: reads the file of the users of the CQL door, and checks their passwords.
 *
 *     # comment
 *     alice:$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy
 *
 * `htpasswd -nBC 12 NAME` makes such a line.  The cost of a hash is 10 to 14.  A loaded struct
 * native_passwords does not change, so any thread may use it; references are counted on the engine
 * thread. */
#ifndef DAYBOOK_QUERY_NATIVE_NATIVE_PASSWORD_H
#define DAYBOOK_QUERY_NATIVE_NATIVE_PASSWORD_H

#include <stdbool.h>

#include "base/bytes.h"

struct native_passwords;

enum {
    NATIVE_USER_MAX = 127,               /* bytes of a name */
    NATIVE_USERS_MAX = 10000,
    NATIVE_PASSWORD_MAX = 255            /* bytes; bcrypt uses the first 72 */
};

/* Load the file, or parse its text.  ERROR_INVALID: a line is wrong (the error has its number), the
 * file names no user, or other users of the machine may write the file.  ERROR_LIMIT: more than
 * NATIVE_USERS_MAX users, or the file is too large. */
must_check int native_password_load(const char *path, struct native_passwords **passwords_out,
                                    struct error *err);
must_check int native_password_parse(struct bytes text, struct native_passwords **passwords_out,
                                     struct error *err);
/* Returns `passwords`, with one reference more. */
struct native_passwords *native_password_keep(struct native_passwords *passwords);
/* Give up a reference.  The struct is freed with its last reference.  NULL: nothing is done. */
void native_password_free(struct native_passwords *passwords);
uint32_t native_password_count(const struct native_passwords *passwords);

/* Whether `password` is the user's.  The call takes as long for unknown names as for known ones: as
 * long as the file's highest cost needs.  Any thread may call it. */
bool native_password_match(const struct native_passwords *passwords, const char *user,
                           const char *password);
#endif

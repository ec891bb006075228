/* slow_trim: malloc_trim that says so and takes a second, as it may where much was freed and other
 * processes want the processor too.  It gives nothing back.
 *
 * tests/e2e/test_commands.py loads it before the C library (LD_PRELOAD), so that what goes on at
 * the end of a server while memory is given back is seen in every run, and not in one of hundreds.
 */
#include <malloc.h>
#include <unistd.h>

enum { TRIM_US = 1000000 };

int malloc_trim(size_t pad)
{
    static const char said[] = "slow_trim: begins\n";
    (void)pad;
    (void)!write(STDERR_FILENO, said, sizeof(said) - 1);
    (void)usleep(TRIM_US);
    return 0;
}

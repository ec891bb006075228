/* thread: how soon a thread gets a core when others want it too.
 *
 * A thread that wakes waits for its turn: by the system's usual measure that is up to a tick of its
 * clock, 4 ms at 250 Hz, which is many times what a question needs.  Who is prompt runs in shorter
 * turns and gets them sooner; its share of the core stays the same. */
#ifndef DAYBOOK_STORAGE_BASE_THREAD_H
#define DAYBOOK_STORAGE_BASE_THREAD_H

#include <stdbool.h>

/* Of the calling thread; a new thread is as the one that made it.  Where the system does not know
 * how (Linux does from 6.12 on), nothing changes. */
void thread_set_prompt(bool is_prompt);
#endif

/* thread: how the threads of this process share the cores, with each other and with other programs.
 *
 * A thread that wakes waits until a core is free for it: by default up to a tick of the system's
 * clock, 4 ms at 250 Hz, which is many times what a request takes.  So latency threads have short
 * time slices, and get the next one sooner; batch threads preempt no other thread when they wake,
 * and yield while they work.  Each thread keeps its share of the cores, except that a background
 * thread has a third of a share while all cores are busy.  Before Linux 6.12 a thread has no time
 * slice of its own: then only the preemption and the shares are as described.  thread_linux.c sets
 * this by system calls. */
#ifndef DAYBOOK_BASE_WORLD_THREAD_H
#define DAYBOOK_BASE_WORLD_THREAD_H

/* These set the calling thread; a new thread inherits the settings of the one that makes it. */
void thread_set_latency(void);    /* requests wait for it, and it sleeps most of the time */
void thread_set_batch(void);      /* it computes for long */
void thread_set_background(void); /* it computes for long, and no request waits for it */

/* Let the threads that wait for the calling thread's core run first.  A batch thread beside a busy
 * latency thread calls this after every some 0.1 ms of work, because the system itself compares
 * waiting times only at its ticks.  The rest of the time slice is lost: beside other programs a
 * batch thread gets somewhat less time.  A thread of another kind would lose much more, so for
 * those the call does nothing. */
void thread_yield(void);
#endif

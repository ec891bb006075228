/* thread: how the threads of this process share the cores, with each other and with others.
 *
 * A thread that wakes waits for its turn: by the system's usual measure that is up to a tick of its
 * clock, 4 ms at 250 Hz, which is many times what a question needs.  So who is waited for runs in
 * short turns and gets them sooner, and who works for long keeps nobody waiting: when it wakes it
 * puts off nobody, and while it works it gives way.  The share of the cores that each gets stays
 * the same, but for what nobody waits for, which gets a third where all want the cores.  Before
 * Linux 6.12 threads have no turns of their own: who works for long puts off nobody when it wakes,
 * and that is all but for the shares.  thread_linux.c asks the system for it. */
#ifndef DAYBOOK_BASE_WORLD_THREAD_H
#define DAYBOOK_BASE_WORLD_THREAD_H

/* All are of the calling thread; a new thread is as the one that made it. */
void thread_set_latency(void);    /* it is waited for, and waits most of the time itself */
void thread_set_batch(void);      /* it works for long */
void thread_set_background(void); /* and nobody waits for it */

/* Let who waits for the calling thread's core go first: to be called every some 0.1 ms of work by a
 * batch thread beside which a latency one has much to do, since the system looks who has waited for
 * how long only at its ticks.  The rest of the turn is lost with it: beside other programs such a
 * thread gets somewhat less, and any but a batch one much less, so for those it does nothing. */
void thread_yield(void);
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traps: entries that have no room for a jump, on request (force=trap).
 *
 * The one-byte int3 raises SIGTRAP; the handler goes on in the function's near code. It is
 * installed with the first trap, and the only one that the preload ever installs. The program may
 * still have a handler of its own for SIGTRAP, and block it: both are kept here, for the signal
 * must neither be blocked nor handled by anybody else while functions may trap.
 */
#ifndef CALLMARK_PRELOAD_TRAP_H
#define CALLMARK_PRELOAD_TRAP_H

#include <signal.h>

/* Install the handler, unless that was done. Negative errno. */
int cm_trap_init(void);

/* What programs call through patched slots, where a rule has force=trap. */
int cm_trap_sigaction(int signal, const struct sigaction *action, struct sigaction *old);
sighandler_t cm_trap_signal(int signal, sighandler_t handler);
int cm_trap_mask(int how, const sigset_t *set, sigset_t *old); /* pthread_sigmask */
int cm_trap_procmask(int how, const sigset_t *set, sigset_t *old);

#endif

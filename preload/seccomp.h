/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that installs a seccomp filter must not be killed for a system call of ours.
 *
 * prctl and syscall are hooked (seccomp-x86_64.S); what installs a filter is looked at before it is
 * done. A filter that would do worse to one of our calls than let it fail ends the recording: what
 * there is is collected, and nothing of ours makes a system call from then on, in this process and
 * in what it forks. Raw system call instructions are not seen.
 */
#ifndef CALLMARK_PRELOAD_SECCOMP_H
#define CALLMARK_PRELOAD_SECCOMP_H

#include <stdbool.h>
#include <stdint.h>

struct sock_fprog;

/* In place of libc's; both jump there. */
long cm_seccomp_syscall(long number, ...);
int cm_seccomp_prctl(int option, ...);

/* Before a filter (mode 2) or strict mode (1) is installed. Any thread; errno stays. */
void cm_seccomp_before(uint32_t mode, const struct sock_fprog *program);

/* Would this program let all our system calls through, or fail? Malformed ones: true. */
bool cm_seccomp_is_harmless(const struct sock_fprog *program);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sandbox N HOW: N calls of callee_add, then a seccomp filter that lets through only what this
 * program itself needs, then N more calls. HOW: kill, trap, errno (for everything else), strict
 * (only read, write and exit), later (an errno filter first, a killing one after N more calls).
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/targets/callee.h"

#define ALLOW(name)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int set_filter(unsigned int otherwise, int by_syscall)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(read),
		ALLOW(write),
		ALLOW(brk),
		ALLOW(newfstatat),
		ALLOW(fstat),
		ALLOW(exit),
		ALLOW(exit_group),
		ALLOW(rt_sigreturn),
		ALLOW(prctl),
		ALLOW(seccomp),
		BPF_STMT(BPF_RET | BPF_K, otherwise),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	if (by_syscall)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static long add(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += callee_add((int)(i % 10), 1);
	return sum;
}

static void say(long sum)
{
	char line[32];
	int n = snprintf(line, sizeof(line), "%ld\n", sum);

	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(1);
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[1]) : 0;
	const char *how = argc > 2 ? argv[2] : "";
	int rc = -1;

	say(add(n));
	if (!strcmp(how, "kill"))
		rc = set_filter(SECCOMP_RET_KILL_PROCESS, 0);
	else if (!strcmp(how, "trap"))
		rc = set_filter(SECCOMP_RET_TRAP, 1);
	else if (!strcmp(how, "errno") || !strcmp(how, "later"))
		rc = set_filter(SECCOMP_RET_ERRNO | EPERM, 1);
	else if (!strcmp(how, "strict"))
		rc = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (rc)
		return 1;
	say(add(n));
	if (!strcmp(how, "later")) {
		if (set_filter(SECCOMP_RET_KILL_PROCESS, 0))
			return 1;
		say(add(n));
	}
	if (!strcmp(how, "strict"))
		(void)syscall(SYS_exit, 3); /* the only way out */
	return 3;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * policy HOW PROGRAM ARGS..: starts the program where code cannot be made or changed. HOW: code (no
 * mprotect that makes a mapping writable and executable), seal (none that makes it executable
 * only), both, mdwe (PR_SET_MDWE). Exit status 77 where the kernel has no such thing.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MDWE_SET 65 /* Linux 6.3 */
#define MDWE_REFUSE_EXEC_GAIN 1

/* mprotect fails where `protection & mask` is `value`. */
static int set_filter(unsigned int mask, unsigned int value)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";

	if (!strcmp(how, "code") && set_filter(PROT_WRITE | PROT_EXEC, PROT_WRITE | PROT_EXEC))
		return 77;
	if (!strcmp(how, "seal") && set_filter(PROT_WRITE | PROT_EXEC, PROT_EXEC))
		return 77;
	if (!strcmp(how, "both") && set_filter(PROT_EXEC, PROT_EXEC))
		return 77;
	if (!strcmp(how, "mdwe") && prctl(MDWE_SET, MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		return 77;
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}

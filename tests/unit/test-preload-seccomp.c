/* SPDX-License-Identifier: BSD-3-Clause */
/* Which seccomp programs let all our system calls through: preload/seccomp.h. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "preload/entries.h"
#include "preload/seccomp.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define IF(op, value, yes, no) BPF_JUMP(BPF_JMP | (op) | BPF_K, value, yes, no)

static bool is_harmless(const struct sock_filter *code, size_t n)
{
	struct sock_fprog program = {.len = (unsigned short)n,
				     .filter = (struct sock_filter *)code};

	return cm_seccomp_is_harmless(&program);
}
#define HARMLESS(code) is_harmless(code, sizeof(code) / sizeof(*(code)))

struct answer {
	char name[24];
	uint32_t action;
	bool is_harmless;
};

Test(seccomp, bears_what_lets_a_call_through_or_fail)
{
	static const struct answer answers[] = {
		{"allow", SECCOMP_RET_ALLOW, true},
		{"log", SECCOMP_RET_LOG, true},
		{"error", SECCOMP_RET_ERRNO | EPERM, true},
		{"success without doing it", SECCOMP_RET_ERRNO | 0, false},
		{"trap", SECCOMP_RET_TRAP, false},
		{"trace", SECCOMP_RET_TRACE | 1, false},
		{"ask another process", SECCOMP_RET_USER_NOTIF, false},
		{"kill the thread", SECCOMP_RET_KILL_THREAD, false},
		{"kill the process", SECCOMP_RET_KILL_PROCESS, false},
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		/* Of one of our calls only. */
		const struct sock_filter code[] = {
			LOAD(nr),
			IF(BPF_JEQ, SYS_ftruncate, 0, 1),
			RETURN(answers[i].action),
			RETURN(SECCOMP_RET_ALLOW),
		};

		cr_expect_eq(HARMLESS(code), answers[i].is_harmless, "%s", answers[i].name);
	}
}

Test(seccomp, asks_about_changing_code_only_where_that_is_done)
{
	/* A program that wants no code to be made has no say in slots. */
	const struct sock_filter code[] = {
		LOAD(nr),
		IF(BPF_JEQ, SYS_mprotect, 0, 3),
		LOAD(args[2]),
		IF(BPF_JSET, PROT_EXEC, 0, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		RETURN(SECCOMP_RET_ALLOW),
	};

	cr_expect(HARMLESS(code));
	cm_entries_are_used = true;
	cr_expect_not(HARMLESS(code));
	cm_entries_are_used = false;
}

Test(seccomp, bears_a_ban_of_calls_that_are_not_ours)
{
	const struct sock_filter code[] = {
		LOAD(arch),
		IF(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		IF(BPF_JGE, 0x40000000, 2, 0), /* x32 */
		IF(BPF_JEQ, SYS_ptrace, 1, 0),
		IF(BPF_JEQ, SYS_reboot, 0, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		RETURN(SECCOMP_RET_ALLOW),
	};

	cr_assert(HARMLESS(code));
}

Test(seccomp, looks_at_arguments)
{
	struct sock_filter code[] = {
		LOAD(nr),
		IF(BPF_JEQ, SYS_mmap, 0, 4),
		LOAD(args[2]),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_EXEC),
		IF(BPF_JEQ, PROT_EXEC, 0, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		RETURN(SECCOMP_RET_ALLOW),
	};

	cr_assert(HARMLESS(code), "we map nothing that can be executed");
	code[3].k = PROT_WRITE;
	code[4].k = PROT_WRITE;
	cr_assert_not(HARMLESS(code), "we map what can be written");
	code[4] = (struct sock_filter)IF(BPF_JSET, PROT_WRITE, 0, 1);
	cr_assert_not(HARMLESS(code), "the same by another test");
}

Test(seccomp, keeps_numbers_in_memory_and_registers)
{
	/* The number goes through memory, x and a sum, and back. */
	struct sock_filter code[] = {
		LOAD(nr),
		BPF_STMT(BPF_ST, 3),
		BPF_STMT(BPF_LD | BPF_IMM, 5),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_MEM, 3),
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 4),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
		IF(BPF_JEQ, SYS_openat + 5, 0, 1),
		RETURN(SECCOMP_RET_TRAP),
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
		IF(BPF_JEQ, sizeof(struct seccomp_data), 0, 1),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_KILL_PROCESS),
	};

	cr_assert_not(HARMLESS(code));
	code[8].k = SYS_ptrace + 5;
	cr_assert(HARMLESS(code));
}

Test(seccomp, ends_where_a_program_is_no_good)
{
	const struct sock_filter endless[] = {BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX)};
	const struct sock_filter beyond[] = {IF(BPF_JEQ, 0, 255, 255),
					     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4096)};

	/* The kernel refuses both; nothing is forbidden then. */
	cr_assert(HARMLESS(endless));
	cr_assert(HARMLESS(beyond));
	cr_assert(is_harmless(NULL, 0));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a filter says about the system calls that we make, by running it. */
#include "preload/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

#include "preload/entries.h"
#include "preload/exit.h"
#include "preload/process.h"
#include "preload/syscall.h"
#include "preload/thread.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#define CM_STRICT 1

struct call {
	int number;
	uint64_t args[4];
};

/* What the recorder does from the first call of a thread to the end of the process. */
static const struct call our_calls[] = {
	{SYS_rt_sigprocmask, {2, 1, 1, 8}},
	{SYS_futex, {1, FUTEX_WAIT_PRIVATE, 2, 1}},
	{SYS_futex, {1, FUTEX_WAKE_PRIVATE, 1}},
	{SYS_openat, {(uint32_t)AT_FDCWD, 1, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600}},
	{SYS_openat, {(uint32_t)AT_FDCWD, 1, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC}},
	{SYS_openat, {(uint32_t)AT_FDCWD, 1, O_RDONLY | O_CLOEXEC}},
	{SYS_read, {3, 1, 4096}},
	{SYS_pwrite64, {3, 1, 4096}},
	{SYS_ftruncate, {3, 4096}},
	{SYS_fallocate, {3}},
	{SYS_close, {3}},
	{SYS_mmap, {0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED}},
	{SYS_mmap, {0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE}},
	{SYS_munmap, {4096, 4096}},
	{SYS_madvise, {4096, 4096, MADV_RANDOM}},
	{SYS_madvise, {4096, 4096, MADV_POPULATE_WRITE}},
	{SYS_unlink, {1}},
	{SYS_mkdir, {1, 0700}},
	{SYS_getpid, {0}},
	{SYS_getppid, {0}},
	{SYS_getuid, {0}},
	{SYS_gettid, {0}},
	{SYS_getcpu, {1}},
	{SYS_tgkill, {1, 1, 0}},
	{SYS_sigaltstack, {0, 1}},
	{SYS_prctl, {PR_GET_NAME, 1}},
	{SYS_prlimit64, {0, RLIMIT_FSIZE, 0, 1}},
	{SYS_clock_gettime, {CLOCK_MONOTONIC, 1}},
	{SYS_nanosleep, {1}},
	{SYS_fstat, {2, 1}},
	{SYS_write, {2, 1, 1}},
	{SYS_clone, {0x4100}},
	{SYS_wait4, {1, 1, 0x40000000}},
	{SYS_setsid, {0}},
	{SYS_dup2, {3, 1}},
	{SYS_close_range, {3, UINT32_MAX}},
	{SYS_rt_sigaction, {13, 1, 0, 8}},
	{SYS_execve, {1, 1, 1}},
};

/* And, with internal=yes, what it does more than the loader when the program opens objects. */
static const struct call entry_calls[] = {
	{SYS_mprotect, {4096, 4096, PROT_READ | PROT_WRITE | PROT_EXEC}},
	{SYS_getdents64, {3, 1, 8192}},
	{SYS_prctl, {PR_GET_SECCOMP}},
	{SYS_prctl, {CM_GET_MDWE}},
};

struct machine {
	struct seccomp_data data;
	uint32_t a, x;
	uint32_t memory[BPF_MEMWORDS];
};

static uint32_t compute(uint16_t code, uint32_t a, uint32_t b)
{
	switch (BPF_OP(code)) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return b < 32 ? a << b : 0;
	case BPF_RSH:
		return b < 32 ? a >> b : 0;
	default: /* BPF_NEG */
		return 0 - a;
	}
}

static bool is_true(uint16_t code, uint32_t a, uint32_t b)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default: /* BPF_JSET */
		return a & b;
	}
}

static uint32_t load(const struct machine *machine, const struct sock_filter *in)
{
	uint32_t value = 0;

	switch (BPF_MODE(in->code)) {
	case BPF_ABS:
		if (in->k <= sizeof(machine->data) - sizeof(value))
			memcpy(&value, (const char *)&machine->data + in->k, sizeof(value));
		return value;
	case BPF_LEN:
		return sizeof(machine->data);
	case BPF_MEM:
		return machine->memory[in->k % BPF_MEMWORDS];
	default: /* BPF_IMM */
		return in->k;
	}
}

/* Everything but jumps and returns. */
static void step(struct machine *machine, const struct sock_filter *in)
{
	switch (BPF_CLASS(in->code)) {
	case BPF_LD:
		machine->a = load(machine, in);
		break;
	case BPF_LDX:
		machine->x = load(machine, in);
		break;
	case BPF_ST:
		machine->memory[in->k % BPF_MEMWORDS] = machine->a;
		break;
	case BPF_STX:
		machine->memory[in->k % BPF_MEMWORDS] = machine->x;
		break;
	case BPF_ALU:
		machine->a = compute(in->code, machine->a,
				     BPF_SRC(in->code) == BPF_X ? machine->x : in->k);
		break;
	default: /* BPF_MISC */
		if (BPF_MISCOP(in->code) == BPF_TXA)
			machine->a = machine->x;
		else
			machine->x = machine->a;
	}
}

/* The program's answer; jumps go forward only, so it ends. A malformed one lets through. */
static uint32_t run(const struct sock_fprog *program, struct machine *machine)
{
	for (uint32_t pc = 0; pc < program->len; pc++) {
		const struct sock_filter *in = &program->filter[pc];

		if (BPF_CLASS(in->code) == BPF_RET)
			return BPF_RVAL(in->code) == BPF_A ? machine->a : in->k;
		if (BPF_CLASS(in->code) != BPF_JMP)
			step(machine, in);
		else if (BPF_OP(in->code) == BPF_JA)
			pc += in->k < program->len ? in->k : program->len;
		else if (is_true(in->code, machine->a,
				 BPF_SRC(in->code) == BPF_X ? machine->x : in->k))
			pc += in->jt;
		else
			pc += in->jf;
	}
	return SECCOMP_RET_ALLOW;
}

/* Done, or refused with an error; an error 0 would be taken for success. */
static bool is_bearable(uint32_t answer)
{
	switch (answer & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return true;
	case SECCOMP_RET_ERRNO:
		return answer & SECCOMP_RET_DATA;
	default:
		return false;
	}
}

static bool allows(const struct sock_fprog *program, const struct call *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct machine machine = {.data.nr = calls[i].number,
					  .data.arch = AUDIT_ARCH_X86_64,
					  .data.instruction_pointer = (uint64_t)run};

		memcpy(machine.data.args, calls[i].args, sizeof(calls[i].args));
		if (!is_bearable(run(program, &machine)))
			return false;
	}
	return true;
}

bool cm_seccomp_is_harmless(const struct sock_fprog *program)
{
	return allows(program, our_calls, sizeof(our_calls) / sizeof(*our_calls)) &&
	       (!cm_entries_are_used ||
		allows(program, entry_calls, sizeof(entry_calls) / sizeof(*entry_calls)));
}

/* The kernel would refuse what it cannot read, and so the program goes on as it is. */
static bool can_read(const struct sock_fprog *program)
{
	return cm_thread_can_read(program, sizeof(*program)) &&
	       cm_thread_can_read(program->filter, program->len * sizeof(*program->filter));
}

void cm_seccomp_before(uint32_t mode, const struct sock_fprog *program)
{
	if (atomic_load_explicit(&cm_process.state, memory_order_relaxed) == CM_PROCESS_CLOSED ||
	    mode > SECCOMP_MODE_FILTER || !mode)
		return;
	if (mode == CM_STRICT || (can_read(program) && !cm_seccomp_is_harmless(program)))
		cm_exit_stop("the program installed a seccomp filter that does not allow what "
			     "callmark does; calls from there on are missing");
}

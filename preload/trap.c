/* SPDX-License-Identifier: BSD-3-Clause */
/* The handler, and what the program believes of SIGTRAP. */
#include "preload/trap.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/entries.h"
#include "preload/syscall.h"

#define CM_TRAP_BIT (UINT64_C(1) << (SIGTRAP - 1))
#define CM_N_SIGNALS 65

/* As the kernel has it. */
struct kernel_action {
	uint64_t handler, flags, restorer, mask;
};
#define CM_SA_RESTORER UINT64_C(0x04000000)

void cm_trap_restore(void); /* thunk-x86_64.S */

static _Atomic bool is_installed;
static struct sigaction own;		    /* the program's, for SIGTRAP */
static _Atomic uint8_t masks[CM_N_SIGNALS]; /* 1: its action for that signal blocks SIGTRAP */
static __thread bool is_blocked __attribute__((tls_model("initial-exec")));

/* The near code behind the trap at this address, or 0. */
static uint64_t find_near(uint64_t place)
{
	const struct cm_object *object = cm_object_of((const void *)place);
	const struct cm_site_function *function = NULL;

	for (uint64_t before = 0; object && !function && before <= 4; before += 4)
		function = cm_entries_find(object, place - before); /* an endbr64 */
	if (!function || object->base + function->place != place)
		return 0;
	return (uint64_t)cm_entries_target((const void *)(object->base + function->offset)) -
	       CM_NEAR_LEAD_BYTES;
}

static bool has_trap(const sigset_t *set)
{
	return set->__val[0] & CM_TRAP_BIT;
}

static void set_trap(sigset_t *set, bool is_in)
{
	set->__val[0] = is_in ? set->__val[0] | CM_TRAP_BIT : set->__val[0] & ~CM_TRAP_BIT;
}

static void set_action(uint64_t handler, uint64_t flags, struct kernel_action *old)
{
	struct kernel_action action = {.handler = handler,
				       .flags = flags | CM_SA_RESTORER,
				       .restorer = (uint64_t)cm_trap_restore};

	(void)cm_sys6(SYS_rt_sigaction, SIGTRAP, (long)&action, (long)old, 8, 0,
		      0); /* cannot fail with these arguments */
}

/* A trap of the program's own. */
static void pass_on(int signal, siginfo_t *info, ucontext_t *context)
{
	if (own.sa_handler != SIG_DFL && own.sa_handler != SIG_IGN) {
		own.sa_sigaction(signal, info, context);
		return;
	}
	/* As the kernel does, also with SIG_IGN: a trap that nobody handles is the end. */
	if (own.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	set_action((uint64_t)SIG_DFL, 0, NULL);
	(void)cm_sys3(SYS_tgkill, cm_sys_getpid(), cm_sys_gettid(), SIGTRAP);
}

static void handle(int signal, siginfo_t *info, void *arg)
{
	ucontext_t *context = arg;
	greg_t *ip = &context->uc_mcontext.gregs[REG_RIP];
	uint64_t near = info->si_code > 0 ? find_near((uint64_t)*ip - 1) : 0;

	if (near)
		*ip = (greg_t)near;
	else
		pass_on(signal, info, context);
}

int cm_trap_init(void)
{
	struct kernel_action old = {0};
	uint64_t trap = CM_TRAP_BIT;

	if (is_installed)
		return 0;
	set_action((uint64_t)handle, SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART, &old);
	own.sa_handler = (sighandler_t)old.handler;
	own.sa_flags = (int)(old.flags & ~CM_SA_RESTORER);
	(void)cm_sys6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&trap, 0, 8, 0, 0);
	is_installed = true;
	return 0;
}

int cm_trap_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction copy;
	bool blocks;
	int rc;

	if (!is_installed || signal <= 0 || signal >= CM_N_SIGNALS)
		return sigaction(signal, action, old);
	if (signal == SIGTRAP) {
		copy = own;
		if (action)
			own = *action;
		if (old)
			*old = copy;
		return 0;
	}
	blocks = masks[signal];
	if (action) {
		copy = *action;
		set_trap(&copy.sa_mask, false);
	}
	rc = sigaction(signal, action ? &copy : NULL, old);
	if (!rc && old && blocks)
		set_trap(&old->sa_mask, true);
	if (!rc && action)
		masks[signal] = has_trap(&action->sa_mask);
	return rc;
}

sighandler_t cm_trap_signal(int number, sighandler_t handler)
{
	sighandler_t old = own.sa_handler;

	if (!is_installed || number != SIGTRAP)
		return signal(number, handler);
	own = (struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART};
	return old;
}

static int change_mask(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set,
		       sigset_t *old)
{
	bool was_blocked = is_blocked;
	sigset_t copy;
	int rc;

	if (!is_installed)
		return real(how, set, old);
	if (set) {
		copy = *set;
		set_trap(&copy, false);
	}
	rc = real(how, set ? &copy : NULL, old);
	if (rc)
		return rc;
	if (set && how == SIG_SETMASK)
		is_blocked = has_trap(set);
	else if (set && has_trap(set))
		is_blocked = how == SIG_BLOCK;
	if (old && was_blocked)
		set_trap(old, true);
	return 0;
}

int cm_trap_mask(int how, const sigset_t *set, sigset_t *old)
{
	return change_mask(pthread_sigmask, how, set, old);
}

int cm_trap_procmask(int how, const sigset_t *set, sigset_t *old)
{
	return change_mask(sigprocmask, how, set, old);
}

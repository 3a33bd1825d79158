/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walking frames, and finding the path that they are.
 *
 * The stack is read only where that cannot fault: between the thunk's frame and the end of the
 * thread's own stack, or where the kernel has said so. Every frame must lie above the one before,
 * but for those that a signal has interrupted, which may be on another stack.
 */
#include "preload/callers.h"

#include "preload/frame-rule.h"
#include "preload/paths.h"
#include "preload/process.h"
#include "preload/record.h"
#include "preload/stub.h"
#include "preload/syscall.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define CM_FRAME_TO_RBP 96 /* thunk-x86_64.S */
#define CM_STACK_SHIFT 16
#define CM_MAX_STEPS 512 /* ours, and those of signals, do not count as frames */

/* Offsets of the saved registers in an ucontext_t; <ucontext.h> says the same. */
#define CM_CONTEXT_RBP 120
#define CM_CONTEXT_RSP 160
#define CM_CONTEXT_RIP 168

struct walk {
	struct cm_callers_frame at;
	uint64_t low, n_safe; /* [low, low + n_safe): words that begin there can be read */
	struct cm_thread *thread;
};

/* From `rsp` on to its end the thread's own stack is mapped. */
static void use_stack(struct walk *walk, uint64_t rsp)
{
	const struct cm_thread *thread = walk->thread;

	walk->low = rsp;
	walk->n_safe = cm_thread_on_stack(thread, rsp) ? thread->stack_high - rsp - 7 : 0;
}

/* On another stack: what was asked before need not be asked again, until that stack changes. */
static bool is_checked(struct walk *walk, uint64_t address)
{
	struct cm_thread_callers *callers = walk->thread->callers;
	uint64_t page = address & ~UINT64_C(4095), stack = walk->low >> CM_STACK_SHIFT;
	uint64_t *checked;

	if (!callers)
		return cm_thread_can_read((const void *)address, 8);
	checked = &callers->checked_pages[(page >> 12) % CM_CHECKED_PAGES];
	if (callers->stack != stack) {
		for (uint32_t i = 0; i < CM_CHECKED_PAGES; i++)
			callers->checked_pages[i] = 0;
		callers->stack = stack;
	}
	if (*checked == page)
		return true;
	if (!cm_thread_can_read((const void *)address, 8))
		return false;
	*checked = page;
	return true;
}

static inline bool load(struct walk *walk, uint64_t address, uint64_t *ret_value)
{
	if (unlikely(address - walk->low >= walk->n_safe || address & 7) &&
	    (address & 7 || address < 4096 || !is_checked(walk, address)))
		return false;
	*ret_value = *(const volatile uint64_t *)address;
	return true;
}

/* Over to the caller, whose frame begins at the CFA. false: it cannot be that. */
static inline bool go_up(struct walk *walk, uint64_t cfa, enum cm_frame_rbp rule, int64_t offset)
{
	uint64_t rbp = walk->at.rbp;

	if (unlikely(cfa <= walk->at.rsp) || !load(walk, cfa - 8, &walk->at.pc))
		return false;
	if (rule == CM_RBP_AT_CFA) {
		walk->at.has_rbp = load(walk, cfa + (uint64_t)offset, &walk->at.rbp);
	} else if (unlikely(rule == CM_RBP_AT_RBP)) {
		walk->at.has_rbp &= load(walk, rbp + (uint64_t)offset, &walk->at.rbp);
	} else if (unlikely(rule == CM_RBP_UNKNOWN)) {
		walk->at.has_rbp = false;
	}
	walk->at.rsp = cfa;
	walk->at.is_exact = false;
	return true;
}

/* The kernel has put what a signal interrupted on the handler's stack. */
static bool leave_handler(struct walk *walk)
{
	uint64_t context = walk->at.rsp, rsp;

	if (!load(walk, context + CM_CONTEXT_RIP, &walk->at.pc) ||
	    !load(walk, context + CM_CONTEXT_RBP, &walk->at.rbp) ||
	    !load(walk, context + CM_CONTEXT_RSP, &rsp))
		return false;
	walk->at.rsp = rsp;
	walk->at.has_rbp = walk->at.is_exact = true;
	use_stack(walk, rsp);
	return true;
}

static bool go_wide(struct walk *walk)
{
	struct cm_frame_row row;
	uint64_t cfa;

	if (!cm_frame_row_at(walk->at.pc, walk->at.is_exact, &row) ||
	    (row.cfa.reg != CM_DWARF_RSP && !walk->at.has_rbp))
		return false;
	cfa = (row.cfa.reg == CM_DWARF_RSP ? walk->at.rsp : walk->at.rbp) + row.cfa.offset;
	if (row.cfa.reg == CM_FRAME_AT_RBP && !load(walk, cfa, &cfa))
		return false;
	return go_up(walk, cfa, (enum cm_frame_rbp)row.rbp, row.rbp_offset);
}

/* To the caller, by this step. false: it cannot be found. */
static inline bool go(struct walk *walk, uint64_t step)
{
	enum cm_step_kind kind = cm_step_kind(step);
	uint64_t cfa = walk->at.rsp + (uint64_t)cm_step_offset(step);

	if (kind == CM_STEP_SIGNAL)
		return leave_handler(walk);
	if (kind == CM_STEP_WIDE)
		return go_wide(walk);
	if (kind != CM_STEP_BY_RSP) {
		if (kind == CM_STEP_CUT || !walk->at.has_rbp)
			return false;
		cfa = walk->at.rbp + (uint64_t)cm_step_offset(step);
		if (kind == CM_STEP_AT_RBP && !load(walk, cfa, &cfa))
			return false;
	}
	return go_up(walk, cfa, cm_step_rbp(step), cm_step_rbp_offset(step));
}

/*
 * As far as frames are ordinary ones on a stack that can be read: this is the way of nearly all.
 * Returns how many there are then; the next one is for go().
 */
static __attribute__((noinline)) uint32_t go_fast(struct walk *walk, uint64_t *frames, uint32_t n,
						  uint32_t max)
{
	uint64_t pc = walk->at.pc, rsp = walk->at.rsp, rbp = walk->at.rbp;
	uint64_t low = walk->low, n_safe = walk->n_safe;

	while (n < max) {
		uint64_t step = cm_frame_step_find(pc, false), cfa = rsp, saved;
		uint32_t kind = (uint32_t)step & CM_STEP_KIND_MASK;
		uint32_t rule = (uint32_t)step & CM_STEP_RBP_MASK;

		if (kind == CM_STEP_BY_RBP << CM_STEP_KIND_SHIFT)
			cfa = rbp;
		else if (unlikely(kind != CM_STEP_BY_RSP << CM_STEP_KIND_SHIFT))
			break;
		cfa += (uint64_t)cm_step_offset(step);
		if (unlikely(cfa - 8 - low >= n_safe || cfa <= rsp))
			break;
		if (rule == CM_RBP_AT_CFA << CM_STEP_RBP_SHIFT) {
			saved = cfa + (uint64_t)cm_step_rbp_offset(step);
			if (unlikely(saved - low >= n_safe))
				break;
			rbp = *(const volatile uint64_t *)saved;
		} else if (unlikely(rule != CM_RBP_SAME)) {
			break;
		}
		frames[n++] = pc;
		pc = *(const volatile uint64_t *)(cfa - 8);
		rsp = cfa;
	}
	walk->at.pc = pc;
	walk->at.rsp = rsp;
	walk->at.rbp = rbp;
	return n;
}

struct cm_callers_frame cm_callers_start(const struct cm_frame *frame)
{
	const uint64_t *rbp = (const uint64_t *)((const char *)frame + CM_FRAME_TO_RBP);

	return (struct cm_callers_frame){
		.pc = rbp[1], .rsp = (uint64_t)(rbp + 2), .rbp = rbp[0], .has_rbp = true};
}

uint32_t cm_callers_walk(const struct cm_callers_frame *start, uint32_t max, uint64_t *frames,
			 uint32_t *ret_flags)
{
	struct walk walk = {.at = *start, .thread = cm_self};
	uint32_t n = 0;

	use_stack(&walk, start->rsp);
	*ret_flags = 0;
	for (int i = 0;; i++) {
		uint64_t step;

		if (walk.at.has_rbp && !walk.at.is_exact)
			n = go_fast(&walk, frames, n, max);
		if (!walk.at.pc)
			break;
		step = cm_frame_step(walk.at.pc, walk.at.is_exact);
		if (cm_step_kind(step) != CM_STEP_SIGNAL && !(step & CM_STEP_HIDDEN_BIT)) {
			if (n == max) {
				*ret_flags = CM_PATH_LIMIT;
				break;
			}
			frames[n++] = walk.at.pc + walk.at.is_exact;
		}
		if (cm_step_kind(step) == CM_STEP_END)
			break;
		if (i == CM_MAX_STEPS || !go(&walk, step)) {
			*ret_flags = CM_PATH_CUT;
			break;
		}
	}
	return n;
}

/* Not seen on this thread before, or not at all. Whatever fails, the call itself goes on. */
static struct cm_spool_path_total *capture_cold(const struct cm_path_key *key)
{
	struct cm_spool_path_total *total = NULL;
	uint64_t mask = cm_sys_block_signals();
	struct cm_thread *thread = cm_self;
	const struct cm_path *path;

	atomic_store_explicit(&thread->in_cold, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&cm_process.state, memory_order_seq_cst) == CM_PROCESS_ARMED) {
		path = cm_path_make(key);
		if (path)
			total = cm_path_total_get(thread, path->index);
	}
	atomic_store_explicit(&thread->in_cold, 0, memory_order_release);
	cm_sys_restore_signals(mask);
	return total;
}

struct cm_spool_path_total *cm_callers_capture(const struct cm_stub *stub,
					       const struct cm_frame *frame)
{
	uint32_t max = cm_regions[stub->region].callers;
	uint64_t frames[CM_RULES_MAX_CALLERS];
	struct cm_callers_frame start;
	struct cm_path_key key = {.region = stub->region, .frames = frames};
	struct cm_spool_path_total *total = NULL;
	const struct cm_path *path;

	if (!max ||
	    atomic_load_explicit(&cm_process.state, memory_order_relaxed) == CM_PROCESS_CLOSED)
		return NULL;
	if (unlikely(!cm_self->first) && !cm_record_thread())
		return NULL;
	start = cm_callers_start(frame);
	key.n_frames = cm_callers_walk(&start, max, frames, &key.flags);
	path = cm_path_find(&key);
	if (path && cm_self->callers)
		total = cm_path_total_find(cm_self->callers, path->index);
	return total ? total : capture_cold(&key);
}

void cm_callers_account(struct cm_thread *thread, struct cm_spool_path_total *total,
			bool is_foreign, uint64_t ticks)
{
	if (total && is_foreign)
		total = cm_path_total_get(thread, total->path);
	if (total)
		cm_path_total_add(total, ticks);
}

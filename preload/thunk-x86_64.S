/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thunk: what a patched slot calls instead of the original.
 *
 * An ordinary function with a frame of its own and exact unwind information: exceptions, longjmp,
 * cancellation, backtraces and shadow stacks see it as they would see a hand-written wrapper.
 * The hooks touch neither vector nor x87 registers, so neither arguments nor returns in them need
 * saving. The one exception is here: stack arguments are copied through xmm15, whose low half is
 * put back (an SSE move leaves the upper part alone). Sixty-four moves through general registers
 * fill the store buffer and cost 12 ns, `rep movsq` 6 to 8 ns, this 3 to 4 ns (512 bytes, Zen 4);
 * most calls copy far fewer.
 *
 *	 8(%rbp)  return address		 -80(%rbp)  stub, across calls
 *	 0(%rbp)  caller's rbp			 -96(%rbp)  struct cm_frame
 *	-8..-48   rdi rsi rdx rcx r8 r9		-112(%rbp)  xmm15
 *	-56(%rbp) rax (vararg vector count)	below: copy of the stack arguments,
 *	-64(%rbp) r10 (static chain)			aligned to 64
 *
 * r11 carries the stub's table entry: the one register that a call through the PLT may change.
 *
 * cm_thunk_entry is the same for functions whose entry was patched (entries.h). Their callers may
 * rely on whatever register the function leaves alone, r11 among them: it has been stored at
 * -72(%rbp), in the red zone, by the code that jumps here, and all of them are kept on both sides.
 *
 * A function that a thunk has called may end in a jump to another one: the thunk of that one finds
 * the first one's return address. A chain of such calls needs no stack (state machines, mutual
 * recursion), so only the first of a chain and TAILS more have a frame each. A later one closes the
 * call of the frame above, whose function has ended, opens its own there, and jumps as well.
 */
#define TAILS 8
#define MOST_BETWEEN (65536 + 256)	/* from rbp to rbp: CM_RULES_MAX_STACK_BYTES, and a frame */
#define FRAME (-96) /* CM_FRAME_BELOW_RBP of unwind.c */
#define SAVE (-112)
#define RESERVE 112

	.text
	/* The hooks call LIKWID: all of the vector, mask and x87 state is kept around them. */
#define STATE_BYTES 2752		/* XSAVE's standard format up to the upper 16 of AVX-512 */
#define STATE_PARTS 0xe7		/* x87, SSE, AVX, AVX-512 */
	.macro	keep_state
	movq	%rsp, -80(%rbp)
	subq	$STATE_BYTES, %rsp
	andq	$-64, %rsp
	xorl	%eax, %eax
	.set	offset, 512			/* the header */
	.rept	8
	movq	%rax, offset(%rsp)
	.set	offset, offset + 8
	.endr
	movl	$STATE_PARTS, %eax
	xorl	%edx, %edx
	xsave64	(%rsp)
	.endm

	.macro	give_state_back
	movl	$STATE_PARTS, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	movq	-80(%rbp), %rsp
	.endm

	.macro	give_registers_back
	movq	-8(%rbp), %rdi
	movq	-16(%rbp), %rsi
	movq	-24(%rbp), %rdx
	movq	-32(%rbp), %rcx
	movq	-40(%rbp), %r8
	movq	-48(%rbp), %r9
	movq	-56(%rbp), %rax
	movq	-64(%rbp), %r10
	.endm

	.macro	thunk name, is_entry
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	64
\name:
	.cfi_startproc
	.cfi_personality 0x1b, cm_personality
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$RESERVE, %rsp
	movq	%rdi, -8(%rbp)
	movq	%rsi, -16(%rbp)
	movq	%rdx, -24(%rbp)
	movq	%rcx, -32(%rbp)
	movq	%r8, -40(%rbp)
	movq	%r9, -48(%rbp)
	movq	%rax, -56(%rbp)
	movq	%r10, -64(%rbp)

	.if	\is_entry
	leaq	.Lreturned\@(%rip), %rsi
	cmpq	%rsi, 8(%rbp)
	je	.Ltail_call\@
.Lnested\@:
	.endif

	/* Most functions are known to read no stack argument; a new stub's has not been looked at. */
	movl	12(%r11), %ecx			/* n_stack_words; CM_STUB_NEW */
	testl	%ecx, %ecx
	jle	.Lnone_or_new\@

	/* A call cannot have passed more words than its caller's frame holds (caller-frame.h). */
.Llook_at_caller\@:
	movq	8(%rbp), %rdx			/* return address */
	leaq	cm_caller_frames(%rip), %rsi
	movl	%edx, %edi
	andl	$4095, %edi
	movq	(%rsi,%rdi,8), %rsi
	movzwl	%si, %ecx
	shrq	$16, %rsi
	cmpq	%rdx, %rsi
	jne	.Lother_caller\@
.Lframe_known\@:
	cmpl	$14, %ecx
	ja	.Lmany_words\@
	testl	%ecx, %ecx
	jz	.Lcopied\@
	subq	$112, %rsp
	leaq	16(%rbp), %rsi
	andq	$-64, %rsp
	movq	%rsp, %rdi
	movups	%xmm15, SAVE(%rbp)
.Lrest\@:						/* an even number of words, 0 to 14 */
	leaq	.Lpairs_end\@(%rip), %rdx
	leal	(%rcx,%rcx,4), %ecx		/* 10 bytes of code for each pair */
	subq	%rcx, %rdx
	notrack jmp *%rdx
	.set	offset, 96
	.rept	7
	{disp8} movups offset(%rsi), %xmm15
	{disp8} movups %xmm15, offset(%rdi)
	.set	offset, offset - 16
	.endr
.Lpairs_end\@:
	movups	SAVE(%rbp), %xmm15
.Lcopied\@:
	.if	\is_entry
	cmpb	$0, cm_hooks_use_vectors(%rip)
	jne	.Lenter_with_state\@
	.endif
	movq	%r11, %rdi
	leaq	FRAME(%rbp), %rsi
	call	*cm_hook_enter(%rip)
	.globl	\name\()_live_begin
	.hidden	\name\()_live_begin
\name\()_live_begin:
	.if	\is_entry
	movq	%rax, -80(%rbp)
	give_registers_back
	movq	-72(%rbp), %r11
	call	*-80(%rbp)
.Lreturned\@:
	movq	%rdi, -8(%rbp)
	movq	%rsi, -16(%rbp)
	movq	%rcx, -32(%rbp)
	movq	%r8, -40(%rbp)
	movq	%r9, -48(%rbp)
	movq	%r10, -64(%rbp)
	movq	%r11, -72(%rbp)
	.else
	movq	%rax, %r11
	give_registers_back
	call	*%r11
	.endif
	movq	%rax, -56(%rbp)
	movq	%rdx, -24(%rbp)
	.if	\is_entry
	cmpb	$0, cm_hooks_use_vectors(%rip)
	jne	.Lleave_with_state\@
	.endif
	leaq	FRAME(%rbp), %rdi
	call	*cm_hook_exit(%rip)
	.globl	\name\()_live_end
	.hidden	\name\()_live_end
\name\()_live_end:
.Lleft\@:
	.if	\is_entry
	give_registers_back
	movq	-72(%rbp), %r11
	.else
	movq	-56(%rbp), %rax
	movq	-24(%rbp), %rdx
	.endif
	leave
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_restore_state

	/* Frame not known, or large: at most what the rule says, if it can be read. */
.Lmany_words\@:
	movl	12(%r11), %edx			/* n_stack_words: an even number */
	cmpl	$0xfffe, %ecx			/* CM_CALLER_BY_RBP */
	je	.Lby_rbp\@
	cmpl	%edx, %ecx
	cmova	%edx, %ecx
.Llimited\@:
	testl	%ecx, %ecx
	jz	.Lcopied\@
	leaq	16(%rbp), %rsi
	movl	%esi, %edx
	andl	$4095, %edx
	leal	(%rdx,%rcx,8), %edx
	cmpl	$4096, %edx
	ja	.Lcheck_stack\@			/* it reaches into the next page */
.Lcopy\@:
	leaq	0(,%rcx,8), %rdx
	subq	%rdx, %rsp
	andq	$-64, %rsp
	movq	%rsp, %rdi
	movups	%xmm15, SAVE(%rbp)
	subl	$16, %ecx
	jl	.Lblocks_end\@
.Lblock\@:					/* of 16 words */
	.set	offset, 0
	.rept	8
	movups	offset(%rsi), %xmm15
	movups	%xmm15, offset(%rdi)
	.set	offset, offset + 16
	.endr
	subq	$-128, %rsi
	subq	$-128, %rdi
	subl	$16, %ecx
	jge	.Lblock\@
.Lblocks_end\@:
	addl	$16, %ecx
	jmp	.Lrest\@

.Lby_rbp\@:					/* the caller's frame ends at its rbp + 16 */
	movq	0(%rbp), %rcx
	subq	%rbp, %rcx
	shrq	$4, %rcx
	addq	%rcx, %rcx
	cmpq	%rdx, %rcx
	cmovaq	%rdx, %rcx
	jmp	.Llimited\@

.Lnone_or_new\@:
	jz	.Lcopied\@
	movq	%r11, -80(%rbp)
	movq	%r11, %rdi
	call	cm_stub_learn
	movq	-80(%rbp), %r11
	cmpl	$0, 12(%r11)
	je	.Lcopied\@
	jmp	.Llook_at_caller\@

.Lother_caller\@:
	movl	$0xffff, %ecx			/* CM_CALLER_UNKNOWN */
	testq	%rsi, %rsi
	jnz	.Lmany_words\@			/* another site has the slot */
	movq	%r11, -80(%rbp)
	movq	%rdx, %rdi
	call	cm_caller_find
	movl	%eax, %ecx
	movq	-80(%rbp), %r11
	jmp	.Lframe_known\@

.Lcheck_stack\@:
	movq	%r11, -80(%rbp)
	movq	%rsi, %rdi
	leaq	0(,%rcx,8), %rsi
	call	cm_thread_readable
	movq	%rax, %rcx
	shrq	$4, %rcx
	addq	%rcx, %rcx
	movq	-80(%rbp), %r11
	leaq	16(%rbp), %rsi
	testl	%ecx, %ecx
	jnz	.Lcopy\@
	jmp	.Lcopied\@

	.if	\is_entry
.Lenter_with_state\@:
	movq	%r11, -112(%rbp)
	keep_state
	movq	-112(%rbp), %rdi
	leaq	FRAME(%rbp), %rsi
	call	*cm_hook_enter(%rip)
	movq	%rax, -112(%rbp)
	give_state_back
	movq	-112(%rbp), %rax
	jmp	\name\()_live_begin

.Lleave_with_state\@:
	keep_state
	leaq	FRAME(%rbp), %rdi
	call	*cm_hook_exit(%rip)
	give_state_back
	jmp	.Lleft\@

	/* rbp is the other thunk's again, if its function is one that returns. */
.Ltail_call\@:
	movq	%rbp, %rcx
	movl	$TAILS, %edx
.Lwas_tail_call\@:
	movq	0(%rcx), %rdi
	movq	%rdi, %rax
	subq	%rcx, %rax
	cmpq	$MOST_BETWEEN, %rax
	ja	.Lnested\@
	cmpq	%rsi, 8(%rdi)
	jne	.Lnested\@
	movq	%rdi, %rcx
	decl	%edx
	jnz	.Lwas_tail_call\@

	cmpb	$0, cm_hooks_use_vectors(%rip)
	jne	.Lfollow_with_state\@
	movq	%r11, -80(%rbp)
	movq	0(%rbp), %rdi
	addq	$FRAME, %rdi
	call	*cm_hook_exit(%rip)
	movq	-80(%rbp), %rdi
	movq	0(%rbp), %rsi
	addq	$FRAME, %rsi
	call	*cm_hook_enter(%rip)
.Lfollow\@:
	movq	%rax, -80(%rbp)
	give_registers_back
	movq	-72(%rbp), %r11
	leave
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	notrack jmp *-88(%rsp)			/* was -80(%rbp): in the red zone */
	.cfi_restore_state

.Lfollow_with_state\@:
	movq	%r11, -112(%rbp)
	keep_state
	movq	0(%rbp), %rdi
	addq	$FRAME, %rdi
	call	*cm_hook_exit(%rip)
	movq	-112(%rbp), %rdi
	movq	0(%rbp), %rsi
	addq	$FRAME, %rsi
	call	*cm_hook_enter(%rip)
	movq	%rax, -112(%rbp)
	give_state_back
	movq	-112(%rbp), %rax
	jmp	.Lfollow\@
	.endif
	.cfi_endproc
	.size	\name, . - \name
	.endm

	thunk	cm_thunk, 0
	thunk	cm_thunk_entry, 1

	/*
	 * Behind the thunks: their low 20 bits of address are those of the last stubs, then. A
	 * thunk exactly 1 MiB behind the first stub cost each call of that one 16 ns with -fno-plt
	 * (Zen 4), 64 bytes further on nothing: jumps that agree in these bits seem to be taken for
	 * one another.
	 */
	.globl	cm_stub_code
	.hidden	cm_stub_code
	.type	cm_stub_code, @function
	.balign	4096
cm_stub_code:
	.cfi_startproc
	.set	index, 0
	.rept	65536
	endbr64
	leaq	cm_stubs + index(%rip), %r11
	jmp	cm_thunk
	.balign	16			/* CM_STUB_BYTES */
	.set	index, index + 16	/* sizeof(struct cm_stub) */
	.endr
	.cfi_endproc
	.size	cm_stub_code, . - cm_stub_code

	/* Back from the handler of traps (trap.c). Unwinders know these bytes. */
	.globl	cm_trap_restore
	.hidden	cm_trap_restore
	.type	cm_trap_restore, @function
	.balign	16
	nop
cm_trap_restore:
	movq	$15, %rax			/* rt_sigreturn */
	syscall
	.size	cm_trap_restore, . - cm_trap_restore

	.section .note.GNU-stack, "", @progbits
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0		/* x86 feature: IBT and SHSTK */

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thunk: what a patched slot calls instead of the original.
 *
 * An ordinary function with a frame of its own and exact unwind information: exceptions, longjmp,
 * cancellation, backtraces and shadow stacks see it as they would see a hand-written wrapper.
 * No vector or x87 register is touched, here or in the hooks.
 *
 *	 8(%rbp)  return address		-72(%rbp)  cm_frame.reserved
 *	 0(%rbp)  caller's rbp			   ...
 *	-8..-48   rdi rsi rdx rcx r8 r9		-112(%rbp) cm_frame.thread
 *	-56(%rbp) rax (vararg vector count)	below, aligned to 64: copy of the stack arguments
 *	-64(%rbp) r10 (static chain)
 *
 * r11 carries the stub's index: the one register that a call through the PLT may change anyway.
 */
#define FRAME (-128)
#define RESERVE 144

	.text
	.globl	cm_stub_code
	.hidden	cm_stub_code
	.type	cm_stub_code, @function
	.balign	4096
cm_stub_code:
	.cfi_startproc
	.set	index, 0
	.rept	65536
	endbr64
	movl	$index, %r11d
	jmp	cm_thunk
	.balign	16
	.set	index, index + 1
	.endr
	.cfi_endproc
	.size	cm_stub_code, . - cm_stub_code

	.globl	cm_thunk
	.hidden	cm_thunk
	.type	cm_thunk, @function
	.balign	64
cm_thunk:
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

	leaq	cm_stubs(%rip), %rdi
	shlq	$4, %r11			/* sizeof(struct cm_stub) */
	addq	%r11, %rdi
	movl	12(%rdi), %ecx			/* n_stack_words */
	movq	%rcx, -72(%rbp)
	leaq	FRAME(%rbp), %rsi
	call	*cm_hook_enter(%rip)
	.globl	cm_thunk_live_begin
	.hidden	cm_thunk_live_begin
cm_thunk_live_begin:
	movq	-72(%rbp), %rcx
	leaq	16(%rbp), %rsi
	movl	%esi, %edx
	andl	$4095, %edx
	leal	(%rdx,%rcx,8), %edx
	cmpl	$4096, %edx
	ja	.Lcheck_stack
.Lcopy:
	leaq	0(,%rcx,8), %rdx
	subq	%rdx, %rsp
	movl	%esi, %edx
	andq	$-64, %rsp
	andl	$63, %edx
	leaq	-64(%rsp,%rdx), %rsp
	movq	%rsp, %rdi
	testl	%ecx, %ecx
	jz	2f
	movups	%xmm15, -144(%rbp)
1:
	.set o, 0
	.rept 8
	movups	o(%rsi), %xmm15
	movups	%xmm15, o(%rdi)
	.set o, o+16
	.endr
	subq	$-128, %rsi
	subq	$-128, %rdi
	subl	$16, %ecx
	jg	1b
	movups	-144(%rbp), %xmm15
2:

	movq	%rax, %r11
	movq	-8(%rbp), %rdi
	movq	-16(%rbp), %rsi
	movq	-24(%rbp), %rdx
	movq	-32(%rbp), %rcx
	movq	-40(%rbp), %r8
	movq	-48(%rbp), %r9
	movq	-56(%rbp), %rax
	movq	-64(%rbp), %r10
	call	*%r11
	.globl	cm_thunk_live_end
	.hidden	cm_thunk_live_end
cm_thunk_live_end:
	movq	%rax, -56(%rbp)
	movq	%rdx, -24(%rbp)
	leaq	FRAME(%rbp), %rdi
	call	*cm_hook_exit(%rip)
	movq	-56(%rbp), %rax
	movq	-24(%rbp), %rdx
	leave
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_restore_state

.Lcheck_stack:
	movq	%rax, -80(%rbp)
	movq	%rsi, %rdi
	leaq	0(,%rcx,8), %rsi
	call	cm_thread_readable
	movq	%rax, %rcx
	shrq	$3, %rcx
	movq	-80(%rbp), %rax
	leaq	16(%rbp), %rsi
	jmp	.Lcopy
	.cfi_endproc
	.size	cm_thunk, . - cm_thunk

	.section .note.GNU-stack, "", @progbits
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0		/* x86 feature: IBT and SHSTK */

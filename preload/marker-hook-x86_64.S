/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hooks of a process that opens LIKWID markers: around what LIKWID is called for, the vector
 * and x87 registers of the intercepted call are kept at their full width.
 *
 *	cm_marker_hook_enter(stub, frame)	arguments: vector registers 0 to 15 (regcall uses all)
 *	cm_marker_hook_exit(frame)		returns: the same, st0 and st1 where they are in use
 *
 * Nothing is saved for calls that open or close no marker.
 */
#define VECTORS 1024			/* 16 registers of 64 bytes */
#define X87 1024			/* two of 16 bytes, then how many */
#define N_X87 1056
#define AREA 1088

	.macro	each_vector move, register, store, from=0, to=15
	.set	number, \from
	.rept	\to - \from + 1
	one_vector \move, \register, \store, %number
	.set	number, number + 1
	.endr
	.endm

	.altmacro
	.macro	one_vector move, register, store, number
	.if	\store
	\move	%\register\number, 64 * \number(%rsp)
	.else
	\move	64 * \number(%rsp), %\register\number
	.endif
	.endm

	/* cm_marker_vector_bytes: 64, 32 or 16, whatever this CPU and kernel have. */
	.macro	all_vectors store
	cmpl	$32, cm_marker_vector_bytes(%rip)
	ja	1f
	je	2f
	each_vector movaps, xmm, \store
	jmp	3f
1:	each_vector vmovaps, zmm, \store
	jmp	3f
2:	each_vector vmovaps, ymm, \store
3:
	.endm

	.text
	.globl	cm_marker_hook_enter
	.hidden	cm_marker_hook_enter
	.type	cm_marker_hook_enter, @function
	.balign	16
cm_marker_hook_enter:
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rdi
	pushq	%rsi
	call	cm_markers_wants
	testb	%al, %al
	jz	.Lno_start
	subq	$AREA, %rsp
	andq	$-64, %rsp
	all_vectors 1
	movq	-8(%rbp), %rdi
	movq	-16(%rbp), %rsi
	call	cm_markers_start
	all_vectors 0
.Lno_start:
	movq	-8(%rbp), %rdi
	movq	-16(%rbp), %rsi
	leave
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	jmp	cm_markers_enter
	.cfi_restore_state
	.cfi_endproc
	.size	cm_marker_hook_enter, . - cm_marker_hook_enter

	.globl	cm_marker_hook_exit
	.hidden	cm_marker_hook_exit
	.type	cm_marker_hook_exit, @function
	.balign	16
cm_marker_hook_exit:
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rdi
	pushq	%rdi
	call	cm_markers_leave
	testb	%al, %al
	jz	.Lno_stop
	subq	$AREA, %rsp
	andq	$-64, %rsp
	all_vectors 1
	movl	$0, N_X87(%rsp)
	fxam					/* is st0 empty? (C3, C2, C0) = (1, 0, 1) */
	fnstsw	%ax
	andl	$0x4500, %eax
	cmpl	$0x4100, %eax
	je	4f
	fstpt	X87(%rsp)
	incl	N_X87(%rsp)
	fxam
	fnstsw	%ax
	andl	$0x4500, %eax
	cmpl	$0x4100, %eax
	je	4f
	fstpt	X87+16(%rsp)
	incl	N_X87(%rsp)
4:	movq	-8(%rbp), %rdi
	call	cm_markers_stop
	cmpl	$1, N_X87(%rsp)
	jb	6f
	je	5f
	fldt	X87+16(%rsp)
5:	fldt	X87(%rsp)
6:	all_vectors 0
.Lno_stop:
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	cm_marker_hook_exit, . - cm_marker_hook_exit

	/*
	 * printf and fprintf of liblikwid: nothing of what it says while it works for us reaches the
	 * program's streams. The arguments go through untouched otherwise.
	 */
	.macro	filter name, stream
	.globl	cm_likwid_\name
	.hidden	cm_likwid_\name
	.type	cm_likwid_\name, @function
	.balign	16
cm_likwid_\name:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	.if	\stream == 0
	xorl	%edi, %edi
	.endif
	call	cm_likwid_is_muted
	movl	%eax, %r11d
	popq	%rax
	.cfi_adjust_cfa_offset -8
	popq	%r9
	.cfi_adjust_cfa_offset -8
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testb	%r11b, %r11b
	jnz	7f
	jmp	*cm_likwid_real_\name(%rip)
7:	xorl	%eax, %eax
	ret
	.cfi_endproc
	.size	cm_likwid_\name, . - cm_likwid_\name
	.endm

	filter	printf, 0
	filter	printf_chk, 0
	filter	fprintf, 1
	filter	fprintf_chk, 1

	.section .note.GNU-stack, "", @progbits
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

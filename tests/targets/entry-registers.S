/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_with_wide(), call_with_narrow(): load every register from state_in, call the local function
 * keeps_all, store every register to state_out. A compiler may rely on all of this for a function
 * that it sees (-fipa-ra), though only assembly does so for all registers at once.
 */
	.set	N_GENERAL, 15			/* all but rsp */
	.set	VECTORS, 128

	.text
	.type	keeps_all, @function
	.balign	16
keeps_all:
	.cfi_startproc
	endbr64
	addl	$1, n_kept(%rip)
	nop
	ret
	.cfi_endproc
	.size	keeps_all, . - keeps_all

	.macro	general move, base, store
	.set	at, 0
	.irp	register, rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
	.if	\store
	movq	%\register, \base+at(%rip)
	.else
	movq	\base+at(%rip), %\register
	.endif
	.set	at, at + 8
	.endr
	.endm

	.macro	caller name, wide
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	endbr64
	.irp	register, rbx, rbp, r12, r13, r14, r15
	pushq	%\register
	.cfi_adjust_cfa_offset 8
	.endr
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	.set	at, VECTORS
	.if	\wide
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovups	state_in+at(%rip), %zmm\n
	.set	at, at + 64
	.endr
	.irp	n, 1, 2, 3, 4, 5, 6, 7
	kmovw	state_in+at(%rip), %k\n
	.set	at, at + 8
	.endr
	.else
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups	state_in+at(%rip), %xmm\n
	.set	at, at + 64
	.endr
	.endif
	fldl	state_in+VECTORS(%rip)
	fldl	state_in+VECTORS+8(%rip)
	fldl	state_in+VECTORS+16(%rip)
	general	movq, state_in, 0
	call	keeps_all
	general	movq, state_out, 1
	fstpl	state_out+VECTORS+2112(%rip)
	fstpl	state_out+VECTORS+2120(%rip)
	fstpl	state_out+VECTORS+2128(%rip)
	.set	at, VECTORS
	.if	\wide
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovups	%zmm\n, state_out+at(%rip)
	.set	at, at + 64
	.endr
	.irp	n, 1, 2, 3, 4, 5, 6, 7
	kmovw	%k\n, state_out+at(%rip)
	.set	at, at + 8
	.endr
	vzeroupper
	.else
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups	%xmm\n, state_out+at(%rip)
	.set	at, at + 64
	.endr
	.endif
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	.irp	register, r15, r14, r13, r12, rbp, rbx
	popq	%\register
	.cfi_adjust_cfa_offset -8
	.endr
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	caller	call_with_wide, 1
	caller	call_with_narrow, 0

	.local	n_kept
	.comm	n_kept, 4, 4
	.section .note.GNU-stack, "", @progbits

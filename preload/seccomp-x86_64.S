/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * prctl and syscall, looked at on the way: jumps, because a raw clone or vfork returns twice, and
 * on another stack.
 */
#define PR_SET_SECCOMP 22
#define SYS_PRCTL 157
#define SYS_SECCOMP 317

	.text
	/* mode in %edi, program in %rsi: look, then on to the real function with all registers. */
	.macro	look mode, program, real
	.irp	reg, rdi, rsi, rdx, rcx, r8, r9, rax
	pushq	%\reg
	.cfi_adjust_cfa_offset 8
	.endr
	movq	\program, %r10
	movl	\mode, %edi
	movq	%r10, %rsi
	call	cm_seccomp_before
	.irp	reg, rax, r9, r8, rcx, rdx, rsi, rdi
	popq	%\reg
	.cfi_adjust_cfa_offset -8
	.endr
	jmp	*\real@GOTPCREL(%rip)
	.endm

	.globl	cm_seccomp_prctl
	.hidden	cm_seccomp_prctl
	.type	cm_seccomp_prctl, @function
	.balign	16
cm_seccomp_prctl:				/* option, mode, program */
	.cfi_startproc
	endbr64
	cmpl	$PR_SET_SECCOMP, %edi
	je	.Lby_prctl
	jmp	*prctl@GOTPCREL(%rip)
.Lby_prctl:
	look	%esi, %rdx, prctl
	.cfi_endproc
	.size	cm_seccomp_prctl, . - cm_seccomp_prctl

	.globl	cm_seccomp_syscall
	.hidden	cm_seccomp_syscall
	.type	cm_seccomp_syscall, @function
	.balign	16
cm_seccomp_syscall:
	.cfi_startproc
	endbr64
	cmpq	$SYS_SECCOMP, %rdi
	je	.Lseccomp			/* operation 0: strict, 1: filter; flags; program */
	cmpq	$SYS_PRCTL, %rdi
	jne	.Lother
	cmpl	$PR_SET_SECCOMP, %esi
	je	.Lprctl
.Lother:
	jmp	*syscall@GOTPCREL(%rip)
.Lprctl:
	look	%edx, %rcx, syscall
.Lseccomp:
	leal	1(%rsi), %r11d
	look	%r11d, %rcx, syscall
	.cfi_endproc
	.size	cm_seccomp_syscall, . - cm_seccomp_syscall

	.section .note.GNU-stack, "", @progbits
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

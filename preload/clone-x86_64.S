/* SPDX-License-Identifier: BSD-3-Clause */
/* long cm_clone(flags, stack_top, fn, arg): the new process calls fn(arg) and exits with it. */
	.text
	.globl	cm_clone
	.hidden	cm_clone
	.type	cm_clone, @function
cm_clone:
	.cfi_startproc
	endbr64
	movq	%rdx, %r8		/* fn */
	movq	%rcx, %r9		/* arg */
	xorl	%edx, %edx		/* no thread ids, no TLS */
	xorl	%r10d, %r10d
	movl	$56, %eax		/* SYS_clone */
	syscall
	testq	%rax, %rax
	jz	.Lchild
	ret
.Lchild:
	.cfi_undefined %rip
	xorl	%ebp, %ebp
	movq	%r9, %rdi
	call	*%r8
	movl	%eax, %edi
	movl	$60, %eax		/* SYS_exit: this process has one thread */
	syscall
	hlt
	.cfi_endproc
	.size	cm_clone, . - cm_clone

	.section .note.GNU-stack, "", @progbits
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

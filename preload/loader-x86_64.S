/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlsym and dlvsym: RTLD_DEFAULT (0) and RTLD_NEXT (-1) depend on the caller, so jump, not call.
 * dlmopen: LM_ID_BASE (0) is dlopen; the others jump to libc's.
 */
	.text
	.macro	entry name, real
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	endbr64
	leaq	1(%rdi), %rax
	cmpq	$1, %rax
	ja	\name\()_handle
	jmp	*\real@GOTPCREL(%rip)
	.cfi_endproc
	.size	\name, . - \name
	.endm

	entry	cm_loader_dlsym, dlsym
	entry	cm_loader_dlvsym, dlvsym

	.globl	cm_loader_dlmopen
	.hidden	cm_loader_dlmopen
	.type	cm_loader_dlmopen, @function
	.balign	16
cm_loader_dlmopen:
	.cfi_startproc
	endbr64
	testq	%rdi, %rdi
	jnz	.Lother_namespace
	movq	%rsi, %rdi
	movl	%edx, %esi
	jmp	cm_loader_dlopen
.Lother_namespace:
	jmp	*dlmopen@GOTPCREL(%rip)
	.cfi_endproc
	.size	cm_loader_dlmopen, . - cm_loader_dlmopen

	.section .note.GNU-stack, "", @progbits
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

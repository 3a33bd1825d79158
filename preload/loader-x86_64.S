/* SPDX-License-Identifier: BSD-3-Clause */
/* dlsym and dlvsym: RTLD_DEFAULT (0) and RTLD_NEXT (-1) depend on the caller, so jump, not call. */
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

	.section .note.GNU-stack, "", @progbits
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

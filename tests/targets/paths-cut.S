/* SPDX-License-Identifier: BSD-3-Clause */
/* without_tables(function): calls it from a frame that no unwind table tells about. */
	.text
	.globl	without_tables
	.type	without_tables, @function
without_tables:
	endbr64
	subq	$40, %rsp
	call	*%rdi
	addq	$40, %rsp
	ret
	.size	without_tables, . - without_tables
	.section .note.GNU-stack, "", @progbits

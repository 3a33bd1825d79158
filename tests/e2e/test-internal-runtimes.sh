#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Code that cannot have a frame between itself and its caller is left alone: Go programs, known by
# their section, and assembly without unwind tables among compiled functions (V8's interpreter),
# unless a rule names the function.
. "${0%/*}/lib.sh"
export CALLMARK_CACHE="$work/cache"

cat >program.c <<'END'
#include <stdio.h>
long handler(long x);
__asm__(".text\n.globl handler\n.type handler, @function\nhandler: leaq 7(%rdi,%rdi), %rax\nnop\nret\n"
	".size handler, .-handler\n");
__attribute__((noinline)) long compiled(long x)
{
	return x * 12345 + 1;
}
#ifdef GO
__asm__(".section .go.buildinfo, \"aw\"\n.quad 1\n.text\n");
#endif
int main(int argc, char **argv)
{
	printf("%ld\n", handler(argc) + compiled(argc) + compiled(argc + 1));
	return argv[0] == NULL;
}
END
gcc -O1 -o plain program.c && gcc -O1 -DGO -o go program.c || fail 'does not compile'

compare 'plain:* internal=yes' -- ./plain
h5 profiling_data.h5 'calls("compiled") == 2' '"handler" not in tags()'
"$CALLMARK" symbols -s 'plain:* internal=yes' ./plain >out
expect_line out '^handler .*frame: '
rm profiling_data.h5
compare 'handler internal=yes' -- ./plain
h5 profiling_data.h5 'calls("handler") == 1' 'tags() == ["handler"]'
rm profiling_data.h5

profile '* internal=yes' -- ./go
expect_status 0
expect_line out '^[0-9]+$'
"$CALLMARK" symbols -s '* internal=yes' ./go >out
expect_line out '^compiled .*forbidden: G'

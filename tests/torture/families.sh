#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Print rules: every function that libc exports of its string, stdio, malloc and pthread families,
# and every one of libm, one a line, less those that callmark refuses by name.
set -eu
libc=$(ldconfig -p | sed -n 's/^\tlibc\.so\.6 (.*x86-64.*) => //p' | head -n 1)
libm=${libc%/*}/libm.so.6
string='str|mem|wcs|wmem|__str|__mem|__wcs|__wmem|bcopy|bzero|bcmp|index|rindex|ffs|rawmem|__rawmem'
stdio='f|__f|v|__v|put|get|unget|s?n?printf|s?scanf|__.*printf|__.*scanf|_IO_|perror|set.?buf|tmp'
stdio="$stdio|rewind|open_|popen|pclose|rename|remove|clearerr|dprintf|sprintf|scanf|asprintf|obstack"
malloc='malloc|calloc|realloc|free|memalign|aligned_alloc|posix_memalign|valloc|pvalloc|mall|__libc_'
pthread='pthread_|__pthread_|sem_|mtx_|cnd_|thrd_|tss_|call_once|__call_once'
refused='setjmp|longjmp|vfork|context|__libc_start_main|__libc_early_init|_dlopen|_dlsym|_dlclose'
refused="$refused|unwind|_dlvsym|__fentry__|mcount"
{
	nm -D --defined-only "$libc" | grep -E "^[0-9a-f]+ [TWi] ($string|$stdio|$malloc|$pthread)"
	nm -D --defined-only "$libm" | grep -E '^[0-9a-f]+ [TWi] '
} | sed 's/.* //; s/@.*//' | grep -Ev "$refused" | sort -u

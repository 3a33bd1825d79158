#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fibers: calls that end in another order than they began, on another thread, or never.
. "${0%/*}/lib.sh"

for trace in '' ' trace=off'; do
	compare "callee_*$trace" -- "$TARGETS/fibers" interleave 500
	h5 profiling_data.h5 'calls("callee_call") == 4000' 'attr("callee_call", "open") == 0' \
		'attr("callee_call", "skipped") == 0' 'calls("callee_add") == 8501' \
		'attr("callee_add", "open") == 0'

	# Their stacks are unmapped with a call open, and mapped again for the next one.
	compare "callee_*$trace" -- "$TARGETS/fibers" unmap 500
	h5 profiling_data.h5 'calls("callee_call") == 500' 'attr("callee_call", "open") == 500' \
		'calls("callee_add") == 1000' 'attr("callee_add", "open") == 0'

	compare "callee_*$trace" -- "$TARGETS/fibers" move 200
	h5 profiling_data.h5 'calls("callee_call") == 200' 'attr("callee_call", "open") == 0' \
		'attr("callee_call", "skipped") == 0' 'calls("callee_add") == 600'
done

# makecontext with an intercepted function as entry: four of its arguments lie on the new stack.
compare 'callee_*' -- "$TARGETS/fibers" entry 200
h5 profiling_data.h5 'calls("callee_ten") == 200' 'attr("callee_ten", "open") == 0'

# greenlet copies parts of the stack away and back.
/usr/bin/python3 -c 'import greenlet' 2>/dev/null || skip "greenlet is not installed"
cat >work.py <<'END'
import zlib
from greenlet import greenlet, getcurrent

N = 300
total = 0

def deep(n, parent, text):
    """Calls at every depth; the stack is switched away below a callback of sorted()."""
    global total
    total += zlib.crc32(text)
    if n == 0:
        parent.switch()
        total += zlib.crc32(text)
        return 0
    return sorted([n], key=lambda _: deep(n - 1, parent, text))[0]

def work(i):
    for k in range(N):
        deep(1 + (i + k) % 7, getcurrent().parent, b'%d' % i)

greenlets = [greenlet(work) for _ in range(8)]
for i, one in enumerate(greenlets):
    one.switch(i)
alive = list(greenlets)
while alive:
    for one in alive:
        one.switch()
    alive = [one for one in alive if not one.dead]
print(total)
END
for trace in '' ' trace=off'; do
	compare "crc32$trace" 'PyObject_*' -- /usr/bin/python3 work.py
	h5 profiling_data.h5 'calls("crc32") > 4800' 'attr("crc32", "open") == 0'
done

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# internal=yes where code may not be made or changed, lies out of reach, changes itself, or where
# others may be running it: the program does what it does bare, and the reason is told.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/lib.sh"

# compare, but the message about refused code is wanted: refuses REASON RULE.. -- PROGRAM ARGS
refuses()
{
	reason=$1
	shift
	bare "$@"
	profile "$@"
	expect_status 0
	cmp -s bare.out out || fail "another stdout than bare: $(diff bare.out out | head -n 10)"
	expect_line err "^callmark\[[0-9]+\]: no function of .* is intercepted by internal=yes: $reason"
	expect_clean
}

### code that nobody may write to, or make; slots are intercepted all the same
for how in code seal both mdwe; do
	run_into out err "$TARGETS/policy" $how /bin/true
	[ $status != 77 ] || continue
	policy='a seccomp filter'
	[ $how != mdwe ] || policy=PR_SET_MDWE
	refuses "protected: $policy" 'entries:* internal=yes' printf -- \
		"$TARGETS/policy" $how "$TARGETS/entries" recursion
	h5 profiling_data.h5 'calls("printf") == 1' 'calls("fibonacci") == 0'
	sites profiling_data.h5 refused entry >refused
	expect_line refused "^fibonacci protected: $policy"
	[ "$(sites profiling_data.h5 patched entry)" = '' ] || fail "patched under a policy: $how"
done

### no memory in reach of a jump
run_into out err "$TARGETS/no-reach"
if [ $status = 0 ]; then # there may be too little memory for it
	refuses memory: 'no-reach:* internal=yes' printf -- "$TARGETS/no-reach"
	h5 profiling_data.h5 'calls("printf") == 1'
	sites profiling_data.h5 refused entry >refused
	expect_line refused '^out_of_reach memory: '
fi

### traps in many threads
compare 'entries:tiny internal=yes force=trap' 'entries:trap_often internal=yes' -- \
	"$TARGETS/entries" trap-threads
h5 profiling_data.h5 'calls("tiny") == 8000' 'calls("trap_often") == 4'

### code that its own object may write to: it still may
module="$TARGETS/libentry-module-writer.so"
[ -f "$module" ] || module=$TARGETS/entry-module-writer.so
compare 'module_* internal=yes' -- "$TARGETS/entries" opens "$module"
expect_line out '^144$'
h5 profiling_data.h5 'calls("module_inner") == 33' 'calls("module_write") == 3'

### a worker of the object's sleeps, but a handler of the object's could wake it
handler=$(echo "$module" | sed 's/writer/handler/')
profile 'module_* internal=yes' -- "$TARGETS/entries" opens "$handler"
expect_status 0
sites profiling_data.h5 refused entry >refused
expect_line refused '^module_outer threads: '
# One that leads elsewhere may run all the time, in the worker too.
worker=$(echo "$module" | sed 's/writer/worker/')
for _ in 1 2 3; do
	bare -- "$TARGETS/entries" alarms "$worker"
	profile 'module_* internal=yes' 'entries:worker internal=yes' -- \
		"$TARGETS/entries" alarms "$worker"
	expect_status 0
	cmp -s bare.out out || fail "another stdout than bare: $(diff bare.out out)"
	h5 profiling_data.h5 'calls("module_outer") in (0, 3)' 'calls("worker") == 1'
done

### plugins that eight threads open and close: first all opens fail, then they succeed
mkdir crowd
i=0
while [ $i -lt 100 ]; do
	cp "$TARGETS/libplugin.so" crowd/$i.so # a link would be the same object
	i=$((i + 1))
done
crowd='*.so:plugin_* internal=yes'
for _ in 1 2; do
	profile "$crowd" printf -- "$TARGETS/plugin-crowd" crowd 100 8 50
	expect_status 1
	expect_line out ' 100 failed$'
	expect_line err "^callmark: 1 of 2 rules matched nothing"
done
export LD_LIBRARY_PATH="$TARGETS"
for _ in 1 2 3; do
	compare "$crowd" callee_add -- "$TARGETS/plugin-crowd" crowd 100 8 50
	expect_line out ' 0 failed$'
	h5 profiling_data.h5 'calls("callee_add") == 5000' 'calls("plugin_work") <= 100'
done

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Wrong rules stop `run` before the program starts; programs that cannot be profiled run all the same.
. "${0%/*}/lib.sh"

# refused WORDS..: exit status 2, nothing was started, one line on stderr that has every word.
refused()
{
	expect_status 2
	expect_no_file started
	[ "$(wc -l <err)" = 1 ] || fail "$(wc -l <err) lines instead of one"
	for word; do
		expect_line err "$word"
	done
}

# with_rules: the file rules.txt given to `run`.
with_rules()
{
	run_into out err "$CALLMARK" run -c rules.txt -- touch started
}

with_rules
refused 'rules\.txt' 'No such file'
mkdir rules.txt
with_rules
refused 'rules\.txt'
rmdir rules.txt
if [ "$(id -u)" != 0 ]; then
	echo callee_add >rules.txt
	chmod 0 rules.txt
	with_rules
	refused 'rules\.txt' 'Permission denied'
	rm -f rules.txt
fi
head -c 4000 /bin/ls >rules.txt
with_rules
refused 'rules\.txt'
truncate -s 100M rules.txt
with_rules
refused 'rules\.txt' 'large'
: >rules.txt
with_rules
refused 'rules\.txt'
printf '# one\ncallee_add colour=red\n' >rules.txt
with_rules
refused 'rules\.txt:2:12' 'colour'
printf 'callee_add\n\n  callee_[a-\n' >rules.txt
with_rules
refused 'rules\.txt:3:'
for symbol in setjmp _setjmp longjmp vfork __tls_get_addr _Unwind_Resume __cxa_throw; do
	echo "$symbol" >rules.txt
	with_rules
	refused 'rules\.txt:1:' "$symbol"
done
rm rules.txt

run_into out err "$CALLMARK" run -s callee_add
expect_status 2
run_into out err "$CALLMARK" run --no-such-option -- touch started
expect_status 2
run_into out err "$CALLMARK" run -- touch started
expect_status 2
expect_no_file started
run_into out err "$CALLMARK" run -s callee_add --compress=much -- touch started
expect_status 2
expect_no_file started

# Rules that match nothing: one warning a run, the first ten and a count, over all processes.
rules=$(seq -s ' ' -f 'no_such_%02g' 13)
# shellcheck disable=SC2086 # a list
profile callee_add $rules -- sh -c "'$TARGETS/calls-lazy' 7; '$TARGETS/calls-now' 8; exit 3"
expect_status 3
[ "$(wc -l <err)" = 1 ] || fail "$(wc -l <err) lines instead of one warning"
expect_line err 'no_such_01.*no_such_10'
expect_line err '3 more|13'
if grep -Eq 'no_such_11|callee_add' err; then
	fail "the warning names too much"
fi

rm -f ./*.h5

# No loader, no profile: one line, and the program's own status.
bare -- "$TARGETS/hello-static" 3
profile callee_add -- "$TARGETS/hello-static" 3
expect_status 3
cmp bare.out out || fail "another output"
[ "$(wc -l <err)" = 1 ] || fail "not one line about a static program"
expect_line err 'hello-static.*static'
expect_clean

# Another user's setuid program.
if [ "$(id -u)" = 0 ]; then
	cp /usr/bin/id id
	chown nobody id
	chmod u+s id
	bare -- ./id -un
	profile callee_add -- ./id -un
	expect_status 0
	cmp bare.out out || fail "another output"
	if grep -q nobody out; then
		[ "$(wc -l <err)" = 1 ] || fail "not one line about a setuid program"
		expect_line err 'set-?uid'
	fi
fi

# Another machine's program: nobody can run it here, and that is what is said.
cp "$TARGETS/calls-lazy" foreign
printf '\267' | dd of=foreign bs=1 seek=18 conv=notrunc 2>/dev/null # e_machine: aarch64
profile callee_add -- ./foreign
expect_status 126
expect_line err 'foreign'

profile callee_add -- ./no-such-program
expect_status 127
expect_line err 'no-such-program'
profile callee_add -- /etc/passwd
expect_status 126
expect_no_file profiling_data.h5

# A script is its interpreter.
printf '#!/bin/sh\nexec "%s/calls-lazy" "$@"\n' "$TARGETS" >script
chmod +x script
compare callee_add -- ./script 11
h5 profiling_data.h5 'calls("callee_add") == 11'

# What `inspect` is given may be anything: one line, exit status 1.
head -c 5000 profiling_data.h5 >truncated.h5
head -c 5000 /bin/ls >foreign.h5
: >empty.h5
/usr/bin/python3 -c 'import h5py; h5py.File("other.h5", "w")["x"] = 1'
for file in truncated.h5 foreign.h5 empty.h5 other.h5 no-such.h5 /; do
	run_into out err "$CALLMARK" inspect "$file"
	expect_status 1
	[ "$(wc -l <err)" = 1 ] || fail "$(wc -l <err) lines about $file"
	expect_line err "$file"
	[ ! -s out ] || fail "output for $file"
done

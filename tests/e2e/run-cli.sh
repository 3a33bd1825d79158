#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command line itself: usage, statuses, rules files of each bad kind, programs that cannot be
# profiled, what `run` sets for its program, `symbols`, `recover`. What is measured is tested
# elsewhere; the signals are in run-signals.py.
. "${0%/*}/lib.sh"

run()
{
	run_into out err "$CALLMARK" "$@"
}

# Nothing that the small programs here call.
rule=cblas_dgemm

# expect_said N: so many lines on stderr, each one ours.
expect_said()
{
	[ "$(wc -l <err)" = "$1" ] || fail "$(wc -l <err) lines on stderr instead of $1"
	if grep -v '^callmark: ' err; then
		fail "a line that is not ours"
	fi
}

### callmark
run
expect_status 2
run --help
expect_status 0
for command in run inspect symbols recover; do
	expect_line out "^  $command "
done
run --version
expect_status 0
expect_line out '^callmark [0-9]+\.[0-9]+'
run bogus
expect_status 2
expect_said 1
run_into out err sh -c '"$CALLMARK" --help >/dev/full'
expect_status 1
for command in run symbols recover; do
	run $command --no-such-option
	expect_status 2
	run $command --help
	expect_status 0
	[ ! -s err ] || fail "help on stderr"
done

### run: usage
run run
expect_status 2
run run true
expect_status 2
expect_said 1
for bad in --compress=best --clock=sun; do
	run run -s $rule $bad true
	expect_status 2
done

# Options behind the program's name are the program's.
run run -s $rule echo -s --help -- x
expect_status 0
expect_line out '^-s --help -- x$'

### run: rules files
mkfifo fifo
: >empty
printf '!%s\n# only this\n' $rule >exclusions
head -c 20000000 /dev/zero | tr '\0' x >large
printf 'good\nbad key=1\n' >unknown
printf 'a\0b\n' >binary
for file in missing . fifo empty exclusions large unknown binary; do
	run run -c $file -- touch started
	expect_status 2
	expect_said 1
	expect_line err "$file"
	expect_no_file started
done
expect_line err ':1:2:'
if [ "$(id -u)" != 0 ]; then
	echo $rule >secret
	chmod 0 secret
	run run -c secret true
	expect_status 2
	expect_line err 'secret.*Permission'
fi

# Both sources count; rules that match nothing are told in order, exclusions are not.
echo first >rules
run run -c rules -s '!third' -s second true
expect_status 0
expect_said 1
expect_line err '2 of 2 rules matched nothing: first, second$'

### run: the output
for output in missing/x.h5 /proc/x.h5 .; do
	run run -s $rule -o $output -- touch started
	expect_status 2
	expect_said 1
	expect_no_file started
done

### run: finding the program
run run -s $rule no-such-program
expect_status 127
expect_said 1
run run -s $rule ./no-such-program
expect_status 127
run run -s $rule /etc/passwd
expect_status 126
run run -s $rule ./
expect_status 126
mkdir -p path/1 path/2
printf '#!/bin/sh\nexit 11\n' >path/2/tool
cp path/2/tool path/1/tool
chmod +x path/2/tool
PATH="$PWD/path/1:$PWD/path/2:$PATH" run run -s $rule tool
expect_status 11
printf '#!/no/such/interpreter\n' >script
printf 'exit 12\n' >bare-script
chmod +x script bare-script
run run -s $rule ./script
expect_status 127
expect_line err '/no/such/interpreter'
run run -s $rule ./bare-script
expect_status 12

### run: the status
for n in 0 1 42 255; do
	run run -s $rule -- sh -c "exit $n"
	expect_status $n
done
for row in KILL:137 SEGV:139 TERM:143 INT:130; do
	run run -s $rule -- sh -c "kill -${row%:*} \$\$"
	expect_status "${row#*:}"
done

### run: the streams
printf 'in\0put' >in
run run -s $rule -- sh -c 'cat; printf err >&2'
printf 'in\0put' | cmp - out || fail "stdin or stdout is changed"
expect_line err '^err'
rm in
run_into out err sh -c '"$CALLMARK" run -s x -- sh -c "readlink /proc/self/fd/0 || echo closed" <&-'
expect_line out '^closed$'

### run: what it sets
run run -s a -s b -o out.h5 --spool=spool --clock=monotonic --compress=small -c rules -vv -- \
	sh -c 'env; echo "pid $$"'
for line in "CALLMARK_OUTPUT=$PWD/out.h5" "CALLMARK_SPOOL=$PWD/spool" CALLMARK_CLOCK=monotonic \
	CALLMARK_COMPRESS=small "CALLMARK_CONFIG=$PWD/rules" 'CALLMARK_SYMBOLS=a;b' \
	CALLMARK_VERBOSE=1 "CALLMARK_MAIN_PID=$(sed -n 's/^pid //p' out)"; do
	grep -Fqx -- "$line" out || fail "the program's environment has no $line"
done
grep -q '^CALLMARK_COLLECT=/.*/callmark-collect$' out || fail "no CALLMARK_COLLECT"
if grep -q CALLMARK_RANKED out; then
	fail "ranked without a rank"
fi
CALLMARK_RANK=2 run run -s a -- env
expect_line out '^CALLMARK_RANKED=1$'
CALLMARK_RUN_ID=mine run run -s a -- env
expect_line out '^CALLMARK_RUN_ID=mine$'
CALLMARK_RUN_ID=mine CALLMARK_MAIN_PID=1 run run -s a -- env
if grep -q RUN_ID=mine out; then
	fail "a run inside of a run joins it"
fi
CALLMARK_SYMBOLS=a CALLMARK_CONFIG='' run run env
expect_status 0
expect_line out '^CALLMARK_SYMBOLS=a$'

# `env` and `sh` pass it on.
run run -s a -- sh -c 'env X=1 sh -c "echo \$LD_PRELOAD \$CALLMARK_SYMBOLS"'
expect_line out '/libcallmark-preload.so a$'
ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 LD_PRELOAD=libc.so.6 \
	run run -s a -- sh -c 'echo $LD_PRELOAD'
expect_line out '^/.*/libcallmark-preload.so:libc.so.6$'
expect_clean

### run: programs that cannot be profiled
cc=$(command -v cc || command -v gcc || :)
echo 'int main(void) { return 13; }' >main.c
if [ -n "$cc" ] && "$cc" -static -o static main.c 2>cc.log; then
	run run -s $rule ./static
	expect_status 13
	expect_said 1
	expect_line err 'static.*statically linked'
	run symbols ./static
	expect_status 1
	expect_said 1
fi
if [ -n "$cc" ] && "$cc" -fsanitize=address -o asan main.c 2>cc.log; then
	run run -s $rule ./asan
	expect_status 13
	expect_said 1
fi
cp /bin/true foreign
printf '\267' | dd of=foreign bs=1 seek=18 conv=notrunc 2>/dev/null # e_machine: AArch64
run run -s $rule ./foreign
expect_status 126
expect_said 2
expect_line err 'AArch64'
run symbols ./foreign
expect_status 1
expect_said 1
if [ "$(id -u)" = 0 ]; then
	cp /usr/bin/id set-id
	chown nobody set-id
	chmod u+s set-id
	./set-id -un >bare.out
	run run -s $rule ./set-id -un
	expect_status 0
	cmp -s bare.out out || fail "setuid has no effect under run"
	if grep -q nobody out; then
		expect_said 1
		expect_line err 'set-id.*setuid'
	fi
	if command -v setpriv >/dev/null; then
		run_into out err setpriv --no-new-privs "$CALLMARK" run -s $rule ./set-id -un
		expect_status 0
		expect_line out '^root$'
		if grep -q setuid err; then
			fail "setuid has no effect there and does not prevent anything"
		fi
	fi
fi

### symbols
if [ -x /usr/bin/sqlite3 ]; then
	run symbols -s 'sqlite3_*' -s 'libz*:inflate*' -s vanish /usr/bin/sqlite3
	expect_status 0
	[ ! -s err ] || fail "symbols says something on stderr"
	expect_line out '^printf|^fopen|^malloc|^free '
	expect_line out '__libc_start_main'
	expect_line out 'rule matches nothing here: vanish$'
	if grep -q '.\{81\}' out; then
		fail "a line is wider than 80 columns"
	fi
	if grep -q "$(printf '\033')" out; then
		fail "colours without a terminal"
	fi
	# The same functions as the dynamic relocations name, by another reader.
	run symbols --json /usr/bin/sqlite3
	expect_status 0
	readelf -rW /usr/bin/sqlite3 >relocations
	/usr/bin/python3 - <<'END' || fail "symbols does not list what readelf does"
import json
import re

with open("relocations", encoding="ascii") as file:
    expected = set(re.findall(r"R_\w+_(?:JUMP_SLO\w*|GLOB_DAT)\s+\S+ (\w+)", file.read()))
with open("out", encoding="utf-8") as file:
    found = json.load(file)
names = [row["symbol"] for row in found["objects"][0]["functions"]]
assert len(names) == len(set(names)) and set(names) == expected, expected ^ set(names)
assert found["objects"][0]["path"] == "/usr/bin/sqlite3"
assert not found["missing_libraries"] and not found["unmatched_rules"]
for row in found["objects"][0]["functions"]:
    assert bool(row["kinds"]) or row["reason"], row
END
fi
if [ -x /usr/bin/openssl ]; then
	run symbols --json --deps -s 'libcrypto*:EVP_Digest*' -s 'none_such*' /usr/bin/openssl
	expect_status 0
	/usr/bin/python3 - <<'END' || fail "symbols of openssl"
import json

with open("out", encoding="utf-8") as file:
    found = json.load(file)
objects = {thing["name"]: thing["functions"] for thing in found["objects"]}
assert "openssl" in objects and any(name.startswith("libssl.so") for name in objects)
rows = {row["symbol"]: row for row in objects["openssl"]}
digest = rows["EVP_DigestUpdate"]
assert digest["library"].startswith("libcrypto.so") and digest["reason"] is None
assert digest["rule"] == "libcrypto*:EVP_Digest*" and digest["region"] == "EVP_DigestUpdate"
assert rows["write"]["reason"] == "no rule" and rows["write"]["rule"] is None
assert found["unmatched_rules"] == ["none_such*"]
END
fi
head -c 300 /bin/true >cut-header
head -c 5000 /bin/true >cut-short
for file in missing . cut-header cut-short main.c; do
	run symbols $file
	expect_status 1
	expect_said 1
	expect_line err "$file"
	[ ! -s out ] || fail "output for $file"
done
run symbols
expect_status 2
run symbols -s 'a b=c' /bin/true
expect_status 2
run symbols -s 'vfork' /bin/true
expect_status 2

### recover
run recover
expect_status 0
expect_line err 'nothing to recover'
run recover missing
expect_status 1
mkdir -p spool/callmark-"$(id -u)"/run/1-abc
chmod -R go-rwx spool/callmark-"$(id -u)"
: >spool/callmark-"$(id -u)"/run/1-abc/process
chmod 777 spool/callmark-"$(id -u)"/run
run recover
expect_status 1
expect_said 1
expect_line err 'written by others'
chmod 700 spool/callmark-"$(id -u)"/run
if [ "$(id -u)" = 0 ]; then
	chown nobody spool/callmark-0/run
	run recover spool/callmark-0/run
	expect_status 1
	expect_line err 'another user'
fi
rm -r spool/callmark-"$(id -u)"/run

# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# The real binaries of scripts/torture-internal.sh, which sources this: every function of theirs
# that has a symbol is patched while they do what tests/torture has them do.

# real_run STREAM CASE SECONDS COMMAND..: a case of tests/torture in an empty folder.
real_run()
{
	stream=$1 case=$2 limit=$3
	shift 3
	rm -rf cwd
	mkdir cwd
	status=0
	(cd cwd && exec timeout -k 5 "$limit" "$@" >"$work/$stream.out" 2>"$work/$stream.err" </dev/null) ||
		status=$?
	{
		echo "exit status $status"
		find cwd -type f ! -name '*.h5' -exec sha256sum {} + | sort -k 2
	} >>"$stream.out"
}

# The one line that `run` adds on purpose.
without_notice()
{
	sed '/^callmark: [0-9]* of [0-9]* rules matched /d' "$1" >clean
	mv clean "$1"
}

# real_judge NAME GLOB..: sets $result, $patched, $refused, $checked (here: functions called).
real_judge()
{
	real_name=$1
	shift
	result=pass
	for stream in out err; do
		if ! /usr/bin/python3 "$HERE/same.py" "bare.$stream" "again.$stream" "prof.$stream" >diff.text
		then
			complain "$real_name" "another $stream than bare" diff.text
			result=FAIL
		fi
	done
	in_spool >left
	if [ -s left ]; then
		complain "$real_name" 'left in the spool' left
		result=FAIL
		rm -rf "spool/callmark-$(id -u)"
	fi
	/usr/bin/python3 "$parts/share.py" h5 "$@" >shares || echo '0 0 0' >shares
	read -r patched refused checked <shares
	sed -n '2,$p' shares >>reasons
	# What patches nothing, or records nothing, changes nothing.
	if [ "$patched" = 0 ] || [ "$checked" = 0 ]; then
		echo "patched: $patched, called: $checked" >diff.text
		complain "$real_name" 'nothing was intercepted' diff.text
		result=FAIL
	fi
}

# real NAME SAMPLE SECONDS CASE OBJECT..: one row. A case of tests/torture, or a script, ./NAME.
real()
{
	is_chosen "$1" "$2" || return 0
	name=$1 limit=$3 case=$4
	shift 4
	rules=
	for glob; do
		rules="$rules$glob:* internal=yes trace=off;"
	done
	set -- "$name" "$@"
	command="$HERE/case.sh $case"
	[ "${case#./}" = "$case" ] || command=$work/$case
	started=$(date +%s.%N)
	# shellcheck disable=SC2086 # two words
	real_run bare "$case" "$limit" sh $command
	took_bare=$(since "$started")
	# shellcheck disable=SC2086
	real_run again "$case" "$limit" sh $command
	rm -rf h5
	mkdir -m 1777 h5
	started=$(date +%s.%N)
	# shellcheck disable=SC2086
	real_run prof "$case" "$limit" "$callmark" run -o "$work/h5/out.h5" -s "$rules" -- sh $command
	took=$(since "$started")
	without_notice prof.err
	: >reasons
	real_judge "$@"
	finish "$name" "$patched" "$refused" "$checked" "$took_bare" "$took" $result
	sed "s/^/    /" reasons >>all.reasons
}

real_binaries()
{
	export HERE="$top/tests/torture" IN="$work/in" PORT
	PORT=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	"$HERE/prepare.sh" "$IN"
	: >all.reasons
	gcc -O2 -o embed-perl "$parts/embed-perl.c" -L. /usr/lib/x86_64-linux-gnu/libperl.so.5.36 2>/dev/null || :
	gcc -O1 -fno-builtin -o use-libm "$parts/use-libm.c" -lm
	printf '%s\n' "$work/use-libm" >libm
	printf '%s\n' "$work/embed-perl $IN/workload.pl" "$work/embed-perl -e 'print sort { \$b <=> \$a } 1..9'" \
		>libperl
	real bash s 120 bash 'bash'
	real sqlite s 300 sqlite 'libsqlite3.so*'
	real libm - 120 ./libm 'libm.so*'
	real openssl-tls - 120 openssl_tls 'libcrypto.so*' 'libssl.so*'
	real openssl-tools - 900 openssl_tools 'libcrypto.so*' 'libssl.so*'
	real perl - 300 perl 'perl*'
	real libperl - 300 ./libperl 'libperl.so*'
	real node - 300 node 'node*' 'libnode*'
	real python-numpy - 300 numpy 'python3*'
	real python-tests - 1800 python 'python3*'
	if [ -s all.reasons ]; then
		echo 'refused in real binaries, and called:'
		cat all.reasons
	fi
}

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# However a program and its library were linked, the same calls are counted, and function pointers
# keep their identity. A slot that calls share with a pointer is left alone, and said to be.
. "${0%/*}/lib.sh"

# binding HOW NAME..: programs that refer to callee_factorial and memcpy, which they call and whose
# address they take, by a slot for both (shared), by one for each (apart), or whose PLT entries
# stand for the functions, so that calls by pointer go through them too (fixed).
n_built=0
binding()
{
	how=$1
	shift
	case $how in
	shared) own=0 by_pointer=0 ;;
	apart) own=1 by_pointer=0 ;;
	fixed) own=1 by_pointer=1 ;;
	esac
	for name; do
		[ -x "$TARGETS/binding-$name" ] || continue
		n_built=$((n_built + 1))
		rm -f profiling_data.h5
		set -- 'callee_*' sin
		[ $own = 0 ] || set -- "$@" memcpy
		compare "$@" -- "$TARGETS/binding-$name" 300
		expect_line out '^factorial: one address$'
		h5 profiling_data.h5 'calls("callee_add") == 300' 'calls("callee_down") == 300' \
			'calls("callee_step") == 600' 'calls("sin") == 600' \
			"calls('callee_factorial') == 600 + $own * 300 + $by_pointer * 4" \
			"calls('callee_errno') == $by_pointer * 2" \
			"calls('memcpy') == $own * 300 + $by_pointer" \
			"('callee_errno' in [s[0] for s in sites('refused')]) == (not $by_pointer)"
	done
}

binding shared lazy relro full norelro noplt noplt-now sysv gnu cet relr pg mold mold-now \
	fixed-noplt asan
binding apart lld lld-now
binding fixed fixed fixed-now lld-fixed mold-fixed
[ $n_built -ge 13 ] || fail "only $n_built programs were built"

# They are linked as meant.
expect_tag()
{
	readelf -dW "$TARGETS/$1" >tags
	expect_line tags "$2"
}
expect_tag binding-full 'BIND_NOW|NOW'
expect_tag libcallee-sysv.so '\(HASH\)'
! grep -q GNU_HASH tags || fail "libcallee-sysv.so has both hash tables"
expect_tag libcallee-gnu.so '\(GNU_HASH\)'
! grep -q '(HASH)' tags || fail "libcallee-gnu.so has both hash tables"
if [ -x "$TARGETS/binding-relr" ]; then
	expect_tag binding-relr '\(RELR\)'
fi

# A wildcard over profiling hooks and sanitizers' own functions.
for name in pg asan lazy; do
	compare '*' -- "$TARGETS/binding-$name" 50
	h5 profiling_data.h5 'calls("callee_add") == 50' 'calls("mcount") == 0' \
		'calls("__fentry__") == 0' 'calls("snprintf") >= 50'
done

# A static program of either kind runs unprofiled, and `symbols` says why.
for name in hello-static hello-static-pie; do
	bare -- "$TARGETS/$name"
	profile callee_add -- "$TARGETS/$name"
	cmp bare.out out || fail "$name: another output"
	expect_status 0
	expect_line err 'statically linked|static'
	run_into out err "$CALLMARK" symbols "$TARGETS/$name"
	expect_status 1
	expect_line err 'statically linked'
done
rm -f profiling_data.h5

# Two versions of one symbol, and a reference without version, which takes the base one.
compare versioned_value -- "$TARGETS/versions" 100
expect_line out '^new 200, old 100, plain 100$'
h5 profiling_data.h5 'calls("versioned_value") == 300' 'len(sites()) == 3' \
	'sorted(as_text(s["version"]) for s in file["rank0/sites"][:]) == ["", "V1", "V2"]'

# What only the plugin's own scope has; RTLD_DEEPBIND; which definition is called is in the output.
for host in scope-host scope-host-definer; do
	for how in '' deep; do
		# shellcheck disable=SC2086 # no argument, where it is empty
		compare 'scope_*' -- "$TARGETS/$host" "$TARGETS/libscope-plugin.so" 100 $how
		h5 profiling_data.h5 'calls("scope_value") == 200' 'calls("scope_helped") == 100' \
			'calls("scope_own") == 100' \
			'("scope_value", "libscope-helper.so", "jump_slot") in sites("gone")'
	done
done

# The first calls of lazily bound functions, by eight threads at once.
for round in 1 2 3 4 5; do
	compare 'callee_*' -- "$TARGETS/first-calls" 8
	h5 profiling_data.h5 'calls("callee_add") == 8' 'calls("callee_factorial") == 32' \
		'calls("callee_step") == 24' 'calls("callee_down") == 16' 'calls("callee_up") == 16' \
		'calls("callee_fill_large") == 8' 'calls("callee_variadic") == 8' \
		'rows_by_thread("callee_add") == [1] * 8' "rank_attr('pid') > $round"
done

# An interposer without versions is what ld.so binds versioned references to.
export LD_PRELOAD="$TARGETS/libinterposer.so"
for name in lazy now; do
	rm -f profiling_data.h5
	compare drand48 -- "$TARGETS/interposed-$name" 8
	expect_line out '^2.000000$'
	h5 profiling_data.h5 'calls("drand48") == 8'
done
unset LD_PRELOAD

# So is the program's own.
rm -f profiling_data.h5
compare drand48 -- "$TARGETS/interposing" 8
expect_line out '^2.000000$'
h5 profiling_data.h5 'calls("drand48") == 8'

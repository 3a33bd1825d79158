#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Where the loader finds a library does not change, whoever opens it, and what comes is patched:
# RUNPATH, RPATH, $ORIGIN, LD_LIBRARY_PATH, RTLD_NOLOAD, dlmopen, dlsym, reloading, many threads.
. "${0%/*}/lib.sh"

mkdir plugins path inner crowd
for folder in plugins path inner crowd; do
	cp "$TARGETS/libcallee.so" $folder
done
cp "$TARGETS/libplugin.so" plugins
cp "$TARGETS/libplugin.so" path
cp "$TARGETS/libplugin.so" inner/libinner.so
cp "$TARGETS/libopener.so" "$TARGETS/loader-host-runpath" "$TARGETS/loader-host-rpath" .
printf 'no library' >plugins/libdamaged.so
# A library for another machine is passed over by the search.
printf '\177ELF\001\001\001%060d' 0 >plugins/libforeign.so
cp "$TARGETS/libplugin.so" path/libforeign.so

# steps HOST N STEP..: as the bare program does them, with N calls of callee_add.
steps()
{
	host=$1 n=$2
	shift 2
	rm -f profiling_data.h5
	compare 'callee_*' plugin_work -- "./$host" "$@"
	h5 profiling_data.h5 "calls('callee_add') == $n" 'attr("callee_add", "open") == 0'
}

# shellcheck disable=SC2016 # $ORIGIN and $LIB are the loader's
for host in loader-host-runpath loader-host-rpath; do
	steps $host 100 open libplugin.so work 100
	expect_line out "^opened $PWD/plugins/libplugin.so\$"
	steps $host 100 open libnone.so noload libplugin.so open libplugin.so noload libplugin.so \
		close work 100 close noload libplugin.so
	h5 profiling_data.h5 '("callee_add", "libplugin.so", "jump_slot") in sites("gone")'
	steps $host 300 open '$ORIGIN/path/libplugin.so' work 100 close \
		open '${ORIGIN}/path/libplugin.so' work 200
	expect_line out "^opened $PWD/path/libplugin.so\$"
	steps $host 10 open libdamaged.so open '$ORIGIN/nowhere.so' open '${ORIGIN}/$LIB/none.so' \
		open '$ORIGIN/plugins/libdamaged.so' open libplugin.so work 10
	steps $host 100 open ./path/libplugin.so open libplugin.so work 100
	# The searcher is the library, not the program; by that name it is known to both then.
	steps $host 100 open libinner.so open ./libopener.so via libinner.so work 100 \
		open libinner.so
	steps $host 100 open ./libopener.so via '$ORIGIN/path/libplugin.so' work 100
	steps $host 100 mbase libplugin.so work 100
	# Another namespace is left alone: it has a libc of its own.
	steps $host 10 mopen libplugin.so work 100 open libplugin.so work 10
	# dlsym with a pseudo handle finds what it finds for the program.
	steps $host 10 default printf next printf default callee_add global libplugin.so \
		default callee_add next callee_add next printf work 10
	# Closed, and loaded to another address.
	steps $host 60 open libplugin.so work 10 close occupy open libplugin.so work 20 close \
		open libplugin.so work 30
	h5 profiling_data.h5 'len([s for s in sites() if s[0] == "callee_add"]) == 1' \
		'sites("gone") == []'
done

# LD_LIBRARY_PATH comes before RUNPATH and after RPATH.
export LD_LIBRARY_PATH="$PWD/path"
steps loader-host-runpath 110 open libplugin.so work 100 open libforeign.so work 10
expect_line out "^opened $PWD/path/libplugin.so\$"
steps loader-host-rpath 110 open libplugin.so work 100 open libforeign.so work 10
expect_line out "^opened $PWD/plugins/libplugin.so\$"
unset LD_LIBRARY_PATH

cat >open.py <<'END'
import ctypes
lib = ctypes.CDLL("plugins/libplugin.so")
lib.plugin_work.restype = ctypes.c_long
print(sum(lib.plugin_work(10) for _ in range(100)))
END
compare callee_add plugin_work -- /usr/bin/python3 open.py
h5 profiling_data.h5 'calls("plugin_work") == 100' 'calls("callee_add") == 1000'

# 500 different files; half of them are closed again while others are opened.
i=0
while [ $i -lt 500 ]; do
	cp "$TARGETS/libplugin.so" crowd/$i.so
	i=$((i + 1))
done
for round in 1 2 3; do
	compare callee_add plugin_work -- "$TARGETS/plugin-crowd" crowd 500 8 100
	expect_line out ' 0 failed$'
	h5 profiling_data.h5 'calls("callee_add") == 50000' 'calls("plugin_work") == 500' \
		'len([s for s in sites("gone") if s[0] == "callee_add"]) == 250' \
		"rank_attr('pid') > $round"
done

# Opened and closed more often than there is room for objects: they take their old places.
compare callee_add -- "$TARGETS/plugin-host" "$PWD/plugins/libplugin.so" 2 9000
h5 profiling_data.h5 'calls("callee_add") == 18000' 'len(sites()) + len(sites("gone")) == 1'

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Plugins (dlopen RTLD_LOCAL, several times) and pointers from dlsym; dlerror stays the program's.
. "${0%/*}/lib.sh"

compare callee_add plugin_work -- "$TARGETS/plugin-host" "$TARGETS/libplugin.so" 1000
h5 profiling_data.h5 'calls("callee_add") == 1000' 'calls("plugin_work") == 1' \
	'("callee_add", "libplugin.so", "jump_slot") in sites("gone")' \
	'inside("callee_add", "plugin_work")'

compare callee_add plugin_work -- "$TARGETS/plugin-host" "$TARGETS/libplugin.so" 1000 20
h5 profiling_data.h5 'calls("callee_add") == 20000' 'calls("plugin_work") == 20'

compare callee_add -- "$TARGETS/dlsym" "$TARGETS/libcallee.so" 1000
expect_line out ' local$'
h5 profiling_data.h5 'calls("callee_add") == 1000' \
	'[(symbol, kind) for symbol, _, kind in sites()] == [("callee_add", "dlsym")]'

# What dladdr says about such a pointer; and one that can be compared with the function is it.
rm -f profiling_data.h5
compare callee_add -- "$TARGETS/dladdr" "$TARGETS/libcallee.so" 1000
expect_line out '^found: callee_add in libcallee.so, \+0$'
expect_line out '^found: type 2, size [1-9][0-9]*, \+0$'
expect_line out '^found: libcallee.so, loaded there: 1$'
h5 profiling_data.h5 'calls("callee_add") == 1000'
rm profiling_data.h5
compare callee_add -- "$TARGETS/dladdr-linked" "$TARGETS/libcallee.so" 1000
expect_line out '^linked: callee_add in libcallee.so, \+0$'
expect_line out '^the same: 1$'

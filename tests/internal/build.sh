#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Build one generated program:   tests/internal/build.sh FOLDER KIND N RANDOM HOW COMPILER FLAGS..
#
# KIND, N and RANDOM as generate.py has them. HOW: exe; lib: all but main in libprog.so; link, id,
# mini: stripped, with its symbols in a file named by .gnu_debuglink, under .build-id in
# /usr/lib/debug, or in .gnu_debugdata. Makes FOLDER/prog; FOLDER must not be there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1 kind=$2 n=$3 random=$4 how=$5 compiler=$6
shift 6
/usr/bin/python3 "$here/generate.py" "$folder" "$kind" "$n" "$random"
cd "$folder"
include="-I$here -I."
link=$compiler
# shellcheck disable=SC2086 # lists of options
case $kind in
c)
	# gcc's functions in functions need a stack that can be executed, and say so.
	warnings='-w -Wno-psabi -Wl,-z,execstack'
	sources="$(echo *.c) $(echo *.S)"
	main=$here/main.c
	;;
c++)
	warnings=-w
	sources=$(echo *.cc)
	main="-x c $here/main.c -x none"
	case $compiler in
	g++) gcc -O1 -w $include -c -o main.o "$here/main.c" ;;
	*) clang -O1 -w $include -c -o main.o "$here/main.c" ;;
	esac
	main=main.o
	;;
fortran)
	warnings=-w
	sources=$(echo *.f90)
	gcc -O1 -w $include -c -o main.o "$here/main.c"
	main=main.o
	;;
rust)
	for source in *.rs; do
		"$compiler" --crate-type staticlib -A warnings "$@" -o "lib${source%.rs}.a" "$source"
	done
	gcc -O1 -w $include -o prog "$here/main.c" -Wl,--start-group -Wl,--allow-multiple-definition \
		./*.a -Wl,--end-group -lpthread -ldl -lm
	exit
	;;
esac
# shellcheck disable=SC2086
case $how in
lib)
	"$link" $warnings $include "$@" -DEARLY=1 -fPIC -shared -o libprog.so $sources -lpthread -lm
	"$link" $warnings $include "$@" -o prog $main -L. -lprog -Wl,-rpath,"$PWD" -lpthread -lm
	;;
*) "$link" $warnings $include "$@" -Wl,--build-id -o prog $sources $main -lpthread -lm ;;
esac
case $how in
link)
	objcopy --only-keep-debug prog prog.debug
	strip prog
	objcopy --add-gnu-debuglink=prog.debug prog
	;;
id)
	id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
	debug=/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)
	mkdir -p "$debug"
	objcopy --only-keep-debug prog "$debug/$(echo "$id" | cut -c 3-).debug"
	echo "$debug/$(echo "$id" | cut -c 3-).debug" >debug-file
	strip prog
	;;
mini)
	objcopy --only-keep-debug prog mini.debug
	strip --strip-debug mini.debug
	xz -k mini.debug
	strip prog
	objcopy --add-section .gnu_debugdata=mini.debug.xz prog
	;;
esac

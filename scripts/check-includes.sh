#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Who may include whom (the folder table of the design), which library is seen where, and whether
# every header compiles alone. Prints each offence; exit status 1 when there is one.
set -eu
cd "$(dirname "$0")/.."
bad=0
offence()
{
	echo "check-includes: $*"
	bad=1
}

# Contract headers: what other folders may see of one.
preload_contract='spool rules diag environment spool-path slot-use launcher site-file'
collector_contract='callmark/measure callmark/worker collect profile rank liveness elf-binary
	elf-identity elf-imports likwid-environment sha256 spool-run suite suite-check suite-folder suite-run
	suite-verdict whole-file worker-run'
writer_contract='writer results bundle tempfile'

# allowed FOLDER: the headers of other folders that it may include, one a line.
allowed()
{
	case $1 in
	collector)
		printf 'preload/%s.h\n' $preload_contract
		printf 'writer/%s.h\n' $writer_contract
		;;
	writer)
		# writer.h itself hands messages on in a struct cm_diag.
		echo preload/diag.h
		echo collector/profile.h
		;;
	cli)
		printf 'preload/%s.h\n' $preload_contract
		printf 'collector/%s.h\n' $collector_contract
		printf 'writer/%s.h\n' $writer_contract
		;;
	esac
}

# includes FILE OPENING: what it includes with " or <.
includes()
{
	sed -n "s/^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*$2\\([^\">]*\\)[\">].*/\\1/p" "$1"
}

n_files=0
for folder in preload collector writer cli; do
	for file in "$folder"/*.[chS]; do
		[ -e "$file" ] || continue
		n_files=$((n_files + 1))
		for header in $(includes "$file" '"'); do
			case $header in
			*/*) ;;
			*) offence "$file: \"$header\" is not \"folder/file.h\" from the root" && continue ;;
			esac
			[ "${header%%/*}" = "$folder" ] || allowed "$folder" | grep -qxF "$header" ||
				offence "$file: $folder/ may not include $header"
		done
		for header in $(includes "$file" '<'); do
			case $header:$file in
			hdf5*.h:writer/h5-*.[ch] | H5*.h:writer/h5-*.[ch]) ;;
			hdf5*.h:* | H5*.h:*) offence "$file: HDF5 is seen only in writer/h5-*" ;;
			libelf.h:collector/elf-*.[ch] | gelf.h:collector/elf-*.[ch]) ;;
			libelf.h:* | gelf.h:*) offence "$file: libelf is seen only in collector/elf-*" ;;
			Zydis/*:collector/code-*.[ch]) ;;
			Zydis/*:*) offence "$file: Zydis is seen only in collector/code-*" ;;
			dwarf.h:collector/elf-*.[ch] | elfutils/*.h:collector/elf-*.[ch]) ;;
			dwarf.h:* | elfutils/*.h:*) offence "$file: libdw is seen only in collector/elf-*" ;;
			likwid*.h:*) offence "$file: liblikwid is loaded at run time, without its header" ;;
			jansson.h:cli/* | jansson.h:collector/reader-*.c | jansson.h:collector/worker-*.c | \
				jansson.h:collector/suite-integrity.c) ;;
			jansson.h:*) offence "$file: JSON is for cli/ and what callmark-reader and -worker hand over" ;;
			stdio.h:preload/*) offence "$file: no stdio in the target" ;;
			esac
		done
	done
done
[ "$n_files" -gt 0 ] || offence "no source file found in $PWD"

cflags=$(pkg-config --cflags hdf5-serial libelf jansson 2>/dev/null || pkg-config --cflags hdf5)
for header in preload/*.h collector/*.h writer/*.h writer/callmark/*.h collector/callmark/*.h \
	cli/*.h tests/targets/*.h; do
	[ -e "$header" ] || continue
	# shellcheck disable=SC2086 # options
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -DCM_VERSION='"0"' -I. -Iwriter $cflags -Wall -Wextra -Werror \
		-fsyntax-only -include "$header" -x c /dev/null ||
		offence "$header does not compile alone"
done
exit $bad

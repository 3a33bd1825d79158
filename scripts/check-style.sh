#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The rules of form that a machine can see: lengths, licence lines, names, clang-format, layout of
# the top folder, and the README's two commands. Over the soft length limits is a note, over the
# hard ones an offence. Exit status 1 when there is an offence.
set -eu
cd "$(dirname "$0")/.."
bad=0
offence()
{
	echo "check-style: $*"
	bad=1
}

# What is, or would be, in the repository.
files()
{
	if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		git -c safe.directory="$PWD" ls-files -co --exclude-standard -- "$@" | while read -r file; do
			[ ! -e "$file" ] || echo "$file"
		done
	else
		for pattern; do
			find . -path './build*' -prune -o -name "${pattern##*/}" -type f -print |
				sed 's,^\./,,'
		done
	fi
}

n_files=0
for file in $(files '*.c' '*.h' '*.S' '*.cc'); do
	n_files=$((n_files + 1))
	lines=$(wc -l <"$file")
	if [ "$lines" -gt 600 ]; then
		offence "$file has $lines lines; the hard limit is 600"
	elif [ "$lines" -gt 400 ]; then
		echo "note: $file has $lines lines; the limit is 400"
	fi
done
[ "$n_files" -gt 0 ] || offence "no source file found in $PWD"

# A function starts with { and ends with } in the first column; only functions do.
long_functions=$(files '*.c' '*.cc' | xargs awk '
	FNR == 1 {start = 0}
	/^[A-Za-z_].*\(/ {name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)}
	/^\{/ {start = FNR}
	/^\}/ && start {
		length_of_body = FNR - start - 1
		if (length_of_body > 60)
			print "offence " FILENAME ":" start ": " name " has " length_of_body " lines; the hard limit is 60"
		else if (length_of_body > 40)
			print "note " FILENAME ":" start ": " name " has " length_of_body " lines; the limit is 40"
		start = 0
	}')
if [ -n "$long_functions" ]; then
	echo "$long_functions" | sed -n 's/^note /note: /p'
	! echo "$long_functions" | grep -q '^offence' || offence "$(echo "$long_functions" | sed -n 's/^offence //p')"
fi

for file in $(files '*.c' '*.h' '*.S' '*.cc' '*.sh' '*.py' '*.map' '*meson.build' '.ci/run'); do
	head -n 2 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' ||
		offence "$file: no SPDX line on top"
	! grep -nE '[[:blank:]]+$' "$file" || offence "$file: blanks at the end of a line"
	case ${file##*/} in
	utils.* | util.* | common.* | misc.* | helpers.*)
		offence "$file: name a file after what it does" ;;
	esac
done
for file in $(files '*.sh' '.ci/run'); do
	# Those without a first line of that kind are sourced.
	[ -x "$file" ] || [ "$(head -c 2 "$file")" != '#!' ] || offence "$file is not executable"
done

# shellcheck disable=SC2046 # a list of files
clang-format --dry-run -Werror $(files '*.c' '*.h' '*.cc') 2>&1 | grep -E 'error:' | cut -d: -f1 |
	sort | uniq -c | while read -r count file; do
	echo "$file: $count places that clang-format would change"
done | {
	! grep .
} || bad=1

for page in $(files '*.1' '*.5'); do
	mandoc -T lint -W warning "$page" || offence "$page: mandoc has warnings"
done

top=$(files '*' | cut -d/ -f1 | sort -u |
	grep -vxE 'meson\.build|meson_options\.txt|README\.md|LICENSE|preload|collector|writer|cli|tests|scripts|\..*' || :)
[ -z "$top" ] || offence "not in the agreed layout of the top folder: $top"
for file in README.md LICENSE meson.build meson_options.txt .clang-format .ci/run; do
	[ -s "$file" ] || offence "$file is missing"
done
for script in scripts/quickstart.sh scripts/test.sh; do
	grep -q "^\./$script\$" README.md 2>/dev/null || offence "README.md does not have the line ./$script"
done
exit $bad

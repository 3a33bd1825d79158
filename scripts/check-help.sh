#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compare the options that each command's --help prints with those that callmark(1) describes.
#
#   check-help.sh CALLMARK [PAGE]
set -eu
export LC_ALL=C ARGP_HELP_FMT=rmargin=300

callmark=${1:?usage: check-help.sh CALLMARK [PAGE]}
page=${2:-"${0%/*}/../cli/man/callmark.1"}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# From "  -c, --config=RULES   Text" and "      --json   Text": -c --config --json, one a line.
help_options()
{
	sed -n 's/^  *\(-[-A-Za-z?].*\)$/\1/p' |
		sed 's/   *.*//; s/, /\n/g' |
		sed 's/[=[ ].*//' | sort -u
}

# What the page says in this section: ".It Fl c , Fl -config Ns = Ns Ar rules" gives -c --config.
page_options()
{
	awk -v section="$1" '
		/^\.S[hs] / {name = substr($0, 5); gsub(/"/, "", name); here = name == section}
		here && /^\.(It )?Fl / {
			sub(/^\./, "")
			for (i = 1; i <= NF; i++)
				if ($i == "Fl" && $(i + 1) != ",")
					print "-" $(i + 1)
		}
		here && /^\.Pq Fl / {print "-" $3}' "$page" | sed 's/\\&//; s/-,$//' | sort -u
}

say()
{
	echo "check-help: $*" >&2
	failed=1
}

# Every command of `callmark --help` has a section, and every section a command.
"$callmark" --help >"$work/help"
sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' "$work/help" | sort >"$work/commands"
sed -n 's/^\.Ss callmark \([a-z]*\)$/\1/p' "$page" | sort >"$work/sections"
cmp -s "$work/commands" "$work/sections" ||
	say "commands differ: $(diff "$work/commands" "$work/sections" | grep '^[<>]' | tr '\n' ' ')"
[ -s "$work/commands" ] || say "no commands in $callmark --help"

# What all have in common stands once, in DESCRIPTION.
page_options DESCRIPTION >"$work/common"
while read -r command; do
	"$callmark" "$command" --help >"$work/text" || say "$command --help fails"
	help_options <"$work/text" >"$work/in_help"
	page_options "callmark $command" | sort -u - "$work/common" >"$work/in_page"
	[ "$(wc -l <"$work/in_help")" -gt 4 ] || say "$command --help shows no options"
	comm -23 "$work/in_help" "$work/in_page" >"$work/only"
	[ ! -s "$work/only" ] || say "$command: not in the page: $(tr '\n' ' ' <"$work/only")"
	comm -13 "$work/in_help" "$work/in_page" >"$work/only"
	[ ! -s "$work/only" ] || say "$command: only in the page: $(tr '\n' ' ' <"$work/only")"
done <"$work/commands"

exit $failed

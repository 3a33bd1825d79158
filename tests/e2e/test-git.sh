#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's git writes and reads a repository: libz by a library pattern, as many calls as gdb counts.
. "${0%/*}/lib.sh"

export HOME="$work" GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
git config --global user.name callmark
git config --global user.email callmark@example.org
git config --global init.defaultBranch main
git config --global gc.auto 0
mkdir files
for i in $(seq 50); do
	seq "$i" $((i + 500)) >"files/$i"
done
for repository in bare profiled; do
	git init -q $repository
	cp -r files $repository
done

gdb_count /usr/bin/git '-C bare add files' deflate deflateInit_
deflates=$(count_of deflate)
profile 'libz*:*' -- /usr/bin/git -C profiled add files
expect_status 0
expect_clean
# One deflate stream an object, 50 different files.
h5 profiling_data.h5 'calls("deflateInit_") == 50' 'calls("deflateEnd") == 50' \
	"calls('deflate') == $deflates" 'attr("deflate", "open") == 0' \
	'all(as_text(region.attrs["library"]).startswith("libz.so")
		for region in file["rank0/regions"].values())'
(cd bare/.git/objects && find . -type f) | sort >bare.objects
[ "$(wc -l <bare.objects)" = 50 ] || fail "bare git wrote $(wc -l <bare.objects) objects"
while read -r object; do
	cmp "bare/.git/objects/$object" "profiled/.git/objects/$object" || fail "another object"
done <bare.objects

git -C profiled commit -q -m files
gdb_count /usr/bin/git '-C profiled cat-file --batch-all-objects --batch' inflate inflateInit_
compare 'libz*:*' -- /usr/bin/git -C profiled cat-file --batch-all-objects --batch
h5 profiling_data.h5 "calls('inflate') == $(count_of inflate)" \
	"calls('inflateInit_') == $(count_of inflateInit_)" 'calls("inflateInit_") >= 52'

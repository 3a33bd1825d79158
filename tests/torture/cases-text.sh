# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Torture cases: shells, text tools, archives. Sourced by case.sh, which says what a case may use.

case_bash()
{
	bash "$IN/workload.bash"
	bash -n "$IN/workload.bash"
	bash -c 'echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL); exit 9'
}

case_dash()
{
	dash "$IN/workload.sh"
	echo 'nothing ] ) good' | dash
}

case_busybox()
{
	busybox ash "$IN/workload.sh"
	busybox awk '{n += $1} END {print n}' "$IN/table"
	busybox gzip -c "$IN/text" | busybox gunzip | busybox sha256sum
	busybox vi --nonsense
}

case_coreutils()
{
	sha1sum "$IN/text" | cut -c 1-20
	b2sum "$IN/table" | tr a-f A-F
	base64 "$IN/table" | base64 -d | md5sum
	split -l 5000 "$IN/table" part. && cat part.* | cksum
	paste part.aa part.ab | head -n 100 | fold -w 30 | nl | tail -n 20
	cut -d ' ' -f 2 "$IN/table" | sort | uniq -c | sort -rn | head -n 5
	join part.aa part.aa 2>&1 | wc
	od -A x -t x1z "$IN/text" | shuf --random-source="$IN/text" | head -n 20
	factor 1000000007 600851475143 && numfmt --to=iec 123456789 && seq -w 8 11
	tac "$IN/table" | comm -12 - "$IN/table" | wc -l
	stdbuf -oL grep -c item "$IN/table"
	expr 7 \* 6 && date -u -d @86400 +%c && /usr/bin/printf '%q\n' "a b"
	cp -a part.aa copy && ln -s copy link && readlink -f link | xargs basename
	dd if="$IN/text" of=dd.out bs=4k count=10 status=none && truncate -s 100 dd.out
	chmod 640 copy && stat -c '%a %s' copy && tee copy2 <copy | wc -c
	timeout 0.2 sleep 5
	echo "timeout: $?"
	env -i PATH="$PATH" printenv
	ls -l --time-style=+ /nowhere copy && mktemp -u XXXX | wc -c
	csplit -s "$IN/src/preload/init.c" '/^}/' '{2}' && pr -D date -l 20 xx00 | tsort
}

case_find()
{
	find "$IN" -name '*.[ch]' -size +2k -newer /etc/passwd -printf '%f %s\n' | sort
	find "$IN/src" -type f -print0 | sort -z | xargs -0 -n 5 -P 2 wc -l | wc -l
	find "$IN" -path '*/c/*' -regex '.*unit[0-9]\.c' -exec sh -c 'echo "$1"' _ {} \; | sort
	find /nowhere "$IN/c" -maxdepth 1 -name 'unit*7.c' -printf '%f\n' | sort
	xargs -a "$IN/table" -n 1000 sh -c 'exit 3'
}

case_awk()
{
	mawk '{count[$2]++; total += $3 * sin($1)}
		END {for (k in count) print k, count[k] | "sort"; close("sort"); printf "%.6f\n", total}' \
		"$IN/table"
	mawk -F '[(,)]' '/^static/ {n[NF]++; gsub(/[a-z]+/, "<&>"); print length} END {print n[3]}' \
		"$IN/text"
	mawk 'BEGIN {while (("seq 5" | getline line) > 0) print line; system("exit 4"); exit 2}'
}

case_gawk()
{
	gawk 'BEGIN {PROCINFO["sorted_in"] = "@ind_str_asc"}
		{a[$2][$1 % 5] += $3} END {for (i in a) for (j in a[i]) print i, j, a[i][j]}' "$IN/table"
	gawk 'BEGIN {print gensub(/(.)(.)/, "\\2\\1", "g", "abcdef"), strftime("%Y", 0, 1)}'
	gawk 'BEGIN {cmd = "sort"; print "b\na" |& cmd; close(cmd, "to"); while (cmd |& getline) print}'
	gawk --lint 'BEGIN {print undefined}'
}

case_sed()
{
	sed -n 's/^static \([a-z]*\) \(.*\)(.*/\2 returns \1/p' "$IN/text"
	sed -E ':a;N;$!ba;s/\n\t+/ /g;s/[[:space:]]+$//' "$IN/src/preload/init.c" | sed '1!G;h;$!d'
	cp "$IN/table" t && sed -i.bak '/item1/d;y/abc/xyz/;5,10{p;w written
}' t
	sed 's/(/' t
}

case_grep()
{
	grep -c int "$IN"/src/*/*.c
	grep -nE '^(static|int|void) .*\(.*\b(uint64_t|size_t)\b' "$IN/text"
	grep -rhoP '(?<=#include ")[a-z/]+(?=-)' "$IN/src" | sort | uniq -c
	grep -F -f "$IN/src/preload/say.h" -vx "$IN/text" | wc
	LC_ALL=C grep -iob 'TODO\|XXX\|the' "$IN/text" | tail -n 30
	grep 'nothing like this' "$IN/text"
}

case_sort()
{
	sort -k 2,2 -k 1,1n -s "$IN/table" | md5sum
	sort -S 200k --parallel=2 -T . -r "$IN/text" "$IN/table" | md5sum
	sort -u -g -k 3 "$IN/table" | tail -n 3
	sort -c "$IN/table"
}

case_diff()
{
	diff -ru "$IN/src/preload" "$IN/src/collector"
	diff -y -W 100 "$IN/src/preload/clock.h" "$IN/src/preload/thread.h"
	cp "$IN/src/preload/thread.h" new.h
	diff -u "$IN/src/preload/clock.h" new.h | sed 's/^\(---\|+++\) .*/\1 clock.h/' >change.patch
	cp "$IN/src/preload/clock.h" clock.h && patch <change.patch && cmp clock.h new.h
	sdiff -s clock.h "$IN/src/preload/clock.h"
	diff3 clock.h new.h "$IN/src/preload/say.h" | head -n 30
	cmp "$IN/text" "$IN/table"
}

case_m4()
{
	m4 <<'END'
define(`loop', `ifelse($1, 0, `', `$1 loop(decr($1))')')dnl
loop(200)
esyscmd(`echo from a shell')eval(2**20) len(`hello') translit(abc, a-c, A-C) regexp(`x12', `[0-9]+')
undivert format(`%05d', 42) m4exit(3)
END
}

case_bc()
{
	echo 'scale=500; 4*a(1); s(1)^2+c(1)^2; 2^2000; sqrt(2); obase=16; 2^64-1' | bc -l
	echo 'define f(n) { if (n<2) return n; return f(n-1)+f(n-2); } f(18); 1/0' | bc
}

case_dc()
{
	dc -e '100k 2v p 16o 255p [la1+dsa*pla20>y]sy 0sa1 lyx 1 0/'
}

case_jq()
{
	awk '{printf "{\"a\": %d, \"b\": \"%s\", \"c\": [%g]}\n", $1, $2, $3}' "$IN/table" >t.json
	jq -s 'group_by(.b) | map({b: .[0].b, n: length, s: (map(.c[0]) | add)}) | .[:5]' t.json
	jq -r 'select(.a < 20) | [.a, (.b | test("9$")), @base64 "\(.b)"] | @csv' t.json
	echo '{"a": [1, 2' | jq .
}

case_ed()
{
	printf '%s\n' 'g/static/s//STATIC/' '1,10n' '$-5,$j' '2,3m0' 'w out.c' '/nothing/' 'q' |
		ed "$IN/src/preload/init.c"
}

case_vim()
{
	cp "$IN/src/preload/init.c" f.c
	vim -u NONE -i NONE -n -es -c '%s/int/INT/ge' -c 'g/return/norm A // here' -c 'sort u' \
		-c 'let x = map(range(50), "v:val * 2") | put =string(x)' -c 'w! out.c' -c 'cquit 4' f.c
}

case_file()
{
	file -b "$IN/text" "$IN/table" /bin/true /usr/lib/x86_64-linux-gnu/libc.so.6 /dev/null "$IN"
	file --mime "$IN/workload.pl" "$IN/workload.bash" /nowhere
	gzip -c "$IN/text" | file -z -
}

case_xml()
{
	awk 'BEGIN {print "<list>"} {print "<e n=\"" $1 "\"><v>" $3 "</v></e>"} END {print "</list>"}' \
		"$IN/table" >t.xml
	xmllint --noout --timing t.xml 2>&1 | sed 's/[0-9][0-9]*/N/'
	xmllint --xpath 'count(//e[@n > 5000]) + sum(//e[1]/v)' t.xml
	xmllint --format --encode UTF-16 t.xml | sha256sum
	echo '<a><b></a>' | xmllint -
}

case_locale()
{
	locale -a | head -n 3
	locale charmap
	localedef -i de_DE -f ISO-8859-1 ./de_DE.test
	iconv -f UTF-8 -t UTF-16LE "$IN/text" | iconv -f UTF-16LE -t UTF-8 | sha256sum
	printf 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\nmsgid "a"\nmsgstr "b"\n' |
		msgfmt -o m.mo - && msgunfmt m.mo
	printf '\303\n' | iconv -f UTF-8 -t ASCII
}

case_tar()
{
	: >a.tar # cmp may look for it before tee has made it
	tar -C "$IN" --sort=name --mtime=@0 --owner=0 --group=0 -cf - src c | tee a.tar | xz -T2 -1 |
		xz -dc | zstd -q -T2 -3 | zstd -qdc | gzip -n | gunzip | bzip2 | bzip2 -dc | cmp - a.tar
	for program in gzip bzip2 xz 'zstd -q'; do
		tar -I "$program" -C "$IN" -cf b.tar src && tar -I "$program" -tf b.tar | sort | sha256sum
	done
	rm b.tar
	mkdir x && tar -xf a.tar -C x && diff -r "$IN/src" x/src && rm -r x
	head -c 5000 a.tar >part
	gzip -t <part
	tar -tvf part >/dev/null
}

case_archives()
{
	cp -r "$IN/src" . && find src -exec touch -d @86400 {} +
	zip -q -X -r a.zip src && unzip -q -t a.zip && unzip -p a.zip src/preload/init.c | sha256sum
	find src | sort | cpio -o -H newc --reproducible >a.cpio && cpio -it <a.cpio | wc -l
	lz4 -q -c "$IN/text" | lz4 -q -dc | cmp - "$IN/text"
	xz -k -c "$IN/table" | xzgrep -c item1 - && zcat -f "$IN/table" | tail -n 1
	rm -r src a.cpio a.zip
	unzip -q "$IN/text"
}

case_rsync()
{
	rsync -a --checksum "$IN/src" copy && echo more >>copy/src/preload/init.c
	rsync -ai --delete "$IN/src/" copy/src && diff -r "$IN/src" copy/src && rsync /nowhere . 2>&1 |
		head -n 1
	rm -r copy
}

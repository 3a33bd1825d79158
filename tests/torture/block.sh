# SPDX-License-Identifier: BSD-3-Clause
# One block of the shell workloads (prepare.sh repeats it; @N@ is its number): all POSIX.
total_@N@=0
for word in alpha beta gamma delta @N@; do
	total_@N@=$((total_@N@ + ${#word} * @N@))
done
echo "block @N@: total $total_@N@"
greet_@N@()
{
	local_name=$1
	shift
	printf '%s has %d arguments:' "$local_name" "$#"
	printf ' <%s>' "$@"
	printf '\n'
	return $((@N@ % 7))
}
greet_@N@ name@N@ "a b" c '*' '' || echo "greet said $?"
value=$(echo "nested $(printf '%03d' @N@) $(echo deep)")
echo "$value" | tr a-z A-Z | sed 's/NESTED/&!/'
case $value in
*"00"?*) echo "small number in $value" ;;
*[!a-z]*) echo "something else in $value" ;;
esac
(cd / && pwd && exit 3) || echo "subshell left with $?"
{
	echo "three @N@"
	echo "one @N@"
	echo "two @N@"
} | sort >sorted.@N@
while read -r first rest; do
	echo "$rest:$first"
done <sorted.@N@
cat <<END
here document @N@: $total_@N@, $((@N@ * @N@)), ${value#nested }, ${value%% *}
END
sh -c 'kill -TERM $$' 2>/dev/null
echo "killed child: $?"
trap 'echo "trapped USR1 in block @N@"' USR1
kill -USR1 $$
trap - USR1
(sleep 0; exit @N@) &
wait $!
echo "background job: $?"
i=0
while [ "$i" -lt 40 ]; do
	i=$((i + 1))
	[ $((i % 13)) != 0 ] || continue
	[ "$i" -le 35 ] || break
done
echo "loop ended at $i"
nothing_of_that_name_@N@ 2>/dev/null || echo "not found: $?"
test -f sorted.@N@ && test ! -d sorted.@N@ && rm sorted.@N@

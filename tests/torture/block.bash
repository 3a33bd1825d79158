# SPDX-License-Identifier: BSD-3-Clause
# What only bash has: appended to block.sh for the bash workload.
declare -a list_@N@=(one two three "four five" @N@)
declare -A map_@N@=([red]=1 [green]=2 [number]=@N@)
list_@N@+=(last)
echo "${#list_@N@[@]} ${list_@N@[*]:1:3} ${list_@N@[-1]}"
for key in green number red; do
	echo "$key=${map_@N@[$key]}"
done
if [[ "version-@N@.7" =~ ^version-([0-9]+)\.([0-9]+)$ ]]; then
	echo "matched ${BASH_REMATCH[1]} and ${BASH_REMATCH[2]}"
fi
mapfile -t lines_@N@ < <(seq @N@ $((@N@ + 5)))
printf '%s,' "${lines_@N@[@]}"
echo
diff <(seq 5) <(seq 4) || echo "process substitution: $?"
coproc { tr a-z A-Z; }
echo "to the coprocess @N@" >&"${COPROC[1]}"
eval "exec ${COPROC[1]}>&-"
read -r answer <&"${COPROC[0]}"
wait "$COPROC_PID" 2>/dev/null
echo "$answer"
printf -v padded '%08.3f|%-10s|%x' @N@.25 left$RANDOM_NOT_SET @N@
echo "$padded ${padded//|/ } ${padded^^}"
shopt -s extglob nullglob
echo "${value//+([0-9])/#} $((2 ** 20 + @N@)) $((0x@N@ & 255))"
false | true | (exit 4)
echo "pipe: ${PIPESTATUS[*]}"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Caps, totals without a trace, regions, exclusions, compression: the counts stay exact.
. "${0%/*}/lib.sh"

compare 'callee_add max-events=1000' -- "$TARGETS/calls-lazy" 50000
h5 profiling_data.h5 'calls("callee_add") == 50000' 'rows("callee_add") == 1000' \
	'attr("callee_add", "total_ns") > sum(durations("callee_add"))' \
	'attr("callee_add", "dropped_events") == 0' 'attr("callee_add", "max_ns") >= max(durations("callee_add"))'

compare 'callee_add max-events=1000' -- "$TARGETS/threads" 8 5000
h5 profiling_data.h5 'calls("callee_add") == 40000' 'rows("callee_add") == 1000'

compare 'callee_add trace=off' -- "$TARGETS/calls-lazy" 50000
h5 profiling_data.h5 'calls("callee_add") == 50000' 'rows("callee_add") == 0' \
	'attr("callee_add", "total_ns") > 0' \
	'attr("callee_add", "max_ns") >= attr("callee_add", "min_ns")'

# The default cap is a million.
compare callee_add -- "$TARGETS/calls-lazy" 1200000
h5 profiling_data.h5 'calls("callee_add") == 1200000' 'rows("callee_add") == 1000000'

# The first rule that matches wins, exclusions beat all, regions gather.
compare '!callee_errno' 'callee_fill_* region=fill/{symbol}' 'callee_s* region=s' 'callee_*' \
	-- "$TARGETS/abi" 10
h5 profiling_data.h5 'calls("callee_errno") == 0' 'calls("fill/callee_fill_pair") == 10' \
	'"fill|callee_fill_pair" in file["rank0/regions"]' 'calls("callee_variadic") == 10' \
	'calls("s") in (100, 110)' '"callee_sixty" not in tags()' \
	'{"callee_sixty", "callee_step"} <= {as_text(s) for s in file["rank0/regions/s/symbols"][:]}'

# A rules file with comments; its rules come before those of -s.
cat >rules.txt <<'END'
# comment

callee_add	region=from-file   # the first match
END
run_options='-c rules.txt'
compare -- "$TARGETS/calls-lazy" 10
h5 profiling_data.h5 'tags() == ["from-file"]' 'calls("from-file") == 10'
profile callee_add -- "$TARGETS/calls-lazy" 10
expect_line err '^callmark: 1 of 2 rules matched nothing: callee_add$'
h5 profiling_data.h5 'tags() == ["from-file"]'

# A function that is there and was never called has no group, but a name.
run_options=
rm profiling_data.h5
profile callee_add callee_leap -- "$TARGETS/leap" 0
expect_status 0
expect_line err 'no file'
expect_clean
expect_no_file profiling_data.h5
compare 'callee_*' -- "$TARGETS/endings" 10 exit
h5 profiling_data.h5 '"callee_call" in never_called()' '"callee_add" not in never_called()' \
	'tags() == ["callee_add"]'

for how in none fast small; do
	run_options="--compress=$how -o $how.h5"
	compare 'callee_*' -- "$TARGETS/threads" 4 20000
	h5 $how.h5 'calls("callee_add") == 80000' 'rows_by_thread("callee_add") == [20000] * 4'
done
size()
{
	stat -c %s "$1"
}
[ "$(size none.h5)" -ge 1600000 ] || fail "80,000 calls in $(size none.h5) bytes uncompressed"
[ "$(size fast.h5)" -lt "$(size none.h5)" ] || fail "fast does not compress"
h5 none.h5 'file["rank0/regions/callee_add/start_times"].compression is None'
h5 small.h5 'file["rank0/regions/callee_add/start_times"].compression == "gzip"' \
	'file["rank0/regions/callee_add/start_times"].shuffle'

# A path with %h and %p.
run_options='-o out-%h-%p.h5'
compare callee_add -- "$TARGETS/calls-lazy" 10
h5 "$(echo "out-$(uname -n)"-*.h5)" 'calls("callee_add") == 10' \
	"'out-%s-%d.h5' % (rank_attr('hostname'), rank_attr('pid')) == '$(echo out-*.h5)'"

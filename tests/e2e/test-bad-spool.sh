#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A corrupted, truncated or foreign spool: never a crash, what is whole is recovered, status told.
. "${0%/*}/lib.sh"

# A spool of a process that was killed, left alone by everybody: bare preload, then SIGKILL.
make_spool()
{
	rm -rf spool
	mkdir spool
	status=0
	LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS='callee_add;callee_call' \
		"$TARGETS/endings" 5000 open >out 2>err || status=$?
	expect_status 137
	process=$(find spool -name process)
	[ -f "$process" ] || fail "no spool of a killed process"
	directory=${process%/process}
	map=$(find "$directory" -name 't*.map' | head -n 1)
	[ -f "$map" ] || fail "no thread in the spool"
}

recover()
{
	rm -f recovered.h5
	run_into out err "$CALLMARK" recover -o recovered.h5 "$directory"
	[ "$status" -le 1 ] || fail "recover ended with $status"
	[ "$status" = 0 ] || [ -s err ] || fail "recover failed without a message"
}

make_spool
recover
expect_status 0
h5 recovered.h5 'calls("callee_add") == 5000' 'rows("callee_add") == 5000' \
	'attr("callee_call", "open") == 1'
expect_no_file "$directory"

# Every file cut at several places.
for cut in 0 1 63 64 100 4096 5000; do
	for name in map process; do
		make_spool
		file=$process
		[ $name = process ] || file=$map
		truncate -s "$cut" "$file"
		recover
		if [ -e recovered.h5 ]; then
			h5 recovered.h5 'calls("callee_add") <= 5000' 'calls("callee_call") <= 1'
		fi
	done
done

# Bytes changed at random places, always the same ones.
for seed in $(seq 12); do
	make_spool
	/usr/bin/python3 - "$seed" "$process" "$map" <<'END'
import random
import sys

random.seed(int(sys.argv[1]))
for path in sys.argv[2:]:
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        for _ in range(random.choice([1, 10, 1000])):
            data[random.randrange(min(len(data), random.choice([64, 512, len(data)])))] = \
                random.randrange(256)
        file.seek(0)
        file.write(data)
END
	recover
	if [ -e recovered.h5 ]; then
		/usr/bin/python3 -c 'import h5py, sys; h5py.File(sys.argv[1])' recovered.h5 ||
			fail "seed $seed: no HDF5 file"
	fi
done

# Foreign files in its place, and folders that others may write.
make_spool
cp /bin/ls "$process"
recover
expect_status 1
expect_no_file recovered.h5
[ -d "$directory" ] || fail "a spool that could not be read was removed"

make_spool
chmod 777 "$directory"
recover
expect_status 1
expect_no_file recovered.h5

mkdir empty
run_into out err "$CALLMARK" recover -o recovered.h5 empty
expect_status 0
expect_line err 'nothing to recover'
run_into out err "$CALLMARK" recover -o recovered.h5 no-such-folder
expect_status 1
expect_line err 'no-such-folder'
expect_no_file recovered.h5

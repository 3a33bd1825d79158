#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's Python with numpy, whose core is dlopened RTLD_LOCAL: 10 products are 10 calls of BLAS.
. "${0%/*}/lib.sh"

cat >product.py <<'END'
import numpy

a = numpy.arange(10000.0).reshape(100, 100)
b = a + 1
for i in range(10):
    c = a @ b
print(c.sum())
END
export OPENBLAS_NUM_THREADS=1

compare cblas_dgemm -- /usr/bin/python3 product.py
h5 profiling_data.h5 \
	'ranks() == [0]' 'tags() == ["cblas_dgemm"]' \
	'calls("cblas_dgemm") == 10' 'rows("cblas_dgemm") == 10' \
	'attr("cblas_dgemm", "open") == 0' 'min(durations("cblas_dgemm")) > 1000' \
	'rank_attr("exit_status") == 0' \
	'"/python3" in rank_attr("executable")' \
	'[as_text(arg) for arg in file["rank0/command_line"]] == ["/usr/bin/python3", "product.py"]' \
	'metadata("mpi_size") == 1' 'metadata("source") == "native"'

# The clock is the one of Python's perf_counter_ns: calls lie between two of its readings.
cat >between.py <<'END'
import time

import numpy

a = numpy.ones((50, 50))
b = a + 1
a @ b
before = time.perf_counter_ns()
a @ b
print(before, time.perf_counter_ns())
END
profile cblas_dgemm -- /usr/bin/python3 between.py
expect_status 0
read -r before after <out
# The TSC is converted by interpolation: 20 us of slack is a thousand times better than a wrong clock.
h5 profiling_data.h5 'calls("cblas_dgemm") == 2' \
	"int(file['rank0/regions/cblas_dgemm/start_times'][0]) < $before + 20000" \
	"int(file['rank0/regions/cblas_dgemm/start_times'][1]) > $before - 20000" \
	"int(file['rank0/regions/cblas_dgemm/end_times'][1]) < $after + 20000"

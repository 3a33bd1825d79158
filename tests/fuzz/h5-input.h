/* SPDX-License-Identifier: BSD-3-Clause */
/* The input of a fuzz target as an HDF5 file in memory. */
#ifndef CALLMARK_TESTS_FUZZ_H5_INPUT_H
#define CALLMARK_TESTS_FUZZ_H5_INPUT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Path of a file with these bytes, until the next call. NULL for files in HDF5's older format,
 * which has no checksums: HDF5 crashes on damaged ones, so they are loaded in a child first
 * (writer/h5-trial.c), fifty times slower. They are passed over unless CALLMARK_FUZZ_OLD is set; a
 * child that dies may leave a crash-* file then: only the end of the fuzzer is a finding.
 */
const char *h5_input(const uint8_t *data, size_t n_bytes);

#endif

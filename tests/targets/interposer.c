/* SPDX-License-Identifier: BSD-3-Clause */
/* For LD_PRELOAD: a drand48 without version, which ld.so takes for the versioned one. */
#include <stdlib.h>

double drand48(void)
{
	return (double)(abs(-1) + 1) / 8; /* 0.25; abs so that something is imported */
}

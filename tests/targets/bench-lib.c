/* SPDX-License-Identifier: BSD-3-Clause */
/* libbench.so: the empty function whose interception is measured. */
int bench_empty(int x);

int bench_empty(int x)
{
	return x;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* One function in two versions (versioned.map): what it returns says which one was bound. */
__attribute__((visibility("default"))) int versioned_first(void);
__attribute__((visibility("default"))) int versioned_second(void);

__asm__(".symver versioned_first, versioned_value@V1");
__asm__(".symver versioned_second, versioned_value@@V2");

int versioned_first(void)
{
	return 1;
}

int versioned_second(void)
{
	return 2;
}

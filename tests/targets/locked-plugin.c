/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin whose constructor calls its host back: the loader's lock is held meanwhile. */
#include <stddef.h>

void host_is_locked(void) __attribute__((weak));

__attribute__((constructor)) static void start(void)
{
	if (host_is_locked)
		host_is_locked();
}

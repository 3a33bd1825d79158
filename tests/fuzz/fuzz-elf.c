/* SPDX-License-Identifier: BSD-3-Clause */
/* Any file given to `callmark symbols` or as a program to `callmark run`. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/elf-binary.h"
#include "collector/elf-imports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void look(struct cm_elf *elf)
{
	struct cm_elf_import *imports = NULL;
	struct cm_diag diag = {0};
	size_t n = 0;
	uint8_t type;

	for (size_t i = 0; i < cm_elf_n_needed(elf); i++)
		if (!cm_elf_needed(elf, i))
			abort();
	if (cm_elf_kind(elf) <= CM_ELF_SHARED && !cm_elf_imports(elf, &imports, &n, &diag))
		for (size_t i = 0; i < n; i++)
			(void)cm_elf_definition(elf, imports[i].symbol, &type, &diag);
	free(imports);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static int fd = -1;
	struct cm_diag diag = {0};
	struct cm_elf *elf;
	char path[64];
	int rc;

	if (fd < 0)
		fd = memfd_create("fuzz-elf", 0);
	if (ftruncate(fd, 0) || pwrite(fd, data, n_bytes, 0) != (ssize_t)n_bytes)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = cm_elf_open(&elf, path, &diag);
	if (rc < 0) {
		if (!diag.text[0] && rc != -12)
			abort();
		return 0;
	}
	look(elf);
	cm_elf_close(elf);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Any file given to callmark-sites; what it makes of it, the preload must be able to read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/sites.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* Every function, and the ways that need force. */
static struct cm_sites_rules *load_rules(void)
{
	static struct cm_sites_rules rules;
	struct cm_diag diag = {0};

	if (!rules.rules.n_rules &&
	    cm_sites_rules_load(&rules, NULL, "a* internal=yes;* internal=yes force=trap", &diag))
		abort();
	return &rules;
}

static void read_back(const char *path, uint64_t hash)
{
	FILE *file = fopen(path, "r");
	size_t n;
	char *bytes;

	if (!file || fseek(file, 0, SEEK_END))
		abort();
	n = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(n);
	if (!bytes || fread(bytes, 1, n, file) != n || cm_site_file_check(bytes, n, hash))
		abort();
	free(bytes);
	fclose(file);
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static int fd = -1;
	struct cm_sites_rules *rules = load_rules();
	struct cm_sites_object object;
	struct cm_diag diag = {0};
	char path[64], output[64];
	int rc;

	if (fd < 0)
		fd = memfd_create("fuzz-sites", 0);
	if (ftruncate(fd, 0) || pwrite(fd, data, n_bytes, 0) != (ssize_t)n_bytes)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = cm_sites_object_open(&object, path, &diag);
	if (rc < 0) {
		if (!diag.text[0] && rc != -12)
			abort();
		return 0;
	}
	rc = cm_sites_object_make(&object, rules, &diag);
	if (rc >= 0) {
		snprintf(output, sizeof(output), "/dev/shm/fuzz-sites.%d", (int)getpid());
		if (cm_sites_file_write(&object, rules->hash, output, &diag) < 0)
			abort();
		read_back(output, rules->hash);
	}
	cm_sites_object_close(&object);
	return 0;
}

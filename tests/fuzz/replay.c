/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In libFuzzer's place, for any compiler: run the fuzz target on every file of some folders.
 *
 *	replay-rules tests/data/rules
 *
 * Whatever the target objects to ends the program with a signal. Exit status 1, and one line, where
 * a folder or a file cannot be read or a folder is empty.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* Exactly as much memory as there are bytes: AddressSanitizer watches the end. */
static int run_file(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC), rc = -1;
	uint8_t *data = NULL;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0)
		data = malloc((size_t)st.st_size + !st.st_size);
	if (data && read(fd, data, (size_t)st.st_size) == (ssize_t)st.st_size) {
		rc = 0;
		printf("%s\n", name); /* the last one is to blame */
		fflush(stdout);
		(void)LLVMFuzzerTestOneInput(data, (size_t)st.st_size); /* always 0 */
	}
	free(data);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* How many files were run; negative: it could not be read. */
static int run_folder(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int n = 0, rc = dir ? 0 : -1;

	while (rc == 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		rc = run_file(dirfd(dir), entry->d_name);
		n++;
	}
	if (rc < 0)
		fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
	if (dir)
		closedir(dir);
	return rc < 0 ? rc : n;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int n = run_folder(argv[i]);

		if (n < 0)
			return 1;
		if (n == 0) {
			fprintf(stderr, "replay: %s: no case is there\n", argv[i]);
			return 1;
		}
	}
	return argc > 1 ? 0 : 1;
}

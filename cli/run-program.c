/* SPDX-License-Identifier: BSD-3-Clause */
/* Find the program and say whether the preload can get into it. */
#include "cli/run-program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "collector/elf-binary.h"

#define DEFAULT_PATH "/bin:/usr/bin" /* execvp's, where PATH is not set */
#define MAX_SCRIPT_LINE 256	     /* the kernel reads no more of a #! line */

/* Can this be executed? 0, or why not. */
static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

/* The first one that can be executed; else, as execvp, a refusal outlives later absences. */
static int search_path(struct cm_program *program, const char *name)
{
	const char *folder = getenv("PATH") ?: DEFAULT_PATH;
	int refused = 0;

	for (;;) {
		size_t n = strcspn(folder, ":");
		int n_written = snprintf(program->path, sizeof(program->path), "%.*s%s%s", (int)n,
					 folder, n ? "/" : "./", name);
		int rc = n_written < (int)sizeof(program->path) ? check_executable(program->path)
								: -ENAMETOOLONG;

		if (!rc)
			return 0;
		if (rc == -EACCES)
			refused = rc;
		if (!folder[n])
			return refused ? refused : -ENOENT;
		folder += n + 1;
	}
}

static int find_file(struct cm_program *program, const char *name)
{
	if (!strchr(name, '/'))
		return name[0] ? search_path(program, name) : -ENOENT;
	if (strlen(name) >= sizeof(program->path))
		return -ENAMETOOLONG;
	memcpy(program->path, name, strlen(name) + 1);
	return check_executable(name);
}

/* The interpreter of a "#!" line; is_text where there is neither that nor an ELF header. */
static void read_first_line(struct cm_program *program)
{
	char line[MAX_SCRIPT_LINE + 1] = "";
	int fd = open(program->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, line, MAX_SCRIPT_LINE);
	char *name;

	if (fd >= 0)
		close(fd);
	if (n < 0 || !memcmp(line, "\177ELF", 4))
		return;
	if (line[0] != '#' || line[1] != '!') {
		program->is_text = true;
		return;
	}
	line[strcspn(line, "\n")] = '\0';
	name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t")] = '\0';
	snprintf(program->interpreter, sizeof(program->interpreter), "%s", name);
}

/* Will the kernel set AT_SECURE, so that the loader ignores what we ask for? */
static const char *gains_rights(const char *path)
{
	struct statvfs fs;
	struct stat st;

	if (stat(path, &st) || statvfs(path, &fs) || (fs.f_flag & ST_NOSUID) ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return NULL;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return "it is a setuid program";
	/* setgid without group execution is an old mark for mandatory locks. */
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getegid())
		return "it is a setgid program";
	if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
		return "it has file capabilities";
	if (getuid() != geteuid() || getgid() != getegid())
		return "it is started with another user's rights";
	return NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#if defined(__x86_64__)
#define LOADER "ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define LOADER "ld-linux-aarch64.so.1"
#endif

static void look_into(struct cm_program *program, struct cm_elf *elf)
{
	char *text = program->obstacle;
	size_t n = sizeof(program->obstacle);

	switch (cm_elf_kind(elf)) {
	case CM_ELF_STATIC:
		snprintf(text, n, "it is statically linked");
		return;
	case CM_ELF_FOREIGN:
		snprintf(text, n, "it is a program for %s", cm_elf_machine(elf));
		return;
	case CM_ELF_OTHER:
		return; /* exec will refuse it */
	case CM_ELF_PROGRAM:
		if (strcmp(base_name(cm_elf_interpreter(elf)), LOADER)) {
			snprintf(text, n, "its loader %s is not that of glibc",
				 cm_elf_interpreter(elf));
			return;
		}
		break;
	case CM_ELF_SHARED:
		break;
	}
	for (size_t i = 0; i < cm_elf_n_needed(elf); i++)
		if (!strncmp(cm_elf_needed(elf, i), "libasan.so", 10))
			snprintf(program->asan, sizeof(program->asan), "%s", cm_elf_needed(elf, i));
}

int cm_program_find(struct cm_program *program, const char *name, struct cm_diag *diag)
{
	struct cm_diag ignored = {0};
	const char *binary, *rights;
	struct cm_elf *elf = NULL;
	int rc;

	memset(program, 0, sizeof(*program));
	rc = find_file(program, name);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", name,
				   rc == -ENOENT && !strchr(name, '/') ? "command not found"
								       : strerror(-rc));
	read_first_line(program);
	binary = program->path;
	if (program->interpreter[0] || program->is_text)
		binary = program->interpreter[0] ? program->interpreter : "/bin/sh";
	rights = gains_rights(binary);
	if (rights) {
		snprintf(program->obstacle, sizeof(program->obstacle), "%s", rights);
		return 0;
	}
	/* Unreadable or damaged: not ours to judge, exec will say what it thinks. */
	if (!cm_elf_open(&elf, binary, &ignored))
		look_into(program, elf);
	cm_elf_close(elf);
	return 0;
}

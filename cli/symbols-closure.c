/* SPDX-License-Identifier: BSD-3-Clause */
/* Ask the loader what it would load. */
#include "cli/symbols-closure.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/environ.h"

static int append(struct cm_closure *closure, const char *path, const char *name,
		  struct cm_elf *elf)
{
	struct cm_closure_item *items =
		reallocarray(closure->items, closure->n_items + 1, sizeof(items[0]));
	struct cm_closure_item *item;
	const char *slash = strrchr(name, '/');

	if (!items)
		return -ENOMEM;
	closure->items = items;
	item = &items[closure->n_items];
	item->path = path ? strdup(path) : NULL;
	item->name = strdup(slash ? slash + 1 : name);
	item->elf = elf;
	if (!item->name || (path && !item->path)) {
		free(item->path);
		free(item->name);
		return -ENOMEM;
	}
	closure->n_items++;
	return 0;
}

/* "\tNAME => PATH (0x...)", "\tPATH (0x...)", "\tNAME => not found", "\tvdso (0x...)". */
static int add_line(struct cm_closure *closure, char *line)
{
	struct cm_diag ignored = {0};
	struct cm_elf *elf = NULL;
	char *arrow = strstr(line, " => ");
	char *address = strstr(line, " (0x");
	char *name = line + strspn(line, " \t");
	char *path = arrow ? arrow + 4 : name;
	int rc;

	line[strcspn(line, "\n")] = '\0';
	if (address)
		*address = '\0';
	if (arrow)
		*arrow = '\0';
	if (arrow && !address)
		return append(closure, NULL, name, NULL);
	if (!address || path[0] != '/')
		return 0; /* the vdso, or nothing we know */
	/* Without it, its symbols count as defined nowhere. */
	(void)cm_elf_open(&elf, path, &ignored);
	rc = append(closure, path, path, elf);
	if (rc < 0)
		cm_elf_close(elf);
	return rc;
}

/* Its output is read to the end in any case, so that it is not killed by SIGPIPE. */
static int read_list(struct cm_closure *closure, int fd)
{
	FILE *file = fdopen(fd, "re");
	char *line = NULL;
	size_t n_room = 0;
	int rc = 0;

	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	while (getline(&line, &n_room, file) > 0)
		if (!rc)
			rc = add_line(closure, line);
	free(line);
	fclose(file);
	return rc;
}

static int spawn_loader(const char *loader, const char *path, char **envp, int out, pid_t *ret_pid)
{
	char *argv[] = {(char *)(uintptr_t)loader, "--list", (char *)(uintptr_t)path, NULL};
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return -rc;
	rc = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
						      O_WRONLY, 0);
	if (!rc)
		rc = posix_spawn(ret_pid, loader, &actions, NULL, argv, envp);
	(void)posix_spawn_file_actions_destroy(&actions); /* always 0 in glibc */
	return -rc;
}

static int list_libraries(struct cm_closure *closure, const char *loader, const char *path)
{
	struct cm_environ env;
	int fds[2];
	pid_t pid;
	int rc;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	rc = cm_environ_init(&env);
	cm_environ_remove(&env, "LD_PRELOAD=");
	cm_environ_remove(&env, "LD_AUDIT=");
	cm_environ_remove(&env, "LD_DEBUG");
	if (!rc)
		rc = spawn_loader(loader, path, env.vars, fds[1], &pid);
	close(fds[1]);
	if (rc < 0) {
		close(fds[0]);
	} else {
		rc = read_list(closure, fds[0]);
		(void)waitpid(pid, NULL, 0); /* what it found is what counts */
	}
	cm_environ_fini(&env);
	return rc;
}

static int check_kind(const struct cm_elf *elf, const char *path, struct cm_diag *diag)
{
	switch (cm_elf_kind(elf)) {
	case CM_ELF_STATIC:
		return cm_diag_set(diag, -EINVAL,
				   "%s: statically linked, nothing can be intercepted", path);
	case CM_ELF_FOREIGN:
		return cm_diag_set(diag, -EINVAL, "%s: a binary for %s, not for this machine", path,
				   cm_elf_machine(elf));
	case CM_ELF_OTHER:
		return cm_diag_set(diag, -EINVAL, "%s: neither a program nor a shared object",
				   path);
	case CM_ELF_PROGRAM:
	case CM_ELF_SHARED:
		break;
	}
	return 0;
}

int cm_closure_load(struct cm_closure *closure, const char *path, struct cm_diag *diag)
{
	struct cm_elf *self = NULL;
	struct cm_elf *elf = NULL;
	char *real = NULL;
	int rc;

	memset(closure, 0, sizeof(*closure));
	rc = cm_elf_open(&elf, path, diag);
	if (!rc)
		rc = check_kind(elf, path, diag);
	if (!rc)
		rc = append(closure, path, path, elf);
	if (rc < 0) {
		cm_elf_close(elf);
		goto out;
	}
	/* A name without slash would be searched for. */
	real = realpath(path, NULL);
	rc = real ? cm_elf_open(&self, "/proc/self/exe", diag) : -errno;
	if (!rc)
		rc = list_libraries(closure, cm_elf_interpreter(self), real);
	if (rc < 0)
		(void)cm_diag_set(diag, rc, "%s: its libraries cannot be found out: %s", path,
				  strerror(-rc));
out:
	cm_elf_close(self);
	free(real);
	if (rc < 0)
		cm_closure_fini(closure);
	return rc;
}

void cm_closure_fini(struct cm_closure *closure)
{
	for (size_t i = 0; i < closure->n_items; i++) {
		cm_elf_close(closure->items[i].elf);
		free(closure->items[i].path);
		free(closure->items[i].name);
	}
	free(closure->items);
	memset(closure, 0, sizeof(*closure));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's threads, as the kernel lists them. */
#include "preload/entries.h"
#include "preload/syscall.h"

#define CM_ENTRIES_BYTES 8192

/* As getdents64(2) gives them. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t n_bytes;
	uint8_t type;
	char name[];
};

static void add(struct cm_tasks *tasks, const char *name)
{
	int tid = 0;

	if (*name < '0' || *name > '9' || tasks->n < 0)
		return;
	while (*name >= '0' && *name <= '9')
		tid = tid * 10 + (*name++ - '0');
	if (tasks->n == CM_MAX_TASKS)
		tasks->n = -1;
	else
		tasks->tids[tasks->n++] = tid;
}

void cm_tasks_list(struct cm_tasks *tasks)
{
	char entries[CM_ENTRIES_BYTES] __attribute__((aligned(8)));
	int fd = cm_sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY, 0);
	long n = -1;

	tasks->n = 0;
	while (fd >= 0 && (n = cm_sys3(SYS_getdents64, fd, (long)entries, sizeof(entries))) > 0)
		for (long at = 0; at < n;) {
			const struct entry *entry = (const struct entry *)(entries + at);

			add(tasks, entry->name);
			at += entry->n_bytes;
		}
	if (n < 0)
		tasks->n = -1;
	if (fd >= 0)
		cm_sys_close(fd);
}

static bool has(const struct cm_tasks *tasks, int tid)
{
	for (int i = 0; i < tasks->n; i++)
		if (tasks->tids[i] == tid)
			return true;
	return false;
}

bool cm_tasks_have_come(const struct cm_tasks *before)
{
	struct cm_tasks now;

	cm_tasks_list(&now);
	if (now.n < 0 || before->n < 0)
		return true;
	for (int i = 0; i < now.n; i++)
		if (!has(before, now.tids[i]))
			return true;
	return false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's threads, as the kernel lists them. */
#include "preload/entries.h"

#include <linux/futex.h>

#include "preload/diag.h"
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

/* The numbers of /proc/self/task/<tid>/syscall, as many as there are up to n; "running" has none.
 */
static int read_call(int tid, uint64_t *numbers, int n)
{
	char path[64], text[256];
	struct cm_diag name = {0};
	uint64_t digit;
	int fd, n_read = 0;
	long n_bytes;

	(void)cm_diag_set(&name, 0, "/proc/self/task/%d/syscall", tid);
	__builtin_memcpy(path, name.text, sizeof(path)); /* short enough, with its NUL */
	fd = cm_sys_open(path, O_RDONLY, 0);
	if (fd < 0)
		return 0;
	n_bytes = cm_sys3(SYS_read, fd, (long)text, sizeof(text));
	cm_sys_close(fd);
	for (const char *at = text; at < text + n_bytes && n_read < n; at++) {
		unsigned int base = 10;

		if (*at < '0' || *at > '9')
			return n_read;
		if (*at == '0' && at + 1 < text + n_bytes && at[1] == 'x') {
			base = 16;
			at += 2;
		}
		for (numbers[n_read] = 0; at<text + n_bytes && * at> ' '; at++) {
			digit = (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
			numbers[n_read] = numbers[n_read] * base + digit;
		}
		n_read++;
	}
	return n_read;
}

/* Does it wait for another thread of this process, and for no time? */
static bool waits(int tid)
{
	uint64_t call[5]; /* number, address, operation, value, timeout */
	uint64_t operation;

	if (read_call(tid, call, 5) < 5 || call[0] != SYS_futex || !(call[2] & FUTEX_PRIVATE_FLAG))
		return false;
	operation = call[2] & FUTEX_CMD_MASK;
	return (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) && !call[4];
}

bool cm_tasks_all_wait(unsigned int max_ms)
{
	struct timespec step = {.tv_nsec = 1000000};
	struct cm_tasks tasks;
	int own = cm_sys_gettid();

	for (;;) {
		int n_awake = 0;

		cm_tasks_list(&tasks);
		for (int i = 0; i < tasks.n && !n_awake; i++)
			n_awake += tasks.tids[i] != own && !waits(tasks.tids[i]);
		if (tasks.n < 0 || !n_awake)
			return tasks.n > 0;
		if (!max_ms--)
			return false;
		(void)cm_sys3(SYS_nanosleep, (long)&step, 0, 0); /* shorter is fine */
	}
}

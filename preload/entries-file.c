/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding an object's site file in the cache, and having callmark-sites make those that miss. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/entries.h"
#include "preload/environment.h"
#include "preload/exit.h"
#include "preload/memory.h"
#include "preload/process.h"
#include "preload/say.h"
#include "preload/spawn.h"
#include "preload/spool-path.h"
#include "preload/syscall.h"

#define CM_MAKE_MS 120000u

static uint64_t rules_hash;
static const char *config, *symbols;
static const char *folders[2]; /* the cache; that of the run */
static const char *program;

/* callmark-sites stands beside the collector. */
static const char *find_program(void)
{
	const char *slash = strrchr(cm_settings.collect, '/');
	size_t n = slash ? (size_t)(slash - cm_settings.collect) + 1 : 0;
	char *path = n ? cm_memory_get(NULL, n + sizeof(CM_SITES_NAME)) : NULL;

	if (!path)
		return NULL;
	memcpy(path, cm_settings.collect, n);
	memcpy(path + n, CM_SITES_NAME, sizeof(CM_SITES_NAME));
	return path;
}

int cm_entries_file_init(uint64_t hash, const char *config_path, const char *the_symbols,
			 const char *cache)
{
	size_t n = strlen(cm_settings.run_path);
	char *own = cm_memory_get(NULL, n + sizeof("/sites"));

	if (!own)
		return -ENOMEM;
	memcpy(own, cm_settings.run_path, n);
	memcpy(own + n, "/sites", sizeof("/sites"));
	rules_hash = hash;
	config = config_path;
	symbols = the_symbols ? cm_memory_string(the_symbols) : NULL;
	folders[0] = *cache ? cm_memory_string(cache) : NULL;
	folders[1] = own;
	program = find_program();
	return 0;
}

static const char *path_of(const struct cm_object *object)
{
	return object->is_main ? cm_settings.executable : object->path;
}

/* Without a build-id it is the file as it is now. */
static int identify(const struct cm_object *object, struct cm_site_identity *identity)
{
	struct stat status;
	long rc;

	*identity = (struct cm_site_identity){0};
	if (object->n_build_id && object->n_build_id <= sizeof(identity->build_id)) {
		identity->n_build_id = object->n_build_id;
		memcpy(identity->build_id, object->build_id, object->n_build_id);
		return 0;
	}
	rc = cm_sys6(SYS_newfstatat, AT_FDCWD, (long)path_of(object), (long)&status, 0, 0, 0);
	if (rc < 0)
		return (int)rc;
	identity->dev = status.st_dev;
	identity->ino = status.st_ino;
	identity->size = (uint64_t)status.st_size;
	identity->mtime_ns =
		(uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
	return 0;
}

/* It says which bytes of code to write: nobody else may have had a hand in it. */
static bool is_own(const struct stat *status)
{
	return S_ISREG(status->st_mode) && !(status->st_mode & 022) &&
	       (long)status->st_uid == cm_sys3(SYS_geteuid, 0, 0, 0) && status->st_size > 0 &&
	       status->st_size <= CM_SITE_FILE_MAX_BYTES;
}

static const struct cm_site_file *map(const char *path, const struct cm_object *object)
{
	const struct cm_site_file *file = NULL;
	struct stat status;
	int fd = cm_sys_open(path, O_RDONLY | O_NOFOLLOW, 0);
	size_t n;

	if (fd < 0)
		return NULL;
	if (!cm_sys3(SYS_fstat, fd, (long)&status, 0) && is_own(&status))
		file = cm_sys_mmap((size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd);
	cm_sys_close(fd);
	if (!file)
		return NULL;
	n = (size_t)status.st_size;
	if (!cm_site_file_check(file, n, rules_hash) && file->n_build_id == object->n_build_id &&
	    !memcmp(file->build_id, object->build_id, file->n_build_id))
		return file;
	(void)cm_sys3(SYS_munmap, (long)file, (long)n, 0); /* address space only */
	return NULL;
}

const struct cm_site_file *cm_entries_file(const struct cm_object *object)
{
	char path[CM_SPOOL_PATH_BYTES];
	struct cm_site_identity identity;

	if (identify(object, &identity) < 0)
		return NULL;
	for (int i = 0; i < 2; i++) {
		const struct cm_site_file *file = NULL;

		if (folders[i] &&
		    !cm_site_file_path(folders[i], &identity, rules_hash, path, sizeof(path)))
			file = map(path, object);
		if (file)
			return file;
	}
	return NULL;
}

bool cm_entries_make_files(struct cm_object *const *objects, uint32_t n)
{
	const char **argv = cm_memory_get(NULL, (n + 16) * sizeof(*argv));
	struct cm_spawn spawn = {.path = program,
				 .argv = (char *const *)argv,
				 .envp = cm_exit_environment(),
				 .output = -1,
				 .keep_stderr = cm_say_has_stderr(),
				 .max_ms = CM_MAKE_MS};
	uint64_t mask;
	uint32_t k = 0;
	int rc;

	if (!argv || !program)
		return false;
	argv[k++] = program;
	if (config) {
		argv[k++] = "--config";
		argv[k++] = config;
	}
	if (symbols) {
		argv[k++] = "--symbols";
		argv[k++] = symbols;
	}
	for (int i = 0; i < 2; i++)
		if (folders[i]) {
			argv[k++] = "--cache";
			argv[k++] = folders[i];
		}
	argv[k++] = "--";
	for (uint32_t i = 0; i < n; i++)
		argv[k++] = path_of(objects[i]);
	mask = cm_sys_block_signals();
	rc = cm_spawn_run(&spawn);
	cm_sys_restore_signals(mask);
	if (rc < 0)
		cm_say("%s cannot be run (error %d); functions of internal=yes are not intercepted",
		       program, -rc);
	return rc >= 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Have a site file made for each object, and read it. */
#include "cli/symbols-entries.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/locate.h"
#include "cli/say.h"
#include "cli/sites-start.h"

#define MAX_REGION_BYTES 1024

const char *cm_symbol_entries_how(enum cm_site_how how)
{
	static const char *const names[] = {[CM_SITE_HOW_JUMP] = "jump",
					    [CM_SITE_HOW_SHORT] = "short jump",
					    [CM_SITE_HOW_TRAP] = "trap"};

	return names[how];
}

/* The whole file, checked. */
static int map_file(struct cm_symbol_entries *entries, const char *path, uint64_t hash)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	void *bytes;
	int rc = 0;

	if (fd < 0 || fstat(fd, &st)) {
		rc = -errno;
		goto out;
	}
	if (st.st_size < (off_t)sizeof(*entries->file) ||
	    st.st_size > (off_t)CM_SITE_FILE_MAX_BYTES) {
		rc = -EBADMSG;
		goto out;
	}
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED) {
		rc = -errno;
		goto out;
	}
	entries->file = bytes;
	entries->n_bytes = (size_t)st.st_size;
	rc = cm_site_file_check(bytes, entries->n_bytes, hash);
out:
	if (fd >= 0)
		close(fd);
	return rc;
}

/* A clone has the demangled name of its base; what sets it apart is shown behind it. */
static char *make_name(const struct cm_symbol_entry *row, const char *demangled)
{
	size_t n_base = strlen(row->base_name);
	char *name;

	if (!demangled[0])
		return strdup(row->symbol);
	if (strncmp(row->symbol, row->base_name, n_base) || row->symbol[n_base] != '.')
		return strdup(demangled);
	return asprintf(&name, "%s [clone %s]", demangled, row->symbol + n_base) < 0 ? NULL : name;
}

static int fill_row(struct cm_symbol_entries *entries, const struct cm_site_function *function,
		    const struct cm_rule_set *set, const char *library)
{
	struct cm_symbol_entry *row = &entries->rows[entries->n_rows++];
	const char *demangled = cm_site_string(entries->file, function->demangled);
	char region[MAX_REGION_BYTES];

	row->function = function;
	row->symbol = cm_site_string(entries->file, function->symbol);
	row->base_name = cm_site_string(entries->file, function->base_name);
	row->source = cm_site_string(entries->file, function->source);
	row->reason = cm_site_string(entries->file, function->reason);
	if (function->rule >= set->rules.n_rules)
		return -EBADMSG;
	row->rule = &set->rules.rules[function->rule];
	entries->n_how[function->how]++;
	row->name = make_name(row, demangled);
	(void)cm_rules_region(row->rule, row->base_name, demangled[0] ? demangled : NULL, library,
			      region, sizeof(region));
	row->region = strdup(region);
	return row->name && row->region ? 0 : -ENOMEM;
}

static int compare_rows(const void *a, const void *b)
{
	const struct cm_symbol_entry *one = a, *two = b;
	int rc = strcmp(one->name, two->name);

	if (!rc)
		rc = strcmp(one->source, two->source);
	if (!rc)
		rc = one->function->offset < two->function->offset ? -1 : 1; /* never the same */
	return rc;
}

static int fill_rows(struct cm_symbol_entries *entries, const struct cm_rule_set *set,
		     const char *library, bool *is_matched)
{
	const struct cm_site_function *functions = cm_site_functions(entries->file);
	uint32_t n = entries->file->n_functions;
	int rc = 0;

	entries->rows = calloc((size_t)n + 1, sizeof(entries->rows[0]));
	if (!entries->rows)
		return -ENOMEM;
	for (uint32_t i = 0; !rc && i < n; i++) {
		rc = fill_row(entries, &functions[i], set, library);
		if (!rc)
			is_matched[functions[i].rule] = true;
	}
	if (!rc)
		qsort(entries->rows, entries->n_rows, sizeof(entries->rows[0]), compare_rows);
	return rc;
}

void cm_symbol_entries_free(struct cm_symbol_entries *entries)
{
	if (!entries)
		return;
	for (size_t i = 0; i < entries->n_rows; i++) {
		free(entries->rows[i].name);
		free(entries->rows[i].region);
	}
	free(entries->rows);
	if (entries->file)
		(void)munmap((void *)(uintptr_t)entries->file, entries->n_bytes);
	free(entries);
}

struct context {
	struct cm_sites_request request;
	struct cm_supervise supervise;
	const struct cm_rule_set *set;
	bool *is_matched;
	char folder[PATH_MAX]; /* for the file, ours alone */
};

/* As `run` and the preload ask: a program has its own name there, a library that it is found by. */
static char *name_path(const struct cm_closure_item *item)
{
	return cm_elf_kind(item->elf) == CM_ELF_PROGRAM ? realpath(item->path, NULL)
							: strdup(item->path);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int read_file(struct context *context, struct cm_symbol_entries *entries, const char *path,
		     struct cm_diag *diag)
{
	int rc = map_file(entries, context->request.output, context->set->hash);

	return cm_diag_set(rc ? diag : NULL, rc, "%s: what %s wrote about it cannot be used: %s",
			   path, context->request.path, strerror(-rc));
}

/* Have the file made and take it away again; the signal that is pending ends us only then. */
static int make_file(struct context *context, struct cm_symbol_entries *entries, const char *path,
		     struct cm_diag *diag)
{
	int rc;

	cm_supervise_init(&context->supervise);
	rc = cm_sites_start(&context->supervise, &context->request, &path, 1, diag);
	if (!rc)
		rc = read_file(context, entries, path, diag);
	(void)unlink(context->request.output); /* not there when it failed */
	if (rc == -EINTR)
		(void)rmdir(context->folder);
	cm_supervise_fini(&context->supervise);
	return rc == 1 ? -EIO : rc;
}

static int add_entries(struct context *context, struct cm_symbol_object *object,
		       struct cm_diag *diag)
{
	char *path = name_path(object->item);
	int rc;

	if (!path)
		return -errno;
	if (!cm_sites_is_wanted(&context->set->rules, base_name(path))) {
		free(path);
		return 0;
	}
	object->entries = calloc(1, sizeof(*object->entries));
	rc = object->entries ? make_file(context, object->entries, path, diag) : -ENOMEM;
	if (!rc)
		rc = fill_rows(object->entries, context->set, base_name(path), context->is_matched);
	if (rc < 0) {
		cm_symbol_entries_free(object->entries);
		object->entries = NULL;
		(void)cm_diag_set(diag, rc, "%s: %s", path, strerror(-rc));
	}
	free(path);
	return rc;
}

/* Without a library the rest can be shown, without the binary itself there is nothing to show. */
static int add_all(struct context *context, struct cm_symbols *list, struct cm_diag *diag)
{
	for (size_t i = 0; i < list->n_objects; i++) {
		struct cm_diag own = {0};
		int rc = add_entries(context, &list->objects[i], &own);

		if (!rc)
			continue;
		if (!i || rc == -EINTR || rc == -ENOMEM)
			return cm_diag_set(diag, rc, "%s", own.text);
		cm_say("%s", own.text);
	}
	return 0;
}

int cm_symbols_add_entries(struct cm_symbols *list, const char *config, const char *symbols,
			   const struct cm_rule_set *set, struct cm_diag *diag)
{
	const char *base = getenv("TMPDIR");
	struct context context = {.set = set,
				  .is_matched = list->is_matched,
				  .request = {.config = config,
					      .symbols = symbols,
					      .progress = "looking for the entries of functions"}};
	char path[PATH_MAX], output[PATH_MAX + 16];
	int rc = cm_locate(CM_PART_SITES, path, sizeof(path), diag);

	if (rc < 0)
		return rc;
	snprintf(context.folder, sizeof(context.folder), "%s/callmark-symbols-XXXXXX",
		 base && base[0] ? base : "/tmp");
	if (!mkdtemp(context.folder))
		return cm_diag_set(diag, -errno, "%s: %s", context.folder, strerror(errno));
	snprintf(output, sizeof(output), "%s/sites", context.folder);
	context.request.path = path;
	context.request.output = output;
	rc = add_all(&context, list, diag);
	(void)rmdir(context.folder);
	return rc;
}

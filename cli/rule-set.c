/* SPDX-License-Identifier: BSD-3-Clause */
/* Read, parse and describe rules. */
#include "cli/rule-set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/site-file.h"

/* Storage is a list, freed as a whole; the header keeps what follows aligned to 16. */
struct block {
	struct block *next;
	uint64_t padding;
};
_Static_assert(sizeof(struct block) == 16, "rules need alignment");

static void *take_block(void *ctx, size_t n_bytes)
{
	struct cm_rule_set *set = ctx;
	struct block *block;
	size_t n;

	if (__builtin_add_overflow(n_bytes, sizeof(*block), &n))
		return NULL;
	block = calloc(1, n);
	if (!block)
		return NULL;
	block->next = set->blocks;
	set->blocks = block;
	return block + 1;
}

static int read_all(int fd, char *text, size_t n_bytes, size_t *ret_n)
{
	size_t n = 0;

	while (n < n_bytes) {
		ssize_t got = read(fd, text + n, n_bytes - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += (size_t)got;
	}
	*ret_n = n;
	return 0;
}

/* The whole file; a FIFO or device is refused, because the program will read it again. */
static int read_file(const char *path, char **ret_text, size_t *ret_n, struct cm_diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st)) {
		rc = -errno;
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		rc = cm_diag_set(diag, -EINVAL, "rules file %s: not a regular file", path);
		goto out;
	}
	if (st.st_size > (off_t)CM_RULES_MAX_BYTES) {
		rc = cm_diag_set(diag, -EFBIG,
				 "rules file %s: too large (%lu bytes, at most %u are read)", path,
				 (unsigned long)st.st_size, CM_RULES_MAX_BYTES);
		goto out;
	}
	text = malloc((size_t)st.st_size + 1);
	rc = text ? read_all(fd, text, (size_t)st.st_size, ret_n) : -ENOMEM;
out:
	if (fd >= 0)
		close(fd);
	if (rc < 0) {
		free(text);
		return cm_diag_set(diag, rc, "rules file %s: %s", path, strerror(-rc));
	}
	*ret_text = text;
	return 0;
}

static int parse_file(struct cm_rule_set *set, const char *config, const char *symbols,
		      const struct cm_rules_alloc *alloc, struct cm_diag *diag)
{
	char *text = NULL;
	size_t n = 0;
	int rc = read_file(config, &text, &n, diag);

	if (rc < 0)
		return rc;
	rc = cm_rules_parse(&set->rules, text, n, config, alloc, diag);
	set->hash = cm_site_file_hash(text, n, symbols);
	free(text);
	return cm_diag_set(rc < 0 ? diag : NULL, rc, "rules file %s: %s", config, strerror(-rc));
}

int cm_rule_set_load(struct cm_rule_set *set, const char *config, const char *symbols,
		     struct cm_diag *diag)
{
	struct cm_rules_alloc alloc = {take_block, set};
	int rc = 0;

	memset(set, 0, sizeof(*set));
	set->hash = cm_site_file_hash(NULL, 0, symbols);
	if (config)
		rc = parse_file(set, config, symbols, &alloc, diag);
	if (rc >= 0 && symbols) {
		rc = cm_rules_parse(&set->rules, symbols, strlen(symbols), NULL, &alloc, diag);
		(void)cm_diag_set(rc < 0 ? diag : NULL, rc, "rules: %s", strerror(-rc));
	}
	for (uint32_t i = 0; rc >= 0 && i < set->rules.n_rules; i++)
		set->n_patterns += !set->rules.rules[i].exclude;
	if (rc >= 0 && !set->n_patterns)
		rc = cm_diag_set(diag, -ENODATA, "%s%s: no rule names a function",
				 config ? "rules file " : "rules", config ? config : "");
	if (rc < 0) {
		cm_rule_set_fini(set);
		return rc;
	}
	return 0;
}

void cm_rule_set_fini(struct cm_rule_set *set)
{
	struct block *block = set->blocks;

	while (block) {
		struct block *next = block->next;

		free(block);
		block = next;
	}
	memset(set, 0, sizeof(*set));
}

int cm_rule_set_name(const struct cm_rule *rule, char *buf, size_t n_bytes)
{
	return snprintf(buf, n_bytes, "%s%s%s", rule->library ? rule->library : "",
			rule->library ? ":" : "", rule->pattern);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of a site file: the texts that the preload will be given too. */
#include <errno.h>
#include <string.h>

#include "collector/sites.h"
#include "collector/whole-file.h"

static void *take(void *ctx, size_t n_bytes)
{
	return cm_arena_array(ctx, 1, n_bytes);
}

int cm_sites_rules_load(struct cm_sites_rules *rules, const char *config, const char *symbols,
			struct cm_diag *diag)
{
	struct cm_rules_alloc alloc = {take, &rules->arena};
	const char *text = NULL;
	size_t n = 0;
	int rc = 0;

	memset(rules, 0, sizeof(*rules));
	if (config) {
		rc = cm_whole_file_read(config, CM_RULES_MAX_BYTES, &rules->arena, &text, &n, diag);
		if (rc >= 0)
			rc = cm_rules_parse(&rules->rules, text, n, config, &alloc, diag);
		if (rc < 0)
			(void)cm_diag_set(diag, rc, "rules file %s: %s", config, strerror(-rc));
	}
	if (rc >= 0 && symbols) {
		rc = cm_rules_parse(&rules->rules, symbols, strlen(symbols), NULL, &alloc, diag);
		if (rc < 0)
			(void)cm_diag_set(diag, rc, "rules: %s", strerror(-rc));
	}
	rules->hash = cm_site_file_hash(text, n, symbols);
	if (rc < 0)
		cm_sites_rules_fini(rules);
	return rc < 0 ? rc : 0;
}

void cm_sites_rules_fini(struct cm_sites_rules *rules)
{
	cm_arena_fini(&rules->arena);
	memset(rules, 0, sizeof(*rules));
}

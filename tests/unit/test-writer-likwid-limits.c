/* SPDX-License-Identifier: BSD-3-Clause */
/* More hardware counters than the file has room for, and files that are damaged. */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/writer-counters.h"

/* Names and values of more events than an attribute has room for. */
static struct cm_profile_counters make_large(size_t n)
{
	char(*texts)[16] = calloc(n, sizeof(*texts));
	const char **names = calloc(n, sizeof(*names));
	double *numbers = calloc(2 * n, sizeof(*numbers));
	struct cm_profile_counters counters = counters_named("large", 0);

	for (size_t i = 0; i < n; i++) {
		snprintf(texts[i], sizeof(texts[i]), "EVENT_%zu", i);
		names[i] = texts[i];
		numbers[2 * i] = (double)i;
		numbers[2 * i + 1] = -1 / (double)(i + 1);
	}
	counters.event_names = counters.counter_names = counters.metric_names = names;
	counters.n_events = counters.n_metrics = n;
	counters.events = counters.metrics = numbers;
	return counters;
}

static void free_large(const struct cm_profile_counters *counters)
{
	free((char *)counters->event_names[0]);
	free((void *)counters->event_names);
	free((void *)counters->events);
}

Test(likwid_limits, more_names_than_an_attribute_holds_lose_nothing)
{
	struct cm_profile_counters counters[2] = {make_large(70000), counters_full};
	struct fixture fixture;
	struct cm_results *results;
	struct cm_diag diag = {0};

	fixture_init(&fixture, 1, 5);
	counters_set(&fixture, counters, 2);
	for (size_t n = 3999; n <= 16000; n += n == 3999 ? 1 : 12000) {
		counters[0].n_events = counters[0].n_metrics = n;
		results = counters_store_and_load(&fixture);
		counters_check_rank(&fixture.profile, cm_results_rank(results, 0));
		cm_results_close(results);
	}
	cr_assert_eq(unlink(fixture.path), 0);
	for (int64_t rank = 0; rank < 2; rank++)
		cr_assert_eq(counters_join(&fixture, rank, &diag), 0, "%s", diag.text);
	cr_assert_eq(cm_results_open(&results, fixture.path, &diag), 0, "%s", diag.text);
	counters_check_rank(&fixture.profile, cm_results_rank(results, 1));
	cm_results_close(results);
	free_large(&counters[0]);
	fixture_fini(&fixture);
}

Test(likwid_limits, more_rows_than_the_layout_has_are_cut_and_the_rest_stays)
{
	struct cm_profile_counters counters[2] = {make_large(70000), counters_full};
	struct fixture fixture;
	struct cm_results *results;

	fixture_init(&fixture, 1, 5);
	counters_set(&fixture, counters, 2);
	results = counters_store_and_load(&fixture);
	counters[0].n_events = counters[0].n_metrics = 65536;
	counters_check_rank(&fixture.profile, cm_results_rank(results, 0));
	cm_results_close(results);
	free_large(&counters[0]);
	fixture_fini(&fixture);
}

Test(likwid_limits, long_lists_and_long_tags_of_any_kind_lose_nothing_else)
{
	struct cm_profile_counters counters;
	const char **modules = calloc(9000, sizeof(*modules));
	struct cm_meta meta = {"modules", CM_META_STRINGS, NULL, 0, modules, 9000};
	char *tag = malloc(200001);
	struct fixture fixture;
	struct cm_results *results;
	const struct cm_meta *metas;
	size_t n;

	memset(tag, '\xff', 200000);
	tag[200000] = '\0';
	for (size_t i = 0; i < 9000; i++)
		modules[i] = "module";
	fixture_init(&fixture, 1, 5);
	fixture.profile.metadata = &meta;
	fixture.profile.n_metadata = 1;
	fixture.regions[0].tag = tag;
	counters = counters_named(tag, 0);
	counters_set(&fixture, &counters, 1);
	results = counters_store_and_load(&fixture);
	metas = cm_results_metadata(results, &n);
	cr_assert_eq(metas[0].n_strings, 4000);
	cr_assert_eq(cm_results_rank(results, 0)->regions[0].n_calls, 5);
	cr_assert_eq(strlen(cm_results_rank(results, 0)->counters[0].tag), 60000);
	cm_results_close(results);
	free(modules);
	free(tag);
	fixture_fini(&fixture);
}

/* Any answer is right but a crash or a hang. */
Test(likwid_limits, a_file_with_flipped_bytes_does_no_harm, .timeout = 120)
{
	struct cm_profile_counters counters[] = {counters_full, counters_named("solve", 1)};
	struct fixture fixture;
	struct cm_results *results;
	struct stat st;
	int fd;

	fixture_init(&fixture, 0, 0);
	counters_set(&fixture, counters, 2);
	cm_results_close(counters_store_and_load(&fixture));
	fd = open(fixture.path, O_RDWR);
	cr_assert_eq(fstat(fd, &st), 0);
	for (off_t at = 0; at < st.st_size; at += 11) {
		unsigned char old, new;

		cr_assert_eq(pread(fd, &old, 1, at), 1);
		new = old ^ 0x81;
		cr_assert_eq(pwrite(fd, &new, 1, at), 1);
		if (cm_results_open(&results, fixture.path, NULL) == 0)
			cm_results_close(results);
		cr_assert_eq(pwrite(fd, &old, 1, at), 1);
	}
	close(fd);
	fixture_fini(&fixture);
}

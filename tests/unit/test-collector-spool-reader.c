/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/spool-reader.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/spool-maker.h"

static char tempdir[64];
static char spool[96];
static struct spool_maker maker;

static void setup(void)
{
	spool_maker_tempdir(tempdir, sizeof(tempdir));
	snprintf(spool, sizeof(spool), "%s/4242-1", tempdir);
	spool_maker_init(&maker, spool, CM_CLOCK_TSC);
}

static void teardown(void)
{
	spool_maker_fini(&maker);
	spool_maker_remove(tempdir);
}

TestSuite(spool_reader, .init = setup, .fini = teardown);

static void make_items(void)
{
	struct cm_spool_item item = {0};
	struct cm_spool_rule_item rule = {.rule = 1, .line = 3};
	struct cm_spool_cpu_item cpu = {.thread = 0, .cpu = 5};
	struct cm_spool_exit_item end = {.status = 7, .has_status = 1, .n_dropped = 9};

	spool_maker_identity(&maker, "run-1", "/tmp/out.h5");
	spool_maker_item(&maker, CM_ITEM_ARGV, &item, sizeof(item), "prog", "", "x y", NULL);
	spool_maker_item(&maker, CM_ITEM_ARGV, &item, sizeof(item), "more", "", "", NULL);
	spool_maker_env(&maker, "OMPI_COMM_WORLD_RANK=3");
	spool_maker_env(&maker, "EMPTY=");
	spool_maker_item(&maker, CM_ITEM_RULE, &rule, sizeof(rule), "cblas_* trace=off", NULL);
	spool_maker_region(&maker, 2, "third", 77);
	spool_maker_site(&maker, 2, "cblas_dgemm", "libblas.so", CM_SITE_PATCHED);
	spool_maker_sync(&maker, 10, 20);
	spool_maker_thread(&maker, 1, 0, 55, "first name");
	spool_maker_thread(&maker, 1, 0, 55, "second name");
	spool_maker_item(&maker, CM_ITEM_CPU, &cpu, sizeof(cpu), NULL);
	spool_maker_item(&maker, 4711, &item, sizeof(item), "from a newer version", NULL);
	spool_maker_item(&maker, CM_ITEM_NOTE, &item, sizeof(item), "something was missing", NULL);
	spool_maker_item(&maker, CM_ITEM_EXIT, &end, sizeof(end), NULL);
	spool_maker_process(&maker);
}

Test(spool_reader, finds_everything_the_process_noted)
{
	struct cm_spool_reader reader;
	struct cm_diag diag = {0};

	make_items();
	cr_assert_eq(cm_spool_reader_open(&reader, spool, &diag), 0, "%s", diag.text);
	cr_assert_str_eq(reader.run_id, "run-1");
	cr_assert_str_eq(reader.output, "/tmp/out.h5");
	cr_assert_eq(reader.n_argv, 6);
	cr_assert_str_eq(reader.argv[1], "");
	cr_assert_str_eq(reader.argv[2], "x y");
	cr_assert_str_eq(reader.argv[3], "more");
	cr_assert_str_eq(reader.argv[5], "");
	cr_assert_str_eq(cm_spool_reader_getenv(&reader, "OMPI_COMM_WORLD_RANK"), "3");
	cr_assert_str_eq(cm_spool_reader_getenv(&reader, "EMPTY"), "");
	cr_assert_null(cm_spool_reader_getenv(&reader, "OMPI_COMM_WORLD"));
	cr_assert_eq(reader.n_rules, 2);
	cr_assert_null(reader.rules[0]);
	cr_assert_str_eq(reader.rules[1], "cblas_* trace=off");
	cr_assert_eq(reader.n_regions, 3);
	cr_assert_null(reader.regions[0].tag);
	cr_assert_str_eq(reader.regions[2].tag, "third");
	cr_assert_eq(reader.regions[2].max_events, 77);
	cr_assert_eq(reader.n_sites, 1);
	cr_assert_str_eq(reader.sites[0].library, "libblas.so");
	cr_assert_eq(reader.syncs[0].mono_ns, 20);
	cr_assert_eq(reader.n_threads, 2);
	cr_assert_not(reader.threads[0].known);
	cr_assert_str_eq(reader.threads[1].name, "second name");
	cr_assert_eq(reader.cpus[0].cpu, 5);
	cr_assert_str_eq(reader.notes[0], "something was missing");
	cr_assert(reader.has_exit);
	cr_assert_eq(reader.exit.status, 7);
	cr_assert_eq(reader.n_bad_items, 1);
	cm_spool_reader_close(&reader);
}

Test(spool_reader, takes_what_is_there_of_a_truncated_process_file)
{
	struct cm_spool_reader reader;
	char path[128];
	size_t n_bytes, n_found = 0;

	make_items();
	n_bytes = sizeof(maker.head) + maker.n_items;
	snprintf(path, sizeof(path), "%s/process", spool);
	for (size_t cut = 0; cut <= n_bytes; cut++) {
		struct cm_diag diag = {0};
		int rc;

		spool_maker_process(&maker);
		cr_assert_eq(truncate(path, (off_t)cut), 0);
		rc = cm_spool_reader_open(&reader, spool, &diag);
		if (cut < sizeof(maker.head)) {
			cr_assert_eq(rc, -EINVAL);
			cr_assert(strstr(diag.text, "truncated"), "%s", diag.text);
			continue;
		}
		cr_assert_eq(rc, 0, "cut at %zu: %s", cut, diag.text);
		cr_assert_geq(reader.n_env + reader.n_argv + reader.n_sites, n_found);
		n_found = reader.n_env + reader.n_argv + reader.n_sites;
		cm_spool_reader_close(&reader);
	}
	cr_assert_eq(n_found, 9);
}

static void expect_refusal(int rc, const char *text)
{
	struct cm_spool_reader reader;
	struct cm_diag diag = {0};

	spool_maker_process(&maker);
	cr_assert_eq(cm_spool_reader_open(&reader, spool, &diag), rc);
	cr_assert(strstr(diag.text, text), "%s", diag.text);
	cr_assert(strstr(diag.text, spool), "%s", diag.text);
}

Test(spool_reader, refuses_foreign_and_newer_files)
{
	maker.head.magic++;
	expect_refusal(-EINVAL, "not a callmark spool");
	maker.head.magic--;
	maker.head.version = 2;
	expect_refusal(-EINVAL, "version 2");
	maker.head.version = 1;
	maker.head.clock = 9;
	expect_refusal(-EINVAL, "clock 9");
}

Test(spool_reader, refuses_links_and_special_files)
{
	struct cm_spool_reader reader;
	struct cm_diag diag = {0};
	char path[128];

	snprintf(path, sizeof(path), "%s/process", spool);
	cr_assert_eq(cm_spool_reader_open(&reader, spool, &diag), -ENOENT);
	cr_assert_eq(symlink("/etc/passwd", path), 0);
	cr_assert_eq(cm_spool_reader_open(&reader, spool, &diag), -ELOOP);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_eq(cm_spool_reader_open(&reader, spool, &diag), -EINVAL);
}

Test(spool_reader, finds_open_calls_sorted_and_rings_in_order)
{
	struct cm_spool_open open[300] = {0};
	uint64_t word = CM_WORD_SHORT_BIT;
	struct spool_ring map = {.stream_base = 800,
				 .words = &word,
				 .n_words = 1,
				 .n_room = 16,
				 .open = open,
				 .n_open = 300,
				 .n_dropped = 3};
	struct spool_ring segment = {.stream_base = 400, .words = &word, .n_words = 1};
	struct cm_spool_reader reader;
	struct cm_diag diag = {0};

	open[0] = (struct cm_spool_open){.start = 50, .region = 2};
	open[299] = (struct cm_spool_open){.start = 40, .region = 2};
	open[7] = (struct cm_spool_open){.start = 60, .region = 1};
	spool_maker_process(&maker);
	spool_maker_ring(&maker, 3, "map", &map);
	spool_maker_ring(&maker, 3, "s0", &segment);
	spool_maker_file(&maker, "t3.datx", "x", 1);
	spool_maker_file(&maker, "t9.dat", "123456789", 9);
	cr_assert_eq(cm_spool_reader_open(&reader, spool, &diag), 0, "%s", diag.text);
	cr_assert_eq(reader.n_slots, 2);
	cr_assert_eq(reader.slots[0].n_dropped, 3);
	cr_assert_eq(reader.slots[0].n_open, 3);
	cr_assert_eq(reader.slots[0].open[0].start, 60);
	cr_assert_eq(reader.slots[0].open[1].start, 40);
	cr_assert_eq(reader.slots[0].open[2].start, 50);
	cr_assert_eq(reader.slots[0].n_rings, 2);
	cr_assert_eq(reader.slots[0].rings[0].base, 400);
	cr_assert_eq(reader.slots[0].rings[1].n_bytes, 128);
	cr_assert_eq(reader.slots[1].dat_bytes, 8);
	cr_assert_eq(cm_spool_reader_has_moved(&reader), 0);
	cm_spool_reader_close(&reader);
}

Test(spool_reader, a_ring_with_nonsense_in_its_head_loses_only_itself)
{
	uint64_t word = CM_WORD_SHORT_BIT;
	struct spool_ring ring = {.words = &word, .n_words = 1};
	struct cm_spool_thread head = {.magic = CM_SPOOL_THREAD_MAGIC, .version = CM_SPOOL_VERSION};
	struct cm_spool_reader reader;
	struct cm_diag diag = {0};

	spool_maker_process(&maker);
	spool_maker_ring(&maker, 0, "map", &ring);
	head.ring_offset = UINT64_MAX - 7;
	head.ring_bytes = UINT64_MAX - 7;
	head.table_offset = UINT64_MAX - 64;
	head.n_entries = UINT64_MAX;
	spool_maker_file(&maker, "t0.s0", &head, sizeof(head));
	head.stream_base = 3;
	spool_maker_file(&maker, "t0.s1", &head, sizeof(head));
	spool_maker_file(&maker, "t0.s2", &head, 10);
	spool_maker_file(&maker, "t1.map", &head, sizeof(head));
	cr_assert_eq(cm_spool_reader_open(&reader, spool, &diag), 0, "%s", diag.text);
	cr_assert_eq(reader.slots[0].n_rings, 1);
	cr_assert_eq(reader.n_bad_files, 3);
	cm_spool_reader_close(&reader);
}

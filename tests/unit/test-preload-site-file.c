/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of site files, and what the check of one refuses. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "preload/site-file.h"

#define HASH UINT64_C(0x0123456789abcdef)

struct example {
	struct cm_site_file file;
	struct cm_site_function functions[2];
	char strings[16];
};

/* Two functions: one that gets a jump, one refused. */
static struct example make_example(void)
{
	struct example example = {
		.file = {.magic = CM_SITE_FILE_MAGIC,
			 .version = CM_SITE_FILE_VERSION,
			 .n_functions = 2,
			 .n_bytes = sizeof(example),
			 .rules_hash = HASH,
			 .strings = offsetof(struct example, strings)},
		.functions = {{.offset = 0x1000,
			       .size = 64,
			       .place = 0x1004,
			       .symbol = 1,
			       .base_name = 1,
			       .how = CM_SITE_HOW_JUMP,
			       .n_expected = 7,
			       .n_moved = 12,
			       .n_fixups = 1,
			       .fixups = {{.at = 8,
					   .kind = CM_SITE_FIXUP_REL32,
					   .tail = 4,
					   .target = 0x100b}}},
			      {.offset = 0x1040, .symbol = 1, .reason = 7}},
		.strings = "\0solve\0short",
	};

	return example;
}

static int check(const struct example *example)
{
	return cm_site_file_check(example, sizeof(*example), HASH);
}

Test(site_file, a_good_one_passes)
{
	struct example example = make_example();

	cr_assert_eq(check(&example), 0);
	cr_assert_str_eq(cm_site_string(&example.file, example.functions[1].reason), "short");
	cr_assert_eq(cm_site_functions(&example.file), example.functions);
}

#define REFUSES(name, change)                                     \
	Test(site_file, refuses_##name)                           \
	{                                                         \
		struct example example = make_example();          \
                                                                  \
		change;                                           \
		cr_assert_eq(check(&example), -EBADMSG, #change); \
	}

REFUSES(another_format, example.file.magic++)
REFUSES(another_version, example.file.version++)
REFUSES(other_rules, example.file.rules_hash++)
REFUSES(another_length, example.file.n_bytes++)
REFUSES(strings_elsewhere, example.file.strings -= 8)
REFUSES(a_count_that_overflows, example.file.n_functions = UINT32_MAX)
REFUSES(text_without_end, example.strings[15] = 'x')
REFUSES(a_string_outside, example.functions[0].symbol = 16)
REFUSES(functions_out_of_order, example.functions[1].offset = 0x1000)
REFUSES(an_unknown_way, example.functions[0].how = 4)
REFUSES(nothing_to_move, example.functions[0].n_moved = 0)
REFUSES(too_much_to_move, example.functions[0].n_moved = CM_SITE_MAX_MOVED + 1)
REFUSES(fewer_bytes_than_the_jump, example.functions[0].n_expected = 4)
REFUSES(more_bytes_than_there_are, example.functions[0].n_expected = 33)
REFUSES(a_place_before_the_entry, example.functions[0].place = 0xfff)
REFUSES(a_place_far_behind, example.functions[0].place = 0x1009)
REFUSES(too_many_fixups, example.functions[0].n_fixups = CM_SITE_MAX_FIXUPS + 1)
REFUSES(a_fixup_outside, example.functions[0].fixups[0].at = 9)
REFUSES(an_unknown_fixup, example.functions[0].fixups[0].kind = 3)
REFUSES(a_tail_outside, example.functions[0].fixups[0].tail = 5)
REFUSES(a_short_jump_without_pad, example.functions[0].how = CM_SITE_HOW_SHORT)

Test(site_file, a_short_jump_reaches_127_bytes)
{
	struct example example = make_example();

	example.functions[0].how = CM_SITE_HOW_SHORT;
	example.functions[0].n_pad = CM_SITE_JUMP_BYTES;
	example.functions[0].pad = 0x1006 + 127;
	cr_assert_eq(check(&example), 0);
	example.functions[0].pad++;
	cr_assert_eq(check(&example), -EBADMSG);
	example.functions[0].pad = 0x1006 - 128;
	cr_assert_eq(check(&example), 0);
	example.functions[0].pad--;
	cr_assert_eq(check(&example), -EBADMSG);
}

Test(site_file, is_named_by_build_id_and_rules)
{
	struct cm_site_identity identity = {.n_build_id = 3, .build_id = {0xab, 0x00, 0x1f}};
	char path[64];

	cr_assert_eq(cm_site_file_path("/c", &identity, HASH, path, sizeof(path)), 0);
	cr_assert_str_eq(path, "/c/ab001f-0123456789abcdef.sites");
	cr_assert_eq(cm_site_file_path("/c", &identity, HASH, path, 20), -ENAMETOOLONG);
	identity = (struct cm_site_identity){.dev = 1, .ino = 2, .size = 255, .mtime_ns = 16};
	cr_assert_eq(cm_site_file_path("/c", &identity, HASH, path, sizeof(path)), 0);
	cr_assert_str_eq(path, "/c/s1-2-ff-10-0123456789abcdef.sites");
}

Test(site_file, rules_in_a_file_and_inline_have_different_hashes)
{
	uint64_t none = cm_site_file_hash(NULL, 0, NULL);

	cr_assert_neq(cm_site_file_hash("a", 1, NULL), cm_site_file_hash(NULL, 0, "a"));
	cr_assert_neq(cm_site_file_hash("a", 1, "b"), cm_site_file_hash("ab", 2, NULL));
	cr_assert_neq(cm_site_file_hash("a", 1, NULL), none);
	cr_assert_eq(cm_site_file_hash("a", 1, ""), cm_site_file_hash("a", 1, NULL));
}

Test(site_file, the_cache_is_the_first_folder_that_is_set)
{
	char path[64];

	cr_assert_eq(cm_site_cache("/k", "/x", "/h", path, sizeof(path)), 0);
	cr_assert_str_eq(path, "/k");
	cr_assert_eq(cm_site_cache("", "/x", "/h", path, sizeof(path)), 0);
	cr_assert_str_eq(path, "/x/callmark");
	cr_assert_eq(cm_site_cache(NULL, "relative", "/h", path, sizeof(path)), 0);
	cr_assert_str_eq(path, "/h/.cache/callmark");
	cr_assert_eq(cm_site_cache(NULL, NULL, NULL, path, sizeof(path)), 1);
	cr_assert_str_empty(path);
	cr_assert_eq(cm_site_cache("/k", NULL, NULL, path, 2), -ENAMETOOLONG);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <elf.h>
#include <string.h>

#include "sites-maker.h"

#define BODY "b801000000c3" /* mov $1,%eax; ret */

static struct made_sites made;

static void init(void)
{
	make_sites_init(&made);
}

static void fini(void)
{
	make_sites_fini(&made);
}

TestSuite(sites_match, .init = init, .fini = fini);

struct name {
	char symbol[48], base_name[32], demangled[40];
	bool is_cold;
};

static struct name names[] = {
	{"solve", "solve", "", false},
	{"solve.constprop.0", "solve", "", false},
	{"solve.isra.12", "solve", "", false},
	{"solve.part.0.isra.1.constprop.2", "solve", "", false},
	{"solve.lto_priv.3", "solve", "", false},
	{"solve.llvm.1234567890123456789", "solve", "", false},
	{"solve.localalias", "solve", "", false},
	{"solve.cold", "solve.cold", "", true},
	{"solve.constprop.0.cold", "solve.constprop.0.cold", "", true},
	{"solve.other.0", "solve.other.0", "", false},
	{"solve2.5", "solve2", "", false},
	{"inner.0.constprop.1", "inner", "", false},
	{".5", ".5", "", false},
	{".isra.0", ".isra.0", "", false},
	{"colder", "colder", "", false},
	{"realpath@@GLIBC_2.3", "realpath", "", false},
	{"_ZN3one3twoEi.isra.0", "_ZN3one3twoEi", "one::two(int)", false},
	{"_RNvCskwGfYPst2Cb_3foo3bar", "_RNvCskwGfYPst2Cb_3foo3bar", "foo::bar", false},
	{"__solver_MOD_step", "__solver_MOD_step", "solver::step", false},
	{"__solver_MOD_step.constprop.0", "__solver_MOD_step", "solver::step", false},
	{"_QMsolverPstep", "_QMsolverPstep", "solver::step", false},
	{"_QMsolverFrunPinner", "_QMsolverFrunPinner", "solver::run::inner", false},
	{"_QMsolverEvalue", "_QMsolverEvalue", "", false},
	{"__other", "__other", "", false},
};

ParameterizedTestParameters(sites_match, names)
{
	return cr_make_param_array(struct name, names, sizeof(names) / sizeof(names[0]));
}

ParameterizedTest(struct name *name, sites_match, names)
{
	struct cm_arena arena = {0};
	const char *base_name = cm_sites_base_name(&arena, name->symbol);

	cr_expect_str_eq(base_name, name->base_name, "%s: %s", name->symbol, base_name);
	cr_expect_str_eq(cm_sites_demangle(&arena, base_name), name->demangled, "%s: %s",
			 name->symbol, cm_sites_demangle(&arena, base_name));
	cr_expect_eq(cm_sites_is_cold(name->symbol), name->is_cold, "%s", name->symbol);
	cm_arena_fini(&arena);
}

Test(sites_match, clones_are_matched_by_their_base_name)
{
	make_function(&made, "solve.constprop.0", BODY);
	make_function(&made, "solver", BODY);
	make_plan(&made, "solve internal=yes");
	cr_assert_eq(made.object.n_rows, 1);
	cr_expect_str_eq(made.object.rows[0].symbol, "solve.constprop.0");
	cr_expect_str_eq(made.object.rows[0].base_name, "solve");
	cr_expect_eq(made.object.n_functions, 2);
}

Test(sites_match, a_source_selects_among_functions_of_one_name)
{
	make_function(&made, "step", BODY);
	make_function(&made, "step", BODY);
	made.symbols[0].source = "one.c";
	made.symbols[1].source = "two.c";
	make_plan(&made, "two.c:step internal=yes");
	cr_assert_eq(made.object.n_rows, 1);
	cr_expect_eq(made.object.rows[0].site.offset, MADE_TEXT + 16);
	cr_expect_str_eq(made.object.rows[0].source, "two.c");
}

Test(sites_match, an_object_selects)
{
	make_function(&made, "step", BODY);
	make_function(&made, "walk", BODY);
	make_plan(&made, "libmade*:step internal=yes;libother*:walk internal=yes");
	cr_assert_eq(made.object.n_rows, 1);
	cr_expect_str_eq(made.object.rows[0].symbol, "step");
}

Test(sites_match, demangled_patterns)
{
	make_function(&made, "_ZN3one3twoEi", BODY);
	make_function(&made, "__solver_MOD_step", BODY);
	make_function(&made, "two", BODY);
	make_plan(&made, "one::* internal=yes;solver::step internal=yes");
	cr_assert_eq(made.object.n_rows, 2);
	cr_expect_str_eq(made.object.rows[0].demangled, "one::two(int)");
	cr_expect_str_eq(made.object.rows[1].demangled, "solver::step");
}

Test(sites_match, a_rule_before_that_is_not_internal_decides)
{
	make_function(&made, "step", BODY);
	make_function(&made, "walk", BODY);
	make_plan(&made, "step;* internal=yes");
	cr_assert_eq(made.object.n_rows, 1);
	cr_expect_str_eq(made.object.rows[0].symbol, "walk");
	cr_expect_eq(made.object.rows[0].site.rule, 1);
}

Test(sites_match, one_row_for_all_names_of_a_function)
{
	uint64_t address = make_function(&made, "__GI_step", BODY);

	make_symbol(&made, "step", address, 6);
	make_symbol(&made, "_step", address, 6);
	make_symbol(&made, "a_local", address, 6)->is_local = true;
	make_plan(&made, "* internal=yes");
	cr_assert_eq(made.object.n_rows, 1);
	cr_expect_str_eq(made.object.rows[0].symbol, "step");
	cr_expect_eq(made.object.rows[0].n_aliases, 4);
}

Test(sites_match, the_earliest_rule_names_it)
{
	uint64_t address = make_function(&made, "step", BODY);

	make_symbol(&made, "__step", address, 6);
	make_plan(&made, "__step internal=yes;* internal=yes");
	cr_assert_eq(made.object.n_rows, 1);
	cr_expect_str_eq(made.object.rows[0].symbol, "__step");
	cr_expect_eq(made.object.rows[0].site.rule, 0);
}

Test(sites_match, any_name_can_forbid)
{
	uint64_t address = make_function(&made, "save", BODY);

	make_symbol(&made, "setjmp", address, 6);
	address = make_function(&made, "hidden", BODY);
	make_symbol(&made, "excluded", address, 6);
	address = make_function(&made, "chosen", BODY);
	make_symbol(&made, "choose", address, 6)->type = STT_GNU_IFUNC;
	make_function(&made, "frame_dummy", BODY);
	make_plan(&made, "* internal=yes;!excluded");
	cr_assert_eq(made.object.n_rows, 3);
	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(made.object.rows[i].site.how, CM_SITE_HOW_REFUSED);
		cr_expect_eq(strncmp(made.object.rows[i].reason, "forbidden: ", 11), 0);
	}
	cr_expect_not_null(made_row(&made, "save"));
	cr_expect_not_null(made_row(&made, "frame_dummy"));
	cr_expect_null(made_row(&made, "hidden"));
}

Test(sites_match, a_part_that_was_split_off_has_a_region_of_its_own)
{
	make_function(&made, "solve.part.0", BODY);
	make_function(&made, "solve.constprop.1", BODY);
	make_function(&made, "solve.part.0.constprop.0", BODY);
	make_plan(&made, "solve internal=yes");
	cr_assert_eq(made.object.n_rows, 3);
	cr_expect_str_eq(made_row(&made, "solve.part.0")->base_name, "solve.part.0");
	cr_expect_str_eq(made_row(&made, "solve.constprop.1")->base_name, "solve");
	cr_expect_str_eq(made_row(&made, "solve.part.0.constprop.0")->base_name,
			 "solve.part.0.constprop.0");
}

Test(sites_match, what_callmark_itself_runs_on_is_left_alone)
{
	made.elf.soname = "libc.so.6";
	make_function(&made, "qsort", BODY);
	make_plan(&made, "* internal=yes");
	cr_assert_eq(made.object.n_rows, 1);
	cr_expect_eq(made.object.rows[0].site.how, CM_SITE_HOW_REFUSED);
	cr_expect_eq(strncmp(made.object.rows[0].reason, "forbidden: ", 11), 0);
}

Test(sites_match, unwind_tables_tell_sizes)
{
	uint64_t none = make_function(&made, "none", BODY), less, more;

	made.symbols[0].size = 0;
	less = make_function(&made, "less", BODY BODY);
	more = make_function(&made, "more", BODY);
	make_function(&made, "unknown", BODY);
	made.symbols[3].size = 0;
	made.frames[0] = (struct cm_elf_frame){none, none + 6, 0};
	made.frames[1] = (struct cm_elf_frame){less, less + 6, 0};
	made.frames[2] = (struct cm_elf_frame){more, more + 16, 0};
	made.object.frames.n_frames = 3;
	make_plan(&made, "* internal=yes");
	cr_expect_eq(made_row(&made, "none")->site.size, 6);
	cr_expect_eq(made_row(&made, "less")->site.size, 6);
	cr_expect_eq(made_row(&made, "more")->site.size, 6);
	cr_expect_eq(strncmp(made_row(&made, "unknown")->reason, "size: ", 6), 0);
	cr_expect_eq(made_row(&made, "none")->site.how, CM_SITE_HOW_JUMP);
}

Test(sites_match, of_twins_only_the_innermost)
{
	/* call the next one, 16 bytes further on; ret */
	make_function(&made, "_ZN3oneC1Ev", "9090909090e806000000c3");
	make_function(&made, "_ZN3oneC2Ev", BODY);
	make_function(&made, "_ZN3oneD0Ev", "9090909090e806000000c3");
	make_function(&made, "_ZN3oneD1Ev", "9090909090e906000000c3");
	make_function(&made, "_ZN3oneD2Ev", BODY);
	make_function(&made, "_ZN3twoC1Ev", BODY); /* apart */
	make_function(&made, "_ZN3twoC2Ev", BODY);
	make_plan(&made, "* internal=yes");
	cr_assert_eq(made.object.n_rows, 7);
	cr_expect_str_eq(made_row(&made, "_ZN3oneC1Ev")->reason,
			 "twin: it calls _ZN3oneC2Ev, which is counted");
	cr_expect_eq(made_row(&made, "_ZN3oneC2Ev")->site.how, CM_SITE_HOW_JUMP);
	cr_expect_eq(strncmp(made_row(&made, "_ZN3oneD0Ev")->reason, "twin: ", 6), 0);
	cr_expect_eq(strncmp(made_row(&made, "_ZN3oneD1Ev")->reason, "twin: ", 6), 0);
	cr_expect_eq(made_row(&made, "_ZN3oneD2Ev")->site.how, CM_SITE_HOW_JUMP);
	cr_expect_eq(made_row(&made, "_ZN3twoC1Ev")->site.how, CM_SITE_HOW_JUMP);
	cr_expect_eq(made_row(&made, "_ZN3twoC2Ev")->site.how, CM_SITE_HOW_JUMP);
}

Test(sites_match, twins_that_share_a_body_apart)
{
	/* GCC -Os: each jumps to the one that says which it is; 32 and 16 bytes further on */
	make_function(&made, "_ZN3oneC1Ev", "9090909090e916000000");
	make_function(&made, "_ZN3oneC2Ev", "9090909090e906000000");
	make_function(&made, "_ZN3oneC4Ev", BODY);
	make_plan(&made, "* internal=yes");
	cr_expect_str_eq(made_row(&made, "_ZN3oneC1Ev")->reason,
			 "twin: it calls _ZN3oneC4Ev, which is counted");
	cr_expect_str_eq(made_row(&made, "_ZN3oneC2Ev")->reason,
			 "twin: it calls _ZN3oneC4Ev, which is counted");
	cr_expect_eq(made_row(&made, "_ZN3oneC4Ev")->site.how, CM_SITE_HOW_JUMP);
}

Test(sites_match, assembly_among_compiled_functions_is_taken_by_name_only)
{
	uint64_t first = make_function(&made, "first", BODY), second;

	second = make_function(&made, "second", BODY);
	make_function(&made, "handler", BODY);
	make_function(&made, "named", BODY);
	make_function(&made, "third", BODY);
	made.frames[0] = (struct cm_elf_frame){first, first + 6, 0};
	made.frames[1] = (struct cm_elf_frame){second, second + 6, 0};
	made.frames[2] = (struct cm_elf_frame){second + 48, second + 54, 0};
	made.object.frames.n_frames = 3;
	make_plan(&made, "named internal=yes\n* internal=yes");
	cr_expect_eq(made_row(&made, "first")->site.how, CM_SITE_HOW_JUMP);
	cr_expect_eq(made_row(&made, "third")->site.how, CM_SITE_HOW_JUMP);
	cr_expect_eq(made_row(&made, "named")->site.how, CM_SITE_HOW_JUMP);
	cr_expect_eq(strncmp(made_row(&made, "handler")->reason, "frame: ", 7), 0);
}

Test(sites_match, twins_through_the_plt_and_thunks)
{
	struct cm_elf_slot slots[] = {{MADE_TEXT + 16, MADE_TEXT + 0x200}};

	/* call 0x401200; ret */
	make_function(&made, "_ZN3oneD0Ev", "9090909090e8f6010000c3");
	make_function(&made, "_ZN3oneD1Ev", BODY);
	/* sub $16,%rdi; jmp _ZN3oneD0Ev */
	make_function(&made, "_ZThn16_N3oneD0Ev", "4883ef10ebda");
	make_function(&made, "_ZTv0_n24_N3two3runEv", "4883ef10e907000000");
	make_function(&made, "_ZN3two3runEv", BODY);
	made.object.slots = (struct cm_elf_slots){slots, 1};
	make_plan(&made, "* internal=yes");
	cr_expect_str_eq(made_row(&made, "_ZN3oneD0Ev")->reason,
			 "twin: it calls _ZN3oneD1Ev, which is counted");
	cr_expect_str_eq(made_row(&made, "_ZThn16_N3oneD0Ev")->reason,
			 "twin: it calls _ZN3oneD0Ev, which is counted");
	cr_expect_str_eq(made_row(&made, "_ZTv0_n24_N3two3runEv")->reason,
			 "twin: it calls _ZN3two3runEv, which is counted");
	cr_expect_eq(made_row(&made, "_ZN3oneD1Ev")->site.how, CM_SITE_HOW_JUMP);
	cr_expect_eq(made_row(&made, "_ZN3two3runEv")->site.how, CM_SITE_HOW_JUMP);
}

Test(sites_match, a_twin_is_kept_where_the_inner_one_cannot_be_changed)
{
	make_function(&made, "_ZN3oneC1Ev", "9090909090e806000000c3");
	/* loops within the moved bytes */
	make_function(&made, "_ZN3oneC2Ev", "31c0ffc039f875fac3");
	make_plan(&made, "* internal=yes");
	cr_expect_eq(made_row(&made, "_ZN3oneC1Ev")->site.how, CM_SITE_HOW_JUMP);
	cr_expect_eq(made_row(&made, "_ZN3oneC2Ev")->site.how, CM_SITE_HOW_REFUSED);
}

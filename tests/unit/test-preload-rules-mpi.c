/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules on MPI_* and the Fortran bindings of MPI: preload/rules-mpi.c. */
#include "test-preload-rules.h"

#include <criterion/parameterized.h>

struct name_row {
	char symbol[40];
	char name[40]; /* as in C; "" where the symbol is no MPI function */
};

ParameterizedTestParameters(rules_mpi, bindings_have_the_name_of_the_c_function)
{
	static struct name_row rows[] = {
		{"MPI_Send", "MPI_Send"},
		{"mpi_send_", "MPI_Send"},
		{"mpi_send__", "MPI_Send"},
		{"mpi_send", "MPI_Send"},
		{"MPI_SEND", "MPI_Send"},
		{"MPI_SEND_", "MPI_Send"},
		{"mpi_send_f08_", "MPI_Send"},
		{"mpi_send_f08ts_", "MPI_Send"},
		{"MPI_Send_f08", "MPI_Send"},
		{"MPI_Send_f", "MPI_Send"},
		{"mpi_send_f08ts_large_", "MPI_Send_c"},
		{"MPI_Send_c", "MPI_Send_c"},
		{"mpi_send_init_", "MPI_Send_init"},
		{"MPI_WIN_ALLOCATE_CPTR", "MPI_Win_allocate"},
		{"mpi_type_create_f90_real_", "MPI_Type_create_f90_real"},
		{"MPI_FILE_WRITE_AT_ALL_BEGIN", "MPI_File_write_at_all_begin"},
		{"mpi_comm_create_errhandler_f08_", "MPI_Comm_create_errhandler"},
		/* First and last of the table. */
		{"mpi_abi_get_info_", "MPI_Abi_get_info"},
		{"mpi_wtime_", "MPI_Wtime"},
		/* A name of MPI that the table does not have stays as it is. */
		{"MPI_Something_new", "MPI_Something_new"},
		{"MPI_T_init_thread", "MPI_T_init_thread"},
		/* A program's own functions, and the profiling interface. */
		{"mpi_setup_", ""},
		{"mpi_", ""},
		{"mpi__", ""},
		{"mpi", ""},
		{"", ""},
		{"mpi_send_x", ""},
		{"mpi_send___", ""},
		{"PMPI_Send", ""},
		{"pmpi_send_", ""},
		{"mpich_send_", ""},
	};

	return cr_make_param_array(struct name_row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct name_row *row, rules_mpi, bindings_have_the_name_of_the_c_function)
{
	char folded[CM_RULES_MPI_BYTES], other[CM_RULES_MPI_BYTES], buf[CM_RULES_MPI_BYTES];

	cr_assert_eq(cm_rules_mpi_fold(row->symbol, folded), row->name[0] != '\0', "%s",
		     row->symbol);
	cr_assert_str_eq(cm_rules_mpi_name(row->symbol, buf),
			 row->name[0] ? row->name : row->symbol);
	if (row->name[0]) {
		cr_assert(cm_rules_mpi_fold(row->name, other));
		cr_assert_str_eq(folded, other, "all spellings are compared as one");
	}
}

Test(rules_mpi, every_binding_that_is_looked_for_leads_back_to_its_name)
{
	static const char names[][24] = {"MPI_Send", "MPI_Send_c", "MPI_Type_create_struct"};
	char binding[CM_RULES_MPI_BYTES], buf[CM_RULES_MPI_BYTES];

	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		unsigned int i = 0;

		for (; cm_rules_mpi_binding(names[k], i, binding); i++) {
			cr_assert_str_eq(cm_rules_mpi_name(binding, buf), names[k], "%s", binding);
			cr_assert_str_neq(binding, names[k]);
		}
		cr_assert_geq(i, 2u);
	}
	cr_assert_not(cm_rules_mpi_binding("PMPI_Send", 0, binding));
	cr_assert_not(cm_rules_mpi_binding("send", 0, binding));
	cr_assert(cm_rules_mpi_binding("MPI_Comm_f2c", 0, binding), "the bindings' own helpers");
	cr_assert_str_eq(binding, "mpi_init_");
}

static int find(const struct cm_rules *rules, const char *symbol)
{
	const struct cm_rules_query query = {.symbol = symbol};
	const struct cm_rule *rule = NULL;
	int rc = cm_rules_find(rules, &query, &rule);

	if (rc == 1)
		cr_assert(cm_rules_may_match(rules, symbol), "%s", symbol);
	if (rc == 0)
		cr_assert_not(cm_rules_may_match(rules, symbol), "%s", symbol);
	return rc == 1 ? (int)rule->index : rc == 0 ? -1 : rc;
}

Test(rules_mpi, rules_match_the_bindings_of_what_they_name)
{
	struct arena arena = {0};
	struct cm_rules rules =
		parse_good(&arena, "MPI_Send\nMPI_[IR]*\nMPI_SSEND\n!MPI_Wtime\nMPI_W*\nsend_\n"
				   "mpi_bcast_\nMPI_Bcast region=second\n");

	cr_assert_eq(find(&rules, "mpi_send_"), 0);
	cr_assert_eq(find(&rules, "MPI_SEND"), 0);
	cr_assert_eq(find(&rules, "mpi_isend_f08ts_"), 1);
	cr_assert_eq(find(&rules, "MPI_IRECV"), 1);
	cr_assert_eq(find(&rules, "mpi_recv__"), 1);
	cr_assert_eq(find(&rules, "mpi_ssend_"), 2, "the rule may be spelled as in Fortran");
	cr_assert_eq(find(&rules, "MPI_Ssend"), 2);
	cr_assert_eq(find(&rules, "mpi_wtime_"), -ECANCELED);
	cr_assert_eq(find(&rules, "mpi_wtick_"), 4);
	cr_assert_eq(find(&rules, "mpi_reset_"), -1, "the program's own");
	cr_assert_eq(find(&rules, "SEND_"), -1, "only MPI_* is compared like that");
	cr_assert_eq(find(&rules, "mpi_bcast_"), 6, "named as it is: that very symbol");
	cr_assert_eq(find(&rules, "mpi_bcast__"), 7);
	cr_assert_eq(find(&rules, "MPI_Bcast"), 7);
	arena_release(&arena);
}

Test(rules_mpi, the_profiling_interface_is_matched_when_it_is_named)
{
	struct arena arena = {0};
	struct cm_rules wild = parse_good(&arena, "MPI_*\n*MPI_*\n?MPI_Send\n*\n");
	struct cm_rules named = parse_good(&arena, "PMPI_S*\nPMPI_Recv\n!*PMPI_Ssend\n");

	cr_assert_eq(find(&wild, "PMPI_Send"), -1);
	cr_assert_eq(find(&wild, "pmpi_send_"), -1);
	cr_assert_eq(find(&wild, "MPI_Send"), 0);
	cr_assert_eq(find(&wild, "other"), 3);
	cr_assert_eq(find(&named, "PMPI_Send"), 0);
	cr_assert_eq(find(&named, "PMPI_Recv"), 1);
	cr_assert_eq(find(&named, "PMPI_Ssend"), -ECANCELED);
	cr_assert_eq(find(&named, "pmpi_send_"), -1);
	arena_release(&arena);
}

Test(rules_mpi, all_bindings_have_one_region)
{
	static const char symbols[][24] = {"MPI_Send", "mpi_send_", "MPI_SEND", "mpi_send_f08_"};
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "MPI_*\nMPI_* region=mpi/{symbol}\nmpi_send_\n");
	char tag[64];

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		(void)cm_rules_region(&rules.rules[0], symbols[i], NULL, NULL, tag, sizeof(tag));
		cr_assert_str_eq(tag, "MPI_Send");
		(void)cm_rules_region(&rules.rules[1], symbols[i], NULL, NULL, tag, sizeof(tag));
		cr_assert_str_eq(tag, "mpi/MPI_Send");
	}
	(void)cm_rules_region(&rules.rules[2], "mpi_send_", NULL, NULL, tag, sizeof(tag));
	cr_assert_str_eq(tag, "mpi_send_");
	arena_release(&arena);
}

Test(rules_mpi, a_pattern_keeps_its_spelling_in_messages)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "libmpi*:MPI_Send*\n");

	cr_assert_str_eq(rules.rules[0].pattern, "MPI_Send*");
	cr_assert_str_eq(rules.rules[0].mpi, "MPI_send*");
	arena_release(&arena);
}

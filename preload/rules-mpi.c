/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI functions and their Fortran bindings, which compilers and libraries spell in many ways
 * (preload/rules.h).
 *
 * C names have one form: "MPI_", a capital, lower case. So a table of what follows "mpi_" gives the
 * C name of a binding, and tells one from a program's own "mpi_setup_".
 */
#include <string.h>

#include "preload/rules.h"

/* In the order of strcmp. No pointers: nothing to relocate in the target. */
/* clang-format off */
static const char functions[][29] = {
	"abi_get_info", "abi_get_version", "abort", "accumulate", "add_error_class",
	"add_error_code", "add_error_string", "address", "aint_add", "aint_diff", "allgather",
	"allgather_init", "allgatherv", "allgatherv_init", "alloc_mem", "allreduce",
	"allreduce_init", "alltoall", "alltoall_init", "alltoallv", "alltoallv_init", "alltoallw",
	"alltoallw_init", "attr_delete", "attr_get", "attr_put", "barrier", "barrier_init", "bcast",
	"bcast_init", "bsend", "bsend_init", "buffer_attach", "buffer_detach", "buffer_flush",
	"buffer_iflush", "cancel", "cart_coords", "cart_create", "cart_get", "cart_map",
	"cart_rank", "cart_shift", "cart_sub", "cartdim_get", "close_port", "comm_accept",
	"comm_ack_failed", "comm_agree", "comm_attach_buffer", "comm_call_errhandler",
	"comm_compare", "comm_connect", "comm_create", "comm_create_errhandler",
	"comm_create_from_group", "comm_create_group", "comm_create_keyval", "comm_delete_attr",
	"comm_detach_buffer", "comm_disconnect", "comm_dup", "comm_dup_with_info",
	"comm_flush_buffer", "comm_free", "comm_free_keyval", "comm_fromint", "comm_get_attr",
	"comm_get_errhandler", "comm_get_failed", "comm_get_info", "comm_get_name",
	"comm_get_parent", "comm_group", "comm_idup", "comm_idup_with_info", "comm_iflush_buffer",
	"comm_is_revoked", "comm_join", "comm_rank", "comm_remote_group", "comm_remote_size",
	"comm_revoke", "comm_set_attr", "comm_set_errhandler", "comm_set_info", "comm_set_name",
	"comm_shrink", "comm_size", "comm_spawn", "comm_spawn_multiple", "comm_split",
	"comm_split_type", "comm_test_inter", "comm_toint", "compare_and_swap",
	"conversion_fn_null", "dims_create", "dist_graph_create", "dist_graph_create_adjacent",
	"dist_graph_neighbors", "dist_graph_neighbors_count", "errhandler_create",
	"errhandler_free", "errhandler_get", "errhandler_set", "error_class", "error_string",
	"exscan", "exscan_init", "fetch_and_op", "file_call_errhandler", "file_close",
	"file_create_errhandler", "file_delete", "file_get_amode", "file_get_atomicity",
	"file_get_byte_offset", "file_get_errhandler", "file_get_group", "file_get_info",
	"file_get_position", "file_get_position_shared", "file_get_size", "file_get_type_extent",
	"file_get_view", "file_iread", "file_iread_all", "file_iread_at", "file_iread_at_all",
	"file_iread_shared", "file_iwrite", "file_iwrite_all", "file_iwrite_at",
	"file_iwrite_at_all", "file_iwrite_shared", "file_open", "file_preallocate", "file_read",
	"file_read_all", "file_read_all_begin", "file_read_all_end", "file_read_at",
	"file_read_at_all", "file_read_at_all_begin", "file_read_at_all_end", "file_read_ordered",
	"file_read_ordered_begin", "file_read_ordered_end", "file_read_shared", "file_seek",
	"file_seek_shared", "file_set_atomicity", "file_set_errhandler", "file_set_info",
	"file_set_size", "file_set_view", "file_sync", "file_write", "file_write_all",
	"file_write_all_begin", "file_write_all_end", "file_write_at", "file_write_at_all",
	"file_write_at_all_begin", "file_write_at_all_end", "file_write_ordered",
	"file_write_ordered_begin", "file_write_ordered_end", "file_write_shared", "finalize",
	"finalized", "free_mem", "gather", "gather_init", "gatherv", "gatherv_init", "get",
	"get_accumulate", "get_address", "get_count", "get_elements", "get_elements_x",
	"get_hw_resource_info", "get_library_version", "get_processor_name", "get_version",
	"graph_create", "graph_get", "graph_map", "graph_neighbors", "graph_neighbors_count",
	"graphdims_get", "grequest_complete", "grequest_start", "group_compare", "group_difference",
	"group_excl", "group_free", "group_from_session_pset", "group_incl", "group_intersection",
	"group_range_excl", "group_range_incl", "group_rank", "group_size", "group_translate_ranks",
	"group_union", "iallgather", "iallgatherv", "iallreduce", "ialltoall", "ialltoallv",
	"ialltoallw", "ibarrier", "ibcast", "ibsend", "iexscan", "igather", "igatherv", "improbe",
	"imrecv", "ineighbor_allgather", "ineighbor_allgatherv", "ineighbor_alltoall",
	"ineighbor_alltoallv", "ineighbor_alltoallw", "info_create", "info_create_env",
	"info_delete", "info_dup", "info_free", "info_get", "info_get_nkeys", "info_get_nthkey",
	"info_get_string", "info_get_valuelen", "info_set", "init", "init_thread", "initialized",
	"intercomm_create", "intercomm_create_from_groups", "intercomm_merge", "iprobe", "irecv",
	"ireduce", "ireduce_scatter", "ireduce_scatter_block", "irsend", "is_thread_main", "iscan",
	"iscatter", "iscatterv", "isend", "isendrecv", "isendrecv_replace", "issend",
	"keyval_create", "keyval_free", "lookup_name", "mprobe", "mrecv", "neighbor_allgather",
	"neighbor_allgather_init", "neighbor_allgatherv", "neighbor_allgatherv_init",
	"neighbor_alltoall", "neighbor_alltoall_init", "neighbor_alltoallv",
	"neighbor_alltoallv_init", "neighbor_alltoallw", "neighbor_alltoallw_init",
	"op_commutative", "op_create", "op_free", "open_port", "pack", "pack_external",
	"pack_external_size", "pack_size", "parrived", "pcontrol", "pready", "pready_list",
	"pready_range", "precv_init", "probe", "psend_init", "publish_name", "put", "query_thread",
	"raccumulate", "recv", "recv_init", "reduce", "reduce_init", "reduce_local",
	"reduce_scatter", "reduce_scatter_block", "reduce_scatter_block_init",
	"reduce_scatter_init", "register_datarep", "remove_error_class", "remove_error_code",
	"remove_error_string", "request_free", "request_get_status", "request_get_status_all",
	"request_get_status_any", "request_get_status_some", "rget", "rget_accumulate", "rput",
	"rsend", "rsend_init", "scan", "scan_init", "scatter", "scatter_init", "scatterv",
	"scatterv_init", "send", "send_init", "sendrecv", "sendrecv_replace",
	"session_attach_buffer", "session_call_errhandler", "session_create_errhandler",
	"session_detach_buffer", "session_finalize", "session_flush_buffer",
	"session_get_errhandler", "session_get_info", "session_get_nth_pset",
	"session_get_num_psets", "session_get_pset_info", "session_iflush_buffer", "session_init",
	"session_set_errhandler", "ssend", "ssend_init", "start", "startall", "status_get_error",
	"status_get_source", "status_get_tag", "status_set_cancelled", "status_set_elements",
	"status_set_elements_x", "status_set_error", "status_set_source", "status_set_tag", "test",
	"test_cancelled", "testall", "testany", "testsome", "topo_test", "type_commit",
	"type_contiguous", "type_create_darray", "type_create_f90_complex",
	"type_create_f90_integer", "type_create_f90_real", "type_create_hindexed",
	"type_create_hindexed_block", "type_create_hvector", "type_create_indexed_block",
	"type_create_keyval", "type_create_resized", "type_create_struct", "type_create_subarray",
	"type_delete_attr", "type_dup", "type_extent", "type_free", "type_free_keyval",
	"type_get_attr", "type_get_contents", "type_get_envelope", "type_get_extent",
	"type_get_extent_x", "type_get_name", "type_get_true_extent", "type_get_true_extent_x",
	"type_get_value_index", "type_hindexed", "type_hvector", "type_indexed", "type_lb",
	"type_match_size", "type_set_attr", "type_set_name", "type_size", "type_size_x",
	"type_struct", "type_ub", "type_vector", "unpack", "unpack_external", "unpublish_name",
	"wait", "waitall", "waitany", "waitsome", "win_allocate", "win_allocate_shared",
	"win_attach", "win_call_errhandler", "win_complete", "win_create", "win_create_dynamic",
	"win_create_errhandler", "win_create_keyval", "win_delete_attr", "win_detach", "win_fence",
	"win_flush", "win_flush_all", "win_flush_local", "win_flush_local_all", "win_free",
	"win_free_keyval", "win_get_attr", "win_get_errhandler", "win_get_group", "win_get_info",
	"win_get_name", "win_lock", "win_lock_all", "win_post", "win_set_attr",
	"win_set_errhandler", "win_set_info", "win_set_name", "win_shared_query", "win_start",
	"win_sync", "win_test", "win_unlock", "win_unlock_all", "win_wait", "wtick", "wtime",
};
/* clang-format on */

#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/*
 * What stands behind the name in a binding, longest first: mpif.h and the mpi module with the
 * underscores of each compiler, then mpi_f08 in Open MPI and in MPICH, then the names inside of
 * Open MPI's libraries. "large" is the binding of the function with MPI_Count, NAME_c.
 */
static const struct suffix {
	char text[14];
	bool is_large;
} suffixes[] = {
	{"_f08ts_large_", true}, {"_f08_large_", true}, {"_f08ts_", false}, {"_cptr__", false},
	{"_cptr_", false},	 {"_f08_", false},	{"_cptr", false},   {"_f08", false},
	{"__", false},		 {"_f", false},		{"_", false},	    {"", false},
};

#define N_SUFFIXES (sizeof(suffixes) / sizeof(suffixes[0]))

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool begins_mpi(const char *symbol)
{
	return lower(symbol[0]) == 'm' && lower(symbol[1]) == 'p' && lower(symbol[2]) == 'i' &&
	       symbol[3] == '_';
}

/* Is it one of the functions? name is in lower case, without "mpi_". */
static bool is_function(const char *name)
{
	size_t low = 0, high = N_FUNCTIONS;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(functions[middle], name);

		if (order == 0)
			return true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Cut off what makes a binding of a name; text is in lower case, without "mpi_". */
static bool cut_suffix(char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < N_SUFFIXES; i++) {
		size_t n_suffix = strlen(suffixes[i].text);

		if (n <= n_suffix || strcmp(text + n - n_suffix, suffixes[i].text) != 0)
			continue;
		text[n - n_suffix] = '\0';
		if (is_function(text)) {
			/* Every suffix of a large one is longer than "_c". */
			if (suffixes[i].is_large)
				memcpy(text + n - n_suffix, "_c", 3);
			return true;
		}
		text[n - n_suffix] = suffixes[i].text[0];
	}
	return false;
}

/* Fill buf with the folded name; *ret_is_binding: one of the table's, whatever its spelling. */
static bool fold(const char *symbol, char buf[CM_RULES_MPI_BYTES], bool *ret_is_binding)
{
	size_t n;

	*ret_is_binding = false;
	if (!begins_mpi(symbol))
		return false;
	memcpy(buf, "MPI_", 4);
	for (n = 4; symbol[n] && n < CM_RULES_MPI_BYTES - 1; n++)
		buf[n] = lower(symbol[n]);
	buf[n] = '\0';
	*ret_is_binding = cut_suffix(buf + 4);
	return *ret_is_binding || strncmp(symbol, "MPI_", 4) == 0;
}

bool cm_rules_mpi_fold(const char *symbol, char buf[CM_RULES_MPI_BYTES])
{
	bool ignored;

	return fold(symbol, buf, &ignored);
}

const char *cm_rules_mpi_name(const char *symbol, char buf[CM_RULES_MPI_BYTES])
{
	bool is_binding;

	if (!fold(symbol, buf, &is_binding) || !is_binding)
		return symbol;
	buf[4] = upper(buf[4]);
	return buf;
}

bool cm_rules_mpi_binding(const char *name, unsigned int i, char buf[CM_RULES_MPI_BYTES])
{
	static const char plain[][9] = {"_", "__", "", "_f08_", "_f08ts_"};
	static const char large[][14] = {"_f08ts_large_", "_f08_large_"};
	size_t n = strlen(name), n_plain = sizeof(plain) / sizeof(plain[0]);
	bool is_large = n > 6 && strcmp(name + n - 2, "_c") == 0;
	const char *suffix = "";

	if (strncmp(name, "MPI_", 4) != 0 || n + sizeof(large[0]) > CM_RULES_MPI_BYTES ||
	    i > (is_large ? 1 : n_plain))
		return false;
	/* Handle conversions are C's own: the bindings call them, as a rule. */
	if (n > 8 && (strcmp(name + n - 4, "_f2c") == 0 || strcmp(name + n - 4, "_c2f") == 0)) {
		memcpy(buf, "mpi_init_", 10);
		return i == 0;
	}
	if (is_large)
		suffix = large[i];
	else if (i < n_plain)
		suffix = plain[i];
	n -= is_large ? 2 : 0;
	for (size_t k = 0; k < n; k++)
		buf[k] = !is_large && i == n_plain ? upper(name[k]) : lower(name[k]);
	memcpy(buf + n, suffix, strlen(suffix) + 1);
	return true;
}

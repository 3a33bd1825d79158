/* SPDX-License-Identifier: BSD-3-Clause */
/* callmark merge: the ranks of several profiles in one file. */
#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/say.h"
#include "writer/writer.h"

enum {
	KEY_LINK = 0x100,
	KEY_RENUMBER,
};

struct merge {
	const char *output;
	struct cm_writer_merge_options how;
	char **files;
	size_t n_files;
};

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "The new profile; may be one of the files", 0},
	{"link", KEY_LINK, NULL, 0, "Link to the files, which must stay where they are", 0},
	{"renumber", KEY_RENUMBER, NULL, 0,
	 "Give the ranks the numbers 0, 1, ... in the order of the files", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct merge *merge = state->input;

	switch (key) {
	case 'o':
		merge->output = arg;
		break;
	case KEY_LINK:
		merge->how.links = true;
		break;
	case KEY_RENUMBER:
		merge->how.renumber = true;
		break;
	case ARGP_KEY_ARGS:
		merge->files = state->argv + state->next;
		merge->n_files = (size_t)(state->argc - state->next);
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no file given");
		break;
	case ARGP_KEY_SUCCESS:
		if (!merge->output || !merge->output[0])
			argp_error(state, "no output given: -o FILE");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	options,
	parse_option,
	"FILE...",
	"Put the ranks of several profiles into one file, each rank as it is.\v"
	"Ranks that stand in files of their own (a parallel run of more than 256 ranks, or one "
	"with "
	"run --shards) are copied, too; so are those that have come since a file was written. "
	"What is there under the name of the output is replaced when the new file is complete. "
	"The exit status is 1 when a file is no profile or two of them have the same rank.",
	NULL,
	NULL,
	NULL};

int cm_cmd_merge(int argc, char **argv)
{
	struct merge merge = {0};
	struct cm_diag diag = {0};
	size_t n_ranks;
	error_t error = argp_parse(&argp, argc, argv, 0, NULL, &merge);
	int rc;

	if (error) {
		cm_say("%s", strerror(error));
		return CM_EXIT_USAGE;
	}
	rc = cm_writer_merge(merge.output, (const char *const *)merge.files, merge.n_files,
			     &merge.how, &n_ranks, &diag);
	if (rc < 0) {
		cm_say("%s", diag.text);
		return CM_EXIT_FAILED;
	}
	return CM_EXIT_OK;
}

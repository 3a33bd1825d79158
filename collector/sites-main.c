/* SPDX-License-Identifier: BSD-3-Clause */
/* callmark-sites: see preload/environment.h for its command line. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/sites.h"
#include "preload/environment.h"

enum option_key {
	OPTION_CONFIG = 'c',
	OPTION_SYMBOLS = 's',
	OPTION_OUTPUT = 'o',
	OPTION_CACHE = 0x100,
	OPTION_FORCE,
};

static const struct argp_option argp_options[] = {
	{"config", OPTION_CONFIG, "FILE", 0, "Rules", 0},
	{"symbols", OPTION_SYMBOLS, "TEXT", 0, "More rules, ';' between", 0},
	{"cache", OPTION_CACHE, "FOLDER", 0,
	 "Where site files are kept; of several the first that can be written", 0},
	{"force", OPTION_FORCE, NULL, 0, "Make also what is there and still good", 0},
	{"output", OPTION_OUTPUT, "FILE", 0, "Write the site file of one object there", 0},
	{0},
};

struct arguments {
	const char *config, *symbols;
	struct cm_sites_target target;
	const char **folders; /* room for argc */
	char **objects;
	int n_objects;
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPTION_CONFIG:
		arguments->config = value;
		break;
	case OPTION_SYMBOLS:
		arguments->symbols = value;
		break;
	case OPTION_CACHE:
		arguments->folders[arguments->target.n_folders++] = value;
		break;
	case OPTION_FORCE:
		arguments->target.force = true;
		break;
	case OPTION_OUTPUT:
		arguments->target.output = value;
		break;
	case ARGP_KEY_ARGS:
		arguments->objects = state->argv + state->next;
		arguments->n_objects = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no object named");
		break;
	case ARGP_KEY_END:
		if (!arguments->target.output == !arguments->target.n_folders)
			argp_error(state, "either --cache or --output says where to write");
		if (arguments->target.output && arguments->n_objects != 1)
			argp_error(state, "--output takes one object");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	argp_options,
	parse_option,
	"OBJECT...",
	"Work out how the entries of functions in programs and libraries can be intercepted.",
	NULL,
	NULL,
	NULL};

int main(int argc, char **argv)
{
	struct arguments arguments = {.folders = calloc((size_t)argc + 1, sizeof(char *))};
	struct cm_sites_rules rules;
	struct cm_diag diag = {0};
	int status = 0;

	if (!arguments.folders)
		return 1;
	arguments.target.folders = arguments.folders;
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (cm_sites_rules_load(&rules, arguments.config, arguments.symbols, &diag) < 0) {
		fprintf(stderr, CM_SITES_NAME ": %s\n", diag.text);
		free(arguments.folders);
		return 2;
	}
	for (int i = 0; i < arguments.n_objects; i++) {
		diag.text[0] = '\0';
		if (cm_sites_object_write(&rules, arguments.objects[i], &arguments.target, &diag) <
		    0) {
			fprintf(stderr, CM_SITES_NAME ": %s\n", diag.text);
			status = 1;
		}
	}
	cm_sites_rules_fini(&rules);
	free(arguments.folders);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment variables callmark reads, and those that `callmark run` hands to the preload.
 *
 * A contract header of macros only.
 */
#ifndef CALLMARK_PRELOAD_ENVIRONMENT_H
#define CALLMARK_PRELOAD_ENVIRONMENT_H

/* Set by users (callmark(1), ENVIRONMENT), or by `run` from its options. */
#define CM_ENV_CONFIG "CALLMARK_CONFIG"	  /* rules file */
#define CM_ENV_SYMBOLS "CALLMARK_SYMBOLS" /* inline rules, ';' between; after those of the file */
#define CM_ENV_OUTPUT "CALLMARK_OUTPUT"	  /* default profiling_data.h5; %r rank %p pid %h host */
#define CM_ENV_SPOOL "CALLMARK_SPOOL"	  /* base folder of the spool; default $TMPDIR, /tmp */
#define CM_ENV_EXE "CALLMARK_EXE"     /* globs, ':' between: base names of programs to profile */
#define CM_ENV_CLOCK "CALLMARK_CLOCK" /* tsc | monotonic; default: tsc where it can be trusted */
#define CM_ENV_VERBOSE "CALLMARK_VERBOSE"   /* 1: say what was patched and what was not */
#define CM_ENV_RANK "CALLMARK_RANK"	    /* overrides the launcher's rank */
#define CM_ENV_SHARDS "CALLMARK_SHARDS"	    /* 1: ranks stay in files of their own, with links */
#define CM_ENV_COMPRESS "CALLMARK_COMPRESS" /* none | fast | small */
#define CM_ENV_RUN_ID "CALLMARK_RUN_ID"	    /* all processes of one run share it */
#define CM_ENV_CACHE "CALLMARK_CACHE"	    /* folder of site files (site-file.h) */
#define CM_ENV_READER_TIMEOUT "CALLMARK_READER_TIMEOUT" /* seconds for reading counters; 120 */

/* Set by `run` only. */
#define CM_ENV_MAIN_PID "CALLMARK_MAIN_PID" /* pid of the process that `run` started */
#define CM_ENV_RANKED "CALLMARK_RANKED"	    /* 1: `run` itself runs inside one rank */
#define CM_ENV_COLLECT "CALLMARK_COLLECT"   /* path of callmark-collect */

/*
 * callmark-reader is the one program of ours that calls LIKWID's perfmon; it stands beside
 * callmark-collect and is found there. It may crash, hang and exit as LIKWID pleases.
 *
 *	callmark-reader --check
 *		Could this process, in this environment (LIKWID_MODE, _EVENTS, _THREADS, _FILEPATH),
 *		open markers? Prints one line: the path of liblikwid, status 0; or the reason,
 *status
 *		1. Anything else (a crash, no line) is a no. Touches no counter.
 *	callmark-reader --read RESULT --library PATH
 *		Re-initialise perfmon, read the marker file LIKWID_FILEPATH, write RESULT (JSON, see
 *		collector/reader-result.h). RESULT is complete or does not exist under that name.
 */
#define CM_ENV_MARKERS_PID "CALLMARK_MARKERS_PID" /* set by the preload: who has opened markers */
#define CM_HELPER_MARK '-' /* its value begins so in helpers of LIKWID's: nothing is done there */
#define CM_READER_NAME "callmark-reader"
#define CM_ENV_READER "CALLMARK_READER" /* path of another one (tests) */

/*
 * callmark-sites works out how the entries of functions can be intercepted (internal=yes). It
 * stands beside callmark-collect and is found there.
 *
 *	callmark-sites [--config FILE] [--symbols TEXT] [--force] --cache FOLDER [--cache FOLDER]
 *		OBJECT...
 *		For each object write its site file (site-file.h) into the first folder that can be
 *		written, made if need be; one that is there and still good is kept (--force: made
 *		again). Prints nothing but errors. Status 0; 1: some object could not be read (a
 *		line says which; the others are done); 2: usage or rules.
 *	callmark-sites [--config FILE] [--symbols TEXT] --output FILE OBJECT
 *		One object, that file, made again in any case.
 */
#define CM_SITES_NAME "callmark-sites"

#define CM_DEFAULT_OUTPUT "profiling_data.h5"
#define CM_COLLECT_NAME "callmark-collect"
#define CM_PRELOAD_NAME "libcallmark-preload.so"

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of a row's evidence (writer/bundle.h): every group, dataset and attribute, once, with
 * its type. Store and load both expand these lists. callmark-suite(5) is the prose of it.
 *
 * Types are those of h5-schema.h. X(name in the file, field of struct cm_bundle).
 *
 * A macro header; no code.
 */
#ifndef CALLMARK_WRITER_H5_BUNDLE_SCHEMA_H
#define CALLMARK_WRITER_H5_BUNDLE_SCHEMA_H

#define CM_H5_BUNDLE_SCHEMA_VERSION 1

/* Attributes of the root. */
#define CM_H5_BUNDLE_SCHEMA "callmark_bundle" /* int64, 1; the suite's file: callmark_suite */
#define CM_H5_SUITE_SCHEMA "callmark_suite"

#define CM_H5_BUNDLE_ROOT_STRINGS(X)        \
	X("suite", suite)                   \
	X("run_id", run_id)                 \
	X("case", case_id)                  \
	X("target", target_id)              \
	X("target_kind", target_kind)       \
	X("target_version", target_version) \
	X("target_source", target_source)   \
	X("host", host)                     \
	X("started", started)

#define CM_H5_BUNDLE_ROOT_INTEGERS(X) X("row", row)

/* Group: attributes and datasets of what the suite file says. */
#define CM_H5_BUNDLE_DECLARATION "declaration"

#define CM_H5_BUNDLE_DECLARATION_STRINGS(X) \
	X("events", event_set)              \
	X("worker", worker)                 \
	X("worker_sha256", worker_sha256)   \
	X("oracle", oracle_function)        \
	X("unavailable", planned)

#define CM_H5_BUNDLE_DECLARATION_INTEGERS(X)     \
	X("oracle_required", is_oracle_required) \
	X("timeout", timeout_s) /* seconds */

#define CM_H5_BUNDLE_DECLARATION_COLUMNS(X) X("cpus", cpuids)

#define CM_H5_BUNDLE_DECLARATION_LISTS(X) \
	X("units", units)                 \
	X("files", files)

/* Group: what came of it. */
#define CM_H5_BUNDLE_QUALIFICATION "qualification"

#define CM_H5_BUNDLE_QUALIFICATION_STRINGS(X) \
	X("verdict", verdict)                 \
	X("status", status)                   \
	X("reason", reason)                   \
	X("detail", detail)                   \
	X("oracle", oracle)                   \
	X("source_sha256", source_sha256)     \
	X("target_sha256", target_sha256)     \
	X("target_build_id", target_build_id) \
	X("target_soname", target_soname)     \
	X("target_version", found_version)

#define CM_H5_BUNDLE_QUALIFICATION_INTEGERS(X) X("n_warnings", n_warnings)
#define CM_H5_BUNDLE_QUALIFICATION_REALS(X) X("elapsed_seconds", elapsed_seconds)

/* Datasets, a row a probe: X(name, field of struct cm_bundle_probe). */
#define CM_H5_BUNDLE_PROBE_STRINGS(X) \
	X("probe_function", function) \
	X("probe_state", state)

#define CM_H5_BUNDLE_PROBE_INTEGERS(X) X("probe_blocking", is_blocking)

/* Group; absent where nothing was attempted. */
#define CM_H5_BUNDLE_EVIDENCE "evidence"

#define CM_H5_BUNDLE_EVIDENCE_STRINGS(X) \
	X("attempt_id", attempt_id)      \
	X("access_mode", access_mode)    \
	X("cpu_name", cpu_name)          \
	X("library", library)

#define CM_H5_BUNDLE_SCOPE "scope"		     /* string */
#define CM_H5_BUNDLE_GROUP_TIME "group_time_seconds" /* float64; absent: not measured */
#define CM_H5_BUNDLE_PERF_PID "perf_pid"	     /* int64; absent: not set */

#define CM_H5_BUNDLE_EVIDENCE_COLUMNS(X) X("allowed_cpus", allowed_cpuids)

#define CM_H5_BUNDLE_EVIDENCE_LISTS(X)                  \
	X("backend_added_events", backend_added_events) \
	X("variables", variables)

/* evidence/observations: attributes that hold for all of them... */
#define CM_H5_BUNDLE_OBSERVATIONS "observations"
#define CM_H5_BUNDLE_ENCODING "encoding"		/* string */
#define CM_H5_BUNDLE_EXACT_INTEGER "exact_integer"	/* int64, 0: no */
#define CM_H5_BUNDLE_SCALED "scaled"			/* int64, 0: no */
#define CM_H5_BUNDLE_ENABLED_TIME "enabled_time_absent" /* string: why there is none */
#define CM_H5_BUNDLE_RUNNING_TIME "running_time_absent" /* string: why there is none */

/* ... and datasets, a row an observation: X(name, field of struct cm_bundle_observation). */
#define CM_H5_BUNDLE_OBSERVATION_STRINGS(X) \
	X("definition_id", definition_id)   \
	X("event", event)                   \
	X("counter", counter)               \
	X("unit", unit)                     \
	X("raw_value", raw_value)

#define CM_H5_BUNDLE_OBSERVATION_INTEGERS(X) X("cpu", cpu_id)
#define CM_H5_BUNDLE_OBSERVATION_REALS(X) X("value", value)

/* evidence/diagnostic */
#define CM_H5_BUNDLE_DIAGNOSTIC "diagnostic"

#define CM_H5_BUNDLE_DIAGNOSTIC_STRINGS(X) \
	X("step", step)                    \
	X("folder", folder)

#define CM_H5_BUNDLE_DIAGNOSTIC_INTEGERS(X)         \
	X("pid", pid)                               \
	X("wait_status", wait_status) /* waitpid */ \
	X("timed_out", is_timed_out)

#define CM_H5_BUNDLE_DIAGNOSTIC_LISTS(X) X("environment", environment)

/* Datasets of uint8. */
#define CM_H5_BUNDLE_DIAGNOSTIC_BYTES(X) \
	X("last_output", last_output)    \
	X("handed_over", handed_over)

/* The suite's file. */
#define CM_H5_SUITE_ROWS "rows" /* group: a group a case, with a link a target */

#endif

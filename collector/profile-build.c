/* SPDX-License-Identifier: BSD-3-Clause */
/* Putting a profile together: identity, threads, regions, notes. */
#include "collector/profile-build.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/counters.h"
#include "collector/metadata.h"

#define N_OWN_NOTES 5

static int compare_cpus(const void *a, const void *b)
{
	const struct cm_spool_cpu_item *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

/* "0-1,5" from n items of one thread, ascending. */
static const char *format_cpus(struct cm_arena *arena, const struct cm_spool_cpu_item *items,
			       size_t n)
{
	size_t n_room = n * 12 + 1, length = 0; /* "4294967295," or "-4294967295" each */
	char *text = cm_arena_array(arena, n_room, 1);

	for (size_t i = 0; text && i < n;) {
		size_t last = i;

		while (last + 1 < n && items[last + 1].cpu - items[last].cpu <= 1)
			last++;
		length += (size_t)snprintf(text + length, n_room - length, "%s%u",
					   length ? "," : "", items[i].cpu);
		if (items[last].cpu > items[i].cpu)
			length += (size_t)snprintf(text + length, n_room - length, "-%u",
						   items[last].cpu);
		i = last + 1;
	}
	return text;
}

static int add_cpus(struct cm_spool_reader *reader, struct cm_profile_thread *threads)
{
	struct cm_spool_cpu_item *cpus = reader->cpus;

	if (reader->n_cpus)
		qsort(cpus, reader->n_cpus, sizeof(*cpus), compare_cpus);
	for (size_t first = 0, end; first < reader->n_cpus; first = end) {
		end = first + 1;
		while (end < reader->n_cpus && cpus[end].thread == cpus[first].thread)
			end++;
		if (cpus[first].thread >= reader->n_threads)
			break;
		threads[cpus[first].thread].cpus =
			format_cpus(&reader->arena, cpus + first, end - first);
		if (!threads[cpus[first].thread].cpus)
			return -ENOMEM;
	}
	return 0;
}

static int add_threads(struct cm_profile *profile, struct cm_spool_reader *reader)
{
	struct cm_profile_thread *threads;

	threads = cm_arena_array(&reader->arena, reader->n_threads + 1, sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	for (size_t i = 0; i <= reader->n_threads; i++) {
		bool is_known = i < reader->n_threads && reader->threads[i].known;

		threads[i].tid = is_known ? (int64_t)reader->threads[i].tid : 0;
		threads[i].name = is_known ? reader->threads[i].name : "";
		threads[i].cpus = "";
	}
	profile->threads = threads;
	profile->n_threads = reader->n_threads;
	return add_cpus(reader, threads);
}

static int add_regions(struct cm_profile *profile, struct cm_spool_reader *reader,
		       const struct cm_trace *trace)
{
	struct cm_profile_region *regions;

	regions = cm_arena_array(&reader->arena, trace->n_called, sizeof(*regions));
	if (!regions)
		return -ENOMEM;
	for (size_t i = 0; i < trace->n_called; i++) {
		const struct cm_trace_region *scanned = &trace->regions[trace->called[i]];
		const struct cm_spool_region *region = &reader->regions[trace->called[i]];

		regions[i].tag = region->tag;
		regions[i].library = "";
		regions[i].n_trace = scanned->n;
		regions[i].max_events = region->max_events;
		regions[i].one_thread = !scanned->is_multi_thread;
		regions[i].thread = scanned->n ? (int32_t)scanned->thread : 0;
	}
	profile->regions = regions;
	profile->n_regions = trace->n_called;
	return cm_profile_add_sites(profile, reader, trace, regions);
}

/* Degradations: those the process noted, and what we found ourselves. */
static int add_notes(struct cm_profile *profile, struct cm_spool_reader *reader,
		     const struct cm_trace *trace, const struct cm_clock_map *map)
{
	struct cm_arena *arena = &reader->arena;
	size_t n = reader->n_notes;
	const char **notes = cm_arena_array(arena, n + N_OWN_NOTES, sizeof(*notes));
	const char *counters;
	int rc = 0;

	if (!notes)
		return -ENOMEM;
	if (n)
		memcpy(notes, reader->notes, n * sizeof(*notes));
	if (trace->n_bad)
		notes[n++] = cm_arena_format(arena, "%lu damaged records of the spool are missing",
					     (unsigned long)trace->n_bad);
	if (reader->n_bad_files || reader->n_bad_items)
		notes[n++] = cm_arena_format(arena,
					     "%lu files and %lu entries of the spool were damaged, "
					     "what they held is missing",
					     (unsigned long)reader->n_bad_files,
					     (unsigned long)reader->n_bad_items);
	if (map->is_guessed)
		notes[n++] = "the rate of the time-stamp counter is not known: "
			     "times are ticks, not nanoseconds";
	if (reader->has_exit && reader->exit.n_no_stub)
		notes[n++] = cm_arena_format(arena,
					     "%lu places were not intercepted: "
					     "no stub was left",
					     (unsigned long)reader->exit.n_no_stub);
	counters = cm_counters_note(reader, &rc);
	if (counters)
		notes[n++] = counters;
	for (size_t i = 0; i < n; i++) {
		if (!notes[i])
			return -ENOMEM;
	}
	profile->notes = notes;
	profile->n_notes = n;
	return rc;
}

static void add_identity(struct cm_profile *profile, const struct cm_spool_reader *reader,
			 const struct cm_rank *rank)
{
	const struct cm_spool_process *process = &reader->process;

	profile->run_id = reader->run_id;
	profile->version = CM_VERSION;
	profile->rank = rank->rank;
	profile->mpi_size = rank->size;
	profile->hostname = reader->hostname;
	profile->pid = (int64_t)process->pid;
	profile->executable = reader->executable;
	profile->has_exit_status = reader->has_exit && reader->exit.has_status;
	profile->exit_status = profile->has_exit_status ? reader->exit.status : 0;
	profile->clock = process->clock == CM_CLOCK_TSC ? "tsc" : "monotonic";
	profile->monotonic_to_realtime_ns =
		(int64_t)(process->start_realtime_ns - process->start_mono_ns);
	profile->overhead_ns_per_call = NAN;
	profile->command_line = reader->argv;
	profile->n_command_line = reader->n_argv;
	if (reader->has_exit)
		profile->n_dropped = reader->exit.n_dropped;
	for (size_t i = 0; i < reader->n_slots; i++)
		profile->n_dropped += reader->slots[i].n_dropped;
}

int cm_profile_build(struct cm_profile *profile, struct cm_spool_reader *reader,
		     const struct cm_trace *trace, const struct cm_clock_map *map,
		     const struct cm_rank *rank, struct cm_diag *diag)
{
	int rc;

	memset(profile, 0, sizeof(*profile));
	add_identity(profile, reader, rank);
	rc = cm_metadata_make(reader, rank, &profile->metadata, &profile->n_metadata);
	if (rc >= 0)
		rc = add_threads(profile, reader);
	if (rc >= 0)
		rc = add_regions(profile, reader, trace);
	if (rc >= 0)
		rc = add_notes(profile, reader, trace, map);
	if (rc >= 0)
		rc = cm_counters_add_skips(profile, reader);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", reader->path, strerror(-rc));
	return 0;
}

static bool has_totals(const struct cm_spool_reader *reader, uint32_t slot)
{
	for (size_t i = 0; i < reader->n_slots; i++)
		if (reader->slots[i].slot == slot)
			return reader->slots[i].has_tot;
	return false;
}

/* Calls without a record leave no times: such a thread lasts from its first call to the end. */
static void widen(struct cm_trace *trace, size_t idx)
{
	const struct cm_spool_reader *reader = trace->reader;
	const struct cm_spool_thread_row *row = &reader->threads[idx];
	struct cm_trace_thread *thread = &trace->threads[idx];
	uint64_t end = reader->has_exit	 ? reader->exit.tick
		       : reader->n_syncs ? reader->syncs[reader->n_syncs - 1].tick
					 : 0;
	int64_t first, last;

	if (!row->known || end < row->start || !has_totals(reader, row->slot))
		return;
	first = cm_clock_map_ns(trace->map, row->start);
	last = cm_clock_map_ns(trace->map, end);
	thread->first_ns = first < thread->first_ns ? first : thread->first_ns;
	thread->last_ns = last > thread->last_ns ? last : thread->last_ns;
}

void cm_profile_finish(struct cm_profile *profile, struct cm_trace *trace)
{
	/* Both tables are ours, made by build; the profile shows them const. */
	struct cm_profile_thread *threads = (struct cm_profile_thread *)profile->threads;
	struct cm_profile_region *regions = (struct cm_profile_region *)profile->regions;
	size_t n_threads = trace->reader->n_threads;

	for (size_t i = 0; i < n_threads; i++)
		widen(trace, i);
	for (size_t i = 0; i <= n_threads; i++) {
		if (trace->threads[i].first_ns == INT64_MAX)
			continue;
		threads[i].first_ns = trace->threads[i].first_ns;
		threads[i].last_ns = trace->threads[i].last_ns;
		if (i == n_threads)
			profile->n_threads = n_threads + 1;
	}
	for (size_t i = 0; i < profile->n_regions; i++) {
		cm_fold_finish(trace->regions[trace->called[i]].fold, &regions[i]);
		cm_profile_close_paths(&regions[i]);
	}
}

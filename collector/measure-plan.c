/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of a declaration, in the order that callmark/measure.h promises. */
#include "collector/measure-plan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "collector/measure-affinity.h"
#include "collector/worker-run.h"

#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define SHOWN_BYTES 80

/* What a caller wrote, made fit for one line. */
struct shown {
	char text[SHOWN_BYTES + 4];
};

static const char *show(struct shown *shown, const char *text, size_t n)
{
	size_t n_kept = n < SHOWN_BYTES ? n : SHOWN_BYTES;

	memcpy(shown->text, text, n_kept);
	strcpy(shown->text + n_kept, n > n_kept ? "..." : "");
	for (char *p = shown->text; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
	return shown->text;
}

static bool is_name(const char *text, size_t n)
{
	return n && strchr(UPPER, *text) && strspn(text, UPPER DIGITS "_") >= n;
}

/* FIXC<n> or PMC<n>; LIKWID writes no zero before another digit. */
static bool is_counter(const char *text, size_t n)
{
	size_t n_prefix = !strncmp(text, "FIXC", 4) ? 4 : !strncmp(text, "PMC", 3) ? 3 : 0;

	if (!n_prefix || n_prefix >= n || strspn(text + n_prefix, DIGITS) < n - n_prefix)
		return false;
	return text[n_prefix] != '0' || n == n_prefix + 1;
}

static int check_pair(const char *pair, size_t n, struct cm_diag *diag)
{
	size_t n_name = strcspn(pair, ":,");
	struct shown shown;
	const char *counter = pair + n_name + 1;

	if (!n)
		return cm_diag_set(
			diag, -EINVAL,
			"event_set: an event is missing before, after or between commas");
	show(&shown, pair, n);
	if (strcspn(pair, " \t\r\n\v\f") < n)
		return cm_diag_set(diag, -EINVAL, "event_set: \"%s\" has a blank or a newline",
				   shown.text);
	if (n_name == n)
		return cm_diag_set(diag, -EINVAL,
				   "event_set: \"%s\" has no counter: write EVENT:COUNTER (groups "
				   "are not taken)",
				   shown.text);
	if (!is_name(pair, n_name))
		return cm_diag_set(diag, -EINVAL,
				   "event_set: \"%s\": an event's name has upper-case letters, "
				   "digits and '_', a letter first",
				   shown.text);
	if (strcspn(counter, ":") < n - n_name - 1)
		return cm_diag_set(diag, -EINVAL,
				   "event_set: \"%s\": options of events are not taken",
				   shown.text);
	if (!is_counter(counter, n - n_name - 1))
		return cm_diag_set(diag, -EINVAL,
				   "event_set: \"%s\": the counter is not FIXC<n> or PMC<n>",
				   shown.text);
	return 0;
}

static int read_events(struct cm_measure_plan *plan, struct cm_arena *arena, struct cm_diag *diag)
{
	struct cm_measure_event *events;
	const char *pair = plan->event_set;
	size_t n = 1;

	if (!*pair)
		return cm_diag_set(diag, -EINVAL, "event_set is empty");
	for (const char *p = pair; *p; p++)
		n += *p == ',';
	events = cm_arena_array(arena, n, sizeof(*events));
	if (!events)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		size_t n_pair = strcspn(pair, ","), n_name = strcspn(pair, ":");
		int rc = check_pair(pair, n_pair, diag);

		if (rc < 0)
			return rc;
		events[i].name = cm_arena_copy(arena, pair, n_name);
		events[i].counter = cm_arena_copy(arena, pair + n_name + 1, n_pair - n_name - 1);
		if (!events[i].name || !events[i].counter)
			return -ENOMEM;
		pair += n_pair + 1;
	}
	plan->events = events;
	plan->n_events = n;
	return 0;
}

static int check_duplicates(const struct cm_measure_plan *plan, struct cm_diag *diag)
{
	for (size_t i = 0; i < plan->n_events; i++) {
		for (size_t j = 0; j < i; j++) {
			struct shown shown;
			const char *name = plan->events[i].name;

			if (!strcmp(name, plan->events[j].name))
				return cm_diag_set(diag, -EINVAL,
						   "event_set: the event %s is there twice",
						   show(&shown, name, strlen(name)));
			if (!strcmp(plan->events[i].counter, plan->events[j].counter))
				return cm_diag_set(diag, -EINVAL,
						   "event_set: the counter %s is there twice",
						   plan->events[i].counter);
		}
	}
	return 0;
}

static int check_cpus(const struct cm_measure_plan *plan, struct cm_diag *diag)
{
	if (!plan->n_cpus)
		return cm_diag_set(diag, -EINVAL, "cpuids is empty");
	for (size_t i = 0; i < plan->n_cpus; i++) {
		if (plan->cpus[i] < 0)
			return cm_diag_set(diag, -EINVAL, "cpuids: %d is no CPU", plan->cpus[i]);
		for (size_t j = 0; j < i; j++) {
			if (plan->cpus[i] == plan->cpus[j])
				return cm_diag_set(diag, -EINVAL, "cpuids: CPU %d is there twice",
						   plan->cpus[i]);
		}
	}
	return 0;
}

static struct cm_measure_event *find_event(const struct cm_measure_plan *plan, const char *name)
{
	/* Its own memory: const for everybody else. */
	struct cm_measure_event *events = (struct cm_measure_event *)plan->events;

	for (size_t i = 0; i < plan->n_events; i++) {
		if (!strcmp(events[i].name, name))
			return &events[i];
	}
	return NULL;
}

/* The keys: exactly the names of the events. */
static int match_units(const struct cm_measure_plan *plan, const struct cm_declaration *declaration,
		       struct cm_diag *diag)
{
	struct shown shown;

	for (size_t i = 0; i < declaration->n_units; i++) {
		const struct cm_event_unit *from = &declaration->units[i];
		struct cm_measure_event *event = from->event ? find_event(plan, from->event) : NULL;

		if (!event)
			return cm_diag_set(
				diag, -EINVAL, "units: \"%s\" is no event of event_set",
				from->event ? show(&shown, from->event, strlen(from->event)) : "");
		if (event->unit)
			return cm_diag_set(diag, -EINVAL, "units: %s has two units", event->name);
		event->unit = from->unit;
	}
	for (size_t i = 0; i < plan->n_events; i++) {
		const char *name = plan->events[i].name;

		if (!plan->events[i].unit)
			return cm_diag_set(diag, -EINVAL, "units: %s has no unit",
					   show(&shown, name, strlen(name)));
	}
	return 0;
}

static bool is_unit(const char *unit)
{
	size_t n = strlen(unit);

	return n && n <= CM_UNIT_MAX_BYTES && strchr(UPPER LOWER DIGITS, *unit) &&
	       strspn(unit, UPPER LOWER DIGITS "./_*^-") == n;
}

static int check_units(const struct cm_measure_plan *plan, struct cm_arena *arena,
		       struct cm_diag *diag)
{
	static const char *const counts[] = {"INSTR_RETIRED_ANY", "CPU_CLK_UNHALTED_CORE",
					     "CPU_CLK_UNHALTED_REF"};

	for (size_t i = 0; i < plan->n_events; i++) {
		struct cm_measure_event *event = find_event(plan, plan->events[i].name);
		struct shown shown;

		show(&shown, event->unit, strlen(event->unit));
		if (!is_unit(event->unit))
			return cm_diag_set(diag, -EINVAL,
					   "units: \"%s\" of %s: a letter or digit, then letters, "
					   "digits and . / _ * ^ -, at most %u",
					   shown.text, event->name, CM_UNIT_MAX_BYTES);
		for (size_t j = 0; j < sizeof(counts) / sizeof(*counts); j++) {
			if (!strcmp(event->name, counts[j]) && strcmp(event->unit, "1") != 0)
				return cm_diag_set(diag, -EINVAL,
						   "units: %s is a count, its unit is 1, not %s",
						   event->name, shown.text);
		}
		event->unit = cm_arena_copy(arena, event->unit, strlen(event->unit));
		if (!event->unit)
			return -ENOMEM;
	}
	return 0;
}

static int check_affinity(struct cm_measure_plan *plan, struct cm_arena *arena,
			  struct cm_diag *diag)
{
	struct cm_affinity affinity;
	int rc = cm_affinity_get(&affinity);
	char list[128];
	int *allowed;

	if (rc < 0)
		return cm_diag_set(diag, rc, "the calling thread's affinity cannot be read: %s",
				   strerror(-rc));
	cm_affinity_format(&affinity, list, sizeof(list));
	plan->n_allowed = cm_affinity_count(&affinity);
	allowed = cm_arena_array(arena, plan->n_allowed, sizeof(*allowed));
	plan->allowed = allowed;
	if (allowed)
		cm_affinity_list(&affinity, allowed);
	else
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < plan->n_cpus; i++) {
		if (!cm_affinity_has(&affinity, plan->cpus[i]))
			rc = cm_diag_set(diag, -EINVAL,
					 "cpuids: CPU %d is not in the calling thread's affinity "
					 "(%s)",
					 plan->cpus[i], list);
	}
	cm_affinity_fini(&affinity);
	return rc;
}

static int copy_declaration(struct cm_measure_plan *plan, const struct cm_declaration *declaration,
			    struct cm_arena *arena, struct cm_diag *diag)
{
	const char *missing = !declaration->event_set ? "event_set"
			      : !declaration->cpuids  ? "cpuids"
			      : !declaration->units   ? "units"
						      : NULL;
	int *cpus;

	if (missing)
		return cm_diag_set(diag, -EINVAL,
				   "%s is missing: event_set, cpuids and units are all needed",
				   missing);
	plan->event_set =
		cm_arena_copy(arena, declaration->event_set, strlen(declaration->event_set));
	cpus = cm_arena_array(arena, declaration->n_cpuids, sizeof(*cpus));
	if (!plan->event_set || !cpus)
		return -ENOMEM;
	memcpy(cpus, declaration->cpuids, declaration->n_cpuids * sizeof(*cpus));
	plan->cpus = cpus;
	plan->n_cpus = declaration->n_cpuids;
	return 0;
}

int cm_measure_plan_make(struct cm_measure_plan *plan, const struct cm_declaration *declaration,
			 struct cm_arena *arena, struct cm_diag *diag)
{
	int rc;

	memset(plan, 0, sizeof(*plan));
	rc = copy_declaration(plan, declaration, arena, diag);
	if (rc == 0)
		rc = read_events(plan, arena, diag);
	if (rc == 0)
		rc = check_duplicates(plan, diag);
	if (rc == 0)
		rc = check_cpus(plan, diag);
	if (rc == 0)
		rc = match_units(plan, declaration, diag);
	if (rc == 0)
		rc = check_units(plan, arena, diag);
	if (rc == 0)
		rc = check_affinity(plan, arena, diag);
	return rc;
}

int cm_declaration_check(const struct cm_declaration *declaration, struct cm_diag *diag)
{
	struct cm_arena arena = {0};
	struct cm_measure_plan plan;
	int rc = cm_measure_plan_make(&plan, declaration, &arena, diag);

	cm_arena_fini(&arena);
	return rc;
}

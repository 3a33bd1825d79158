/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. No step is taken whose failure LIKWID would print where it is none. */
#include "collector/measure-native.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define REFUSAL_NAME(enumerator, name) name,
	CM_REFUSALS(REFUSAL_NAME)
#undef REFUSAL_NAME
};

const char *cm_refusal_name(enum cm_refusal_reason reason)
{
	return (unsigned int)reason < CM_N_REFUSALS ? names[reason] : "unknown";
}

static int refuse(struct cm_refusal *refusal, enum cm_refusal_reason reason)
{
	refusal->reason = reason;
	return -ENODEV;
}

int cm_native_load(struct cm_native *native, struct cm_refusal *refusal)
{
	native->step = "dlopen";
	if (cm_likwid_open(&native->likwid, NULL, &refusal->diag) < 0)
		return refuse(refusal, CM_REFUSED_LIBRARY);
	return 0;
}

int cm_native_find_owner(struct cm_native *native, struct cm_refusal *refusal)
{
	const struct cm_likwid *likwid = &native->likwid;
	const struct cm_likwid_topology *topology = likwid->get_cpuTopology();
	const struct cm_likwid_numa *numa = likwid->get_numaTopology();
	bool has_topology = topology && topology->n_hw_threads > 0;
	bool has_numa = numa && numa->n_nodes > 0;
	/* With an event set. LIKWID answers all other questions with an error where there is none.
	 */
	bool has_perfmon = likwid->perfmon_getEventName(0, 0) != NULL;

	if (!has_topology && !has_numa && !has_perfmon)
		return 0;
	cm_diag_set(&refusal->diag, 0,
		    "LIKWID is in use in this process already (%s%s%s): a window would end that",
		    has_topology ? "topology" : "no topology", has_numa ? ", NUMA" : "",
		    has_perfmon ? ", perfmon" : "");
	return refuse(refusal, CM_REFUSED_OWNED);
}

int cm_native_configure(struct cm_native *native, struct cm_refusal *refusal)
{
	static const enum cm_access_mode modes[] = {CM_ACCESS_PERF, CM_ACCESS_DIRECT,
						    CM_ACCESS_DAEMON};
	const struct cm_likwid_configuration *configuration;

	native->step = "init_configuration";
	(void)native->likwid.init_configuration(); /* get_configuration() says whether it worked */
	configuration = native->likwid.get_configuration();
	if (!configuration || configuration->access_mode < -1 || configuration->access_mode > 1) {
		cm_diag_set(&refusal->diag, 0, "LIKWID does not say how it gets at the counters");
		return refuse(refusal, CM_REFUSED_ACCESS_MODE);
	}
	native->access_mode = modes[configuration->access_mode + 1];
	return 0;
}

static int check_cpu(struct cm_native *native, const struct cm_measure_plan *plan,
		     struct cm_refusal *refusal)
{
	const struct cm_likwid_cpu_info *info = native->likwid.get_cpuInfo();
	const struct cm_likwid_topology *topology = native->likwid.get_cpuTopology();

	if (!info || !topology) {
		cm_diag_set(&refusal->diag, 0, "LIKWID could not find out what CPU this is");
		return refuse(refusal, CM_REFUSED_INITIALIZATION);
	}
	snprintf(native->cpu_name, sizeof(native->cpu_name), "%s",
		 info->osname && *info->osname ? info->osname
		 : info->name		       ? info->name
					       : "");
	if (!info->short_name || !strcmp(info->short_name, "unknown")) {
		cm_diag_set(&refusal->diag, 0,
			    "this CPU is not supported by this LIKWID (family %u model %u, %s)",
			    info->family, info->model, native->cpu_name);
		return refuse(refusal, CM_REFUSED_INITIALIZATION);
	}
	for (size_t i = 0; i < plan->n_cpus; i++) {
		if ((unsigned int)plan->cpus[i] < topology->n_hw_threads)
			continue;
		cm_diag_set(&refusal->diag, 0, "LIKWID knows %u CPUs, CPU %d is none of them",
			    topology->n_hw_threads, plan->cpus[i]);
		return refuse(refusal, CM_REFUSED_INITIALIZATION);
	}
	return 0;
}

static int init_modules(struct cm_native *native, const struct cm_measure_plan *plan,
			struct cm_refusal *refusal)
{
	const struct cm_likwid *likwid = &native->likwid;
	int rc;

	native->step = "topology_init";
	native->owns_topology = true;
	(void)likwid->topology_init(); /* check_cpu looks at what it found */
	rc = check_cpu(native, plan, refusal);
	if (rc < 0)
		return rc;
	native->step = "numa_init";
	native->owns_numa = true;
	(void)likwid->numa_init(); /* no NUMA is no reason against counters */
	native->step = "affinity_init";
	native->owns_affinity = true;
	likwid->affinity_init();
	/* Otherwise perfmon_init would, and nobody could say whether it had come so far. */
	native->step = "timer_init";
	native->owns_timer = true;
	likwid->timer_init();
	native->step = "perfmon_init";
	rc = likwid->perfmon_init((int)plan->n_cpus, plan->cpus);
	if (rc >= 0) {
		native->owns_perfmon = true;
		if (likwid->perfmon_getNumberOfThreads() == (int)plan->n_cpus)
			return 0;
	}
	cm_diag_set(&refusal->diag, 0, "LIKWID has no access to the counters (%s)",
		    rc < 0 ? strerror(-rc) : "other CPUs than those asked for");
	return refuse(refusal, CM_REFUSED_INITIALIZATION);
}

const char *cm_native_event(const struct cm_native *native, size_t i)
{
	const char *name = native->likwid.perfmon_getEventName(native->group, (int)i);

	return name ? name : "";
}

const char *cm_native_counter(const struct cm_native *native, size_t i)
{
	const char *name = native->likwid.perfmon_getCounterName(native->group, (int)i);

	return name ? name : "";
}

/* Is it the set that was asked for? Intel back ends append fixed counters: those may follow. */
static int check_event_set(struct cm_native *native, const struct cm_measure_plan *plan,
			   struct cm_refusal *refusal)
{
	int n = native->likwid.perfmon_getNumberOfEvents(native->group);

	native->n_events = n > 0 ? (size_t)n : 0;
	if (native->n_events < plan->n_events) {
		cm_diag_set(&refusal->diag, 0, "LIKWID took %d of %zu events", n, plan->n_events);
		return refuse(refusal, CM_REFUSED_EVENT_SET_CHANGED);
	}
	for (size_t i = plan->n_events; i < native->n_events; i++) {
		if (!strncmp(cm_native_counter(native, i), "FIXC", 4))
			continue;
		cm_diag_set(&refusal->diag, 0, "LIKWID added %s:%s", cm_native_event(native, i),
			    cm_native_counter(native, i));
		return refuse(refusal, CM_REFUSED_EVENT_SET_CHANGED);
	}
	for (size_t i = 0; i < plan->n_events; i++) {
		const char *event = cm_native_event(native, i);
		const char *counter = cm_native_counter(native, i);

		if (!strcmp(event, plan->events[i].name) &&
		    !strcmp(counter, plan->events[i].counter))
			continue;
		cm_diag_set(&refusal->diag, 0, "LIKWID has %s:%s instead of %s:%s", event, counter,
			    plan->events[i].name, plan->events[i].counter);
		return refuse(refusal, CM_REFUSED_EVENT_IDENTITY);
	}
	return 0;
}

int cm_native_open(struct cm_native *native, const struct cm_measure_plan *plan,
		   struct cm_refusal *refusal)
{
	int rc = init_modules(native, plan, refusal);

	if (rc < 0)
		return rc;
	native->step = "perfmon_addEventSet";
	rc = native->likwid.perfmon_addEventSet(plan->event_set);
	if (rc < 0) {
		cm_diag_set(&refusal->diag, 0, "LIKWID cannot count %s on this CPU (%s)",
			    plan->event_set, strerror(-rc));
		return refuse(refusal, CM_REFUSED_EVENT_SET);
	}
	native->group = rc;
	return check_event_set(native, plan, refusal);
}

/* An event that LIKWID could not place reads as NaN from the start. */
static int check_readable(struct cm_native *native, const struct cm_measure_plan *plan,
			  struct cm_refusal *refusal)
{
	for (size_t i = 0; i < plan->n_cpus * plan->n_events; i++) {
		size_t cpu = i / plan->n_events, event = i % plan->n_events;

		if (!isnan(native->likwid.perfmon_getResult(native->group, (int)event, (int)cpu)))
			continue;
		cm_diag_set(&refusal->diag, 0, "LIKWID cannot count %s:%s on CPU %d",
			    plan->events[event].name, plan->events[event].counter, plan->cpus[cpu]);
		return refuse(refusal, CM_REFUSED_SETUP);
	}
	return 0;
}

int cm_native_start(struct cm_native *native, const struct cm_measure_plan *plan,
		    struct cm_refusal *refusal)
{
	int rc;

	native->step = "perfmon_setupCounters";
	rc = native->likwid.perfmon_setupCounters(native->group);
	if (rc < 0) {
		cm_diag_set(&refusal->diag, 0, "LIKWID could not set up the counters (%s)",
			    strerror(-rc));
		return refuse(refusal, CM_REFUSED_SETUP);
	}
	rc = check_readable(native, plan, refusal);
	if (rc < 0)
		return rc;
	native->step = "perfmon_startCounters";
	native->is_started = true; /* maybe on some CPUs only: stop them all the same */
	rc = native->likwid.perfmon_startCounters();
	if (rc < 0) {
		cm_diag_set(&refusal->diag, 0, "LIKWID could not start the counters (%d)", rc);
		return refuse(refusal, CM_REFUSED_START);
	}
	return 0;
}

int cm_native_stop(struct cm_native *native, struct cm_diag *diag)
{
	int rc;

	if (!native->is_started)
		return 0;
	native->is_started = false;
	native->step = "perfmon_stopCounters";
	rc = native->likwid.perfmon_stopCounters();
	return rc < 0 ? cm_diag_set(diag, -EIO, "LIKWID could not stop the counters (%d)", rc) : 0;
}

int cm_native_read(const struct cm_native *native, const struct cm_measure_plan *plan,
		   double *values, double *ret_seconds, struct cm_diag *diag)
{
	double seconds = native->likwid.perfmon_getTimeOfGroup(native->group);

	for (size_t i = 0; i < plan->n_cpus * plan->n_events; i++) {
		size_t cpu = i / plan->n_events, event = i % plan->n_events;

		values[i] = native->likwid.perfmon_getResult(native->group, (int)event, (int)cpu);
		if (isfinite(values[i]) && values[i] >= 0)
			continue;
		return cm_diag_set(diag, -EIO, "LIKWID read a %s value for %s:%s on CPU %d",
				   isfinite(values[i]) ? "negative" : "non-finite",
				   plan->events[event].name, plan->events[event].counter,
				   plan->cpus[cpu]);
	}
	if (!isfinite(seconds) || seconds < 0)
		return cm_diag_set(diag, -EIO, "LIKWID read a %s group time",
				   isfinite(seconds) ? "negative" : "non-finite");
	*ret_seconds = seconds;
	return 0;
}

int cm_native_close(struct cm_native *native, struct cm_diag *diag)
{
	const struct cm_likwid *likwid = &native->likwid;
	const struct cm_likwid_topology *topology;
	const struct cm_likwid_numa *numa;
	bool had_topology = native->owns_topology, had_numa = native->owns_numa;

	if (native->owns_perfmon)
		likwid->perfmon_finalize();
	if (native->owns_timer)
		likwid->timer_finalize();
	if (native->owns_numa)
		likwid->numa_finalize();
	if (native->owns_affinity)
		likwid->affinity_finalize();
	if (native->owns_topology)
		likwid->topology_finalize();
	native->owns_perfmon = native->owns_timer = native->owns_numa = false;
	native->owns_affinity = native->owns_topology = false;
	/* They return nothing: what is left tells. */
	topology = had_topology ? likwid->get_cpuTopology() : NULL;
	numa = had_numa ? likwid->get_numaTopology() : NULL;
	if (topology && topology->n_hw_threads)
		return cm_diag_set(diag, -EIO, "LIKWID's topology is still there after its end");
	if (numa && numa->n_nodes)
		return cm_diag_set(diag, -EIO, "LIKWID's NUMA state is still there after its end");
	return 0;
}

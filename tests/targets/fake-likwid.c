/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A FAKE liblikwid for scripts/bench-markers.sh: LIKWID's marker functions, empty. What is left of
 * a marked call is what callmark adds to it.
 */
#include <stdlib.h>

void likwid_markerInit(void);
void likwid_markerClose(void);
void likwid_markerNextGroup(void);
int likwid_markerRegisterRegion(const char *tag);
int likwid_markerStartRegion(const char *tag);
int likwid_markerStopRegion(const char *tag);
void likwid_markerGetRegion(const char *tag, int *n_events, double *events, double *seconds,
			    int *count);

static const char *verbosity;

void likwid_markerInit(void)
{
	verbosity = getenv("LIKWID_DEBUG"); /* an import: without any it would be refused */
}

void likwid_markerClose(void)
{
}

void likwid_markerNextGroup(void)
{
}

int likwid_markerRegisterRegion(const char *tag)
{
	(void)tag;
	return 0;
}

int likwid_markerStartRegion(const char *tag)
{
	(void)tag;
	return 0;
}

int likwid_markerStopRegion(const char *tag)
{
	(void)tag;
	return 0;
}

void likwid_markerGetRegion(const char *tag, int *n_events, double *events, double *seconds,
			    int *count)
{
	(void)tag;
	(void)events;
	*n_events = 0;
	*seconds = 0;
	*count = 0;
}

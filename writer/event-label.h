/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Labels of a group's events (cm_results_event_label in writer/results.h), all at once.
 *
 * Any thread. Errors: negative errno.
 */
#ifndef CALLMARK_WRITER_EVENT_LABEL_H
#define CALLMARK_WRITER_EVENT_LABEL_H

#include "collector/profile.h"
#include "writer/text-store.h"

/* *ret_labels: n_events texts in the store. -ENOMEM or the store's limit. */
int cm_event_labels_new(const struct cm_profile_counters *counters, struct cm_text_store *store,
			const char *const **ret_labels);

#endif

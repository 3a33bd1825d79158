/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls between the layers of an MPI library (preload/sites.h). */
#include "preload/sites.h"
#include "preload/stub.h"

bool cm_sites_is_mpi_binding(const struct cm_site *site, const struct cm_object *caller)
{
	char name_buf[CM_RULES_MPI_BYTES], binding[CM_RULES_MPI_BYTES];
	const char *name;

	if (!site->rule->mpi)
		return false;
	name = cm_rules_mpi_name(site->symbol, name_buf);
	for (unsigned int i = 0; cm_rules_mpi_binding(name, i, binding); i++)
		if (cm_object_find(caller, binding, NULL))
			return true;
	return false;
}

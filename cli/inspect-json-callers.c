/* SPDX-License-Identifier: BSD-3-Clause */
/* Call trees as JSON: all of their nodes. */
#include "cli/inspect-callers.h"

/* base NULL: each child is its own. */
static json_t *children_of(struct cm_json *json, const struct cm_call_node *node,
			   const struct cm_call_node *base)
{
	json_t *array = json_array();

	for (size_t i = 0; i < node->n_children; i++) {
		const struct cm_call_node *child = node->children[i];
		const struct cm_call_node *of = base ? base : child;
		json_t *object = json_object();

		cm_json_set(json, object, "name", cm_json_text(child->text));
		cm_json_set(json, object, "calls", cm_json_unsigned(child->calls));
		cm_json_set(json, object, "total_ns", cm_json_unsigned(child->total_ns));
		cm_json_set(json, object, "share", cm_json_real(cm_call_node_share(child, of)));
		cm_json_set(json, object, "children", children_of(json, child, of));
		cm_json_push(json, array, object);
	}
	return array;
}

void cm_inspect_json_callers(struct cm_json *json, const struct cm_call_trees *trees)
{
	json_t *object = json_object();

	cm_json_set(json, object, "bottom_up", children_of(json, trees->bottom_up.root, NULL));
	cm_json_set(json, object, "top_down",
		    children_of(json, trees->top_down.root, trees->top_down.root));
	fputs(",\n\"callers\":", json->out);
	cm_json_dump(json, object, 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin with its own scope_value, which its helper library calls back without being linked to
 * it. Whether they get this one or the program's depends on how the plugin was opened.
 */
#define CM_DEFAULT __attribute__((visibility("default")))

CM_DEFAULT int scope_value(void);
CM_DEFAULT int scope_own(void);
CM_DEFAULT int scope_helped(void);

#ifdef IS_HELPER
int scope_helped(void)
{
	return scope_value();
}
#else
int scope_value(void)
{
	return 2;
}

int scope_own(void)
{
	return 10 * scope_value() + scope_helped();
}
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/environ.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cm_environ env;

static void init(void)
{
	setenv("CMT_ONE", "1", 1);
	setenv("CMT_ONE_MORE", "11", 1);
	cr_assert_eq(cm_environ_init(&env), 0);
}

static void fini(void)
{
	cm_environ_fini(&env);
}

TestSuite(environ, .init = init, .fini = fini);

Test(environ, is_a_copy_in_the_same_order)
{
	for (size_t i = 0; environ[i]; i++)
		cr_assert_str_eq(env.vars[i], environ[i]);
	cr_assert_null(env.vars[env.n_vars]);
	cr_assert_eq(cm_environ_set(&env, "CMT_ONE", "changed"), 0);
	cr_expect_str_eq(getenv("CMT_ONE"), "1");
}

Test(environ, tells_a_name_from_its_prefixes)
{
	cr_expect_str_eq(cm_environ_get(&env, "CMT_ONE"), "1");
	cr_expect_str_eq(cm_environ_get(&env, "CMT_ONE_MORE"), "11");
	cr_expect_null(cm_environ_get(&env, "CMT_ON"));
	cr_assert_eq(cm_environ_set(&env, "CMT_ONE", "2"), 0);
	cr_expect_str_eq(cm_environ_get(&env, "CMT_ONE_MORE"), "11");
}

Test(environ, replaces_and_appends)
{
	size_t n = env.n_vars;

	cr_assert_eq(cm_environ_set(&env, "CMT_ONE", ""), 0);
	cr_expect_eq(env.n_vars, n);
	cr_expect_str_eq(cm_environ_get(&env, "CMT_ONE"), "");
	cr_assert_eq(cm_environ_set(&env, "CMT_NEW", "x=y"), 0);
	cr_expect_eq(env.n_vars, n + 1);
	cr_expect_str_eq(cm_environ_get(&env, "CMT_NEW"), "x=y");
	cr_assert_eq(cm_environ_set(&env, "CMT_NEW", NULL), 0);
	cr_expect_str_eq(cm_environ_get(&env, "CMT_NEW"), "x=y");
}

Test(environ, removes_by_prefix)
{
	cm_environ_remove(&env, "CMT_ONE=");
	cr_expect_null(cm_environ_get(&env, "CMT_ONE"));
	cr_expect_str_eq(cm_environ_get(&env, "CMT_ONE_MORE"), "11");
	cm_environ_remove(&env, "CMT_");
	cr_expect_null(cm_environ_get(&env, "CMT_ONE_MORE"));
	cr_expect_not_null(cm_environ_get(&env, "PATH"));
}

Test(environ, grows)
{
	for (int i = 0; i < 1000; i++) {
		char name[24];

		snprintf(name, sizeof(name), "CMT_%d", i);
		cr_assert_eq(cm_environ_set(&env, name, name), 0);
	}
	cr_expect_str_eq(cm_environ_get(&env, "CMT_999"), "CMT_999");
	cr_expect_null(env.vars[env.n_vars]);
}

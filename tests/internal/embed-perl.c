/* SPDX-License-Identifier: BSD-3-Clause */
/* embed-perl ARGUMENTS: perl, from libperl.so. Its headers are not needed for that. */
#include <stdio.h>

struct interpreter;
struct interpreter *perl_alloc(void);
void perl_construct(struct interpreter *perl);
int perl_parse(struct interpreter *perl, void (*init)(struct interpreter *), int argc, char **argv,
	       char **env);
int perl_run(struct interpreter *perl);
int perl_destruct(struct interpreter *perl);
void perl_free(struct interpreter *perl);
void Perl_sys_init3(int *argc, char ***argv, char ***env);
void Perl_sys_term(void);
void *Perl_newXS(struct interpreter *perl, const char *name,
		 void (*function)(struct interpreter *, void *), const char *file);
void boot_DynaLoader(struct interpreter *perl, void *cv);

static void init(struct interpreter *perl)
{
	Perl_newXS(perl, "DynaLoader::boot_DynaLoader", boot_DynaLoader, "embed-perl.c");
}

int main(int argc, char **argv, char **env)
{
	struct interpreter *perl;
	int status;

	Perl_sys_init3(&argc, &argv, &env);
	perl = perl_alloc();
	if (!perl)
		return 99;
	perl_construct(perl);
	status = perl_parse(perl, init, argc, argv, NULL);
	if (status == 0)
		status = perl_run(perl);
	fflush(stdout);
	perl_destruct(perl);
	perl_free(perl);
	Perl_sys_term();
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 of known texts, and what a binary says about itself. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/elf-identity.h"
#include "collector/sha256.h"

/* FIPS 180-2, appendix B */
#define OF_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define OF_EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define OF_MILLION_A "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

static struct cm_diag diag;

Test(sha256, is_that_of_the_standard)
{
	char text[CM_SHA256_TEXT_BYTES];

	cr_assert_eq(cm_sha256_bytes("abc", 3, text, &diag), 0, "%s", diag.text);
	cr_assert_str_eq(text, OF_ABC);
	cr_assert_eq(cm_sha256_bytes("", 0, text, &diag), 0);
	cr_assert_str_eq(text, OF_EMPTY);
}

Test(sha256, reads_files_of_many_pieces)
{
	char path[] = "/tmp/callmark-test-XXXXXX", text[CM_SHA256_TEXT_BYTES];
	int fd = mkstemp(path);
	char *many = malloc(1000000);
	uint64_t n = 0;

	memset(many, 'a', 1000000);
	cr_assert_eq(write(fd, many, 1000000), 1000000);
	cr_assert_eq(cm_sha256_file(path, text, &n, &diag), 0, "%s", diag.text);
	cr_assert_str_eq(text, OF_MILLION_A);
	cr_assert_eq(n, 1000000);
	unlink(path);
	cr_assert_eq(cm_sha256_file(path, text, NULL, &diag), -ENOENT);
	cr_assert(strstr(diag.text, path));
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_eq(cm_sha256_file(path, text, NULL, NULL), -EINVAL);
	unlink(path);
	free(many);
	close(fd);
}

Test(sha256, knows_its_own_texts)
{
	cr_assert(cm_sha256_is_text(OF_ABC));
	cr_assert_not(cm_sha256_is_text(""));
	cr_assert_not(cm_sha256_is_text(OF_ABC "0"));
	cr_assert_not(cm_sha256_is_text(
		"ga7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
	cr_assert(cm_sha256_is_same("AB", "ab"));
	cr_assert_not(cm_sha256_is_same(OF_ABC, OF_EMPTY));
}

Test(elf_identity, is_what_the_linker_has_written)
{
	static const char *const made[] = {"x.c", "libx.so", "libx.so.1.2", "none"};
	char folder[] = "/tmp/callmark-test-XXXXXX";
	struct cm_elf_identity identity;
	int rc;

	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chdir(folder), 0);
	cr_assert_eq(system("echo 'int x;' >x.c && ln -s libx.so.1.2 libx.so && "
			    "cc -shared -o libx.so.1.2 -Wl,-soname,libx.so.1 "
			    "-Wl,--build-id=0x0123aB x.c && "
			    "cc -shared -o none -Wl,--build-id=none x.c"),
		     0);
	rc = cm_elf_identity_read(&identity, "libx.so", &diag);
	cr_assert_eq(rc, 0, "%s", diag.text);
	cr_assert_str_eq(identity.build_id, "0123ab");
	cr_assert_str_eq(identity.soname, "libx.so.1");
	cr_assert_str_eq(identity.version, "1.2");
	cr_assert_eq(cm_elf_identity_read(&identity, "none", &diag), 0);
	cr_assert_str_eq(identity.build_id, "");
	cr_assert_str_eq(identity.soname, "");
	cr_assert_str_eq(identity.version, "");
	cr_assert_eq(cm_elf_identity_read(&identity, "x.c", NULL), -ENOEXEC);
	cr_assert_eq(cm_elf_identity_read(&identity, "gone", NULL), -ENOENT);
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		cr_assert_eq(unlink(made[i]), 0, "%s", made[i]);
	cr_assert_eq(rmdir(folder), 0);
}

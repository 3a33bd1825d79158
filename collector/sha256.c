/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "collector/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES 65536
#define N_BYTES 32u

/* What one digest needs; all NULL is inert. */
struct digest {
	OSSL_LIB_CTX *library;
	EVP_MD *md;
	EVP_MD_CTX *context;
};

static void digest_fini(struct digest *digest)
{
	EVP_MD_CTX_free(digest->context);
	EVP_MD_free(digest->md);
	OSSL_LIB_CTX_free(digest->library);
}

static int digest_init(struct digest *digest, struct cm_diag *diag)
{
	memset(digest, 0, sizeof(*digest));
	digest->library = OSSL_LIB_CTX_new();
	digest->md = digest->library ? EVP_MD_fetch(digest->library, "SHA256", NULL) : NULL;
	digest->context = digest->md ? EVP_MD_CTX_new() : NULL;
	if (digest->context && EVP_DigestInit_ex2(digest->context, digest->md, NULL) == 1)
		return 0;
	digest_fini(digest);
	return cm_diag_set(diag, -ENOTSUP, "libcrypto has no SHA-256");
}

static int digest_end(struct digest *digest, char *text, struct cm_diag *diag)
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned int n = 0;

	if (EVP_DigestFinal_ex(digest->context, bytes, &n) != 1 || n != N_BYTES)
		return cm_diag_set(diag, -EIO, "libcrypto could not end a SHA-256");
	for (unsigned int i = 0; i < n; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", bytes[i]);
	return 0;
}

int cm_sha256_bytes(const void *data, size_t n_bytes, char text[CM_SHA256_TEXT_BYTES],
		    struct cm_diag *diag)
{
	struct digest digest;
	int rc = digest_init(&digest, diag);

	if (rc < 0)
		return rc;
	if (EVP_DigestUpdate(digest.context, data, n_bytes) == 1)
		rc = digest_end(&digest, text, diag);
	else
		rc = cm_diag_set(diag, -EIO, "libcrypto could not go on with a SHA-256");
	digest_fini(&digest);
	return rc;
}

/* Everything of this descriptor into the digest. */
static int add_file(struct digest *digest, int fd, uint64_t *n_bytes)
{
	char *piece = malloc(PIECE_BYTES);
	int rc = piece ? 1 : -ENOMEM;

	while (rc > 0) {
		ssize_t n = read(fd, piece, PIECE_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		rc = n < 0 ? -errno : n > 0;
		if (n > 0 && EVP_DigestUpdate(digest->context, piece, (size_t)n) != 1)
			rc = -EIO;
		*n_bytes += n > 0 ? (uint64_t)n : 0;
	}
	free(piece);
	return rc;
}

int cm_sha256_file(const char *path, char text[CM_SHA256_TEXT_BYTES], uint64_t *ret_n_bytes,
		   struct cm_diag *diag)
{
	/* O_NONBLOCK: a fifo must not make us wait. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct digest digest;
	struct stat st;
	uint64_t n_bytes = 0;
	int rc = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		rc = -errno;
	else if (!S_ISREG(st.st_mode))
		rc = -EINVAL;
	if (rc < 0) {
		cm_diag_set(diag, rc, "%s: %s", path,
			    rc == -EINVAL ? "not a regular file" : strerror(-rc));
		goto out;
	}
	rc = digest_init(&digest, diag);
	if (rc < 0)
		goto out;
	rc = add_file(&digest, fd, &n_bytes);
	rc = rc < 0 ? cm_diag_set(diag, rc, "%s: %s", path, strerror(-rc))
		    : digest_end(&digest, text, diag);
	digest_fini(&digest);
	if (rc == 0 && ret_n_bytes)
		*ret_n_bytes = n_bytes;
out:
	if (fd >= 0)
		close(fd);
	return rc;
}

bool cm_sha256_is_text(const char *text)
{
	return strlen(text) == (size_t)2 * N_BYTES &&
	       strspn(text, "0123456789abcdefABCDEF") == (size_t)2 * N_BYTES;
}

bool cm_sha256_is_same(const char *a, const char *b)
{
	return !strcasecmp(a, b);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of site files, and the check that everything in one is within bounds. */
#include "preload/site-file.h"

#include <errno.h>
#include <string.h>

#include "preload/diag.h"

#define CM_MAX_STRING 65536u /* a mangled name, a path, a reason */

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) /* FNV-1a */
		hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

uint64_t cm_site_file_hash(const char *config, size_t n_config, const char *symbols)
{
	const char version = (char)CM_SITE_FILE_VERSION;
	uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), &version, 1);

	if (config)
		hash = hash_bytes(hash, config, n_config);
	hash = hash_bytes(hash, "", 1); /* one text cannot be taken for a part of the other */
	if (symbols)
		hash = hash_bytes(hash, symbols, strlen(symbols));
	return hash;
}

static int format(char *buf, size_t n_bytes, const char *text, ...)
{
	__builtin_va_list args;
	size_t n;

	__builtin_va_start(args, text);
	n = cm_diag_format(buf, n_bytes, text, args);
	__builtin_va_end(args);
	return n + 1 < n_bytes ? 0 : -ENAMETOOLONG; /* as long as the buffer: it was cut */
}

static void put_hex(char *out, const uint8_t *bytes, uint32_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; i < n; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = '\0';
}

int cm_site_file_path(const char *folder, const struct cm_site_identity *identity, uint64_t hash,
		      char *buf, size_t n_bytes)
{
	char key[2 * sizeof(identity->build_id) + 1], digits[17];
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(hash >> 8 * (7 - i));
	put_hex(digits, bytes, 8);
	if (identity->n_build_id > sizeof(identity->build_id))
		return -ENAMETOOLONG;
	if (!identity->n_build_id)
		return format(buf, n_bytes, "%s/s%lx-%lx-%lx-%lx-%s.sites", folder,
			      (unsigned long)identity->dev, (unsigned long)identity->ino,
			      (unsigned long)identity->size, (unsigned long)identity->mtime_ns,
			      digits);
	put_hex(key, identity->build_id, identity->n_build_id);
	return format(buf, n_bytes, "%s/%s-%s.sites", folder, key, digits);
}

int cm_site_cache(const char *cache, const char *xdg, const char *home, char *buf, size_t n_bytes)
{
	if (cache && *cache)
		return format(buf, n_bytes, "%s", cache);
	if (xdg && *xdg == '/')
		return format(buf, n_bytes, "%s/callmark", xdg);
	if (home && *home == '/')
		return format(buf, n_bytes, "%s/.cache/callmark", home);
	buf[0] = '\0';
	return 1;
}

static bool is_string(const struct cm_site_file *file, uint32_t offset)
{
	uint64_t room = file->n_bytes - file->strings;

	return offset < room &&
	       memchr(cm_site_string(file, offset), '\0',
		      room - offset < CM_MAX_STRING ? room - offset : CM_MAX_STRING);
}

static bool has_good_fixups(const struct cm_site_function *function)
{
	if (function->n_fixups > CM_SITE_MAX_FIXUPS)
		return false;
	for (unsigned int i = 0; i < function->n_fixups; i++) {
		const struct cm_site_fixup *fixup = &function->fixups[i];
		unsigned int n = fixup->kind == CM_SITE_FIXUP_ABS64 ? 8 : 4;

		if (fixup->kind != CM_SITE_FIXUP_ABS64 && fixup->kind != CM_SITE_FIXUP_REL32)
			return false;
		if (fixup->at + n > function->n_moved ||
		    (n == 4 && (fixup->tail < 4 || fixup->at + fixup->tail > function->n_moved)))
			return false;
	}
	return true;
}

/* What the preload would write, and where, relative to one another. */
static bool is_applicable(const struct cm_site_function *function)
{
	unsigned int n_place = function->how == CM_SITE_HOW_JUMP    ? CM_SITE_JUMP_BYTES
			       : function->how == CM_SITE_HOW_SHORT ? CM_SITE_SHORT_BYTES
								    : 1;
	int64_t distance = (int64_t)(function->pad - function->place - CM_SITE_SHORT_BYTES);

	if (function->how == CM_SITE_HOW_REFUSED)
		return true;
	if (function->how > CM_SITE_HOW_TRAP || !function->n_moved ||
	    function->n_moved > CM_SITE_MAX_MOVED || function->n_expected < n_place ||
	    function->n_expected > CM_SITE_MAX_EXPECTED || function->place < function->offset ||
	    function->place - function->offset > 8)
		return false;
	return function->how != CM_SITE_HOW_SHORT ||
	       (function->n_pad == CM_SITE_JUMP_BYTES && distance >= -128 && distance <= 127);
}

int cm_site_file_check(const void *bytes, size_t n_bytes, uint64_t hash)
{
	const struct cm_site_file *file = bytes;
	const struct cm_site_function *function = cm_site_functions(file);

	if (n_bytes < sizeof(*file) || file->magic != CM_SITE_FILE_MAGIC ||
	    file->version != CM_SITE_FILE_VERSION || file->n_bytes != n_bytes ||
	    file->rules_hash != hash || n_bytes > CM_SITE_FILE_MAX_BYTES ||
	    file->n_build_id > sizeof(file->build_id))
		return -EBADMSG;
	if (file->strings != sizeof(*file) + (uint64_t)file->n_functions * sizeof(*function) ||
	    file->strings >= n_bytes || ((const char *)bytes)[n_bytes - 1] ||
	    !is_string(file, file->object) || !is_string(file, file->debug_file))
		return -EBADMSG;
	for (uint32_t i = 0; i < file->n_functions; i++, function++)
		if ((i && function->offset <= function[-1].offset) || !is_applicable(function) ||
		    !has_good_fixups(function) || !is_string(file, function->symbol) ||
		    !is_string(file, function->base_name) ||
		    !is_string(file, function->demangled) || !is_string(file, function->source) ||
		    !is_string(file, function->reason))
			return -EBADMSG;
	return 0;
}

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's openssl digests a 64 MiB file: EVP calls as often as gdb counts, and the right digest.
. "${0%/*}/lib.sh"

truncate -s 64M big
gdb_count /usr/bin/openssl 'dgst -sha1 big' EVP_DigestUpdate EVP_DigestFinal_ex
updates=$(count_of EVP_DigestUpdate)
finals=$(count_of EVP_DigestFinal_ex)
[ "$updates" -gt 1000 ] || fail "gdb counted $updates calls of EVP_DigestUpdate"

# EVP_DigestUpdate is called inside libcrypto, by a function that the program calls.
compare 'EVP_Digest*' BIO_read -- /usr/bin/openssl dgst -sha1 big
expect_line out '= 44fac4bedde4df04b9572ac665d3ac2c5cd00c7d$'
h5 profiling_data.h5 "calls('EVP_DigestUpdate') == $updates" \
	"calls('EVP_DigestFinal_ex') == $finals" 'calls("BIO_read") > 1000' \
	"rows('EVP_DigestUpdate') == $updates" \
	'("EVP_DigestUpdate", "libcrypto.so.3", "jump_slot") in sites()'

# Only those that the program itself makes.
compare 'BIO_read from=main' -- /usr/bin/openssl dgst -sha1 big
h5 profiling_data.h5 'tags() == ["BIO_read"]' 'sites() == [("BIO_read", "openssl", "jump_slot")]'

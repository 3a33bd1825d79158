/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Demangled names inside the target, from the C++ library that the program has loaded itself.
 *
 * The preload links no demangler. A program that calls C++ functions through slots has libstdc++ or
 * libc++abi, and their __cxa_demangle prints what libiberty (and so `callmark symbols`) prints.
 */
#ifndef CALLMARK_PRELOAD_DEMANGLE_H
#define CALLMARK_PRELOAD_DEMANGLE_H

/*
 * The demangled name, valid until the next call; NULL for a name that is not mangled, or without a
 * C++ library (said once). Sites lock held.
 */
const char *cm_demangle(const char *symbol);

#endif

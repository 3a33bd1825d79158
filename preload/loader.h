/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loader's entry points, as the program calls them through patched slots.
 *
 * Each does what libc's does for that caller, and then looks for new or closed objects.
 */
#ifndef CALLMARK_PRELOAD_LOADER_H
#define CALLMARK_PRELOAD_LOADER_H

#include <dlfcn.h>

void *cm_loader_dlopen(const char *file, int flags);
int cm_loader_dlclose(void *handle);

/* loader-search.c: dlopen as if the code at `caller` had called it. */
void *cm_loader_open_for(const char *file, int flags, const void *caller);

/*
 * loader-x86_64.S: the base namespace is that of dlopen. Others are left alone; what is loaded into
 * them has a libc of its own.
 */
void *cm_loader_dlmopen(long namespace, const char *file, int flags);

/* loader-x86_64.S: pseudo handles are tail jumps, so that libc sees the program as the caller. */
void *cm_loader_dlsym(void *handle, const char *symbol);
void *cm_loader_dlvsym(void *handle, const char *symbol, const char *version);

/* A stub that dlsym handed out is the function that it stands for. */
int cm_loader_dladdr(const void *address, Dl_info *ret_info);
int cm_loader_dladdr1(const void *address, Dl_info *ret_info, void **ret_extra, int flags);

#endif

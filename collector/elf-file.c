/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening ELF files for their sections. */
#include "collector/elf-file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cm_elf_file_open(struct cm_elf_file *file, const char *path)
{
	/* Not blocking: a FIFO by this name must not hang us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	Elf *handle = NULL;
	struct stat st;

	memset(file, 0, sizeof(*file));
	if (fd < 0)
		return -errno;
	(void)elf_version(EV_CURRENT); /* fails only for versions libelf does not know */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		handle = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!handle || elf_kind(handle) != ELF_K_ELF) {
		(void)elf_end(handle); /* a count of users, NULL is allowed */
		close(fd);
		return -ENOEXEC;
	}
	*file = (struct cm_elf_file){.handle = handle, .fd = fd};
	return 0;
}

void cm_elf_file_close(struct cm_elf_file *file)
{
	if (!file->handle)
		return;
	(void)elf_end(file->handle); /* a count of users */
	if (file->fd >= 0)
		close(file->fd);
	free(file->bytes);
	memset(file, 0, sizeof(*file));
}

Elf_Scn *cm_elf_file_section(Elf *handle, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *found;
	size_t names;

	if (elf_getshdrstrndx(handle, &names))
		return NULL;
	while ((section = elf_nextscn(handle, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		found = elf_strptr(handle, names, header.sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

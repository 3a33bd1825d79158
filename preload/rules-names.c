/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known about certain functions by their name: those that a thunk cannot carry, and those
 * that take more arguments than their prototype shows (preload/rules.h).
 */
#include <string.h>

#include "preload/rules.h"

enum reason {
	RETURNS_TWICE,
	JUMPS,
	CONTEXT,
	LOADER,
	UNWINDER,
	THROW,
	PERSONALITY,
	TLS,
	STARTUP,
	PROFILER,
	SPLIT_STACK,
	BROKEN_STACK,
};

static const char reasons[][56] = {
	[RETURNS_TWICE] = "it returns twice, into a frame that is gone by then",
	[JUMPS] = "it leaves by a jump, past the frames of its callers",
	[CONTEXT] = "it saves or switches the stack that it is called on",
	[LOADER] = "callmark handles the loader itself",
	[UNWINDER] = "it walks the stack that a thunk would stand on",
	[THROW] = "the exception machinery expects its caller's frame",
	[PERSONALITY] = "the unwinder calls it with its own conventions",
	[TLS] = "every access to a thread's variables may call it",
	[STARTUP] = "it starts or ends the program itself",
	[PROFILER] = "it has its own calling convention (profiling hook)",
	[SPLIT_STACK] = "it changes the stack below its caller",
	[BROKEN_STACK] = "the stack is damaged when it is called",
};

/* A '*' at the end stands for any rest. No pointers: nothing to relocate in the target. */
static const struct forbidden {
	char name[39];
	uint8_t reason;
} forbidden[] = {
	{"setjmp", RETURNS_TWICE},
	{"_setjmp", RETURNS_TWICE},
	{"__setjmp", RETURNS_TWICE},
	{"sigsetjmp", RETURNS_TWICE},
	{"_sigsetjmp", RETURNS_TWICE},
	{"__sigsetjmp", RETURNS_TWICE},
	{"__sigsetjmp_cancel", RETURNS_TWICE},
	{"vfork", RETURNS_TWICE},
	{"__vfork", RETURNS_TWICE},
	{"__libc_vfork", RETURNS_TWICE},
	{"savectx", RETURNS_TWICE},
	{"longjmp", JUMPS},
	{"_longjmp", JUMPS},
	{"__longjmp", JUMPS},
	{"siglongjmp", JUMPS},
	{"__longjmp_chk", JUMPS},
	{"____longjmp_chk", JUMPS},
	{"__libc_longjmp", JUMPS},
	{"__libc_siglongjmp", JUMPS},
	{"sigreturn", JUMPS},
	{"__sigreturn", JUMPS},
	{"__restore_rt", JUMPS},
	{"getcontext", CONTEXT},
	{"__getcontext", CONTEXT},
	{"setcontext", CONTEXT},
	{"__setcontext", CONTEXT},
	{"swapcontext", CONTEXT},
	{"__swapcontext", CONTEXT},
	{"makecontext", CONTEXT},
	{"__makecontext", CONTEXT},
	{"__start_context", CONTEXT},
	{"dlopen", LOADER},
	{"dlmopen", LOADER},
	{"dlsym", LOADER},
	{"dlvsym", LOADER},
	{"dlclose", LOADER},
	{"dlerror", LOADER},
	{"dladdr", LOADER},
	{"dladdr1", LOADER},
	{"dlinfo", LOADER},
	{"dl_iterate_phdr", LOADER},
	{"_dl_*", LOADER},
	{"__libc_dlopen_mode", LOADER},
	{"__libc_dlsym", LOADER},
	{"__libc_dlvsym", LOADER},
	{"__libc_dlclose", LOADER},
	{"_Unwind_*", UNWINDER},
	{"__pthread_unwind*", UNWINDER},
	{"__cxa_throw", THROW},
	{"__cxa_rethrow", THROW},
	{"__cxa_begin_catch", THROW},
	{"__cxa_end_catch", THROW},
	{"__cxa_begin_cleanup", THROW},
	{"__cxa_end_cleanup", THROW},
	{"__cxa_allocate_exception", THROW},
	{"__cxa_free_exception", THROW},
	{"__cxa_init_primary_exception", THROW},
	{"__cxa_allocate_dependent_exception", THROW},
	{"__cxa_free_dependent_exception", THROW},
	{"__cxa_get_exception_ptr", THROW},
	{"__cxa_get_globals", THROW},
	{"__cxa_get_globals_fast", THROW},
	{"__cxa_current_exception_type", THROW},
	{"__cxa_current_primary_exception", THROW},
	{"__cxa_rethrow_primary_exception", THROW},
	{"__cxa_call_unexpected", THROW},
	{"__cxa_call_terminate", THROW},
	{"rust_eh_personality", PERSONALITY},
	{"_d_eh_personality", PERSONALITY},
	{"__tls_get_addr", TLS},
	{"___tls_get_addr", TLS},
	{"__tls_get_addr_slow", TLS},
	{"__tls_get_addr_opt", TLS},
	{"__tls_get_offset", TLS},
	{"__libc_start_main", STARTUP},
	{"__libc_start_call_main", STARTUP},
	{"__libc_early_init", STARTUP},
	{"__libc_csu_init", STARTUP},
	{"__libc_csu_fini", STARTUP},
	{"_start", STARTUP},
	{"_init", STARTUP},
	{"_fini", STARTUP},
	{"mcount", PROFILER},
	{"_mcount", PROFILER},
	{"__mcount", PROFILER},
	{"__fentry__", PROFILER},
	{"__morestack*", SPLIT_STACK},
	{"__stack_chk_fail", BROKEN_STACK},
	{"__stack_chk_fail_local", BROKEN_STACK},
};

/* Is name the listed one, or does it begin as one that ends in '*'? */
static bool is_listed(const char *listed, const char *name)
{
	while (*listed && *listed != '*' && *listed == *name) {
		listed++;
		name++;
	}
	return *listed == '*' || *listed == *name;
}

/* "__gxx_personality_v0", "__gcc_personality_sj0", "__objc_personality_v0", ... */
static bool is_personality(const char *symbol)
{
	return symbol[0] == '_' && symbol[1] == '_' && strstr(symbol, "_personality_");
}

const char *cm_rules_forbidden(const char *symbol)
{
	/* Asked for every symbol: the second letter turns most away. */
	for (size_t i = 0; *symbol && i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
		if (forbidden[i].name[1] == symbol[1] && is_listed(forbidden[i].name, symbol))
			return reasons[forbidden[i].reason];
	return is_personality(symbol) ? reasons[PERSONALITY] : NULL;
}

/* Variadic functions beside those that end in "printf" or "scanf". */
static const char variadic_names[][28] = {
	"execl",
	"execlp",
	"execle",
	"syslog",
	"err",
	"errx",
	"warn",
	"warnx",
	"error",
	"error_at_line",
	"argp_error",
	"argp_failure",
	"strfmon",
	"strfmon_l",
	"sd_journal_send",
	"g_log",
	"g_object_new",
	"g_object_set",
	"g_object_get",
	"Py_BuildValue",
	"PyArg_Parse",
	"PyArg_ParseTuple",
	"PyArg_ParseTupleAndKeywords",
	"PyArg_UnpackTuple",
	"PyErr_Format",
	"PyErr_WarnFormat",
	"PyTuple_Pack",
	"PyUnicode_FromFormat",
	"PyBytes_FromFormat",
	"PyObject_CallFunction",
	"PyObject_CallFunctionObjArgs",
	"PyObject_CallMethod",
	"PyObject_CallMethodObjArgs",
	"H5Epush2",
	"curl_easy_setopt",
};

/*
 * "snprintf", "BIO_printf", "sqlite3_mprintf", "__isoc99_sscanf", but not "vsnprintf" or
 * "g_strdup_vprintf", which take a va_list: the last word decides.
 */
static bool is_format_function(const char *name, size_t n)
{
	static const char verbs[2][8] = {"printf", "scanf"};

	for (unsigned int i = 0; i < 2; i++) {
		size_t n_verb = strlen(verbs[i]);
		const char *word;

		if (n < n_verb || memcmp(name + n - n_verb, verbs[i], n_verb) != 0)
			continue;
		word = name + n - n_verb;
		while (word > name && word[-1] != '_')
			word--;
		return *word != 'v';
	}
	return false;
}

static bool is_variadic(const char *symbol)
{
	size_t n;

	/* glibc's fortified forms: __printf_chk, __syslog_chk */
	while (*symbol == '_')
		symbol++;
	n = strlen(symbol);
	if (n > 4 && memcmp(symbol + n - 4, "_chk", 4) == 0)
		n -= 4;
	for (size_t i = 0; i < sizeof(variadic_names) / sizeof(variadic_names[0]); i++)
		if (*variadic_names[i] == *symbol && strlen(variadic_names[i]) == n &&
		    memcmp(variadic_names[i], symbol, n) == 0)
			return true;
	return is_format_function(symbol, n);
}

uint32_t cm_rules_stack_bytes(const struct cm_rule *rule, const char *symbol)
{
	if (rule->has_stack_bytes)
		return rule->stack_bytes;
	return is_variadic(symbol) ? CM_RULES_VARIADIC_STACK_BYTES : CM_RULES_DEFAULT_STACK_BYTES;
}

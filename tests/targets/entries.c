/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local functions, called in many ways. The first argument says how; each way prints what it has
 * computed. The counts that the tests expect stand in tests/e2e/test-entries.sh.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOCAL static __attribute__((noinline, noclone))

volatile int sink;
static jmp_buf back;

/* GCC would make a loop of the second call. */
LOCAL __attribute__((optimize("no-optimize-sibling-calls"))) int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

LOCAL int is_odd(unsigned int n);
LOCAL int is_even(unsigned int n)
{
	return n ? is_odd(n - 1) : 1; /* a tail call at -O2 */
}

LOCAL int is_odd(unsigned int n)
{
	return n ? is_even(n - 1) : 0;
}

LOCAL int by_pointer(const void *a, const void *b)
{
	sink++;
	return *(const int *)a - *(const int *)b;
}

LOCAL void leap(int depth)
{
	sink++;
	if (!depth)
		longjmp(back, 1);
	if (depth < 100)
		leap(depth - 1);
	sink--;
}

/* One byte each, and no room between them. */
__asm__(".type tiny, @function\ntiny:\n\tret\n\t.size tiny, . - tiny\n"
	".type tiny_too, @function\ntiny_too:\n\tret\n\t.size tiny_too, . - tiny_too\n"
	".type twelve, @function\ntwelve:\n\tmov $12, %eax\n\tret\n"
	"\t.size twelve, . - twelve\n");
void tiny(void);

LOCAL int worker_step(int i)
{
	sink = i;
	return i * 2 + 1;
}

LOCAL void *worker(void *arg)
{
	long sum = 0;

	for (int i = 0; i < 10000; i++)
		sum += worker_step(i);
	*(long *)arg = sum;
	return NULL;
}

LOCAL void pointers(void)
{
	int numbers[] = {5, 3, 9, 1, 7};
	int (*volatile compare)(const void *, const void *) = by_pointer;

	qsort(numbers, 5, sizeof(*numbers), compare);
	printf("%d %d %d %d %d\n", numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
	printf("%d\n", compare(&numbers[0], &numbers[1]) < 0);
}

LOCAL void leaps(void)
{
	for (volatile int i = 0; i < 5; i++)
		if (!setjmp(back))
			leap(3);
	printf("%d\n", sink);
}

LOCAL void threads(void)
{
	pthread_t ids[4];
	long sums[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, worker, &sums[i]);
	for (int i = 0; i < 4; i++) {
		pthread_join(ids[i], NULL);
		printf("%ld\n", sums[i]);
	}
}

LOCAL void forks(void)
{
	int status;

	printf("%d\n", fibonacci(5));
	fflush(stdout);
	if (!fork()) {
		printf("%d\n", fibonacci(6));
		fflush(stdout);
		exit(0);
	}
	wait(&status);
	printf("%d %d\n", fibonacci(4), WEXITSTATUS(status));
}

static volatile sig_atomic_t n_traps;

static void count_trap(int number)
{
	(void)number;
	n_traps++;
}

/* A program that uses SIGTRAP itself, and one that blocks everything. */
LOCAL void traps(void)
{
	struct sigaction action = {.sa_handler = count_trap}, old;
	sigset_t all, before;

	for (int i = 0; i < 10; i++)
		tiny();
	sigaction(SIGTRAP, &action, &old);
	printf("%d\n", old.sa_handler == SIG_DFL);
	raise(SIGTRAP);
	__asm__ volatile("int3");
	sigaction(SIGTRAP, NULL, &old);
	printf("%d %d\n", (int)n_traps, old.sa_handler == count_trap);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	printf("%d\n", sigismember(&before, SIGTRAP));
	for (int i = 0; i < 10; i++)
		tiny();
	sigprocmask(SIG_SETMASK, &before, &all);
	printf("%d\n", sigismember(&all, SIGTRAP));
	signal(SIGTRAP, SIG_DFL);
	for (int i = 0; i < 10; i++)
		tiny();
}

LOCAL void *trap_often(void *arg)
{
	for (int i = 0; i < 2000; i++)
		tiny();
	return arg;
}

LOCAL void trap_threads(void)
{
	pthread_t ids[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, trap_often, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
}

typedef int function(int);

/* A module, opened, used, closed, three times; with other threads there or not. */
LOCAL void opens(const char *path, int has_thread)
{
	pthread_t id;
	long sum;

	if (has_thread) {
		pthread_create(&id, NULL, (void *(*)(void *))(void *)pause, NULL);
		usleep(1000);
	}
	for (int i = 0; i < 3; i++) {
		void *module = dlopen(path, RTLD_NOW);
		function *outer = module ? (function *)dlsym(module, "module_outer") : NULL;
		function *write = module ? (function *)dlsym(module, "module_write") : NULL;

		printf("%d\n", outer ? outer(10 + i) : -1);
		if (write)
			printf("%d\n", write(0));
		if (module)
			dlclose(module);
	}
	worker(&sum);
	printf("%ld\n", sum);
}

static void handle_alarm(int number)
{
	sink = number;
}

/* Whoever is awake handles them, or is woken. */
LOCAL void start_alarms(void)
{
	struct itimerval interval = {{0, 50}, {0, 50}};
	struct sigaction action = {.sa_handler = handle_alarm, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "recursion"))
		printf("%d\n", fibonacci(15));
	else if (!strcmp(how, "tails"))
		printf("%d %d\n", is_even(100), is_odd(77));
	else if (!strcmp(how, "pointers"))
		pointers();
	else if (!strcmp(how, "leaps"))
		leaps();
	else if (!strcmp(how, "threads"))
		threads();
	else if (!strcmp(how, "forks"))
		forks();
	else if (!strcmp(how, "traps"))
		traps();
	else if (!strcmp(how, "trap-threads"))
		trap_threads();
	else if (!strcmp(how, "opens") && argc > 2)
		opens(argv[2], argc > 3);
	else if (!strcmp(how, "alarms") && argc > 2) {
		start_alarms();
		opens(argv[2], 0);
	} else
		return 2;
	return 0;
}

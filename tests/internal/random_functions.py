# SPDX-License-Identifier: BSD-3-Clause
"""Random C functions: signatures, bodies and calls of each other, with known numbers of calls.

write(number, n_functions) returns the text of one C file and the name of its driver. The same
number gives the same file everywhere.
"""
import random

# Name, how a value of it is made from the uint64_t %s, and how one becomes a uint64_t.
TYPES = {
    "uint64_t": ("%s", "%s"),
    "int64_t": ("(int64_t)(%s)", "(uint64_t)(%s)"),
    "int": ("(int)(%s)", "(uint64_t)(%s)"),
    "unsigned short": ("(unsigned short)(%s)", "(uint64_t)(%s)"),
    "signed char": ("(signed char)(%s)", "(uint64_t)(%s)"),
    "_Bool": ("((%s) %% 2)", "(uint64_t)(%s)"),
    "float": ("(float)((%s) & 0xfff)", "(uint64_t)(%s)"),
    "double": ("(double)((%s) & 0xfffff)", "(uint64_t)(%s)"),
    "long double": ("(long double)((%s) & 0xfffff)", "(uint64_t)(%s)"),
    "__int128": ("((__int128)(%s) << 32)", "(uint64_t)((%s) >> 32)"),
    "v4si": ("((v4si){(int)(%s), 1, 2, 3})", "(uint64_t)((%s)[0])"),
    "v2df": ("((v2df){(double)((%s) & 0xfff), 1})", "(uint64_t)((%s)[0])"),
    "v8si": ("((v8si){(int)(%s), 1, 2, 3})", "(uint64_t)((%s)[0])"),
    "_Complex double": ("((double)((%s) & 0xfff) + 2.0i)", "(uint64_t)__real__(%s)"),
    "_Complex float": ("((float)((%s) & 0xfff) + 2.0if)", "(uint64_t)__real__(%s)"),
    "struct pair": ("((struct pair){(int)(%s), 1.5f})", "(uint64_t)((%s).a)"),
    "struct mixed": ("((struct mixed){(double)((%s) & 0xfff), 7})", "(uint64_t)((%s).d)"),
    "struct three": ("((struct three){{(long)(%s), 2, 3}})", "(uint64_t)((%s).a[0])"),
    "struct nine": ("((struct nine){{(long)(%s)}})", "(uint64_t)((%s).a[0])"),
    "struct bytes": ("((struct bytes){{(char)(%s), 2}})", "(uint64_t)((%s).c[0])"),
}

HEAD = """/* SPDX-License-Identifier: BSD-3-Clause */
/* Written by random_functions.py. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

typedef int v4si __attribute__((vector_size(16)));
typedef double v2df __attribute__((vector_size(16)));
typedef int v8si __attribute__((vector_size(32)));
struct pair {
	int a;
	float b;
};
struct mixed {
	double d;
	long l;
};
struct three {
	long a[3];
};
struct nine {
	long a[9];
};
struct bytes {
	char c[7];
};

static volatile uint64_t seen;
"""


def made(kind, value):
    """An expression of type kind from one of type uint64_t."""
    return TYPES[kind][0].replace("%%", "%") % value if "%%" not in TYPES[kind][0] else \
        TYPES[kind][0] % value


def folded(kind, value):
    """An expression of type uint64_t from one of type kind."""
    return TYPES[kind][1] % value


class Function:
    """One function: its text, and what it calls, how often."""

    def __init__(self, rng, number, idx, earlier):
        self.rng = rng
        self.name = f"random_{number}_{idx}"
        self.result = rng.choice(list(TYPES))
        self.params = [rng.choice(list(TYPES)) for _ in range(rng.choice((0, 1, 1, 2, 3, 4, 6, 9, 14)))]
        self.is_static = rng.random() < 0.6
        self.calls = []  # (function, how often in one call of this one)
        self.depth = 0
        self.k = rng.getrandbits(62) | 1
        self.lines = [self.start()]
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
            kind = rng.choice((self.loop, self.switch, self.live, self.buffer, self.cold,
                               self.early, self.array, self.store, self.label))
            kind()
        shallow = [f for f in earlier if f.depth < 3]
        for _ in range(rng.choice((0, 0, 1, 2))):
            if shallow:
                self.call(rng.choice(shallow))

    def start(self):
        terms = [f"{folded(kind, f'p{i}')} * {2 * i + 1}u" for i, kind in enumerate(self.params)]
        return f"uint64_t a = {' + '.join(terms) or f'seen + {self.k}u'};"

    def loop(self):
        step = self.rng.choice(("a >>= 3", "a /= 5", "a &= a - 1"))
        self.lines.append(f"for (uint64_t n = a & 0xff; n; n >>= 1)\n\t\ta = a * {self.k}u + n;")
        if self.rng.random() < 0.5:
            self.lines.append(f"for (int i = 0; i < 3; i++)\n\t\t{step};")

    def switch(self):
        cases = "".join(f"\tcase {i}:\n\t\ta {self.rng.choice(('+=', '^=', '-=', '*='))} "
                        f"{self.rng.getrandbits(30)};\n\t\t{self.rng.choice(('break;', ';'))}\n"
                        for i in range(self.rng.randrange(5, 14)))
        cases = cases.replace("\t\t;\n", "\t\t/* fall through */\n")
        self.lines.append(f"switch (a % 16) {{\n{cases}\tdefault:\n\t\ta = ~a;\n\t}}")

    def live(self):
        """Values that live across what comes behind it; folded in by finish()."""
        n = len(self.lines)
        self.lines.append(f"uint64_t l{n} = a * 3, m{n} = a ^ {self.k}u; double d{n} = (double)(a & 0xfff);")

    def buffer(self):
        n = len(self.lines)
        self.lines.append(f"char b{n}[{self.rng.randrange(8, 200)}];\n\tmemset(b{n}, (int)a, sizeof(b{n}));\n"
                          f"\t__asm__ volatile(\"\" : : \"r\"(b{n}) : \"memory\");\n"
                          f"\ta += (uint64_t)b{n}[a % sizeof(b{n})];")

    def cold(self):
        self.lines.append(f"if (__builtin_expect(a == MAGIC, 0)) {{\n\t\tprintf(\"%lu\\n\", a + {self.k}u);\n"
                          "\t\tabort();\n\t}")

    def early(self):
        self.lines.append(f"if (a % 8 == {self.rng.randrange(8)} && a != MAGIC)\n\t\ta = a * 5 + 1;")

    def array(self):
        n = len(self.lines)
        values = ", ".join(str(self.rng.getrandbits(40)) for _ in range(8))
        self.lines.append(f"static const uint64_t t{n}[8] = {{{values}}};\n\ta ^= t{n}[a % 8];")

    def store(self):
        self.lines.append("seen += a;\n\ta ^= seen;")

    def label(self):
        n = len(self.lines)
        self.lines.append(f"static const void *const j{n}[] = {{&&x{n}, &&y{n}, &&z{n}}};\n"
                          f"\tgoto *j{n}[a % 3];\nx{n}:\n\ta += 7;\ny{n}:\n\ta *= {self.k}u;\nz{n}:\n\ta -= 3;")

    def call(self, other):
        n = self.rng.choice((1, 1, 2, 4))
        args = ", ".join(made(kind, f"(a + {i * 17}u)") for i, kind in enumerate(other.params))
        call = f"a = a * 3 + {folded(other.result, f'{other.name}({args})')};"
        self.lines.append(call if n == 1 else f"for (int i = 0; i < {n}; i++)\n\t\t{call}")
        self.calls.append((other, n))
        self.depth = max(self.depth, other.depth + 1)

    def prototype(self):
        params = ", ".join(f"{kind} p{i}" for i, kind in enumerate(self.params)) or "void"
        return f"KEEP {'static ' if self.is_static else ''}{self.result} {self.name}({params})"

    def text(self):
        live = "".join(f"\ta += l{i} + m{i} * 5 + (uint64_t)d{i};\n" for i, line in enumerate(self.lines)
                       if line.startswith("uint64_t l"))
        body = "\n\t".join(self.lines)
        own = "" if self.is_static else f"{self.prototype().replace('KEEP ', '')};\n"
        return f"{own}{self.prototype()}\n{{\n\t{body}\n{live}\treturn {made(self.result, f'(a ^ {self.k}u)')};\n}}\n"


def write(number, n_functions):
    """One file. The driver calls the last functions, which call the others, and those nobody does."""
    rng = random.Random(number)
    functions = []
    for idx in range(n_functions):
        functions.append(Function(rng, number, idx, functions))
    n_calls = {f.name: 0 for f in functions}
    driver = f"drive_random_{number}"
    lines = []
    for f in reversed(functions):
        if rng.random() < 0.5 or n_calls[f.name] == 0:
            n_calls[f.name] += 3
            args = ", ".join(made(kind, f"input(i + {i}u)") for i, kind in enumerate(f.params))
            lines.append(f"\t\tuse({folded(f.result, f'{f.name}({args})')});")
        for other, n in f.calls:
            n_calls[other.name] += n * n_calls[f.name]
    counts = "\n".join(f'\tcount("{name}", {n}, {n});' for name, n in n_calls.items())
    text = HEAD + "\n".join(f.text() for f in functions)
    text += (f"\nvoid {driver}(void);\nvoid {driver}(void)\n{{\n"
             "\tfor (unsigned int i = 0; i < ROUNDS; i++) {\n" + "\n".join(lines) + f"\n\t}}\n{counts}\n}}\n")
    return text, driver

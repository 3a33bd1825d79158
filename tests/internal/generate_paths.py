# SPDX-License-Identifier: BSD-3-Clause
"""generate_paths.py FILE N SEED: a C++ program that calls site_target() at the end of N call paths.

Each path is 3 to 12 functions deep and has functions of its own, of every kind. main() takes the
paths in order; site_target(i) is what they call.
"""
import random
import sys

HEAD = """/* Written by generate_paths.py. */
#include <alloca.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define KEEP __attribute__((noinline, noclone))
#ifdef __clang__
#undef KEEP
#define KEEP __attribute__((noinline))
#endif
volatile long paths_sum;
extern "C" KEEP long site_target(long i)
{
	paths_sum = paths_sum * 31 + i;
	return paths_sum;
}
struct Base {
	virtual ~Base() = default;
	virtual long step(long x) = 0;
};
"""

# NAME of this one, CALL of the next one with x, NUMBER a number.
KINDS = {
    "c": 'extern "C" KEEP long NAME(long x)\n{\n\tlong y = CALL;\n\treturn y + x;\n}\n',
    "static": "KEEP static long NAME(long x)\n{\n\treturn (CALL) * 3 + 1;\n}\n",
    "scope": "namespace sNAME\n{\nKEEP long NAME(long x)\n{\n\treturn (CALL) ^ NUMBER;\n}\n}\n",
    "method": "struct cNAME {\n\tlong k = NUMBER;\n\tKEEP long NAME(long x)\n\t{\n\t\treturn (CALL) + k;\n\t}\n};\n",
    "virtual": "struct vNAME final : Base {\n\tlong k = NUMBER;\n\tKEEP long step(long x) override\n\t{\n"
               "\t\treturn (CALL) + k;\n\t}\n};\n"
               "KEEP static long NAME(long x)\n{\n\tvNAME object;\n\tBase *volatile p = &object;\n"
               "\treturn p->step(x) + 1;\n}\n",
    "template": "template <typename T, int n> KEEP T NAME(T x)\n{\n\treturn (CALL) + n;\n}\n",
    "alloca": "KEEP static long NAME(long x)\n{\n\tvolatile char *p = (volatile char *)alloca((size_t)(NUMBER + x % 7));\n"
              "\tp[0] = (char)x;\n\tlong y = CALL;\n\treturn y + p[0];\n}\n",
    "frame": "KEEP static long NAME(long x)\n{\n\tvolatile char p[NUMBER * 16];\n\tp[NUMBER] = (char)x;\n\tlong y = CALL;\n"
             "\treturn y + p[NUMBER];\n}\n",
    "live": "KEEP static long NAME(long x)\n{\n\tlong a = x * 3, b = x ^ NUMBER, c = x + paths_sum, d = paths_sum, e = d * c;\n"
            "\tlong y = CALL;\n\treturn y + a * b + c * d + e;\n}\n",
    "many": "KEEP static long iNAME(long x, long a, long b, long c, long d, long e, long f, long g)\n{\n"
            "\treturn (CALL) + a + b + c + d + e + f + g;\n}\n"
            "KEEP static long NAME(long x)\n{\n\tlong y = iNAME(x, 1, 2, 3, 4, 5, x, NUMBER);\n\treturn y + 2;\n}\n",
    "caught": "KEEP static long NAME(long x)\n{\n\ttry {\n\t\treturn (CALL) + (x > 1000000 ? throw x : 1);\n"
              "\t} catch (long y) {\n\t\treturn y;\n\t}\n}\n",
    "aligned": "KEEP static long NAME(long x)\n{\n\talignas(64) volatile long p[8];\n\tp[1] = x;\n\tlong y = CALL;\n"
               "\treturn y + p[1];\n}\n",
    "lambda": "KEEP static long NAME(long x)\n{\n\tauto f = [&](long a) KEEP { long y = CALL; return y + a; };\n"
              "\tlong z = f(x + 1);\n\treturn z + 3;\n}\n",
    "callback": "static int kNAME(const void *a, const void *b)\n{\n\tlong x = *(const long *)a;\n"
                "\tlong y = CALL;\n\tpaths_sum = paths_sum + y;\n\treturn *(const long *)b > x ? -1 : 1;\n}\n"
                "KEEP static long NAME(long x)\n{\n\tlong v[2] = {x, x + 1};\n\tqsort(v, 2, sizeof(*v), kNAME);\n"
                "\treturn v[0] + 1;\n}\n",
}

CALLS = {
    "scope": "sNAME::NAME(x)",
    "method": "cNAME().NAME(x)",
    "template": "NAME<long, NUMBER>(x)",
}


def main():
    """Write the file."""
    path, n, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    text = [HEAD]
    drivers = []
    kinds = list(KINDS)
    for site in range(n):
        call = f"site_target(x + {site})"
        for level in range(rng.randrange(3, 13) - 1):
            # Every kind is there, whatever the seed.
            kind = kinds[(site + level) % len(kinds)] if level == 0 else rng.choice(kinds)
            name = f"f{site}_{level}"
            k = str(rng.randrange(2, 90))
            body = KINDS[kind].replace("CALL", call)
            text.append(body.replace("NAME", name).replace("NUMBER", k))
            call = CALLS.get(kind, "NAME(x)").replace("NAME", name).replace("NUMBER", k)
        drivers.append(f"\tx = 0;\n\tpaths_sum = paths_sum + {call};")
    text.append("int main()\n{\n\tlong x;\n\n" + "\n".join(drivers) +
                '\n\tprintf("%ld\\n", paths_sum);\n\treturn 0;\n}\n')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(text))


main()

# SPDX-License-Identifier: BSD-3-Clause
"""generate.py FOLDER KIND N [RANDOM]: the sources of a program whose functions are all called.

KIND is c, c++, fortran or rust; each of its templates (shapes-*.in) is written N times with another
number, and for C as many files of random functions, RANDOM (40) in each. The program prints a sum
of all results, and "COUNT name least most" for every function.
"""
import os
import sys

import random_functions

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPLATES = {
    "c": ["shapes-entries.c", "shapes-arguments.c", "shapes-jumps.c", "shapes-exits.c",
          "shapes-handmade.c", "shapes-assembly.S"],
    "c++": ["shapes-classes.cc"],
    "fortran": ["shapes-modules.f90"],
    "rust": ["shapes-generics.rs"],
}


def put(folder, name, text):
    """A file, which may not be there: that would be two of one name."""
    with open(os.path.join(folder, name), "x", encoding="utf-8") as file:
        file.write(text)


def filled(template, number):
    """The text of a template with its number."""
    with open(os.path.join(HERE, template + ".in"), encoding="utf-8") as file:
        text = file.read()
    k = (number * 6364136223846793005 + 1442695040888963407) % 2**62 | 1
    return text.replace("@N@", str(number)).replace("@K@", str(k))


def main():
    """Write the files."""
    folder, kind, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
    n_random = int(sys.argv[4]) if len(sys.argv) > 4 else 40
    os.makedirs(folder, exist_ok=True)
    drivers = []
    for number in range(1, n + 1):
        for template in TEMPLATES[kind]:
            stem, ext = os.path.splitext(template)
            # rustc wants a crate's name, which is the file's.
            put(folder, f"{stem.replace('-', '_')}_{number}{ext}", filled(template, number))
            if ext != ".S":
                drivers.append(f"drive_{stem.removeprefix('shapes-')}_{number}")
        if kind == "c" and n_random:
            text, driver = random_functions.write(number, n_random)
            put(folder, f"random_{number}.c", text)
            drivers.append(driver)
    put(folder, "drivers.inc", "".join(f"DRIVER({driver})\n" for driver in drivers))


if __name__ == "__main__":
    main()

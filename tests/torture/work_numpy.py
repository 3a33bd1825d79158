# SPDX-License-Identifier: BSD-3-Clause
"""numpy, threads, ctypes and multiprocessing."""
import ctypes
import multiprocessing
import threading

import numpy


def numbers(a):
    """What libm, OpenBLAS and numpy's own loops compute."""
    print(repr(numpy.linalg.solve(a, a @ numpy.arange(300.0)).sum()))
    print(repr(numpy.linalg.svd(a, compute_uv=False)[:5]), repr(numpy.fft.fft(a[0])[7]))
    print(repr(numpy.sin(a).sum()), repr(numpy.exp(1j * a).sum()), numpy.sort(a, axis=None)[:3])
    print(repr(numpy.longdouble(1) / 3), repr(numpy.float16(0.1)), numpy.gcd(12, 18))
    with numpy.errstate(all="raise"):
        try:
            print(numpy.float64(1) / numpy.zeros(3))
        except FloatingPointError as error:
            print(error)


def products(a):
    """Four threads in OpenBLAS at once."""
    traces = [None] * 4

    def multiply(i):
        traces[i] = (a @ (a + i)).trace()

    threads = [threading.Thread(target=multiply, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(traces)


def main():
    """All of it, and calls by ctypes and in other processes."""
    a = numpy.random.default_rng(7).standard_normal((300, 300))
    numbers(a)
    products(a)
    libm = ctypes.CDLL("libm.so.6")
    libm.pow.restype = ctypes.c_double
    libm.pow.argtypes = [ctypes.c_double] * 2
    print(libm.pow(2.0, 0.5))
    for method in "fork", "spawn":
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, sum(pool.map(abs, range(-50, 50))))


if __name__ == "__main__":
    main()

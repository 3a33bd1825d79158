// SPDX-License-Identifier: BSD-3-Clause
// Threads, garbage, exceptions and a stack overflow.
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

public class Main {
	static int deep(int n) {
		return deep(n + 1) + 1;
	}

	static long sums() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(3);
		List<Future<Long>> sums = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			final long n = i;
			sums.add(pool.submit(() -> LongStream.range(0, 50000 * n).map(x -> x ^ n).sum()));
		}
		long total = 0;
		for (Future<Long> sum : sums)
			total += sum.get();
		pool.shutdown();
		return total;
	}

	public static void main(String[] arguments) throws Exception {
		long total = sums();
		System.out.println(total + " " + Math.sin(total));
		try {
			deep(0);
		} catch (StackOverflowError error) {
			System.out.println("overflow");
		}
		try {
			((Object) null).hashCode();
		} catch (NullPointerException error) {
			System.out.println("null");
		}
		byte[][] garbage = new byte[64][];
		for (int i = 0; i < 4000; i++)
			garbage[i % 64] = new byte[100000];
		System.out.println(IntStream.range(0, 3000).mapToObj(Integer::toString)
			.collect(Collectors.groupingBy(String::length)).get(3).size());
		System.exit(7);
	}
}

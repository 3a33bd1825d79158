# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Torture cases: interpreters and languages. Sourced by case.sh, which says what a case may use.

case_perl()
{
	perl "$IN/workload.pl"
	perl -e 'exec "sh", "-c", "exit 6"'
}

case_perldoc()
{
	pod2text /usr/share/perl/5.36.0/Getopt/Long.pm | sha256sum
	pod2man --date=2024 --release=1 /usr/share/perl/5.36.0/CPAN.pm | sha256sum
	podchecker /usr/share/perl/5.36.0/File/Find.pm
	corelist -v 5.036 | tail -n 5
	for module in /usr/share/perl/5.36.0/[A-D]*.pm; do
		perl -c "$module"
	done 2>&1
	perldoc -l Nothing
}

# Python's own regression tests, those that do not wait for minutes.
case_python()
{
	set --
	for name in list dict set re struct unicode float math cmath fractions bytes zlib \
		contextlib generators threading_local mmap posix exceptions itertools sort long \
		array binascii pickle select os coroutines \
		subprocess.POSIXProcessTestCase subprocess.ContextManagerTests; do
		set -- "$@" "test.test_$name"
	done
	PYTHONHASHSEED=0 /usr/bin/python3 -B -W ignore "$HERE/work_tests.py" "$@" \
		ctypes.test.test_callbacks ctypes.test.test_functions
}

case_numpy()
{
	/usr/bin/python3 -B "$HERE/work_numpy.py"
	/usr/bin/python3 -c 'import numpy; numpy.zeros(3)[5]'
	/usr/bin/python3 -c 'import ctypes; ctypes.string_at(0)'
}

# Its own tests, of parts that call BLAS, LAPACK and Fortran; but for how long they took.
case_scipy()
{
	/usr/bin/python3 -B -m pytest -q -p no:cacheprovider -rfE --pyargs \
		scipy.linalg.tests.test_decomp_cholesky scipy.fft.tests.test_helper \
		scipy.fftpack.tests.test_basic scipy.special.tests.test_gamma \
		scipy.optimize.tests.test_zeros scipy.interpolate.tests.test_fitpack \
		scipy.integrate.tests.test_quadpack scipy.sparse.linalg.tests.test_norm |
		sed 's/ in [0-9.]*s.*//'
}

case_node()
{
	node "$IN/workload.js"
	node -e 'const w = require("worker_threads"), c = require("child_process");
		console.log(c.execSync("echo from a child").toString());
		new w.Worker(`require("worker_threads").parentPort.postMessage(6 * 7)`, {eval: true})
			.on("message", m => { console.log("worker", m); process.exitCode = 5; })'
	echo "status $?"
	node -e 'process.abort()' >/dev/null 2>&1
	echo "aborted $?"
	node -p 'throw new Error("thrown")'
}

case_java()
{
	java -version
	java -Xshare:off -XshowSettings:locale -version 2>&1 | grep default
	java Nothing
}

case_javac()
{
	cp "$HERE/Main.java" . && javac -J-Xmx256m Main.java && java -Xmx128m Main
	echo "status $?"
	echo 'class Broken { int f() { return "text"; } }' >Broken.java
	javac Broken.java
}

case_lua()
{
	lua - <<'END'
local words, seen = {}, {}
for i = 1, 20000 do words[i] = ("w%d"):format(i * 7919 % 997) end
for _, word in ipairs(words) do seen[word] = (seen[word] or 0) + 1 end
table.sort(words)
print(words[1], words[#words], seen.w5, #table.concat(words, ","))
local co = coroutine.wrap(function(a) for i = 1, 3 do a = a + coroutine.yield(a * i) end return a end)
print(co(2), co(3), co(4), co(5))
print(pcall(error, "thrown"), select("#", pcall(string.rep)), ("x-y"):gsub("%w", "<%0>"))
print(math.sin(1), 2^53, 7 // 2, string.pack and #string.pack("i4s2", 1, "abc"))
local pipe = io.popen("echo from a pipe"); print(pipe:read("a")); print(pipe:close())
local function deep(n) return n == 0 and 0 or 1 + deep(n - 1) end
print(deep(10000), pcall(function() return deep(1e7) end))
os.exit(6)
END
}

case_tcl()
{
	tclsh <<'END'
for {set i 0} {$i < 5000} {incr i} {lappend l [expr {$i * 7919 % 997}]}
puts [llength [lsort -unique -integer $l]]
puts [format %.12f [expr {sin(1) ** 0.5}]]
puts [catch {error thrown} message]:$message
puts [exec echo from a child | tr a-z A-Z]
puts [regsub -all {(\w)-(\w)} a-b-c-d {\2+\1}]
after 10 {set done 1}; vwait done
puts [string length [string repeat abc 10000]]:[clock format 0 -gmt 1 -format %Y]
exit 8
END
}

case_ruby()
{
	ruby -e 'puts (1..2000).map { |i| i * 7919 % 997 }.tally.sort_by { |k, n| [-n, k] }.first(3).inspect
		fiber = Fiber.new { 3.times { |i| Fiber.yield i * 2 } }
		puts 3.times.map { fiber.resume }.inspect, 2**200, Math.sin(1)
		begin; raise "thrown"; rescue => e; puts e.message; end
		puts 4.times.map { |i| Thread.new { i * i } }.map(&:value).sum, `echo child`
		def deep(n) = deep(n + 1)
		begin; deep(0); rescue SystemStackError; puts "overflow"; end
		pid = fork { exit! 3 }; Process.wait pid; puts $?.exitstatus; exit 4'
}

case_rust()
{
	rustc -C opt-level=1 -o main "$HERE/main.rs" && ./main 2>&1 | sed "s/([0-9]*) panicked/panicked/"
	echo 'fn main() { let x: u32 = "text"; }' | rustc -
	rm -f main
}

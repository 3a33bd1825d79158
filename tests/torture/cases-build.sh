# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Torture cases: compilers and their tools. Sourced by case.sh, which says what a case may use.

case_binutils()
{
	libc=/usr/lib/x86_64-linux-gnu/libc.so.6
	objdump -d --stop-address=0x30000 $libc | sha256sum
	objdump -dr -M intel /bin/true | tail -n 500
	readelf -aW --debug-dump=frames /bin/ls
	nm -D --with-symbol-versions $libc | c++filt | sha256sum
	strings -n 8 /bin/ls && size -A /bin/ls && addr2line -e /bin/ls 0x5000
	readelf -h "$IN/text"
}

case_strip()
{
	cp /usr/bin/gdb . && objcopy --remove-section=.comment gdb copy && strip -s copy
	strip "$IN/text"
	rm gdb
}

case_ld()
{
	for i in 1 2 3 4 5 6; do
		gcc -O0 -g -c "$IN/c/unit$i.c" -o "unit$i.o"
	done
	ar rcs libunits.a unit1.o unit2.o unit3.o && ranlib libunits.a && ar tv libunits.a | wc -l
	ld -shared -o units.so --build-id=sha1 unit*.o
	ld -r -o all.o --whole-archive libunits.a && ld -T /nowhere all.o
	echo 'int main(void) {return unit_1(2) + unit_4(1);}' | gcc -w -x c -c - -o main.o
	gcc -o program main.o unit4.o -L. -lunits -Wl,-Map=program.map -Wl,-z,now && ./program
	gcc -static -o static main.o unit4.o -L. -lunits && ./static
	gcc main.o 2>&1 | sed 's,/tmp/[^ ]*,TMP,'
	for linker in lld mold gold; do
		command -v ld.$linker >/dev/null || continue
		gcc -fuse-ld=$linker -o program.$linker main.o unit4.o -L. -lunits && ./program.$linker
	done
}

case_gcc()
{
	gcc -O2 -Wall -c "$IN"/c/unit?.c "$IN"/c/unit1?.c
	for i in $(seq 20 50); do
		gcc -O1 -g -fPIC -Wextra -save-temps=obj -c "$IN/c/unit$i.c" -o "unit$i.o" || exit
	done
	echo 'int f(void) { return undeclared + 1 }' | gcc -x c -c -
	gcc -E -dM -x c /dev/null | sort | sha256sum
	gcc -v --help=optimizers 2>&1 | wc -l
}

case_gxx()
{
	for i in $(seq 50); do
		g++ -O0 -c "$IN/cc/unit$i.cc" || exit
	done
	g++ -O2 -flto -shared -fPIC -o units.so "$IN"/cc/unit1.cc "$IN"/cc/unit2.cc
	echo 'int main() { return "text" * 2; }' | g++ -x c++ -c -
}

case_gfortran()
{
	cat >solve.f90 <<'END'
program solve
  implicit none
  real(8) :: a(60, 60), b(60)
  integer :: i
  complex(8) :: z
  character(len=40) :: text
  a = 0
  do i = 1, 60
     a(i, i) = i + 0.5d0
     b(i) = sin(dble(i))
  end do
  a(1, :) = 1
  print '(3f20.12)', matmul(a, b)
  z = exp((0d0, 1d0) * 2)
  write (text, '(2es18.10)') z
  print *, trim(text), count(b > 0), maxloc(b)
  open (10, file='data', form='unformatted')
  write (10) a
  close (10)
  stop 3
end program
END
	gfortran -O2 -fcheck=all -o solve solve.f90 && ./solve
	gfortran -c nothing.f90
}

case_make()
{
	make -s -j2 -C "$IN/c" --dry-run | sort | tail -n 3
	cp -r "$IN/c" . && make -s -j2 -C c && ./c/program && make -C c -q
	make -s -C c nothing
	echo '$(shell exit 3)$(info $(words $(wildcard c/*)) $(sort b a) $(value PATH_NOT))' >inline.mk
	make -f inline.mk
}

case_ninja()
{
	cp -r "$IN/c" .
	{
		printf 'rule cc\n  command = gcc -O0 -c $in -o $out\n'
		for i in $(seq 12); do
			echo "build unit$i.o: cc c/unit$i.c"
		done
	} >build.ninja
	ninja -j2 --quiet && ninja -n && rm unit3.o && ninja -d explain -j1 2>&1 | wc -l
	ninja nothing
	rm -f .ninja_*
}

case_cmake()
{
	cp -r "$IN/c" . && rm c/Makefile
	cat >c/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(units C)
file(GLOB sources ${CMAKE_CURRENT_SOURCE_DIR}/unit*.c)
foreach(unused ${sources})
  math(EXPR n "${n}+1")
endforeach()
message(STATUS "${n} sources")
list(SUBLIST sources 0 5 few)
add_library(units STATIC ${few})
END
	cmake -S c -B b >cmake.log && grep sources cmake.log && make -s -C b -j2 units >make.log
	cmake -E sha256sum c/unit1.c
	cmake -S /nowhere
	find b -name '*.a' -exec nm {} + | grep -c unit
	rm -rf b cmake.log make.log
}

case_pkgconf()
{
	pkg-config --list-all | sort
	pkg-config --cflags --libs openssl
	pkg-config --exists nothing || pkg-config --print-errors --modversion nothing
}

case_gdb()
{
	gcc -g -O0 -o program "$IN/c/unit7.c" -x c - <<'END'
int unit_7(int n);
int main(void)
{
	return unit_7(3) == 5;
}
END
	gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set disable-randomization on' \
		-ex 'break mix' -ex run -ex backtrace -ex 'info locals' -ex finish -ex 'ptype root' \
		-ex 'python print(gdb.parse_and_eval("n"))' -ex 'disassemble unit_7' \
		-ex 'watch hash' -ex continue -ex kill program 2>&1 |
		sed '/^\[\|warning:/d; s/0x[0-9a-f]*/ADDRESS/g'
	gdb -nx -batch -ex 'info functions ^unit' -ex 'list unit_7' -ex 'print sizeof(struct node_7)' \
		program
	rm program
}

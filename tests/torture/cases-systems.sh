# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Torture cases: servers, cryptography, data bases, threads, MPI. Sourced by case.sh, which says
# what a case may use.

is_listening()
{
	grep -qi "0100007F:$(printf '%04x' "$PORT") 00000000:0000 0A" /proc/net/tcp
}

# Until the server listens, 10 s at most.
wait_for_server()
{
	tries=0
	until is_listening; do
		tries=$((tries + 1))
		[ "$tries" -lt 100 ] || return 1
		sleep 0.1
	done
}

# What dash says about the end of a job depends on when it notices.
stop_server()
{
	kill "$server"
	{ wait "$server"; } 2>/dev/null
	echo "server ended with $?"
}

case_processes()
{
	ps -o comm= -p $$
	pgrep -c -P $$ nothing
	sh -c 'exec sleep 100' &
	kill -9 $!
	{ wait $!; } 2>/dev/null
	echo "killed $?"
	nohup sh -c 'trap "" HUP; kill -HUP $$; echo survived' 2>/dev/null
	setsid -w sh -c 'exit 5'
	echo "session $?"
	flock lock -c 'echo locked'
	nice -n 5 nice
	script -qec 'echo in a terminal; exit 6' /dev/null </dev/null
	echo "script $?"
	# shellcheck disable=SC3045 # dash has it
	(ulimit -n 20; sh -c 'exec 3<>x 4<>x 5<>x; echo few descriptors')
	mkfifo pipe && (echo through a pipe >pipe &) && cat pipe && rm pipe
	/usr/bin/env -u PATH /bin/echo no path
	yes | head -n 1000 | wc -l
	sh -c 'kill -SEGV $$'
}

case_accounts()
{
	id -un && groups && getent passwd root && getent hosts localhost | wc -l
	getent nothing
	getent passwd nobody_of_that_name
}

git_history()
{
	for i in $(seq 5); do
		sed -i "${i}s/^/changed $i /" src/preload/*.c && git commit -q -a -m "change $i"
	done
	git checkout -q -b side HEAD~2 && echo side >>src/preload/init.c && git commit -q -a -m side
	git merge -m merged main 2>&1 || git merge --abort
	git rebase -q main || git rebase --abort
	git log --stat --graph --oneline && git blame src/preload/say.c && git diff HEAD~3 --word-diff
	git grep -n cm_say_ && git status && git stash list && git describe --always
}

case_git()
{
	export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat GIT_CEILING_DIRECTORIES="$PWD"
	export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
	git config --global user.name callmark && git config --global user.email callmark@example.org
	git config --global init.defaultBranch main && git config --global advice.detachedHead false
	git config --global pack.threads 2 && git config --global gc.auto 0
	git init -q one && cp -r "$IN/src" one && git -C one add . && git -C one commit -q -m first
	(cd one && git_history)
	git clone -q "file://$PWD/one" two && git -C two gc -q && git -C two fsck --full --strict
	git -C two fsck --unreachable && git -C one repack -a -d -q && git -C one fsck
	git -C two archive --format=tar HEAD | sha256sum && git -C two push -q origin HEAD:copy
	git -C two bisect start HEAD HEAD~3 && git -C two bisect run grep -q 'changed 4' src/preload/say.c
	git -C two checkout nothing
	status=$?
	rm -rf one two
	return $status
}

case_sqlite()
{
	sqlite3 rows.db <"$IN/statements.sql"
	echo "status $?"
	sqlite3 rows.db .dump | sha256sum && sqlite3 -csv rows.db 'SELECT * FROM t LIMIT 50'
	sqlite3 rows.db 'VACUUM; PRAGMA journal_mode=wal; SELECT sqlite_version(); SELEC'
}

case_openssl_speed()
{
	openssl speed -seconds 1 -bytes 1024 sha256 2>&1 | sed 's/[0-9][0-9.]*k\?/N/g; s/  */ /g'
	openssl speed -seconds 1 -multi 2 -evp aes-128-gcm -bytes 256 2>/dev/null |
		grep -c AES-128-GCM
}

case_openssl_tls()
{
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 3 -subj /CN=localhost 2>/dev/null
	openssl s_server -accept "127.0.0.1:$PORT" -cert cert -key key -rev -quiet >server 2>&1 &
	server=$!
	wait_for_server
	for version in -tls1_3 -tls1_2; do
		{
			echo 'turn this round'
			sleep 0.5
		} | openssl s_client -connect "127.0.0.1:$PORT" -CAfile cert $version -brief 2>&1 |
			grep -v '^DONE'
	done
	stop_server
	openssl s_client -connect "127.0.0.1:$PORT" </dev/null 2>&1 | grep -c refused
	rm -f key cert server
}

case_openssl_tools()
{
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key
	openssl pkey -in key -pubout -out pub
	for digest in sha1 sha512 sha3-256 blake2b512 md5; do
		openssl dgst -$digest "$IN/text" "$IN/table"
	done
	openssl dgst -sha256 -sign key -out signature "$IN/text"
	openssl dgst -sha256 -verify pub -signature signature "$IN/text"
	openssl enc -aes-256-cbc -pbkdf2 -iter 1000 -k secret -in "$IN/text" -out enc
	openssl enc -d -aes-256-cbc -pbkdf2 -iter 1000 -k secret -in enc | cmp - "$IN/text"
	openssl enc -d -aes-256-cbc -pbkdf2 -iter 1000 -k wrong -in signature -out /dev/null 2>/dev/null
	echo "wrong: $?"
	openssl prime 1000000007 && openssl rand -hex 20 | wc -c && openssl list -digest-algorithms
	openssl x509 -in "$IN/text" 2>&1 | sed 's/^[0-9A-F]*:/THREAD:/'
	rm -f key pub signature enc
}

case_ssh_keygen()
{
	for type in rsa ed25519 ecdsa; do
		ssh-keygen -q -t $type -N secret -C comment -f key.$type && ssh-keygen -y -P secret -f key.$type |
			cut -d ' ' -f 1
		ssh-keygen -l -f key.$type.pub | sed 's/SHA256:[^ ]*/HASH/'
	done
	ssh-keygen -y -P wrong -f key.rsa
	rm -f key.*
	ssh -V
	ssh -o BatchMode=yes -p "$PORT" 127.0.0.1 true
}

case_gpg()
{
	export GNUPGHOME="$PWD/home"
	mkdir -m 700 home && gpg --version
	gpg --batch --quiet --passphrase secret --pinentry-mode loopback --symmetric -o out "$IN/text"
	gpg --batch --quiet --passphrase secret --pinentry-mode loopback -d out | cmp - "$IN/text"
	gpg --batch --quiet --passphrase wrong --pinentry-mode loopback -d out
	gpg --print-md SHA256 "$IN/table" | tail -n 2
	gpgconf --kill all
	rm -rf home out
}

# IN over HTTP, by Python.
serve()
{
	/usr/bin/python3 -m http.server -b 127.0.0.1 -d "$IN" "$PORT" >/dev/null 2>&1 &
	server=$!
	wait_for_server
}

case_curl()
{
	serve
	curl -s "http://127.0.0.1:$PORT/text" | cmp - "$IN/text"
	curl -sS -o 'a#1' "http://127.0.0.1:$PORT/c/unit[1-9].c" && cat a? | sha256sum
	curl -s -I "http://127.0.0.1:$PORT/table" | grep -v '^Date\|^Server\|^Last'
	curl -s -S --fail -r 0-99 "http://127.0.0.1:$PORT/nothing"
	echo "status $?"
	stop_server
	curl -sS --max-time 5 "http://127.0.0.1:$PORT/" 2>&1 | sed 's/ after.*ms//'
	curl --version
}

case_wget()
{
	serve
	wget -q -r -np -nH "http://127.0.0.1:$PORT/src/" && find src -name '*.c' | sort | xargs cat | sha256sum
	rm -rf src
	wget -q "http://127.0.0.1:$PORT/nothing"
	echo "status $?"
	stop_server
	wget --version | head -n 3
}

case_mpi()
{
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	export OMPI_MCA_btl_vader_single_copy_mechanism=none
	mpicc -O1 -o ring "$HERE/ring.c"
	mpirun --oversubscribe -n 4 ./ring
	mpirun --oversubscribe -n 2 sh -c 'exit 3' 2>/dev/null
	echo "status $?"
	rm -f ring
}

case_openmp()
{
	gcc -O2 -fopenmp -o omp "$HERE/omp.c" -lm
	./omp
	OMP_NUM_THREADS=3 OMP_DISPLAY_ENV=true ./omp 2>&1 | grep -c OMP_
}

case_cxx_threads()
{
	g++ -O1 -pthread -o program "$HERE/program.cc"
	./program
	echo "status $?"
}

case_hdf5()
{
	/usr/bin/python3 -c 'import h5py, numpy
with h5py.File("data.h5", "w") as f:
    f.create_dataset("a/b", data=numpy.arange(5000).reshape(50, 100), chunks=(10, 10), compression=4)
    f["a/b"].attrs["text"] = "attribute"
with h5py.File("data.h5") as f:
    print(f["a/b"][7].sum(), dict(f["a/b"].attrs))
try:
    h5py.File("nothing.h5")
except OSError as error:
    print(error)'
	h5dump data.h5 | sha256sum
	h5dump -H nothing.h5
	rm -f data.h5
}

case_fakeroot()
{
	fakeroot sh -c 'id -u; touch x; chown 1234:5678 x; stat -c %u:%g x; exit 4'
}

#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""callmark run in front of a program: signals, job control, descriptors, dispositions.

Each case starts `callmark run` on a pseudo-terminal or in its own process group and looks at what
the program saw. CALLMARK is the built command.
"""
import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time

CALLMARK = os.environ["CALLMARK"]
WORK = tempfile.mkdtemp(prefix="callmark-run-signals-")
RULE = "cblas_dgemm"  # nothing that the programs here call: they write no file
TIMEOUT_S = 20

# Counts signals on stdout, ends with status 40 + number of them on SIGTERM.
COUNTER = r"""
import os, signal, sys, time
seen = []
def note(number, frame):
    seen.append(number)
    os.write(1, b"got %d\n" % number)
    if number == signal.SIGTERM:
        time.sleep(0.3)
        os._exit(40 + len(seen))
for name in sys.argv[1:]:
    signal.signal(getattr(signal, name), note)
os.write(1, b"ready\n")
while True:
    time.sleep(0.01)  # one that comes just before signal.pause() would wait for the next
"""


def command(*program):
    return [CALLMARK, "run", "-o", WORK + "/out.h5", "--spool", WORK, "-s", RULE, "--", *program]


def wait_for(condition, what):
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.01)
    raise AssertionError("never happened: " + what)


def read_until(fd, text):
    data = b""
    end = time.monotonic() + TIMEOUT_S
    while text not in data:
        if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
            raise AssertionError(f"{text!r} did not come, only {data!r}")
        data += os.read(fd, 4096)
    return data


def state_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


def child_of(pid):
    def find():
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            pids = file.read().split()
        return int(pids[0]) if pids else None
    return wait_for(find, "a child of `run`")


def executed(pid, name):
    """The child of `run`, once it has become the program."""
    child = child_of(pid)

    def has_name():
        with open(f"/proc/{child}/comm") as file:
            return file.read() == name + "\n"
    wait_for(has_name, "exec of " + name)
    return child


def start(program, **options):
    return subprocess.Popen(command(*program), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            start_new_session=True, **options)


def start_counter(*names, **options):
    process = start(["/usr/bin/python3", "-c", COUNTER, *names], **options)
    read_until(process.stdout.fileno(), b"ready")
    return process


def test_signals_sent_to_run_are_forwarded_once():
    names = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGTERM"]
    process = start_counter(*names)
    for name in names:
        process.send_signal(getattr(signal, name))
        read_until(process.stdout.fileno(), b"got %d\n" % getattr(signal, name))
    assert process.wait(TIMEOUT_S) == 40 + len(names), process.returncode


def test_status_of_a_killed_program():
    for name, expected in (("SIGTERM", 143), ("SIGKILL", 137), ("SIGSEGV", 139)):
        process = start(["sleep", "100"])
        os.kill(executed(process.pid, "sleep"), getattr(signal, name))
        assert process.wait(TIMEOUT_S) == expected, (name, process.returncode)


def test_default_action_of_a_forwarded_signal():
    process = start(["sleep", "100"])
    executed(process.pid, "sleep")
    process.send_signal(signal.SIGUSR1)
    assert process.wait(TIMEOUT_S) == 128 + signal.SIGUSR1, process.returncode


def test_kill_0_of_the_program_does_not_come_back():
    script = "trap 'n=x$n' USR1; kill -USR1 0; sleep 0.3; test \"$n\" = x"
    process = start(["sh", "-c", script])
    assert process.wait(TIMEOUT_S) == 0, process.returncode


def on_terminal(program):
    """`run` as the foreground job of a terminal, below a shell-like parent: pid, terminal."""
    ready = os.pipe()
    shell, terminal = pty.fork()
    if shell == 0:
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            os.tcsetpgrp(0, os.getpgrp())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execv(CALLMARK, command(*program))
        os.write(ready[1], b"%d\n" % job)
        while True:
            _, status = os.waitpid(job, os.WUNTRACED)
            if os.WIFSTOPPED(status):
                os.write(ready[1], b"stopped %d\n" % os.WSTOPSIG(status))
            else:
                os.write(ready[1], b"ended %d\n" % os.waitstatus_to_exitcode(status))
                os._exit(0)
    os.close(ready[1])
    reports = os.fdopen(ready[0])
    return int(reports.readline()), terminal, reports, shell


def finish(shell, reports, terminal):
    reports.close()
    os.waitpid(shell, 0)
    os.close(terminal)


def test_interrupt_from_the_terminal_reaches_the_program_once():
    program = ["/usr/bin/python3", "-c", COUNTER, "SIGINT", "SIGTERM"]
    pid, terminal, reports, shell = on_terminal(program)
    read_until(terminal, b"ready")
    os.write(terminal, b"\x03")
    read_until(terminal, b"got 2")
    time.sleep(0.2)
    assert state_of(pid) in "SR"
    os.kill(pid, signal.SIGTERM)
    assert reports.readline() == "ended 42\n"
    finish(shell, reports, terminal)


def test_interrupt_ends_a_program_that_does_not_mind_it():
    pid, terminal, reports, shell = on_terminal(["sleep", "100"])
    executed(pid, "sleep")
    os.write(terminal, b"\x03")
    assert reports.readline() == "ended 130\n"
    finish(shell, reports, terminal)


def test_stop_and_continue_from_the_terminal():
    program = ["/usr/bin/python3", "-c", COUNTER, "SIGTERM"]
    pid, terminal, reports, shell = on_terminal(program)
    read_until(terminal, b"ready")
    child = child_of(pid)
    for _ in range(3):
        os.write(terminal, b"\x1a")
        assert reports.readline() == f"stopped {int(signal.SIGTSTP)}\n"
        wait_for(lambda: state_of(child) == "T", "the program stops")
        os.kill(-pid, signal.SIGCONT)
        wait_for(lambda: state_of(child) == "S", "the program continues")
        wait_for(lambda: state_of(pid) == "S", "`run` continues")
    # To `run` alone: it stops its program, follows, and takes it along again.
    os.kill(pid, signal.SIGTSTP)
    assert reports.readline() == f"stopped {int(signal.SIGTSTP)}\n"
    assert state_of(child) == "T"
    os.kill(pid, signal.SIGCONT)
    wait_for(lambda: state_of(child) == "S", "the program continues")
    os.kill(pid, signal.SIGTERM)
    assert reports.readline() == "ended 41\n"
    finish(shell, reports, terminal)


def test_program_in_front_reads_the_terminal():
    program = ["sh", "-c", "read x; test \"$x\" = hello && exit 9"]
    _, terminal, reports, shell = on_terminal(program)
    os.write(terminal, b"hello\n")
    assert reports.readline() == "ended 9\n"
    finish(shell, reports, terminal)


def test_window_size_reaches_the_program_once():
    program = ["/usr/bin/python3", "-c", COUNTER, "SIGWINCH", "SIGTERM"]
    pid, terminal, reports, shell = on_terminal(program)
    read_until(terminal, b"ready")
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, b"\x20\0\x60\0\0\0\0\0")
    read_until(terminal, b"got 28")
    time.sleep(0.2)
    os.kill(pid, signal.SIGTERM)
    assert reports.readline() == "ended 42\n"
    finish(shell, reports, terminal)


def test_mask_and_dispositions_are_inherited():
    def prepare():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [signal.SIGUSR2])

    show = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
    bare = subprocess.run(show, preexec_fn=prepare, restore_signals=False,
                          stdout=subprocess.PIPE, check=True)
    under = subprocess.run(command(*show), preexec_fn=prepare, restore_signals=False,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    assert under.stdout == bare.stdout, (bare.stdout, under.stdout)


def test_ignored_sigchld_does_not_lose_the_status():
    ignore = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    process = start(["sh", "-c", "exit 23"], preexec_fn=ignore)
    assert process.wait(TIMEOUT_S) == 23, process.returncode


def test_no_descriptor_is_added():
    show = ["/usr/bin/python3", "-c", "import os; print(sorted(os.listdir('/proc/self/fd')))"]
    bare = subprocess.run(show, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True)
    under = subprocess.run(command(*show), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=True)
    assert under.stdout == bare.stdout, (bare.stdout, under.stdout)


def main():
    n_failed = 0
    # A shell that starts this in the background has them ignored, and so would the programs.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    for name, test in sorted(globals().items()):
        if not name.startswith("test_"):
            continue
        try:
            test()
            print("ok", name)
        except Exception as error:  # each case must be reported
            n_failed += 1
            print("FAILED", name, repr(error))
    subprocess.run(["rm", "-rf", WORK], check=True)
    return 1 if n_failed else 0


sys.exit(main())

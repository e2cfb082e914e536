"""Runs a command at a terminal of its own, and presses q there as soon as it has said something: `pressing-q.py <what> <command> ...`."""
import os
import pty
import sys

said, *command = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
output = b""
is_pressed = False
while True:
    try:
        read = os.read(terminal, 65536)
    except OSError:  # Linux: nobody has the other end any more.
        break
    if not read:
        break
    os.write(1, read)
    output += read
    if not is_pressed and said.encode() in output:
        os.write(terminal, b"q")
        is_pressed = True
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status) % 256)

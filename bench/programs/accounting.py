# Runs a command and prints as JSON how it exited, the milliseconds until then, and the CPU time of itself and everything below it.
import ctypes
import json
import os
import resource
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36

# Only who reaps a process gets to know its CPU time: what the command leaves is to be reaped here, and not by init.
if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
    raise OSError(ctypes.get_errno(), "prctl")

begun_at = time.monotonic()
command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=sys.stderr)
while True:
    try:
        pid, status = os.wait()
    except ChildProcessError:
        break
    if pid == command.pid:
        wall_ms = (time.monotonic() - begun_at) * 1000
        code = os.waitstatus_to_exitcode(status)

used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"code": code, "wallMs": wall_ms, "cpuMs": (used.ru_utime + used.ru_stime) * 1000}))

# Reads pids, a line each, and says of each that it is watched, and when it died: in nanoseconds of the monotonic clock.
import os
import selectors
import sys
import time

# Where this is allowed nothing that is measured comes before it: a death is to be stamped when it happens.
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except PermissionError:
    pass

selector = selectors.DefaultSelector()
selector.register(0, selectors.EVENT_READ, None)


def say(*words):
    sys.stdout.write(' '.join(map(str, words)) + '\n')
    sys.stdout.flush()


while True:
    events = selector.select()
    at = time.monotonic_ns()
    for key, _ in events:
        if key.data is not None:
            say('dead', key.data, at)
            selector.unregister(key.fd)
            os.close(key.fd)
            continue
        text = os.read(0, 4096)
        if not text:
            sys.exit()
        for pid in map(int, text.split()):
            selector.register(os.pidfd_open(pid), selectors.EVENT_READ, pid)
            say('watching', pid)

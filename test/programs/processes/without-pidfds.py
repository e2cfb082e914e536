# Becomes the program of its arguments, in a sandbox that knows no pidfd, as old ones do. With REFUSED=EPERM it forbids them.
import ctypes, errno, os, struct, sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | getattr(errno, os.environ.get("REFUSED", "ENOSYS"))
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
PIDFD_SEND_SIGNAL, PIDFD_OPEN = 424, 434

program = [
    (LOAD, 0, 0, 0),  # the number of the call
    (JUMP_IF_EQUAL, 2, 0, PIDFD_OPEN),
    (JUMP_IF_EQUAL, 1, 0, PIDFD_SEND_SIGNAL),
    (RETURN, 0, 0, ALLOW),
    (RETURN, 0, 0, REFUSE),
]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(Filter(len(program), ctypes.addressof(code))), 0, 0) != 0:
    sys.exit(f"no sandbox: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[1], sys.argv[1:])

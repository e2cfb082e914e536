# Becomes the program that it is given, and the parent of all orphans below that. The program does not know of them: they stay zombies.
import ctypes
import os
import sys

PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
os.execvp(sys.argv[1], sys.argv[1:])

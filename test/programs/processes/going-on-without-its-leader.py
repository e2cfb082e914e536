# A process whose first thread ends by pthread_exit: /proc calls it a zombie, and the second thread goes on. It says when that is so.
import ctypes, threading


def go_on():
    while ") Z " not in open("/proc/self/stat", encoding="latin-1").read():
        pass
    print("ready", flush=True)
    threading.Event().wait()


threading.Thread(target=go_on).start()
ctypes.CDLL(None).pthread_exit(None)

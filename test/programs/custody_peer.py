#!/usr/bin/env python3
"""A second implementation of custody/1, written from docs/protocol.md: Python 3.9+, Linux and macOS, standard library.

    custody_peer.py client LOCATOR [METHOD [PARAMS]]    asks who it is, then METHOD; prints what it hears from then on
    custody_peer.py daemon LOCATOR [NAME]               prints "ready" when it has published; serves until it is asked to leave

The client exits with 0 for a result, 1 for an error, 3 for a false proof or a breach of the protocol, and 4 when it reaches
nobody or the connection ends. The headings name the sections of the page.
"""
import asyncio, contextlib, datetime, hmac, json, os, re, secrets, signal, stat, struct, sys

PROTOCOL = "custody/1"
FIRST_LINE, LINE, LOCATOR_BYTES, PATH_BYTES = 2048, 65536, 16384, 103 if sys.platform == "darwin" else 107
SECONDS, STRANGERS = 10, 32
ORIGIN = ("start", "boot", "pidns", "timens")
STATED = ("name", "pid", *ORIGIN, "instance", "namespace", "endpoint")
EXPECTED = ("locator", "instance", "namespace")
BREACHES = (ValueError, RecursionError)
ENDS = (OSError, EOFError, asyncio.TimeoutError)

def demand(holds, what):
    if not holds:
        raise ValueError(what)

# 1. Text

def has_form(value, pattern):
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None

def has_length(value, least, most):
    return isinstance(value, str) and least <= len(value.encode("utf-16-le", "surrogatepass")) // 2 <= most

def is_integer(value):
    return type(value) is int  # True is an int as well.

def dump(value):
    return json.dumps(value, separators=(",", ":"))

def parse(line):
    value = json.loads(line.decode(), parse_constant=lambda name: demand(False, f"{name} is not JSON"))
    demand(isinstance(value, dict), "not an object")
    return value

# 2. The locator

def is_locator(it):
    return (
        is_integer(it.get("version")) and it["version"] == 1 and is_integer(it.get("pid")) and it["pid"] > 0
        and has_length(it.get("name"), 1, 128) and has_length(it.get("endpoint"), 1, 512) and has_length(it.get("created"), 0, 64)
        and all(it.get(field, "") is None or has_length(it.get(field), 1, 128) for field in ORIGIN)
        and has_form(it.get("instance"), "[0-9a-f]{32}") and has_form(it.get("token"), "[0-9a-f]{64}")
        and (it.get("namespace", "") is None or is_namespace(it["namespace"])) and isinstance(it.get("details"), dict))

def read_locator(path):
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
        found = os.fstat(file.fileno())
        demand(stat.S_ISREG(found.st_mode) and is_own(found), f"not a private file: {path}")
        content = file.read(LOCATOR_BYTES + 1)
    demand(0 < len(content) <= LOCATOR_BYTES and len(content) == found.st_size, f"a wrong size: {path}")
    locator = parse(content)
    demand(is_locator(locator), f"not a locator: {path}")
    return locator

def publish(path, locator):
    content = dump(locator).encode()
    demand(len(content) <= LOCATOR_BYTES, f"too long: {path}")
    draft = os.path.join(os.path.dirname(path), f".{secrets.token_hex(16)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.link(draft, path)
    finally:
        os.unlink(draft)

def withdraw(path, instance):
    with contextlib.suppress(OSError, *BREACHES):
        if read_locator(path)["instance"] == instance:
            os.unlink(path)

def origin():
    """What /proc tells; null where there is none."""
    status = told(lambda: read("/proc/self/stat").rpartition(")")[2].split())
    return {"start": status and status[22 - 3], "boot": told(lambda: read("/proc/sys/kernel/random/boot_id")),
            "pidns": told(lambda: os.readlink("/proc/self/ns/pid")), "timens": told(lambda: os.readlink("/proc/self/ns/time"))}

def told(look):
    with contextlib.suppress(OSError):
        return look()

def read(path):
    with open(path, encoding="latin-1") as file:
        return file.read().strip()

# 3. The namespace and the registry

def is_namespace(value):
    return has_form(value, r"[0-9a-f]{32}(\.[0-9A-Za-z]+)*") and len(value) <= 200

def birthplace():
    namespace, _, run = os.environ.get("CUSTODY_NAMESPACE", "").partition(":")
    is_absolute = run.startswith("/") and os.path.normpath(run) == run and not run.startswith("//")
    return (namespace, run) if is_namespace(namespace) and is_absolute and is_run(run) else (None, None)

def is_run(directory):
    return is_private(directory) and is_private(f"{directory}/registry")

# 4. The endpoint

def is_own(found):
    return found.st_uid == os.geteuid() and found.st_mode & 0o077 == 0

def is_private(directory):
    with contextlib.suppress(OSError):
        found = os.lstat(directory)
        return stat.S_ISDIR(found.st_mode) and is_own(found)
    return False

def is_socket_path(path):
    return path.startswith("/") and "\0" not in path and len(path.encode()) <= PATH_BYTES and is_private(os.path.dirname(path))

def make_private(directory):
    os.makedirs(directory, 0o700, exist_ok=True)
    demand(is_private(directory), f"not private: {directory}")

def is_own_directory(path):
    with contextlib.suppress(OSError):
        found = os.stat(path)
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return False

def base_directory():
    place = os.environ.get("XDG_RUNTIME_DIR")
    return f"{place}/custody" if place and is_own_directory(place) else f"{os.environ.get('TMPDIR') or '/tmp'}/custody-{os.geteuid()}"

async def dial(endpoint):
    tcp = re.fullmatch(r"tcp:(127\.0\.0\.1|\[::1\]):([1-9][0-9]{0,4})", endpoint)
    if tcp and int(tcp[2]) < 65536:
        return await asyncio.open_connection(tcp[1].strip("[]"), int(tcp[2]))
    kind, _, path = endpoint.partition(":")
    if kind != "unix" or not is_socket_path(path):
        raise OSError(f"not to be reached from here: {endpoint}")
    return await asyncio.open_unix_connection(path)

# 5. and 6. The handshake and the session

def code(key, *parts):
    texts = [part.encode() for part in (PROTOCOL, *parts)]
    return hmac.new(key, b"".join(struct.pack(">I", len(text)) + text for text in texts), "sha256").digest()

def is_code(expected, given):
    return isinstance(given, str) and hmac.compare_digest(expected.hex().encode(), given.encode())

class Connection:
    def __init__(self, reader, writer, sends, receives):
        self.reader, self.writer, self.sends, self.receives = reader, writer, sends, receives
        self.held, self.key, self.sent, self.received = b"", b"", 0, 0

    async def read(self, limit):
        while b"\n" not in self.held:
            demand(len(self.held) <= limit, "the line is too long")
            chunk = await self.reader.read(4096)
            if not chunk:
                raise EOFError("the connection has ended")
            self.held += chunk
        line, _, self.held = self.held.partition(b"\n")
        demand(len(line) <= limit, "the line is too long")
        return parse(line)

    def write(self, message):
        self.writer.write(dump(message).encode() + b"\n")

    def agree(self, locator, nc, ns):
        """Derives the session's key, and returns the server's proof."""
        demand(has_form(nc, "[0-9a-f]{64}") and has_form(ns, "[0-9a-f]{64}") and nc != ns, "a wrong nonce")
        token, endpoint = bytes.fromhex(locator["token"]), locator["endpoint"]
        self.key = code(token, "session", nc, ns, endpoint)
        return code(token, "server-hello", nc, ns, endpoint)

    def send(self, **message):
        body = dump({"jsonrpc": "2.0", **message})
        mac = code(self.key, self.sends, str(self.sent), body).hex()
        self.write({"seq": self.sent, "body": body, "mac": mac})
        self.sent += 1

    async def receive(self, limit=LINE):
        line = await self.read(limit)
        seq, body = line.get("seq"), line.get("body")
        demand(is_integer(seq) and seq == self.received and isinstance(body, str), "not the next line")
        demand(is_code(code(self.key, self.receives, str(seq), body), line.get("mac")), "a wrong mac")
        self.received += 1
        return parse(body.encode())

# A client

async def authenticate(connection, locator):
    nc = secrets.token_hex(32)
    connection.write({"jsonrpc": "2.0", "id": 0, "method": "hello", "params": {"protocol": PROTOCOL, "nonce": nc}})
    result = (await connection.read(FIRST_LINE)).get("result")
    demand(isinstance(result, dict) and result.get("protocol") == PROTOCOL, "not an answer to hello")
    demand(is_code(connection.agree(locator, nc, result.get("nonce")), result.get("proof")), "the proof is false")

async def ask(connection, number, method, params):
    connection.send(id=number, method=method, params=params)
    answer = await connection.receive()
    demand(answer.get("id") == number and ("result" in answer) != ("error" in answer), "not the answer")
    return answer

async def client(path, method="identify", params="{}"):
    locator = read_locator(path)
    connection = Connection(*await dial(locator["endpoint"]), "c2s", "s2c")

    async def talk():
        await authenticate(connection, locator)
        await ask(connection, 1, "identify", {})
        return await ask(connection, 2, method, json.loads(params))

    answer = await asyncio.wait_for(talk(), SECONDS)
    print(dump(answer), flush=True)
    with contextlib.suppress(OSError, EOFError):
        while method == "shutdown" and "result" in answer:
            print(dump(await connection.receive()), flush=True)
    return 0 if "result" in answer else 1

# A daemon

class Daemon:
    def __init__(self, path, name="custody_peer"):
        namespace, run = birthplace()
        instance, base = secrets.token_hex(16), run or base_directory()
        for directory in (base, f"{base}/s"):
            make_private(directory)
        self.socket = f"{os.path.realpath(f'{base}/s')}/{instance[:16]}.sock"
        demand(is_socket_path(self.socket), f"no place for a socket: {self.socket}")
        self.path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        self.path.encode()  # It raises where the path is not UTF-8.
        self.entry = run and f"{run}/registry/{namespace}--{instance}.json"
        self.locator = {
            "version": 1, "name": name, "pid": os.getpid(), **origin(), "instance": instance, "namespace": namespace,
            "endpoint": f"unix:{self.socket}", "token": secrets.token_hex(32), "details": {},
            "created": datetime.datetime.now(datetime.timezone.utc).isoformat()}
        self.state, self.strangers, self.interested, self.leaving = "serving", {}, set(), asyncio.Event()

    async def run(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self.leaving.set)
        server = await asyncio.start_unix_server(self.accept, self.socket)
        try:
            if self.entry:
                publish(self.entry, {**self.locator, "path": self.path})
            publish(self.path, self.locator)
            print("ready", flush=True)
            await self.leaving.wait()
            # Here a product would end its work. This one has none.
            self.state = "drained"
            for connection in self.interested:
                connection.send(method="drained")
            withdraw(self.path, self.locator["instance"])
        finally:
            server.close()
            for place in filter(None, (self.entry, self.socket)):
                with contextlib.suppress(OSError):
                    os.unlink(place)
        return 0

    async def accept(self, reader, writer):
        self.strangers[writer] = True
        if len(self.strangers) > STRANGERS:
            oldest = next(iter(self.strangers))
            del self.strangers[oldest]
            oldest.transport.abort()
        with contextlib.suppress(asyncio.CancelledError, *BREACHES, *ENDS):
            await self.converse(Connection(reader, writer, "s2c", "c2s"))
        self.strangers.pop(writer, None)
        writer.close()

    async def converse(self, connection):
        request = await asyncio.wait_for(self.greet(connection), SECONDS)
        self.strangers.pop(connection.writer, None)
        while True:
            self.answer(connection, request)
            await connection.writer.drain()
            request = await connection.receive()

    async def greet(self, connection):
        hello = await connection.read(FIRST_LINE)
        params, number, ns = hello.get("params"), hello.get("id"), secrets.token_hex(32)
        demand(hello.get("method") == "hello" and isinstance(params, dict) and is_id(number), "not a hello")
        demand(params.get("protocol") == PROTOCOL, "another protocol")
        proof = connection.agree(self.locator, params.get("nonce"), ns).hex()
        connection.write({"jsonrpc": "2.0", "id": number, "result": {"protocol": PROTOCOL, "nonce": ns, "proof": proof}})
        return await connection.receive(FIRST_LINE)

    def answer(self, connection, request):
        method, params, number = request.get("method"), request.get("params", {}), request.get("id")
        demand(isinstance(method, str) and is_id(number), "not a request")
        reply = {"identify": self.identify, "shutdown": self.shutdown}.get(method, unknown)(params)
        connection.send(id=number, **reply)
        if method == "shutdown" and "result" in reply:
            self.begin_drain(connection)

    def identify(self, _):
        stated = {field: self.locator[field] for field in STATED}
        return {"result": {**stated, "locator": self.path, "registryEntry": self.entry, "state": self.state}}

    def shutdown(self, params):
        is_known = isinstance(params, dict) and params.keys() <= {"expect", "graceMs"}
        if not is_known or type(params.get("graceMs", 0)) not in (int, float) or params.get("graceMs", 0) < 0:
            return {"error": {"code": -32602, "message": "Only expect, and graceMs, a number of 0 or more"}}
        reason = self.find_mismatch(params["expect"]) if "expect" in params else None
        if reason:
            data = {"code": "not_owner", "reason": reason}
            return {"error": {"code": -32000, "message": f"Not the owner: {reason}", "data": data}}
        return {"result": {"accepted": True, "already": self.state != "serving"}}

    def find_mismatch(self, expected):
        if not isinstance(expected, dict) or not all(isinstance(expected.get(field), str) for field in EXPECTED):
            return "not an expectation"
        mine = self.locator["namespace"]
        holds = {"instance": expected["instance"] == self.locator["instance"],
                 "locator": expected["locator"] in (self.path, self.entry),
                 "namespace": mine is None or f"{mine}.".startswith(expected["namespace"] + ".")}
        return next((f"another {field} is expected" for field in holds if not holds[field]), None)

    def begin_drain(self, connection):
        if self.state == "serving":
            self.state = "draining"
            connection.send(method="draining", params={"pending": 0})
        self.interested.add(connection)
        self.leaving.set()

def unknown(_):
    return {"error": {"code": -32601, "message": "Method not found"}}

def is_id(value):
    return value is None or type(value) in (str, int, float)

async def main(role, *arguments):
    return await (client(*arguments) if role == "client" else Daemon(*arguments).run())

if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(*sys.argv[1:])))
    except (*BREACHES, *ENDS) as error:
        print(f"custody_peer: {error}", file=sys.stderr)
        sys.exit(3 if isinstance(error, BREACHES) else 4)

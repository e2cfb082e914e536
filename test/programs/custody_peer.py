#!/usr/bin/env python3
"""A second implementation of custody/1, written from docs/protocol.md alone: Python 3.9+, POSIX, standard library.
The client exits with 0 when the peer is authentic, 3 when its proof or protocol is wrong, 4 when it is not reached or closes."""
import argparse, asyncio, contextlib, datetime, hmac, json, os, pathlib, re, secrets, stat, signal, struct, sys, tempfile

PROTOCOL, FIRST_LINE, LINE, SECONDS, STRANGERS, LOCATOR_SIZE = "custody/1", 2048, 65536, 10, 32, 16384
ANY, BRIEF, HEX32, HEX64, NAMESPACE = (re.compile(pattern, re.S) for pattern in (
    ".*", ".{1,128}", "[0-9a-f]{32}", "[0-9a-f]{64}", r"[0-9a-f]{32}(\.[0-9A-Za-z]{1,64}){0,32}"))
ORIGIN, EXPECT = ("start", "boot", "pidns", "timens"), ("locator", "instance", "namespace")
TEXTS = {"name": BRIEF, "instance": HEX32, "token": HEX64, "endpoint": ANY, "created": ANY}
NULLABLE = {**dict.fromkeys(ORIGIN, BRIEF), "namespace": NAMESPACE}
BROKEN = (ValueError, RecursionError)
FAULTS = (*BROKEN, OSError, EOFError, asyncio.TimeoutError)

def demand(ok, what):
    if not ok:
        raise ValueError(what)

def matches(pattern, value):
    return isinstance(value, str) and pattern.fullmatch(value) is not None

def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

def parse(raw):
    value = json.loads(raw.decode(), parse_constant=lambda name: demand(False, f"{name} is not JSON"))
    demand(isinstance(value, dict), "not a JSON object")
    return value

def code(key, *parts):
    texts = [part.encode() for part in (PROTOCOL, *parts)]
    return hmac.new(key, b"".join(struct.pack(">I", len(text)) + text for text in texts), "sha256")

def same(mine, theirs):
    return matches(HEX64, theirs) and hmac.compare_digest(mine.hexdigest(), theirs)

# Files

def private(path):
    info = os.lstat(path)
    demand(stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and info.st_mode & 0o777 == 0o700, f"not private: {path}")

def socket_path(endpoint):
    path = endpoint[len("unix:"):].encode()
    demand(endpoint.startswith("unix:/") and b"\0" not in path, "no endpoint for this platform")
    demand(len(path) <= (103 if sys.platform == "darwin" else 107), "the socket's path is too long")
    private(os.path.dirname(path))
    return path

def check_locator(it):
    demand(dump(it.get("version")) == b"1" and type(it.get("pid")) is int and it["pid"] > 0, "version or pid")
    demand(isinstance(it.get("details"), dict) and len(dump(it["details"])) <= 4096, "details")
    for key, pattern in {**TEXTS, **NULLABLE}.items():
        demand(matches(pattern, it.get(key)) or (key in NULLABLE and it.get(key, "") is None), key)
    return it

def read_locator(path):
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
        info = os.fstat(file.fileno())
        demand(stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid() and not info.st_mode & 0o077, "not a private file")
        raw = file.read(LOCATOR_SIZE + 1)
    demand(0 < len(raw) <= LOCATOR_SIZE and len(raw) == info.st_size, "a wrong size")
    return check_locator(parse(raw))

def publish(path, locator):
    draft = os.path.join(os.path.dirname(path), f".{secrets.token_hex(16)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(fd, "wb") as file:
            file.write(dump(locator))
        os.link(draft, path)
    finally:
        os.unlink(draft)

def withdraw(path, instance):
    with contextlib.suppress(OSError, *BROKEN):
        if read_locator(path)["instance"] == instance:
            os.unlink(path)

# Lines

class Channel:
    def __init__(self, streams, sends, receives):
        (self.reader, self.writer), self.sends, self.receives = streams, sends, receives
        self.buffer, self.key, self.sent, self.received = b"", None, 0, 0

    async def read(self, limit):
        while b"\n" not in self.buffer[:limit + 1]:
            demand(len(self.buffer) <= limit, "the line is too long")
            chunk = await self.reader.read(4096)
            if not chunk:
                raise EOFError("closed by the peer")
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\n")
        return parse(line)

    def write(self, **message):
        self.writer.write(dump(message) + b"\n")

    def agree(self, locator, nc, ns):
        """Sets the session's key and returns the server's proof."""
        demand(matches(HEX64, nc) and matches(HEX64, ns) and nc != ns, "nonce")
        token = bytes.fromhex(locator["token"])
        self.key = code(token, "session", nc, ns, locator["endpoint"]).digest()
        return code(token, "server-hello", nc, ns, locator["endpoint"])

    def send(self, **message):
        body = dump({"jsonrpc": "2.0", **message}).decode()
        self.write(seq=self.sent, body=body, mac=code(self.key, self.sends, str(self.sent), body).hexdigest())
        self.sent += 1

    async def receive(self, limit=LINE):
        line = await self.read(limit)
        body = line.get("body")
        demand(dump(line.get("seq")) == b"%d" % self.received and isinstance(body, str), "wrong sequence")
        demand(same(code(self.key, self.receives, str(self.received), body), line.get("mac")), "wrong code")
        self.received += 1
        message = parse(body.encode())
        demand(message.get("jsonrpc") == "2.0", "not JSON-RPC 2.0")
        return message

# Client

async def connect(path):
    try:
        locator = read_locator(path)
        tcp = re.fullmatch(r"tcp:(127\.0\.0\.1|\[::1\]):([0-9]{1,5})", locator["endpoint"])
        return locator, await (asyncio.open_connection(tcp[1].strip("[]"), int(tcp[2])) if tcp else
                               asyncio.open_unix_connection(socket_path(locator["endpoint"])))
    except (*BROKEN, OverflowError) as error:
        raise OSError(f"cannot connect: {error}") from None

async def authenticate(channel, locator):
    nc = secrets.token_hex(32)
    channel.write(jsonrpc="2.0", id=0, method="hello", params={"protocol": PROTOCOL, "nonce": nc})
    answer = await channel.read(FIRST_LINE)
    result = answer.get("result")
    demand(answer.get("jsonrpc") == "2.0" and dump(answer.get("id")) == b"0" and isinstance(result, dict), "not an answer")
    demand(result.get("protocol") == PROTOCOL, "another protocol")
    demand(same(channel.agree(locator, nc, result.get("nonce")), result.get("proof")), "the proof is false")

async def ask(channel, number, method, params):
    channel.send(id=number, method=method, params=params)
    answer = await channel.receive()
    demand(dump(answer.get("id")) == b"%d" % number and ("result" in answer) != ("error" in answer), "not an answer")
    return answer

async def talk(args):
    locator, streams = await connect(args.locator)
    channel = Channel(streams, "c2s", "s2c")
    await authenticate(channel, locator)
    # The first line may have 2 KiB only, and an expectation may be longer: this one is what authenticates the client.
    answer = await ask(channel, 1, "identify", {})
    if args.method == "shutdown":
        expect = {key: value for key in EXPECT if (value := getattr(args, f"expect_{key}")) is not None}
        answer = await ask(channel, 2, "shutdown", {"expect": expect} if expect else {})
    return channel, answer

async def client(args):
    channel, answer = await asyncio.wait_for(talk(args), SECONDS)
    print(json.dumps(answer.get("result", answer.get("error"))), flush=True)
    with contextlib.suppress(OSError, EOFError):
        while args.method == "shutdown" and "result" in answer:
            print(json.dumps(await channel.receive()), flush=True)

# Daemon

def birthplace():
    ident, _, run = os.environ.get("CUSTODY_NAMESPACE", "").partition(":")
    with contextlib.suppress(OSError, ValueError):
        # lstat() follows a symbolic link whose name ends with a slash.
        demand(matches(NAMESPACE, ident) and run.encode().startswith(b"/") and os.path.normpath(run) == run, "malformed")
        private(run)
        return ident, run
    return None, None

def home():
    base = os.environ.get("XDG_RUNTIME_DIR")
    return f"{base}/custody" if base else f"{tempfile.gettempdir()}/custody-{os.geteuid()}"

def told(path):
    with contextlib.suppress(OSError):
        return os.readlink(path) if os.path.islink(path) else pathlib.Path(path).read_text(errors="replace").strip()

def origin():
    started = told("/proc/self/stat")
    return {"start": started and started.rpartition(")")[2].split()[22 - 3], "boot": told("/proc/sys/kernel/random/boot_id"),
            "pidns": told("/proc/self/ns/pid"), "timens": told("/proc/self/ns/time")}

class Daemon:
    def __init__(self, path, name):
        namespace, run = birthplace()
        instance, self.base = secrets.token_hex(16), run or home()
        self.path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        self.entry = run and f"{run}/registry/{namespace}--{instance}.json"
        self.state, self.strangers, self.askers, self.stop = "serving", [], set(), asyncio.Event()
        self.me = check_locator({
            "version": 1, "name": name, "pid": os.getpid(), **origin(), "instance": instance, "namespace": namespace,
            "endpoint": f"unix:{self.base}/s/{instance}.sock", "token": secrets.token_hex(32), "details": {},
            "created": datetime.datetime.now(datetime.timezone.utc).isoformat()})

    async def run(self):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.stop.set)
        demand(self.path.encode(), "no path")
        for folder in [self.base, f"{self.base}/s"] + ([os.path.dirname(self.entry)] if self.entry else []):
            os.makedirs(folder, 0o700, exist_ok=True)
            private(folder)
        address = socket_path(self.me["endpoint"])
        await asyncio.start_unix_server(self.serve, address)
        try:
            if self.entry:
                publish(self.entry, {**self.me, "path": self.path})
            publish(self.path, self.me)
            print("ready", flush=True)
            await self.stop.wait()
            self.state = "drained"
            for channel in self.askers:
                channel.send(method="drained", params={})
        finally:
            for place in filter(None, (self.path, self.entry)):
                withdraw(place, self.me["instance"])
            os.unlink(address)

    async def serve(self, reader, writer):
        self.strangers.append(writer)
        if len(self.strangers) > STRANGERS:
            self.strangers.pop(0).transport.abort()
        with contextlib.suppress(asyncio.CancelledError, *FAULTS):
            await self.converse(Channel((reader, writer), "s2c", "c2s"))
        if writer in self.strangers:
            self.strangers.remove(writer)
        writer.close()

    async def converse(self, channel):
        request = await asyncio.wait_for(self.greet(channel), SECONDS)
        self.strangers.remove(channel.writer)
        while True:
            method, params, number = request.get("method"), request.get("params", {}), request.get("id")
            demand(isinstance(method, str) and isinstance(params, dict) and type(number) in (int, str), "not a request")
            reply = self.reply(method, params)
            channel.send(id=number, **reply)
            if method == "shutdown" and "result" in reply:
                self.stop_for(channel, reply["result"]["already"])
            await channel.writer.drain()
            request = await channel.receive()

    async def greet(self, channel):
        hello = await channel.read(FIRST_LINE)
        params, ns = hello.get("params"), secrets.token_hex(32)
        demand(hello.get("jsonrpc") == "2.0" and hello.get("method") == "hello" and type(hello.get("id")) in (int, str), "hello")
        demand(isinstance(params, dict) and params.get("protocol") == PROTOCOL, "another protocol")
        proof = channel.agree(self.me, params.get("nonce"), ns).hexdigest()
        channel.write(jsonrpc="2.0", id=hello["id"], result={"protocol": PROTOCOL, "nonce": ns, "proof": proof})
        return await channel.receive(FIRST_LINE)

    def reply(self, method, params):
        if method not in ("identify", "shutdown"):
            return {"error": {"code": -32601, "message": "Method not found"}}
        return self.shutdown(params) if method == "shutdown" else self.identify()

    def identify(self):
        kept = {key: self.me[key] for key in ("name", "pid", *ORIGIN, "instance", "namespace", "endpoint")}
        return {"result": {**kept, "locator": self.path, "registryEntry": self.entry, "state": self.state}}

    def shutdown(self, params):
        reason = "expect" in params and self.objection(params["expect"])
        if reason:
            data = {"code": "not_owner", "reason": reason}
            return {"error": {"code": -32000, "message": f"Not the owner: {reason}", "data": data}}
        return {"result": {"accepted": True, "already": self.state != "serving"}}

    def stop_for(self, channel, already):
        if not already:
            self.state = "draining"
            channel.send(method="draining", params={"pending": 0})
        self.askers.add(channel)
        self.stop.set()

    def objection(self, expect):
        if not isinstance(expect, dict) or not all(isinstance(expect.get(key), str) for key in EXPECT):
            return "expect is not {locator, instance, namespace}"
        namespace = self.me["namespace"]
        holds = {"instance": expect["instance"] == self.me["instance"],
                 "locator": expect["locator"] in (self.path, self.entry),
                 "namespace": namespace is None or f"{namespace}.".startswith(f"{expect['namespace']}.")}
        return next((f"another {key}" for key in holds if not holds[key]), None)

async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=("client", "daemon"))
    parser.add_argument("locator")
    parser.add_argument("method", nargs="?", choices=("identify", "shutdown"), default="identify")
    parser.add_argument("--name", default="custody_peer")
    for key in EXPECT:
        parser.add_argument(f"--expect-{key}")
    args = parser.parse_args()
    await (client(args) if args.role == "client" else Daemon(args.locator, args.name).run())

if __name__ == "__main__":
    try:
        asyncio.run(main())
    except FAULTS as error:
        print(f"custody_peer: {error}", file=sys.stderr)
        sys.exit(3 if isinstance(error, BROKEN) else 4)

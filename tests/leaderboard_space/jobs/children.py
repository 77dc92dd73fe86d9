"""Child processes of tests: the submitted file chooses the behaviour.

Either a result as JSON, which the child returns, or the name of a function below.
"""

import os
import signal
import socket
import sys
import time
from pathlib import Path

RESULT = "result.json"
HELD = 64 << 20
ZIP_START, ZIP_END = b"PK\x03\x04", b"PK\x05\x06" + bytes(18)


def disguised(content: bytes) -> bytes:
    """Content with the beginning and the end of a zip, which let it pass the first check."""
    return ZIP_START + content + ZIP_END


def told() -> bytes:
    """The file's text."""
    return Path(sys.argv[1]).read_bytes().removeprefix(ZIP_START).removesuffix(ZIP_END)


def memory() -> None:
    held = []
    while True:
        held.append(b"x" * (1 << 20) + os.urandom(1))


def shared_memory() -> None:
    """Exceed the memory limit of all processes together, but not of each."""
    for _ in range(6):
        if os.fork() == 0:
            held = bytearray(os.urandom(1)) * HELD
            time.sleep(600)
            print(len(held))
    time.sleep(600)


def processor() -> None:
    while True:
        pass


def sleep() -> None:
    Path("pid.part").write_text(str(os.getpid()))
    Path("pid.part").rename("pid")
    time.sleep(600)


def wait() -> None:
    Path("waits").touch()
    while not Path("go").is_file():
        time.sleep(0.02)
    Path(RESULT).write_bytes(told().split(b"\n", 1)[1])


def file() -> None:
    with Path("big").open("wb") as big:
        while True:
            big.write(bytes(1 << 16))


def files() -> None:
    for number in range(1000):
        Path(f"part-{number}").write_bytes(bytes(1 << 18))
    time.sleep(600)


def output() -> None:
    while True:
        print("all work and no play")


def fork() -> None:
    for _ in range(64):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
    time.sleep(600)


def die() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def killed() -> None:
    """Be killed from outside, as by the out-of-memory killer."""
    os.kill(os.getpid(), signal.SIGKILL)


def leave() -> None:
    sys.exit(7)


def look_around() -> None:
    files = sorted(file.name for file in Path("/proc/self/fd").iterdir())
    print(sorted(os.environ), repr(sys.stdin.read()), os.getsid(0) == os.getpid(), files)


def call() -> None:
    port = int(told().split()[1])
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except OSError as error:
        print(f"nobody there: {error}")
    else:
        print("connected")


def nothing() -> None:
    """No outcome."""


def nonsense() -> None:
    Path(RESULT).write_text('{"format": 1, "values": []}')


if __name__ == "__main__":
    if told().startswith(b"{"):
        Path(RESULT).write_bytes(told())
    else:
        globals()[told().split(b"\n")[0].decode()]()

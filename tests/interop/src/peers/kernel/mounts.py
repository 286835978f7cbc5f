"""What the kernel's SMB client makes of a share, from above: system calls on two mounts.

mounts.py ADDRESS PORT USER PASSWORD VERSION PROTECTION CHECK...

Each mount has a connection of its own, so that to the server the two are two clients. Each check
prints a line: its name, what came of it, and its seconds. What is expected is what Windows and
Samba give this client, too: where that is not what a local file system does, it says so.
"""

import errno
import fcntl
import hashlib
import mmap
import os
import random
import shutil
import subprocess
import sys
import time
import traceback

ADDRESS, PORT, USER, PASSWORD, VERSION, PROTECTION = sys.argv[1:7]
ONE, TWO = "/mnt/one", "/mnt/two"
HERE = "/tmp/cifs"
BLOCK = 1 << 20
# How many names the server's own directory has.
NAMES = 5000
LARGE = 100 * BLOCK
NAMES_MADE = int(os.environ.get("NAMES_MADE", "1000"))
OPERATIONS = int(os.environ.get("OPERATIONS", "300"))
# As long as a server waits for what a client has to give up: what takes that long waited for an
# answer that was never given.
BREAK_TIMEOUT = 35.0
SEED = int(os.environ.get("SEED", "3"))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}")


def mount(at):
    os.makedirs(at, exist_ok=True)
    options = [
        f"ip={ADDRESS}",
        f"port={PORT}",
        f"username={USER}",
        f"password={PASSWORD}",
        f"vers={VERSION}",
        "nosharesock",
    ]
    # The second looks at every name anew; the first is as most mounts are.
    options += ["actimeo=0"] if at == TWO else []
    options += {"plain": [], "signed": ["sec=ntlmsspi"], "sealed": ["seal"]}[PROTECTION]
    run("mount", "-i", "-t", "cifs", "-o", ",".join(options), f"//{ADDRESS}/export", at)


def remount(at):
    run("umount", at)
    mount(at)


def equal(got, wanted, what):
    if got != wanted:
        text = f"{what}: {str(got)[:300]} instead of {str(wanted)[:300]}"
        raise AssertionError(text)


def fails(number, what, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except OSError as error:
        name = errno.errorcode.get(error.errno, error.errno)
        equal(name, errno.errorcode[number], what)
        return
    raise AssertionError(f"{what}: it succeeded")


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def digest_of(path):
    digest = hashlib.md5()
    with open(path, "rb", buffering=0) as file:
        while chunk := file.read(BLOCK):
            digest.update(chunk)
    return digest.hexdigest()


def tree_of(top):
    found = {}
    for folder, folders, files in os.walk(top):
        for name in folders:
            found[os.path.relpath(os.path.join(folder, name), top)] = "folder"
        for name in files:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, top)] = (os.path.getsize(path), digest_of(path))
    return found


def a_tree():
    """In and out, with checksums, over a remount."""
    chance = random.Random(1)
    sizes = [0, 1, 4095, 4096, 4097, 65535, 65536, 65537, 300_000]
    for folder in ["", "a", "a/b", "a/b/c", "with a space", "Umläute", "UPPER", "empty"]:
        os.makedirs(f"{HERE}/in/{folder}", exist_ok=True)
        if folder == "empty":
            continue
        for number, size in enumerate(sizes):
            write(f"{HERE}/in/{folder}/file {number}.x", chance.randbytes(size))
    wanted = tree_of(f"{HERE}/in")
    shutil.copytree(f"{HERE}/in", f"{ONE}/area/tree")
    remount(ONE)
    equal(tree_of(f"{ONE}/area/tree"), wanted, "the tree there")
    shutil.copytree(f"{ONE}/area/tree", f"{HERE}/out")
    equal(tree_of(f"{HERE}/out"), wanted, "the tree copied back")
    equal(tree_of(f"{TWO}/area/tree"), wanted, "the tree seen by the other")
    shutil.rmtree(f"{TWO}/area/tree")
    equal(os.path.exists(f"{ONE}/area/tree"), False, "the tree is there")


def many_names():
    """Made by one, listed by both, removed by the other."""
    there = f"{ONE}/area/many"
    os.mkdir(there)
    wanted = [f"a name of some length {number:05}" for number in range(NAMES_MADE)]
    for name in wanted:
        os.close(os.open(f"{there}/{name}", os.O_CREAT | os.O_WRONLY | os.O_EXCL))
    for at in (ONE, TWO):
        equal(sorted(os.listdir(f"{at}/area/many")), wanted, f"names in {at}")
    remount(ONE)
    equal(sorted(os.listdir(there)), wanted, "names after a remount")
    equal(len([entry.stat().st_size for entry in os.scandir(there)]), NAMES_MADE, "sizes")
    for name in wanted[::7]:
        os.unlink(f"{TWO}/area/many/{name}")
    left = [name for number, name in enumerate(wanted) if number % 7]
    remount(ONE)
    equal(sorted(os.listdir(there)), left, "names that are left")


def names_there():
    """A directory that the server was started with."""
    for at in (ONE, TWO):
        names = os.listdir(f"{at}/files")
        equal((len(names), len(set(names))), (NAMES, NAMES), "names")


def renames():
    at = f"{ONE}/area"
    write(f"{at}/old", b"old")
    write(f"{at}/new", b"newer")
    os.rename(f"{at}/new", f"{at}/old")
    equal(read(f"{at}/old"), b"newer", "what was renamed over")
    equal(read(f"{TWO}/area/old"), b"newer", "seen by the other")
    equal(os.path.exists(f"{at}/new"), False, "the old name")
    os.mkdir(f"{at}/from")
    os.mkdir(f"{at}/from/below")
    write(f"{at}/from/below/file", b"moved")
    os.rename(f"{at}/from", f"{at}/to")
    equal(read(f"{at}/to/below/file"), b"moved", "below a renamed directory")
    fails(errno.ENOTEMPTY, "rmdir", os.rmdir, f"{at}/to")
    with open(f"{at}/held", "wb") as held:
        held.write(b"held")
        held.flush()
        os.rename(f"{at}/held", f"{at}/renamed while open")
        held.write(b" on")
    equal(read(f"{at}/renamed while open"), b"held on", "renamed while open")
    shutil.rmtree(f"{at}/to")


def system_calls():
    at = f"{ONE}/area"
    write(f"{at}/file", b"abc")
    fails(errno.EEXIST, "O_EXCL", os.open, f"{at}/file", os.O_CREAT | os.O_EXCL | os.O_RDWR)
    fails(errno.ENOENT, "open", os.open, f"{at}/none", os.O_RDONLY)
    fails(errno.ENOENT, "open below nothing", os.open, f"{at}/none/x", os.O_CREAT | os.O_RDWR)
    fails(errno.ENOTDIR, "open below a file", os.open, f"{at}/file/x", os.O_RDONLY)
    fails(errno.EEXIST, "mkdir", os.mkdir, f"{at}/file")
    fails(errno.ENOTDIR, "rmdir", os.rmdir, f"{at}/file")
    fails(errno.EISDIR, "unlink", os.unlink, at)
    fails(errno.EISDIR, "open for writing", os.open, at, os.O_WRONLY)
    fails(errno.ENAMETOOLONG, "long name", os.open, f"{at}/{'x' * 256}", os.O_CREAT | os.O_RDWR)
    write(f"{at}/{'y' * 255}", b"y")
    equal(read(f"{TWO}/area/{'y' * 255}"), b"y", "long name")
    equal(os.path.exists(f"{TWO}/area/FILE"), True, "another case")
    descriptor = os.open(f"{at}/file", os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, b"def")
    os.fsync(descriptor)
    os.close(descriptor)
    equal(read(f"{TWO}/area/file"), b"abcdef", "appended")
    os.truncate(f"{at}/file", 3)
    os.truncate(f"{at}/file", 6)
    equal(read(f"{TWO}/area/file"), b"abc\0\0\0", "truncated and extended")
    os.close(os.open(f"{at}/file", os.O_WRONLY | os.O_TRUNC))
    equal(os.path.getsize(f"{TWO}/area/file"), 0, "O_TRUNC")
    os.utime(f"{at}/file", (1_200_000_000, 1_100_000_000))
    remount(ONE)
    seen = os.stat(f"{at}/file")
    equal((seen.st_atime, seen.st_mtime), (1_200_000_000, 1_100_000_000), "times")
    os.chmod(f"{at}/file", 0o444)
    remount(ONE)
    equal(os.stat(f"{at}/file").st_mode & 0o222, 0, "read-only")
    os.chmod(f"{at}/file", 0o666)
    os.link(f"{at}/file", f"{at}/link")
    write(f"{at}/link", b"through the link")
    equal(read(f"{TWO}/area/file"), b"through the link", "hard link")
    equal(os.stat(f"{at}/file").st_nlink, 2, "links")
    usage = os.statvfs(at)
    equal(usage.f_blocks > usage.f_bfree > 0, True, "statvfs")
    with open(f"{at}/sparse", "wb") as file:
        file.truncate(1 << 30)
    equal(os.path.getsize(f"{TWO}/area/sparse"), 1 << 30, "a sparse file")
    os.unlink(f"{at}/sparse")
    shutil.copyfile(f"{at}/file", f"{at}/copy")
    equal(read(f"{TWO}/area/copy"), b"through the link", "copied")


def locks():
    path = "area/locked"
    write(f"{ONE}/{path}", bytes(1000))
    one = open(f"{ONE}/{path}", "r+b", buffering=0)
    two = open(f"{TWO}/{path}", "r+b", buffering=0)
    now = fcntl.LOCK_NB
    refused = (errno.EACCES, errno.EAGAIN)

    def lock(file, how, length, start):
        try:
            fcntl.lockf(file, how if how == fcntl.LOCK_UN else how | now, length, start)
            return True
        except OSError as error:
            equal(error.errno in refused, True, errno.errorcode[error.errno])
            return False

    ex, sh, un = fcntl.LOCK_EX, fcntl.LOCK_SH, fcntl.LOCK_UN
    equal(lock(one, ex, 100, 0), True, "a range")
    equal(lock(two, ex, 100, 0), False, "the same range")
    equal(lock(two, ex, 1, 99), False, "its last byte")
    equal(lock(two, sh, 1, 0), False, "shared, its first byte")
    equal(lock(two, ex, 100, 100), True, "the next range")
    equal(lock(one, sh, 10, 300), True, "shared")
    equal(lock(two, sh, 10, 300), True, "shared by both")
    equal(lock(two, ex, 10, 300), False, "shared, then exclusive")
    equal(lock(one, un, 10, 300), True, "free")
    fcntl.lockf(one, un, 100, 0)
    equal(lock(two, ex, 100, 0), True, "freed")
    child = os.fork()
    if child == 0:
        mine = open(f"{ONE}/{path}", "r+b", buffering=0)
        fcntl.lockf(mine, ex, 100, 0)
        os._exit(0)
    time.sleep(1.0)
    equal(os.waitpid(child, os.WNOHANG), (0, 0), "one that waits")
    begun = time.monotonic()
    fcntl.lockf(two, un, 100, 0)
    equal(os.waitpid(child, 0)[1], 0, "it is told")
    equal(time.monotonic() - begun < 8, True, "soon")
    one.close()
    fcntl.lockf(two, un)
    time.sleep(2)
    equal(lock(two, ex, 1000, 0), True, "all, after a close")
    two.close()


def unlinked_while_open():
    """The name may stay until the last close, as it does on Windows."""
    at = f"{ONE}/area"
    with open(f"{at}/gone", "w+b", buffering=0) as file:
        file.write(b"still")
        os.unlink(f"{at}/gone")
        file.write(b" here")
        file.seek(0)
        equal(file.read(), b"still here", "what is in it")
        equal(os.fstat(file.fileno()).st_size, 10, "its size")
    equal("gone" in os.listdir(f"{TWO}/area"), False, "the name, to the other")
    write(f"{at}/gone", b"another")
    equal(read(f"{TWO}/area/gone"), b"another", "another of that name")
    os.unlink(f"{at}/gone")
    with open(f"{at}/theirs", "w+b", buffering=0) as file:
        file.write(b"mine")
        os.unlink(f"{TWO}/area/theirs")
        file.seek(0)
        equal(file.read(), b"mine", "what another unlinked")
        fails(errno.ENOENT, "it goes", os.open, f"{TWO}/area/theirs", os.O_RDONLY)
    equal("theirs" in os.listdir(at), False, "what another unlinked is there")
    left = [name for name in os.listdir(at) if name.startswith((".smb", "cifs"))]
    equal(left, [], "what is left")


def a_large_file():
    block = random.Random(2).randbytes(BLOCK)
    wanted = hashlib.md5()
    begun = time.monotonic()
    with open(f"{ONE}/area/large", "wb", buffering=0) as file:
        for number in range(LARGE // BLOCK):
            piece = number.to_bytes(8, "little") + block[8:]
            wanted.update(piece)
            file.write(piece)
        os.fsync(file.fileno())
    written = time.monotonic() - begun
    remount(ONE)
    begun = time.monotonic()
    equal(os.path.getsize(f"{ONE}/area/large"), LARGE, "its size")
    equal(digest_of(f"{ONE}/area/large"), wanted.hexdigest(), "its checksum")
    took = time.monotonic() - begun
    os.unlink(f"{ONE}/area/large")
    return f"{LARGE / 1e6 / written:.1f} MB/s in, {LARGE / 1e6 / took:.1f} out"


def random_operations():
    """Every read is held against what has been written: by calls, through memory, by the other."""
    most = 256 << 10
    chance = random.Random(SEED)
    path = f"{ONE}/area/random"
    model = bytearray()
    counts = {}
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR)
    log = []

    def put(start, data):
        if len(model) < start:
            model.extend(bytes(start - len(model)))
        model[start : start + len(data)] = data

    def check(got, start, wanted, what):
        if got != wanted:
            length = min(len(got), len(wanted))
            first = next((i for i in range(length) if got[i] != wanted[i]), length)
            raise AssertionError(
                f"{what} at {start}+{first}: {len(got)} bytes for {len(wanted)}: "
                f"{got[first:first+8].hex()} for {wanted[first:first+8].hex()}; {log[-12:]}"
            )

    for number in range(OPERATIONS):
        kind = chance.choice(
            ["write"] * 5 + ["read"] * 6 + ["mapwrite"] * 4 + ["mapread"] * 4
            + ["truncate"] * 2 + ["sync", "reopen", "other", "append", "size"]
            + (["remount"] if chance.random() < 0.15 else [])
        )
        counts[kind] = counts.get(kind, 0) + 1
        start = chance.randrange(most)
        length = chance.randrange(1, 40_000)
        log.append((number, kind, start, length, len(model)))
        if kind == "write":
            data = chance.randbytes(length)
            equal(os.pwrite(descriptor, data, start), length, "write")
            put(start, data)
        elif kind == "append":
            data = chance.randbytes(length % 5000 + 1)
            if len(model) + len(data) <= most:
                end = os.open(path, os.O_WRONLY | os.O_APPEND)
                os.write(end, data)
                os.close(end)
                put(len(model), data)
        elif kind == "read":
            got = os.pread(descriptor, length, start)
            check(got, start, bytes(model[start : start + length]), "read")
        elif kind == "truncate":
            os.ftruncate(descriptor, start)
            del model[start:]
            model.extend(bytes(start - len(model)))
        elif kind in ("mapread", "mapwrite") and len(model) > 0:
            start %= len(model)
            length = min(length, len(model) - start)
            page = start - start % mmap.PAGESIZE
            with mmap.mmap(descriptor, length + start - page, offset=page) as mapped:
                inside = start - page
                if kind == "mapread":
                    got = mapped[inside : inside + length]
                    check(got, start, bytes(model[start : start + length]), "mapread")
                else:
                    data = chance.randbytes(length)
                    mapped[inside : inside + length] = data
                    put(start, data)
                    if chance.random() < 0.5:
                        mapped.flush()
        elif kind == "sync":
            os.fsync(descriptor)
        elif kind == "size":
            equal(os.fstat(descriptor).st_size, len(model), f"size {log[-12:]}")
        elif kind == "reopen":
            os.close(descriptor)
            descriptor = os.open(path, os.O_RDWR)
        elif kind == "remount":
            os.close(descriptor)
            remount(ONE)
            descriptor = os.open(path, os.O_RDWR)
        elif kind == "other":
            # The other client reads all of it: what the first still caches has to come first.
            os.fsync(descriptor)
            check(read(f"{TWO}/area/random"), 0, bytes(model), "the other")
    os.close(descriptor)
    check(read(f"{TWO}/area/random"), 0, bytes(model), "the other, at the end")
    remount(ONE)
    check(read(path), 0, bytes(model), "the end")
    return f"{OPERATIONS} operations"


def in_turns():
    """Two clients write and read one file in turns: neither sees what is old."""
    one, two = f"{ONE}/area/turns", f"{TWO}/area/turns"
    write(one, b"")
    for number in range(20):
        text = f"{number:08}".encode() * (1 + number % 5)
        write((one, two)[number % 2], text)
        equal(read((two, one)[number % 2]), text, f"turn {number}")
    with open(one, "r+b", buffering=0) as here, open(two, "r+b", buffering=0) as there:
        for number in range(10):
            writer, reader = (here, there) if number % 3 else (there, here)
            text = f"{number:08}".encode()
            writer.seek(0)
            writer.write(text)
            os.fsync(writer.fileno())
            time.sleep(0.02)
            got = os.pread(reader.fileno(), 8, 0)
            equal(got, text, f"turn {number} with both open")


# What takes less than a second, so that it shows where something was waited for.
SHORT = [renames, unlinked_while_open, in_turns]
CHECKS = [
    a_tree,
    many_names,
    names_there,
    renames,
    system_calls,
    locks,
    unlinked_while_open,
    in_turns,
    random_operations,
    a_large_file,
]


def main():
    wanted = sys.argv[7:]
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    for at in (ONE, TWO):
        mount(at)
    shutil.rmtree(f"{ONE}/area", ignore_errors=True)
    os.mkdir(f"{ONE}/area")
    is_good = True
    for check in CHECKS:
        if check.__name__ not in wanted and "all" not in wanted:
            continue
        begun = time.monotonic()
        try:
            said = check() or "ok"
        except Exception as error:
            is_good = False
            said = f"WRONG {error!r}"[:600]
            if not isinstance(error, AssertionError):
                said += traceback.format_exc(-2)[:1500]
        took = time.monotonic() - begun
        if check in SHORT and took > BREAK_TIMEOUT:
            is_good = False
            said += ", WRONG, as long as a break is waited for"
        print(f"{check.__name__}: {said} ({took:.1f} s)", flush=True)
    for at in (ONE, TWO):
        subprocess.run(["rm", "-rf", f"{at}/area"])
        run("umount", at)
    sys.exit(not is_good)


main()

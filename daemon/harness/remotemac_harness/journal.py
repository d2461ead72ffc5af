"""The document on disk, at every moment of the run."""
import json
import os

from .values import clean

k_mark_width = 98


class Journal:
    """The document on disk: written by temporary file, fsync and rename.

    A document written while the run goes on begins with a slot of fixed place and width, which names the operation begun
    last. It is overwritten in place before each operation, so that also an abort inside the device's driver leaves the
    name behind. The descriptor lies as high as allowed, out of the way of programs that close and reuse low ones.
    """

    k_head = b'{"last_operation":'

    def __init__(self, path):
        self.path = path
        self.fd = -1
        self.offset = len(self.k_head)

    @staticmethod
    def mark_of(name):
        return json.dumps(name[: k_mark_width - 2]).encode("ascii")[:k_mark_width].ljust(k_mark_width)

    def write(self, document, partial):
        body = json.dumps(clean(document), allow_nan=False, separators=(",", ":")).encode("ascii")
        if partial:
            body = self.k_head + self.mark_of("") + b"," + body[1:]
        temporary = "%s.%d.tmp" % (self.path, os.getpid())
        fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            view = memoryview(body)
            while view:
                view = view[os.write(fd, view):]
            os.fsync(fd)
            os.rename(temporary, self.path)
        except BaseException:
            os.close(fd)
            try:
                os.unlink(temporary)
            except OSError:
                pass
            raise
        self._hold(fd if partial else -1, fd)
        folder = os.open(os.path.dirname(self.path) or ".", os.O_RDONLY)
        try:
            os.fsync(folder)
        except OSError:
            pass  # some file systems refuse to sync a folder; the file itself is safe
        finally:
            os.close(folder)

    def _hold(self, keep, fd):
        if keep < 0:
            os.close(fd)
            held, self.fd = self.fd, -1
            if held >= 0:
                os.close(held)
            return
        if self.fd >= 0:
            os.dup2(fd, self.fd, inheritable=False)  # same number, so a thread amid a mark never meets a closed one
        else:
            self.fd = self._move_high(fd)
        os.close(fd)

    @staticmethod
    def _move_high(fd):
        import fcntl
        import resource

        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        limit = 4096 if limit == resource.RLIM_INFINITY else min(limit, 4096)
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, max(3, limit - 16))

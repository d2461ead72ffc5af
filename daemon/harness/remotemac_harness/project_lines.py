"""Whose line is this? Frames of the project, of the harness, of others."""
import os
import sys
import threading

k_torch_ops = os.path.join("torch", "_ops.py")
k_own_files = os.path.dirname(__file__) + os.sep


class ProjectLines:
    """Tells which line of the project's own sources a frame or a traceback stands on."""

    def __init__(self, root):
        self.root = os.path.realpath(root)
        self.cache = {}
        prefix = os.path.realpath(sys.prefix)
        self.foreign = [os.path.realpath(os.path.dirname(k_own_files))]
        if prefix.startswith(self.root + os.sep):
            self.foreign.append(prefix)

    def relative(self, filename):
        """Path inside the project with forward slashes, or "" for everything else."""
        known = self.cache.get(filename)
        if known is None:
            known = self.cache[filename] = self._relative(filename)
        return known

    def _relative(self, filename):
        if not filename or filename.startswith("<"):
            return ""
        path = os.path.realpath(filename)
        if not path.startswith(self.root + os.sep):
            return ""
        if any(path == other or path.startswith(other + os.sep) for other in self.foreign):
            return ""
        inside = path[len(self.root) + 1:].split(os.sep)
        return "" if {"site-packages", "dist-packages"} & set(inside) else "/".join(inside)

    def own_frame(self, frame):
        """The innermost frame of the project, or None."""
        while frame is not None and not self.relative(frame.f_code.co_filename):
            frame = frame.f_back
        return frame

    def of_frame(self, frame):
        frame = self.own_frame(frame)
        return (self.relative(frame.f_code.co_filename), frame.f_lineno) if frame is not None else ("", 0)

    def frame_here(self):
        """The project's frame now: of this thread, or of the main one (backward passes run in torch's own threads)."""
        found = self.own_frame(sys._getframe(1))
        return found or self.own_frame(sys._current_frames().get(threading.main_thread().ident))

    def here(self):
        return self.of_frame(self.frame_here())

    def of_exception(self, error):
        if isinstance(error, SyntaxError) and self.relative(error.filename or ""):
            return self.relative(error.filename), error.lineno or 0
        found = ("", 0)
        entry = error.__traceback__
        while entry is not None:
            path = self.relative(entry.tb_frame.f_code.co_filename)
            if path:
                found = (path, entry.tb_lineno)
            entry = entry.tb_next
        return found


def hide_harness_frames(error):
    """Takes the harness's own frames out of a traceback, and torch's frame that calls on from the tracer: a person sees
    what plain Python would have shown."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        kept = []
        entry, after_tracer = error.__traceback__, False
        while entry is not None:
            code = entry.tb_frame.f_code
            ours = code.co_filename.startswith(k_own_files)
            if not ours and not (after_tracer and code.co_filename.endswith(k_torch_ops)):
                kept.append(entry)
            after_tracer = ours and code.co_name == "__torch_dispatch__"
            entry = entry.tb_next
        for entry, following in zip(kept, kept[1:] + [None]):
            entry.tb_next = following
        error.__traceback__ = kept[0] if kept else None
        error = error.__cause__ or error.__context__

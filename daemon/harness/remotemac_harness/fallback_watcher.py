"""Hearing of fallbacks through Python's warnings."""
import functools
import warnings

from .project_lines import k_torch_ops
from .refusals import k_fallback, k_fallback_text
from .values import cut, k_max_entries


class FallbackWatcher:
    """Hears every fallback warning, whatever warning filters the project sets.

    PyTorch warns once per process, from one call site for all operators, and Python's own filters drop repeats again. So
    once-warnings are made to come always, our filter is kept first, and repeats are swallowed after they were counted: the
    project's standard error shows each operator once.
    """

    def __init__(self, lines):
        self.lines = lines
        self.pending = []  # operators heard since the tracer last looked
        self.shown = set()
        self.messages = {}
        self._filter = warnings.filterwarnings
        self._show = warnings._showwarnmsg

    def install(self):
        watcher = self

        def keep_first(name):
            original = getattr(warnings, name)

            @functools.wraps(original)
            def wrapper(*args, **kwargs):
                result = original(*args, **kwargs)
                watcher.ensure_first()
                return result

            setattr(warnings, name, wrapper)

        for name in ("filterwarnings", "simplefilter", "resetwarnings"):
            keep_first(name)
        warnings._showwarnmsg = self._heard
        self.ensure_first()

    def ensure_first(self):
        try:
            first = warnings.filters[0] if warnings.filters else None
            if first is None or first[0] != "always" or getattr(first[1], "pattern", None) != k_fallback_text:
                self._filter("always", message=k_fallback_text)
        except Exception:
            pass

    def _heard(self, message):
        try:
            text = str(message.message)
            found = k_fallback.search(text)
            if found:
                operator = found.group(1)
                self.pending.append(operator)
                self.messages.setdefault(operator, cut(text))
            if found or "(Triggered internally at" in text:  # repeats exist only because we asked torch for them
                if text in self.shown:
                    return
                if len(self.shown) < k_max_entries:
                    self.shown.add(text)
            if message.filename.endswith(k_torch_ops):  # the tracer's call; without it the project's line would be named
                frame = self.lines.frame_here()
                if frame is not None:
                    message.filename, message.lineno = frame.f_code.co_filename, frame.f_lineno
        except Exception:
            pass
        self._show(message)

"""Plain values: what may stand in a document, how much of it, and a little arithmetic."""
import hashlib
import math

k_max_text = 4000
k_max_string = 64
k_max_entries = 4096  # of any list in the document


def clean(value):
    """Makes a value fit for strict JSON: finite numbers, valid UTF-8, string keys."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {clean(str(key)): clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return value


def cut(text, limit=k_max_text):
    text = str(text)
    return text if len(text) <= limit else text[: limit - 12] + " [shortened]"


def sha256_file(path):
    digest = hashlib.sha256()
    size = 0
    with open(path, "rb") as file:
        while True:
            block = file.read(1 << 20)
            if not block:
                return size, digest.hexdigest()
            size += len(block)
            digest.update(block)


def quantile(values, q):
    """The nearest-rank quantile; None for no values."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(q * len(ordered)) - 1))]


def slope(points):
    """Least squares over [[x, y]]; None when it cannot be told."""
    if len(points) < 3:
        return None
    mean_x = sum(p[0] for p in points) / len(points)
    mean_y = sum(p[1] for p in points) / len(points)
    spread = sum((p[0] - mean_x) ** 2 for p in points)
    return sum((p[0] - mean_x) * (p[1] - mean_y) for p in points) / spread if spread else None

"""Facts of the machine, of Python and of the installed distributions. Nothing here knows torch."""
import platform
import sys


def sysctl(name):
    """A text or 32-bit value of macOS's sysctl; None elsewhere. Read through libc: a job may not start programs."""
    if platform.system() != "Darwin":
        return None
    try:
        import ctypes

        libc = ctypes.CDLL(None)
        size = ctypes.c_size_t(0)
        key = name.encode()
        if libc.sysctlbyname(key, None, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
            return None
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        if libc.sysctlbyname(key, buffer, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
            return None
        if size.value == 4 and not name.startswith(("hw.model", "machdep.cpu.brand")):
            return str(int.from_bytes(buffer.raw[:4], sys.byteorder))
        return buffer.value.decode("utf-8", "replace")
    except Exception:
        return None


def platform_facts():
    virtual = None
    if platform.system() == "Darwin":
        present = sysctl("kern.hv_vmm_present")
        model = sysctl("hw.model")
        if present is not None or model is not None:
            virtual = present == "1" or "VirtualMac" in (model or "")
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "macos": platform.mac_ver()[0],
        "virtual_machine": virtual,
    }


def python_facts():
    return {
        "version": platform.python_version(),
        "executable": sys.executable or "",
        "implementation": platform.python_implementation(),
    }


def installed_packages():
    found = {}
    try:
        from importlib import metadata

        for distribution in metadata.distributions():
            try:
                name = distribution.metadata["Name"]
                if name and name not in found:
                    found[name] = distribution.version or ""
            except Exception:
                continue  # a half-removed distribution says nothing about the others
    except Exception:
        pass
    return [{"name": name, "version": found[name]} for name in sorted(found, key=str.lower)]


def distributions_by_module():
    """{top-level module: distribution name}; by hand where the interpreter is older than 3.10."""
    from importlib import metadata

    table = {}
    try:
        for module, names in metadata.packages_distributions().items():
            table[module] = names[0]
        return table
    except AttributeError:
        pass
    for distribution in metadata.distributions():
        try:
            name = distribution.metadata["Name"]
            listed = (distribution.read_text("top_level.txt") or "").split()
            if not listed:
                listed = {f.parts[0] if len(f.parts) > 1 else f.stem for f in distribution.files or [] if f.suffix == ".py"}
            for module in listed:
                table.setdefault(module, name)
        except Exception:
            continue
    return table

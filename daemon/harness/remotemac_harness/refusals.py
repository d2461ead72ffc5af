"""What PyTorch says when a device cannot do an operation, in the wordings of its releases."""
import re

# When an operation leaves the MPS device for the CPU.
k_fallback_text = r"[Tt]he operator '([^']{1,200})' is not (?:current(?:ly)? )?supported .{0,40}MPS.{0,60}fall ?back"
k_fallback = re.compile(k_fallback_text)
# ... and when the device refuses the operation. The first group, where there is one, names the operator.
k_refusals = (
    re.compile(r"operator '([^']{1,200})' is not current(?:ly)? implemented for the (?:MPS|CUDA) device"),
    re.compile(r"Could not run '([^']{1,200})' with arguments from the '(?:MPS|CUDA)' backend"),
    re.compile(r"(?:MPS|Metal)\b.{0,80}(?:does(?:n't| not) (?:have )?support|not (?:currently |yet )?(?:supported|implemented))"),
    re.compile(r"(?:does(?:n't| not) (?:have )?support|not (?:currently |yet )?(?:supported|implemented)).{0,80}\b(?:MPS|Metal)\b"),
    re.compile(r"DispatchStub: missing kernel for mps"),
    re.compile(r"to the MPS backend but it does not have support"),
    re.compile(r"MPS BFloat16 is only supported"),
)
k_refused_dtype_on_device = re.compile(r"\"[^\"]{1,100}\" not implemented for '")


def refused_operator(error, text, on_device):
    """The operator that a device refusal names, "" for a refusal without a name, None for any other exception."""
    if not isinstance(error, (NotImplementedError, TypeError, RuntimeError)) or "out of memory" in text:
        return None
    for pattern in k_refusals:
        found = pattern.search(text)
        if found:
            return found.group(1) if pattern.groups else ""
    if on_device and (isinstance(error, NotImplementedError) or k_refused_dtype_on_device.search(text)):
        return ""
    return None

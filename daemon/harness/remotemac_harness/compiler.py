"""The tracer and torch.compile."""
import types

from .rows import Row, device_of, first_tensor, result_bytes
from .signatures import Signatures
from .torch_facts import synchronize


def keep_compiler_out(session):
    """Tells torch's compiler not to look into the tracer's own functions when they run between compiled regions."""
    try:
        from torch._dynamo.eval_frame import skip_code
    except Exception:
        try:
            from torch._C._dynamo.eval_frame import skip_code
        except Exception:
            return
    parts = (session, session.tracer, session.memory, session.steps, session.watcher, session.journal, session.lines, session.process)
    for holder in {type(part) for part in parts} | {Signatures, Row}:
        for member in vars(holder).values():
            if isinstance(member, types.FunctionType):
                skip_code(member.__code__)
    for function in (device_of, first_tensor, result_bytes, synchronize):
        skip_code(function.__code__)
    mode = session.tracer.mode_class
    if mode is not None:
        skip_code(mode.__torch_dispatch__.__code__)

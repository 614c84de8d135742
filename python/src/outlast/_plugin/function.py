"""The functions of an instance."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import wasmtime

Function = Callable[..., int]
"""Takes and gives integers."""


def function(store: wasmtime.Store, exported: Any) -> Function:
    """An exported function, which takes and gives integers, to be called in a store.

    wasmtime's ``Func`` asks for the function's type at each call and looks at each value,
    which takes twice as long as the plugin takes to decide. What is left of it here is not
    what wasmtime promises to keep: where it is not as expected, ``Func`` is called.
    """
    try:
        return _straight(store, exported)
    except (ImportError, AttributeError, TypeError):
        return partial(exported, store)


def _straight(store: wasmtime.Store, exported: Any) -> Function:
    from wasmtime import WasmtimeError
    from wasmtime import _ffi as ffi
    from wasmtime._func import enter_wasm

    kind = exported.type(store)
    arguments = (ffi.wasmtime_val_t * len(kind.params))()
    for each, wanted in zip(arguments, kind.params, strict=True):
        if str(wanted) != "i64":
            raise TypeError(str(wanted))
        each.kind = ffi.WASMTIME_I64.value
    results = (ffi.wasmtime_val_t * len(kind.results))()
    given = "".join(map(str, kind.results))  # one at most
    context, named, call = store._context(), ctypes.byref(exported._func), ffi.wasmtime_func_call
    failed = WasmtimeError._from_ptr

    def straight(*values: int) -> int:
        for i, value in enumerate(values):
            arguments[i].of.i64 = value
        with enter_wasm(store) as trap:
            error = call(context, named, arguments, len(arguments), results, len(results), trap)
            if error:
                raise failed(error)
        return int(getattr(results[0].of, given)) if given else 0

    return straight

"""What each hook adds to a call that succeeds at once: the figures of docs/python.md.

    python benchmarks/telling.py

The hooks take turns, so that other work on the machine meets all of them; each figure is the
least of its rounds.
"""

from __future__ import annotations

import time

import prometheus_client
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from outlast import Call, Policy, Result, hooks

ROUNDS, CALLS = 40, 500

CALL = Call(remote=True, write=False)
OK = Result(exit_code=0)

HOOKS: dict[str, tuple[hooks.Hook, ...]] = {
    "none": (),
    "a function": (id,),
    "logging": (hooks.LoggingHook(),),
    "Prometheus": (hooks.PrometheusHook(prometheus_client.CollectorRegistry()),),
    "OpenTelemetry, no SDK": (hooks.OpenTelemetryHook(),),
    "OpenTelemetry, not sampled": (hooks.OpenTelemetryHook(TracerProvider(sampler=ALWAYS_OFF)),),
    "OpenTelemetry": (hooks.OpenTelemetryHook(TracerProvider()),),
}


def seconds_of_a_call(policy: Policy) -> float:
    """Of real time, on the mean of a round."""
    began = time.perf_counter()
    for _ in range(CALLS):
        policy.run(lambda: OK, CALL)
    return (time.perf_counter() - began) / CALLS


def main() -> None:
    """Measure, and print a table."""
    policy = Policy("network")
    least = dict.fromkeys(HOOKS, float("inf"))
    for _ in range(ROUNDS):
        for name, some in HOOKS.items():
            hooks.set_hooks(some)
            least[name] = min(least[name], seconds_of_a_call(policy))
    for name, seconds in least.items():
        added = f"+{(seconds - least['none']) * 1e6:.1f} µs"
        print(f"{name:28}{seconds * 1e6:6.1f} µs  {added}")


if __name__ == "__main__":
    main()

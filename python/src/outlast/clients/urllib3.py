"""urllib3 that rides out a server's restart::

    pool = outlast.clients.urllib3.PoolManager()

Behind a proxy it is ``ProxyManager``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import urllib3

from .._clients.bodies import body_of
from .._clients.options import Settings, taken
from .._clients.passing import Passing, answer

if TYPE_CHECKING:
    from .._call.result import Result


class _Managed(urllib3.PoolManager):
    def __init__(self, *args: Any, **options: Any) -> None:
        self._settings = Settings(taken(options), single=True)
        super().__init__(*args, **options)

    def _new_pool(self, scheme: str, *args: Any, **kwargs: Any) -> Any:
        pool = super()._new_pool(scheme, *args, **kwargs)
        return _patient(pool, self._settings)


class PoolManager(_Managed):
    """A pool manager that makes each request as often as the policy says, and as urllib3's
    own ``Retry`` does not: of that only the redirects are kept.

    Args:
        args: As for urllib3's own.
        options: Likewise, and :class:`outlast.clients.ClientOptions`.

    Raises:
        PolicyError: If there is no such policy.
        TypeError: If there is no such option.
        ValueError: If an option is out of bounds.
    """


class ProxyManager(_Managed, urllib3.ProxyManager):
    """The same with a proxy, behind which nobody watches the server without ``ready``."""


def _patient(pool: Any, settings: Settings) -> Any:
    """A pool whose requests go by the policy."""
    once = pool.urlopen

    def urlopen(
        method: str, url: str, body: Any = None, headers: Any = None, retries: Any = None, **kw: Any
    ) -> Any:
        retries = _redirects_only(retries)
        headers = pool.headers if headers is None else headers
        task = settings.task(
            method.upper(),
            lambda: url if "://" in url else f"{pool.scheme}://{pool.host}:{pool.port}{url}",
            headers,
            (pool.scheme, pool.host, pool.port),
            pool.proxy is None,
        )
        if task is None:
            return once(method, url, body, headers, retries, **kw)
        given = body_of(body)
        return Passing(
            settings,
            task,
            lambda: once(method, url, given.content, headers, retries, **kw),
            _answered,
            _close,
            given,
        ).run()

    pool.urlopen = urlopen
    return pool


def _answered(response: Any) -> Result:
    return answer(response.status, response.headers, response.reason)


def _close(response: Any) -> None:
    response.drain_conn() if response.closed else response.close()
    response.release_conn()


def _redirects_only(retries: Any) -> Any:
    """urllib3's retries without those that make a request again."""
    if retries is None or retries is False:
        return _ONCE if retries is None else False
    if not isinstance(retries, urllib3.Retry):
        retries = urllib3.Retry.from_int(retries)
    redirects = retries.total if retries.redirect is None else retries.redirect
    return retries.new(
        total=None,
        connect=0,
        read=0,
        status=0,
        other=0,
        redirect=redirects,
        status_forcelist=(),
    )


_ONCE = _redirects_only(urllib3.Retry.DEFAULT)


__all__ = ["PoolManager", "ProxyManager"]

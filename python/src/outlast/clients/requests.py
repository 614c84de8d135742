"""requests that ride out a server's restart::

    session.mount("https://", outlast.clients.requests.HTTPAdapter())

Another is mounted for ``http://``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests
import requests.adapters
from requests.utils import select_proxy

from .._clients.bodies import body_of
from .._clients.options import Settings
from .._clients.passing import Passing, answer
from .._watch.target import DEFAULT_PORTS

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._call.result import Result
    from .._clients.options import ClientOptions


class HTTPAdapter(requests.adapters.HTTPAdapter):
    """Makes each request as often as the policy says. It takes no ``max_retries``: two that
    try again would multiply.

    Args:
        pool_connections: As for requests' own.
        pool_maxsize: Likewise.
        pool_block: Likewise.
        options: :class:`outlast.clients.ClientOptions`.

    Raises:
        TypeError: If there is no such option.
        PolicyError: If there is no such policy.
        ValueError: If an option is out of bounds.
    """

    __attrs__ = [*requests.adapters.HTTPAdapter.__attrs__, "_settings"]  # noqa: RUF012

    def __init__(
        self,
        pool_connections: int = 10,
        pool_maxsize: int = 10,
        pool_block: bool = False,
        **options: Unpack[ClientOptions],
    ) -> None:
        super().__init__(pool_connections, pool_maxsize, 0, pool_block)
        self._settings = Settings(options, single=True)

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> requests.Response:
        """Make a request. An answer that is not streamed is read whole."""
        url = request.url or ""
        to = urlsplit(url)
        task = self._settings.task(
            request.method or "",
            lambda: url,
            request.headers,
            (to.scheme, to.hostname or "", to.port or DEFAULT_PORTS.get(to.scheme, 0)),
            not (proxies and select_proxy(url, proxies)),
        )

        def send() -> requests.Response:
            response = super(HTTPAdapter, self).send(
                request, stream, timeout, verify, cert, proxies
            )
            # What breaks here has not been given to anybody. A redirect's body is requests'
            # own affair: it follows whatever becomes of that.
            if not (stream or response.is_redirect):
                _ = response.content
            return response

        if task is None:
            return send()
        body = body_of(request.body)
        request.body = body.content
        return Passing(self._settings, task, send, _answered, requests.Response.close, body).run()


def _answered(response: requests.Response) -> Result:
    return answer(response.status_code, response.headers, response.reason)


__all__ = ["HTTPAdapter"]

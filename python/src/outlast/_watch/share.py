"""One look for all processes of a user: who looks, and who goes by that.

docs/looking.md has the protocol, and why the times are what they are.
"""

from __future__ import annotations

import selectors
import socket
import sys
import threading
import time
from contextlib import suppress

from . import meeting
from .check import Checks
from .lead import Lead
from .look import addresses_of
from .readiness import How
from .sharer import Sharer
from .waiter import Waiter

ASKING = 1.0  # seconds between two questions
ANSWERED = 0.5  # seconds within which one is answered
UNHEARD = 2  # so many without an answer: the looker is gone
AGAIN = 10.0  # seconds that a process looks alone before it tries to meet others again
ASIDE = 0.3  # seconds after which a call waits again whose turn was none
SPARE = 16  # lines of a looker that nothing asked for: some cross with what is said to it
BEFORE = 0.25  # seconds before an attempt of the schedule, for a look of one's own


class Share:
    """What a watcher shares with other processes. Its methods are called with the
    watcher's lock held.
    """

    def __init__(self, watcher: Sharer) -> None:
        self._watcher = watcher
        self._to: meeting.Conn | None = None  # the looker's
        self._pending: set[int] = set()  # attempts of which it has to hear the end
        self._owed: dict[str, int] = {}  # how many lines it may yet say, by their first word
        self._checks = Checks(watcher, self._gives_back)
        self._poke: socket.socket | None = None
        self.sockets: set[socket.socket] = set()
        self.follows = False  # another looks

    @property
    def pending(self) -> bool:
        """Whether the looker has to hear of an attempt."""
        return bool(self._pending)

    def start(self) -> None:
        """Begin to meet other processes, if that is not so yet, and if there can be the files
        and the thread for it.
        """
        if sys.platform == "linux" and self._poke is None:
            with suppress(OSError, RuntimeError):
                self._begin()

    def _begin(self) -> None:
        self._poked, poke = socket.socketpair()
        for sock in (self._poked, poke):
            sock.setblocking(False)
            self.sockets.add(sock)
        try:
            threading.Thread(target=self._run, name="outlast-share", daemon=True).start()
        except RuntimeError:
            self.abandon()
            raise
        self._poke = poke

    def poke(self) -> None:
        """Have the thread look at what there is to do."""
        if self._poke is not None:
            with suppress(OSError):
                self._poke.send(b".")

    def wait(self, view: Waiter) -> None:
        """Tell the looker of a call that waits."""
        view.says = None
        if self._to is not None and not view.remote:
            self._owed["turn"] += 1
            view.asks = True
            least = "unseen" if view.least is None else meeting.WORDS[view.least]
            pace = "eager" if view.eager else "seldom"
            self._to.say("wait", str(view.number), meeting.WORDS[view.by], least, pace)

    def goes(self, view: Waiter) -> None:
        """Tell it of one that makes an attempt."""
        if self._to is not None and not view.remote:
            self._pending.add(view.number)
            self._to.say("go", str(view.number))

    def went(self, view: Waiter, how: How) -> None:
        """Tell it how that ended."""
        if self._to is not None and view.number in self._pending:
            self._pending.remove(view.number)
            self._to.say("done", str(view.number), how)

    def _gives_back(self, view: Waiter) -> None:
        """Tell it of one that has no use for its turn, and says that it waits when it
        does. That is never at once: a looker whose turns are none would keep both busy.
        """
        view.says = max(view.held, time.monotonic() + ASIDE)
        if self._to is not None:
            self._to.say("done", str(view.number), "left")
        self.poke()

    def _hears(self, word: str) -> None:
        """Take a line of the looker's into account. Who says more than was asked for would
        keep this process busy with it.
        """
        self._owed[word] = self._owed.get(word, 0) - 1
        if self._owed[word] < 0:
            raise meeting.AloneError

    def abandon(self) -> None:
        """In the child of a fork: the connections are the parent's."""
        for sock in self.sockets:
            sock.close()

    def _run(self) -> None:
        gone, last = 0, ""
        try:
            while not self._watcher.over:
                try:
                    last, gone = self._meet(last, gone)
                # Such as for want of files, of the directory, or of a name that can be one.
                except (OSError, ValueError, meeting.AloneError):
                    last, gone = "", 0
                    self._alone()
        finally:
            self.abandon()

    def _meet(self, last: str, gone: int) -> tuple[str, int]:
        """Look for others, or go by who looks. *gone* is the term of a looker that is known to
        be gone, at the place *last*; such a pair is the value.
        """
        where, addresses = meeting.directory(), addresses_of(self._watcher.target)
        place = meeting.Place(where, meeting.name_of(self._watcher.target.key, "direct", addresses))
        found, term = place.enter(gone if place.name == last else 0)
        self.sockets.add(sock := found if isinstance(found, socket.socket) else found.sock)
        try:
            if isinstance(found, meeting.Seat):
                self._follow_nobody()
                Lead(self._watcher, found, addresses, self._poked, self.sockets).run()
            elif self._follow(meeting.Conn(found), place, term):
                return place.name, term
            return "", 0
        finally:
            sock.close()
            self.sockets.discard(sock)

    def _alone(self) -> None:
        self._follow_nobody()
        end = time.monotonic() + AGAIN
        while not self._watcher.over and (left := end - time.monotonic()) > 0:
            _listen(left, self._poked)

    def _follow_nobody(self) -> None:
        with self._watcher.lock:
            if self.follows:
                self.follows = False
                self._watcher.look_anew()

    def _follow(self, conn: meeting.Conn, place: meeting.Place, term: int) -> bool:
        """Go by what a looker says. The value is whether that is gone."""
        watcher = self._watcher
        with watcher.lock:
            self._to, self._pending = conn, set()
            self._owed = {"here": SPARE, "turn": SPARE, "full": 1}
            for view in watcher.line.waiting():
                self.wait(view)
        asked, questions = 0.0, 0
        try:
            while not watcher.over:
                now = time.monotonic()
                if now - asked > (ANSWERED if questions else ASKING):
                    if now - asked > 4 * ANSWERED:  # it was itself stopped
                        questions = 0
                    if questions >= UNHEARD or (questions and place.highest() > term):
                        return True
                    with watcher.lock:
                        conn.say("ask")
                        self._owed["here"] += 1
                    asked, questions = now, questions + 1
                due = asked + (ANSWERED if questions else ASKING)
                _listen(min(due, watcher.peek()) - now, self._poked, conn.sock)
                for words in conn.hear():
                    with watcher.lock:
                        self._hears(words[0])
                    if words[0] == "full":
                        raise meeting.AloneError
                    if words[0] == "turn":
                        self._checks.turn(int(words[1]), meeting.level(words[2]), int(words[3]))
                    elif words[0] == "here" and int(words[2]) > meeting.boot():
                        questions = 0
                        with watcher.lock:
                            if not self.follows:
                                self.follows = True
                                watcher.look_anew()
                            watcher.line.hears(meeting.level(words[1]), asked)
                if conn.over:
                    return True
            return False
        finally:
            with watcher.lock:
                self._to, self._pending = None, set()
            conn.close()


def _listen(seconds: float, poked: socket.socket, *others: socket.socket) -> None:
    """Wait until there is something to read, for so long at most. Pokes are read."""
    with selectors.PollSelector() as selector:  # which takes no file of its own
        for sock in (poked, *others):
            selector.register(sock, selectors.EVENT_READ)
        selector.select(max(0.0, seconds))
    with suppress(OSError):
        poked.recv(1 << 10)

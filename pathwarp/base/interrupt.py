# SPDX-License-Identifier: Apache-2.0
"""Requests to end (Ctrl-C, SIGTERM): noted whenever they come, acted on where that is safe.

No handler here raises anything. An exception out of a handler can come up anywhere: where imported code is half
executed, or in a callback of native code that drops it and goes on with half an object. A request is written into a
pipe instead, by the interpreter's own handler in C, and `check` and `wait` raise KeyboardInterrupt for it: once, so
that what clears up behind it is not interrupted again.

Signals that are blocked when the process begins, as `bin/pathwarp` does, wait for `begin`: then none is lost.
"""

import math
import os
import select
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

ENDINGS = (signal.SIGINT, signal.SIGTERM)


class HasDescriptor(Protocol):
    """What `select` takes beside numbers."""

    def fileno(self) -> int: ...


Source = TypeVar("Source", bound=int | HasDescriptor)


class _Notes:
    """Where requests are noted: the pipe's ends, none before `begin`, and whether one has been acted on."""

    def __init__(self) -> None:
        self.ends: tuple[int, ...] = ()
        self.acted = False


_notes = _Notes()


def begin(numbers: Iterable[signal.Signals] = ENDINGS) -> None:
    """Note these signals from now on, in the main thread, and let in those that waited.

    One that the caller's caller ignores, as `nohup` does, stays ignored. In a process that was forked from one with
    notes of its own this forgets them; signals must not get in between (`held`).
    """
    forget()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    _notes.ends, _notes.acted = (reading, writing), False
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _note)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)


def forget() -> None:
    """Note nothing any more; what handlers there are stay."""
    signal.set_wakeup_fd(-1)
    for end in _notes.ends:
        os.close(end)
    _notes.ends, _notes.acted = (), False


def end() -> None:
    """Be deaf to requests to end: the work is done, and what is said of it stays so."""
    for number in ENDINGS:
        signal.signal(number, signal.SIG_IGN)


def noted() -> bool:
    """Whether a request to end has come."""
    return _notes.acted or bool(_notes.ends and _poll({_notes.ends[0]: select.POLLIN}, 0))


def check() -> None:
    """Raise KeyboardInterrupt when a request to end has come that was not acted on yet; the caller is at a safe point.

    Only in the main thread.
    """
    if noted() and not _notes.acted:
        _notes.acted = True
        raise KeyboardInterrupt


def act() -> None:
    """Raise KeyboardInterrupt when a request to end has come, acted on before or not; none comes up behind it."""
    if noted():
        _notes.acted = True
        raise KeyboardInterrupt


def wait(sources: Iterable[Source], timeout_s: float | None = None) -> list[Source]:
    """Those of the descriptors, or objects with one, that can be read, as soon as one can; none when the time is over.

    Raises KeyboardInterrupt as `check` does, and at once when a request comes meanwhile.
    """
    named = {source if isinstance(source, int) else source.fileno(): source for source in sources}
    ready = _wait(dict.fromkeys(named, select.POLLIN), timeout_s)
    return [source for number, source in named.items() if number in ready]


def wait_for_room(descriptor: int) -> bool:
    """Wait until the descriptor takes something to write; whether it does. Raises as `wait` does.

    Behind a request to end that has been acted on, nobody waits any more.
    """
    return descriptor in _wait({descriptor: select.POLLOUT}, 0 if _notes.acted else None)


@contextmanager
def held() -> Iterator[None]:
    """Keep requests to end for later: a process that is forked meanwhile has them blocked, until it calls `begin`."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _note(number: int, frame: object) -> None:
    """Do nothing: the interpreter has written the signal into the pipe already."""


def _wait(events: dict[int, int], timeout_s: float | None) -> set[int]:
    check()
    request = {} if _notes.acted else dict.fromkeys(_notes.ends[:1], select.POLLIN)
    ready = _poll({**events, **request}, timeout_s)
    check()
    return ready


def _poll(events: dict[int, int], timeout_s: float | None) -> set[int]:
    """The descriptors where one of the events of poll(2) has come; none when the time is over."""
    poll = select.poll()
    for number, event in events.items():
        poll.register(number, event)
    # Rounded up: a wait that ends a little early would be repeated again and again.
    return {number for number, _ in poll.poll(None if timeout_s is None else math.ceil(max(0.0, timeout_s) * 1000))}

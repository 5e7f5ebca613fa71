# SPDX-License-Identifier: Apache-2.0
"""The same work on many things, in several processes side by side."""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaints, Exit
from pathwarp.base.lifetime import die_with

Thing = TypeVar("Thing")
Made = TypeVar("Made")


def side_by_side(do: Callable[[Thing], Made], things: Sequence[Thing], processes: int) -> Iterator[Made]:
    """What `do` makes of each of the things, as it is made, in so many processes at most; in this one for one thing.

    What `do` raises is raised here, and KeyboardInterrupt as by `interrupt.wait`. The processes end with the iterator,
    and with this process.
    """
    number = min(processes, len(things))
    if number < 2:
        yield from map(do, things)
        return
    context = multiprocessing.get_context("fork")
    todo = deque(things)
    workers: dict[Connection, multiprocessing.process.BaseProcess] = {}
    try:
        for _ in range(number):
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(do, there, os.getpid()), daemon=True)
            with interrupt.held():
                process.start()
            there.close()
            workers[here] = process
            here.send(todo.popleft())
        busy = set(workers)
        while busy:
            for connection in interrupt.wait(busy):
                yield _received(connection)
                if todo:
                    connection.send(todo.popleft())
                else:
                    busy.remove(connection)
    finally:
        for connection, worker in workers.items():
            worker.terminate()
            worker.join()
            connection.close()


def _received(connection: Connection) -> Any:
    try:
        made, error = connection.recv()
    except EOFError:
        raise Complaints.one("a process of this command", "was killed", code=Exit.FAILED) from None
    if error is not None:
        raise error
    return made


def _serve(do: Callable[[Thing], Made], connection: Connection, parent: int) -> None:
    """The main function of a process: the parent alone hears requests to end, and ends this one."""
    interrupt.forget()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    die_with(parent)
    while True:
        try:
            thing = connection.recv()
        except EOFError:
            return
        try:
            answer: tuple[Made | None, Exception | None] = do(thing), None
        except Exception as error:  # noqa: BLE001, the parent raises it
            answer = None, error
        connection.send(answer)

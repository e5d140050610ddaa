"""Requests to a portal, each by a process of somebody else; they are forked from one that has imported what they need.

`python -I -S asker.py FD` takes sockets, one for each request, from the socket FD until that has ended.
"""

import array
import http.client
import json
import os
import signal
import socket
import sys
import traceback
from contextlib import closing
from typing import Any

MESSAGE = b"?"


def serve(control: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: their sockets tell when they have ended
    while asked := take_socket(control):
        if os.fork() == 0:
            answer(control, asked)
        asked.close()


def take_socket(control: socket.socket) -> socket.socket | None:
    """None when nobody is left who could give one."""
    descriptors = array.array("i")
    message, more, _, _ = control.recvmsg(len(MESSAGE), socket.CMSG_SPACE(descriptors.itemsize))
    if not message:
        return None
    descriptors.frombytes(more[0][2])
    return socket.socket(fileno=descriptors[0])


def answer(control: socket.socket, asked: socket.socket) -> None:
    """This process ends with it."""
    try:
        control.close()
        with asked, asked.makefile("rw") as lines:
            try:
                told: Any = ask(**json.loads(lines.readline()))
            except BaseException:
                told = traceback.format_exc()
            lines.write(json.dumps(told))
    finally:
        os._exit(0)


def ask(uid: int, directory: str, name: str, request: list[Any]) -> list[Any]:
    """Of the socket `name` in a directory that `uid` need not reach; the status and the body that are answered."""
    os.chdir(directory)
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    method, path, headers, body = request
    with closing(http.client.HTTPConnection("localhost")) as connection:
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(name)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return [response.status, response.read().decode()]


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))

"""Loopback ports for the servers of a scenario."""
import socket

_held = []


def free_port():
    """A port that nobody else is given before this process ends: it stays bound, which keeps the
    system from handing it out again, to a listener or to an outgoing connection, also while its
    server is dead. SO_REUSEADDR, which every server sets, lets a server bind it all the same; set
    only after our own bind, so that we ourselves are never given one twice."""
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _held.append(s)
    return s.getsockname()[1]

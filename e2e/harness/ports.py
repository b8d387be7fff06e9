"""Loopback ports for the servers of a scenario."""
import socket

_held = []


def free_port():
    """A port that is not given out again before this process ends. It stays bound, so the system
    gives it to no other listener and no outgoing connection, also while its server is dead.
    SO_REUSEADDR, which every server sets, lets a server bind it all the same. It is set only after
    our own bind, so that the system never gives us the same port twice."""
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _held.append(s)
    return s.getsockname()[1]


def own_address():
    """An address of this machine that is not on loopback, which kube-apiserver refuses in
    EndpointSlices; 127.0.0.1 where there is no other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return "127.0.0.1"
        return s.getsockname()[0]

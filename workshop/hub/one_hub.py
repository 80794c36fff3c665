"""What a second start on the same machine is told, before it can disturb the first."""

import fcntl
import socket
import sys
from urllib.parse import urlsplit

_held = []  # the lock lasts as long as the file is open


def occupy(state):
    """Take the hub's folder for this process and until it ends; if another hub has it, say so and exit."""
    file = open(state / "lock", "a")  # noqa: SIM115
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"A hub is running already in {state.parent}. Stop that one first, or use it.")
    _held.append(file)


def refuse_used_ports(addresses):
    """Exit with a sentence if something listens at one of the URLs already, or nothing may listen there."""
    for address in addresses:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.socket() as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port that was in use a moment ago is free
            try:
                attempt.bind((parts.hostname, port))
            except OSError as error:
                sys.exit(
                    f"The hub cannot listen at {address} ({error.strerror}). "
                    f"`ss -tlnp 'sport = :{port}'` says who does; is a hub running already?"
                )

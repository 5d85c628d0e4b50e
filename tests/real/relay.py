#!/usr/bin/env python3
"""A plain TCP relay: `relay.py OUTDIR HOST PORT` stores what passes, and changes nothing.

It listens on a free port of this machine, prints that port as its only line, passes every connection on to HOST and
PORT, and stores what each side sent in OUTDIR/N.c2s.bin and OUTDIR/N.s2c.bin, N counting connections from 1. It knows
nothing about HTTP or MCP and shares no code with mcpreel. It ends with its standard input.
"""

import os
import socket
import sys
import threading

CHUNK = 65536


def pump(source, sink, path):
    """Copy until the source ends or the sink is gone, then shut down both sides."""
    with open(path, "wb", buffering=0) as keep:
        try:
            while data := source.recv(CHUNK):
                keep.write(data)
                sink.sendall(data)
        except OSError:
            pass
    for end, how in ((sink, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            end.shutdown(how)
        except OSError:
            pass


def relay(client, target, stem):
    server = socket.create_connection(target)
    for end in (client, server):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    back = threading.Thread(target=pump, args=(server, client, f"{stem}.s2c.bin"), daemon=True)
    back.start()
    pump(client, server, f"{stem}.c2s.bin")
    back.join()
    client.close()
    server.close()


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: relay.py OUTDIR HOST PORT")
    out, target = sys.argv[1], (sys.argv[2], int(sys.argv[3]))
    os.makedirs(out, exist_ok=True)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    print(listener.getsockname()[1], flush=True)
    count = 0
    while True:
        client, _ = listener.accept()
        count += 1
        threading.Thread(target=relay, args=(client, target, os.path.join(out, str(count))), daemon=True).start()


main()

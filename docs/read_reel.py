#!/usr/bin/env python3
"""Reads a reel and prints every event: number, time, stream, direction, kind, framing, length, payload.

Written from trace-format.md alone, to show that the document is enough. Needs the package `zstandard`.

    python3 read_reel.py session.reel
    python3 read_reel.py --pieces session.reel     long messages in pieces, as they stand in the reel
    python3 read_reel.py --index session.reel      the index in the footer instead
"""

import struct
import sys

import zstandard

SIGNATURE = b"\x89REEL\r\n\x1a"
SEGMENT = b"\xd7SG\x8e"
TRAILER = b"\x89REELIX\x1a"
RAW_LIMIT = 1 << 31
JOINED_LIMIT = 64 << 20
TRUNCATED = 8
EVENTS = ["message", "stderr", "stream-opened", "stream-closed", "transport", "gap", "note"]
FRAMINGS = ["lf", "crlf", "unterminated", "content-length", "sse", "whole", "fragment"]
MESSAGES = ["request", "notification", "result", "error", "batch", "unclassified", "malformed", "noise", "blank"]


def crc_table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


TABLE = list(crc_table())


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


class Bad(Exception):
    """These bytes are not what the format says."""


def cbor(data, at=0, depth=0):
    """One CBOR item at `at`, and where the next begins. Definite lengths only."""
    if depth > 64 or at >= len(data):
        raise Bad("CBOR is cut or nested too deeply")
    major, info, at = data[at] >> 5, data[at] & 31, at + 1
    if major == 7 and info in (20, 21, 22, 23):
        return {20: False, 21: True}.get(info), at
    if info < 24:
        number = info
    elif info < 28:
        width = 1 << info - 24
        if at + width > len(data):
            raise Bad("CBOR is cut")
        number, at = int.from_bytes(data[at:at + width], "big"), at + width
        if major == 7:
            forms = {2: ">e", 4: ">f", 8: ">d"}
            return (struct.unpack(forms[width], data[at - width:at])[0] if width in forms else None), at
    else:
        raise Bad("CBOR of indefinite length")
    if major == 0:
        return number, at
    if major == 1:
        return -1 - number, at
    if major in (2, 3):
        if at + number > len(data):
            raise Bad("CBOR is cut")
        piece = data[at:at + number]
        return (piece if major == 2 else piece.decode("utf-8")), at + number
    if major == 4:
        items = []
        for _ in range(number):
            item, at = cbor(data, at, depth + 1)
            items.append(item)
        return items, at
    if major == 5:
        members = {}
        for _ in range(number):
            key, at = cbor(data, at, depth + 1)
            members[key], at = cbor(data, at, depth + 1)
        return members, at
    if major == 6:
        return cbor(data, at, depth + 1)
    raise Bad("CBOR that the format does not use")


def file_header(data):
    """The header's map, and where the first segment begins."""
    if not data.startswith(SIGNATURE) or len(data) < 28:
        raise Bad("this is no reel")
    major, _minor, required, _optional, length, crc = struct.unpack_from("<HHIIII", data, 8)
    if major > 1:
        raise Bad(f"major version {major} is newer than this reader")
    body = data[28:28 + length]
    if length > 1 << 20 or len(body) < length or crc32c(data[:24] + body) != crc:
        raise Bad("the file header is damaged")
    if required:
        raise Bad(f"unknown required features {required:#x}")
    return cbor(body)[0], 28 + length


class Segment:
    def __init__(self, data, at):
        head = data[at:at + 60]
        if len(head) < 60 or head[:4] != SEGMENT or crc32c(head[:56]) != struct.unpack_from("<I", head, 56)[0]:
            raise Bad("no segment begins here")
        self.kind, self.flags, self.seq, self.time = struct.unpack_from("<BBxxQq", head, 4)
        (self.count, self.records_raw, self.records_len, self.payload_raw, self.payload_len, self.records_crc,
         self.payload_crc) = struct.unpack_from("<7I", head, 24)
        if max(self.records_raw, self.payload_raw) > RAW_LIMIT:
            raise Bad("a segment claims too much")
        middle = at + 60 + self.records_len
        self.end = middle + self.payload_len
        self.records, self.payload = data[at + 60:middle], data[middle:self.end]
        self.starts_group, self.stored = bool(self.flags & 1), bool(self.flags & 2)


class Group:
    """What runs through a group: two zstd streams and the method numbers."""

    def __init__(self):
        self.record_stream = zstandard.ZstdDecompressor().decompressobj()
        self.payload_stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        self.methods = []

    def events(self, segment):
        records = self.part(self.record_stream, segment.records, segment.records_raw, segment.records_crc, False)
        payload = self.part(
            self.payload_stream, segment.payload, segment.payload_raw, segment.payload_crc, segment.stored)
        at, start, time, found = 0, 0, segment.time, []
        for number in range(segment.count):
            items, at = cbor(records, at)
            if not isinstance(items, list) or not 6 <= len(items) <= 32:
                raise Bad("a record is no array of 6 to 32 items")
            kind, delta, stream, flags, framing, length = items[:6]
            time += delta
            exchange = items[9] if kind == 0 and len(items) > 9 else items[6] if kind != 0 and len(items) > 6 else 0
            event = {"seq": segment.seq + number, "time": time, "stream": stream, "exchange": exchange, "flags": flags,
                     "kind": EVENTS[kind] if kind < len(EVENTS) else f"unknown-{kind}",
                     "framing": FRAMINGS[framing], "payload": payload[start:start + length]}
            if kind == 0 and len(items) > 6:
                event["message"] = MESSAGES[items[6]]
                event["method"] = self.method(items[7]) if len(items) > 7 else None
                event["id"] = items[8] if len(items) > 8 else None
                if len(items) > 10:
                    event["first"] = event["seq"] - items[10]
            start += length
            found.append(event)
        if at != len(records) or start != len(payload):
            raise Bad("records and payloads do not fit")
        return found

    @staticmethod
    def part(stream, data, raw, crc, stored):
        if crc32c(data) != crc:
            raise Bad("a check sum does not match")
        if not stored:
            data = stream.decompress(data)
        if len(data) != raw:
            raise Bad("a part has not the length it claims")
        return data

    def method(self, item):
        if isinstance(item, str):
            self.methods.append(item)
            return item
        return None if item is None else self.methods[item]


def resynchronise(data, at, walk):
    """The next segment that starts a group, or the footer: by hops where headers are sound, else by the magic."""
    while walk and at < len(data):
        try:
            segment = Segment(data, at)
        except Bad:
            break
        at = segment.end
        if data[at:at + 4] == SEGMENT:
            try:
                following = Segment(data, at)
            except Bad:
                break
            if following.starts_group or following.kind == 2:
                return at
    while (at := data.find(SEGMENT, at + 1)) >= 0:
        try:
            segment = Segment(data, at)
            if segment.starts_group or segment.kind == 2:
                return at
        except Bad:
            pass
    return len(data)


def read(data):
    """Yields the file header, then events; what cannot be read is reported on standard error, and is None."""
    header, at = file_header(data)
    yield header
    group = None
    while at < len(data):
        rest = data[at:at + 61]
        if len(rest) == 20 and rest[12:] == TRAILER:
            return
        walk = False
        try:
            segment = Segment(data, at)
            walk = True
            if segment.end > len(data):
                print(f"at byte {at}: the last segment is cut", file=sys.stderr)
                yield None
                return
            if segment.kind == 1:
                if segment.starts_group:
                    group = Group()
                if group is None:
                    raise Bad("its group's beginning is missing")
                yield from group.events(segment)
            at = segment.end
        except (Bad, IndexError, TypeError, ValueError, zstandard.ZstdError) as error:
            if len(rest) < 60 and (SEGMENT.startswith(rest) or rest.startswith(SEGMENT)):
                print(f"at byte {at}: the last segment is cut", file=sys.stderr)
                yield None
                return
            after = resynchronise(data, at, walk)
            print(f"at byte {at}: {error}; {after - at} bytes passed over", file=sys.stderr)
            yield None
            group, at = None, after


def join(items):
    """The same events with the pieces of long frames joined. What is None lets go of all frames that are open."""
    frames = {}
    for event in items:
        if event is None:
            yield from frames.values()
            frames = {}
            continue
        first = event.get("first")
        if first is None:
            yield event
            continue
        is_end = event["framing"] != "fragment"
        before = {**event, "payload": b""} if first == event["seq"] else frames.pop(first, None)
        lane = [[it[name] for name in ("stream", "exchange")] + [it["flags"] & 1] for it in (event, before or event)]
        if before is None or lane[0] != lane[1] or len(before["payload"]) + len(event["payload"]) > JOINED_LIMIT:
            if before and before["payload"]:
                yield before
            yield {**event, "flags": event["flags"] | (TRUNCATED if is_end else 0)}
            continue
        joined = {**event, "payload": before["payload"] + event["payload"]}
        if is_end:
            yield joined
        else:
            frames[first] = joined
    yield from frames.values()


def index(data):
    """The index in the footer; None where there is none."""
    trailer = data[-20:]
    if trailer[12:] != TRAILER or crc32c(trailer[:8]) != struct.unpack_from("<I", trailer, 8)[0]:
        return None
    try:
        segment = Segment(data, struct.unpack_from("<Q", trailer)[0])
    except Bad:
        return None
    if segment.kind != 2 or crc32c(segment.records) != segment.records_crc:
        return None
    found = cbor(segment.records)[0]
    found["groups"] = list(struct.iter_unpack("<QQqq", found["groups"]))
    return found


def main():
    with open(sys.argv[-1], "rb") as file:
        data = file.read()
    if sys.argv[1] == "--index":
        return print(index(data))
    items = read(data)
    try:
        header = next(items)
        print(header)
        for event in filter(None, items) if sys.argv[1] == "--pieces" else join(items):
            if event["kind"] in EVENTS[2:]:
                shown = cbor(event["payload"])[0]
            else:
                shown = event["payload"]
            direction = "s2c" if event["flags"] & 1 else "c2s"
            print(event["seq"], header["created"] + event["time"], event["stream"], direction, event["kind"],
                  event["framing"], len(event["payload"]), shown)
    except Bad as error:
        sys.exit(f"{sys.argv[-1]}: {error}")


if __name__ == "__main__":
    main()

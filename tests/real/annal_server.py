"""PyPI annal as a server that declares a hook, without network access and heavy dependencies.

Tools, store and search are its own code. Three parts are replaced:

- vectors: words are hashed into 384 numbers, instead of using a downloaded model;
- the vector database: a list in memory;
- the hook declaration: it has none, although its author proposed hooks (SEP-2282). Here, `session_start` calls its
  `search_memories`. With the argument `--plain` it declares nothing, like the original.
"""
import glob
import math
import os
import re
import sys
import types
import zlib

PEERS = os.environ["MCPREEL_REAL_PEERS"]
# The SDK that it was written for is already installed.
sys.path += glob.glob(os.path.join(PEERS, "py1/lib/python*/site-packages"))

DECLARATIONS = [
    {
        "event": "session_start",
        "priority": "important",
        "context_tool": "search_memories",
        "context_tool_args": {"project": "{project_name}", "query": "schema keys", "mode": "full"},
    }
]


class Vector(list):
    def tolist(self):
        return list(self)


def vector(text):
    numbers = [0.0] * 384
    for word in re.findall(r"\w+", text.lower()):
        numbers[zlib.crc32(word.encode()) % 384] += 1.0
    length = math.sqrt(sum(number * number for number in numbers)) or 1.0
    return Vector(number / length for number in numbers)


def stand_in(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


stand_in("chromadb")
stand_in("chromadb.utils")
stand_in(
    "chromadb.utils.embedding_functions",
    ONNXMiniLM_L6_V2=lambda: lambda texts: [vector(text) for text in texts],
)

from annal.backend import VectorResult  # noqa: E402


class Memories:
    """The interface that annal expects of a vector database."""

    def __init__(self, **_):
        self.rows = {}

    def insert(self, id, text, embedding, metadata):
        self.rows[id] = [text, embedding, metadata]

    def update(self, id, text, embedding, metadata):
        row = self.rows[id]
        for at, value in enumerate([text, embedding, metadata]):
            if value is not None:
                row[at] = value

    def delete(self, ids):
        for id in ids:
            self.rows.pop(id, None)

    def query(self, embedding, limit, where=None, query_text=None):
        def distance(row):
            return 1.0 - sum(left * right for left, right in zip(row[1], embedding))

        found = [VectorResult(id, row[0], dict(row[2]), distance(row)) for id, row in self.rows.items()]
        return sorted(found, key=lambda result: result.distance)[:limit]

    def get(self, ids):
        return [VectorResult(id, self.rows[id][0], dict(self.rows[id][2])) for id in ids if id in self.rows]

    def scan(self, offset, limit, where=None):
        found = self.get(list(self.rows))
        return found[offset : offset + limit], len(found)

    def count(self, where=None):
        return len(self.rows)


stand_in("annal.backends.chromadb", ChromaBackend=Memories)

from mcp.server.lowlevel import Server  # noqa: E402

if "--plain" not in sys.argv:
    options = Server.create_initialization_options
    Server.create_initialization_options = lambda server, notifications=None, _=None: options(
        server, notifications, {"hooks": {"declarations": DECLARATIONS}}
    )

from annal.server import main  # noqa: E402

sys.argv = ["annal", "--no-dashboard"]
main()

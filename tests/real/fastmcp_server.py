"""A small server made with FastMCP, whose answers contain times and ids that differ in every run."""

import datetime
import uuid

from fastmcp import FastMCP

server = FastMCP("notes")
notes = {}


@server.tool(annotations={"readOnlyHint": False, "destructiveHint": False})
def add_note(text: str) -> dict:
    """Keeps a note."""
    key = uuid.uuid4().hex
    notes[key] = text
    return {"id": key, "text": text, "created": datetime.datetime.now(datetime.UTC).isoformat()}


@server.tool(annotations={"readOnlyHint": True})
def list_notes() -> list[str]:
    """Lists the notes."""
    return sorted(notes.values())


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


if __name__ == "__main__":
    server.run(show_banner=False)

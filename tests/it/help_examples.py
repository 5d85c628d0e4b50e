"""Runs every example of the help texts, and the commands of the guide that are not in `console` blocks, with a real
mcpreel: python3 help_examples.py MCPREEL ROOT [PATTERN].

Each example runs in a copy of one folder, in which the files, programs and live sessions exist that the examples name:
`my-server` and its like are `mcpreel serve`, an address such as https://host/mcp leads to a server of this script. An
example must exit with 0, or go on until it is stopped if that is what it is for. The lists below name the exceptions.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MCPREEL, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
PATTERN = re.compile(sys.argv[3] if len(sys.argv) > 3 else "")
# How long an example may take.
LIMIT = 40
# How long an example is watched that ends only when it is stopped.
WATCHED = 2

# These need a program or a machine of others, or a terminal.
NOT_RUN = {
    r"survive (?!--check)": "needs an MCP client",
    r"\bman -l\b": "needs a pager",
    r"^mcpreel tui|record --ui": "needs a terminal",
    r"completions \w+ >|man --all ~": "writes into the user's folder",
    r"bells\.yaml": "the guide to packs writes it and runs the example",
    r"cargo run|cargo install|tests/run.sh": "builds mcpreel",
    r"api\.example\.com|ci\.internal": "names hosts of others",
    r"localhost:4318": "needs an OpenTelemetry collector",
    r"^mcpreel (login|logout) |--login\b|^ssh ": "needs a server behind OAuth",
}
# These exit with 1: they find something, or the built-in server and host do not have what the example names.
FINDS = [
    r"^mcpreel diff ",
    r"^mcpreel validate\b",
    r"redact .*--check",
    r"mock .*--strict",
    r"^mcpreel replay\b",
    r"fire hook (post_tool_use --tool Bash|pre_tool_use)",
    r"fire rollback chk_abc",
    r"fire raw '{broken'",
    r"fire raw @elicit.json --as server",
    r"call resources/read uri=demo://x",
    r"fire scope .*discord.post",
    r"fire channel (open|close)",
    r"fire message events/poll",
    r"call tools/call name=draw",
    r"show .*grep -i schema",
    # In this folder, files of JSON lines are not all reels.
    r"export --format parquet .* \. -o",
]
# These go on until they are stopped.
GOES_ON = [
    r"--listen", r"--follow", r"--feed", r"--channel-socket", r"--on-signal", r"^mcpreel events watch",
    r"&$",
]
# Messages of a server: the host that starts the command is `mcpreel host`.
OF_SERVERS = re.compile(
    r"^mcpreel fire (push|reminder|event|inference|model-info|scope|feature-sets changed|"
    r"channel (register|changed|incoming|list-host))\b(?!.*(--session|--listen))"
    r"|^mcpreel serve --scenario (?!.*--listen)"
)

SERVERS = [
    "my-server", "my-memory-server", "my-connector", "my-observer", "some-mcp-server", "some-memory-server", "a-server",
    "annal", "npx", "SERVER-COMMAND",
]
SERVE = """mcpreel serve --set 'mcpl.channels:=["discord:#general","d:#general","d:#dev","c:1"]'"""
FAULTS = """name: faults
servers:
  slow: {builtin: {declare: [conversation]}}
steps:
  - user: the database schema
    model: yes
"""
SESSIONS = ["everything", "memory", "notes", "connector", "my-server", "all"]


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def prepare(stage):
    """Makes the folder that each example gets a copy of."""
    work, programs = stage / "work", stage / "bin"
    for name in SERVERS:
        write(programs / name, f"#!/bin/sh\nexec {SERVE}\n", 0o755)
    write(programs / "git", "#!/bin/sh\necho a commit\n", 0o755)
    write(programs / "cargo", "#!/bin/sh\necho checked\n", 0o755)
    write(programs / "make", "#!/bin/sh\necho made\n", 0o755)
    (programs / "mcpreel").symlink_to(MCPREEL)
    work.mkdir()
    write(work / "my-model", "#!/bin/sh\ncat >/dev/null\necho yes\n", 0o755)
    call = '{"jsonrpc":"2.0","id":7,"method":"%s","params":%s}\n'
    write(work / "ping.json", call % ("ping", "{}"))
    write(work / "initialize.json", call % ("initialize", '{"protocolVersion":"2025-11-25","capabilities":{},'
          '"clientInfo":{"name":"c","version":"1"}}'))
    write(work / "elicit.json", call % ("elicitation/create", '{"message":"Sure?","requestedSchema":{"type":"object",'
          '"properties":{}}}'))
    write(work / "params.json", '{"name":"add","arguments":{"a":1,"b":2}}')
    write(work / "channel.json", '{"id":"discord:#general","type":"discord","label":"General","direction":"bidirectional"}')
    write(work / ".mcp.json", '{"mcpServers":{"everything":{"command":"my-server"},"memory":{"command":"my-server"},'
          '"files":{"command":"my-server"}}}')
    checks = 'checks: [{call: tools/list, expect: ".tools != []"}]'
    write(work / "checks.yaml", checks)
    shutil.copy(ROOT / "tests/it/imports/session.har", work / "browser.har")
    shutil.copy(ROOT / "tests/it/imports/client.txt", work / "sent.txt")
    shutil.copy(ROOT / "tests/it/imports/server.txt", work / "received.txt")
    write(work / "other-tools-log.ndjson", '{"dir":"c2s","msg":%s}\n' % (call % ("ping", "{}")).strip())
    write(work / "faults.yaml", FAULTS)
    (work / "docs").mkdir()
    write(work / "log.jsonl", '{"kind":"push","text":"done"}\n')
    overlays = ROOT / "examples/overlays"
    for name, source in [("memory", "server-memory"), ("files", "server-filesystem"), ("annal", "annal"),
                         ("notes", "server-memory")]:
        shutil.copy(overlays / f"{source}.yaml", work / f"{name}.yaml")
    shutil.copytree(ROOT / "examples", work / "examples")
    shutil.copy(ROOT / "src/pack/shipped/claude-channels.yaml", work / "draft.yaml")
    shutil.copy(ROOT / "examples/scenarios/several.yaml", work / "scenario.yaml")
    write(stage / "home/.codex/config.toml", "[mcp_servers.github]\ncommand = 'my-server'\n")
    write(stage / "home/.mcpreel.key", "an example of a key, not a random one")
    write(work / "shared.md", "# Notes\n")
    (stage / "home/.local/share/bash-completion/completions").mkdir(parents=True)
    (stage / "run").mkdir(mode=0o700)
    (work / "tmp").mkdir()
    (stage / "tmp").mkdir()
    for name, streams in [("session", 1), ("two", 2)]:
        write(work / f"{name}.jsonl", session_lines(streams))
        run(stage, work, f"mcpreel import {name}.jsonl -o {name}.reel")
    for name in ["a", "b", "a2", "before", "after", "old", "client", "server", "monday", "tuesday", "expected"]:
        run(stage, work, f"mcpreel import examples/session.jsonl -o {name}.reel")
    run(stage, work, "cp session.jsonl other.jsonl")
    run(stage, work, "mkdir runs recordings && cp session.reel runs/ && cp session.reel recordings/")
    run(stage, work, "printf -- '- reel: session.reel\\n  command: [my-server]\\n' >suite.yaml")
    run(stage, work, "mcpreel diff --surface --update server.lock.json -- my-server")
    run(stage, work, "mcpreel export session.reel --format jsonl | jq -c 'select(.dir==\"c2s\").message // empty' "
        ">requests.jsonl")


def session_lines(streams):
    """A session of 20 seconds on this many connections, as JSON lines."""
    lines = [{"reel": {"version": 1, "created": "2026-01-02T03:04:05Z", "tool": "test"}}]

    def add(second, stream, direction, message):
        lines.append({"time": f"2026-01-02T03:04:{5 + second:02}Z", "stream": stream, "dir": direction,
                      "event": "message", "message": {"jsonrpc": "2.0", **message}})

    for stream in range(1, streams + 1):
        add(0, stream, "c2s", {"id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}})
        add(1, stream, "s2c", {"id": 1, "result": {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}})
        add(1, stream, "c2s", {"method": "notifications/initialized"})
    add(1, 1, "c2s", {"id": 2, "method": "tools/list"})
    add(2, 1, "s2c", {"id": 2, "result": {"tools": [
        {"name": name, "inputSchema": {"type": "object"}} for name in ("add", "echo", "fail")]}})
    for second, (tool, arguments) in enumerate([("add", {"a": 1, "b": 2}), ("echo", {"message": "hi"}),
                                                ("fail", {})], 3):
        add(second, 1, "c2s", {"id": second, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        add(second + 1, 1, "s2c", {"id": second, "result": {
            "content": [{"type": "text", "text": "3"}], "isError": tool == "fail"}})
    add(20, streams, "c2s", {"id": 9, "method": "ping"})
    add(20, streams, "s2c", {"id": 9, "result": {}})
    return "".join(json.dumps(line) + "\n" for line in sorted(lines, key=lambda line: line.get("time", "")))


def environment(stage):
    home = str(stage / "home")
    return {
        "PATH": f"{stage / 'bin'}:{os.environ['PATH']}", "HOME": home, "MCPREEL_HOME": str(stage / "mcpreel"),
        "XDG_RUNTIME_DIR": str(stage / "run"), "TMPDIR": str(stage / "tmp"), "NO_COLOR": "1", "LC_ALL": "C.UTF-8",
        "KEY": "k", "TOKEN": "t",
    }


def start(stage, folder, line, **options):
    return subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", line], cwd=folder, env=environment(stage), start_new_session=True,
        stdin=options.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        errors="replace", **options)


def stop(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(stage, folder, line, limit=LIMIT):
    """Returns the exit code, or None if it went on, and the output."""
    process = start(stage, folder, line)
    try:
        out, err = process.communicate(timeout=limit)
        code = process.returncode
    except subprocess.TimeoutExpired:
        code = None
        stop(process)
        out, err = process.communicate()
    stop(process)
    if folder == stage / "work" and code not in (0, 1):
        sys.exit(f"cannot prepare: {line}: {code}\n{out}{err}")
    return code, out, err


def help_of(words):
    got = subprocess.run([MCPREEL, *words, "--help"], capture_output=True, text=True, env={"COLUMNS": "110", "PATH": ""})
    return got.stdout


def in_help(words=()):
    """The examples of a command and of all below it."""
    text = help_of(words)
    section = text[text.find("\nExamples"):] if "\nExamples" in text else ""
    for line in section.splitlines():
        if re.match(r"  (mcpreel|[a-z]+ .*\| mcpreel) ", line):
            yield " ".join(["mcpreel", *words]), line.strip()
    commands = re.search(r"\nCommands:\n((?:  .*\n)+)", text)
    for line in commands[1].splitlines() if commands else []:
        name = re.match(r"  ([a-z][a-z-]*)(\s|$)", line)
        if name and name[1] != "help":
            yield from in_help((*words, name[1]))


def in_guide():
    """The commands in `sh` blocks of the documents."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]:
        for block in re.findall(r"```sh\n(.*?)```", path.read_text(), re.S):
            for line in block.replace("\\\n", " ").splitlines():
                if re.search(r"^(\w+ .*\| )?mcpreel ", line):
                    yield path.name, line.strip()


def substituted(line, url):
    line = re.sub(r"https?://(host|example\.com|localhost:8080|127\.0\.0\.1:3000)/mcp", url, line)
    line = line.replace("/run/user/1000/", "../").replace("/tmp/", "tmp/")
    line = re.sub(r"--listen (8080|tcp:7000)", "--listen 0", line)
    line = re.sub(r"--webhook 9000", "--webhook 0", line)
    if "--stream 2" in line:
        line = line.replace("session.reel", "two.reel")
    # What these change is not there for other examples.
    if "feature-sets changed" in line:
        line = line.replace("--session serve", "--session serve-2")
    if "channel close" in line:
        line = line.replace("--session connector", "--session notes")
    # Without a terminal, nothing can be asked.
    is_asked = "wrap " in line and "--yes" not in line and "--dry-run" not in line
    return re.sub(r"^(mcpreel (un)?wrap [^#]*?)\s*(#.*)?$", r"\1 --dry-run", line) if is_asked else line


def check(stage, number, source, example, url):
    """Runs one example; returns what is wrong with it."""
    folder = stage / f"run-{number}"
    shutil.copytree(stage / "work", folder, symlinks=True)
    os.mkfifo(folder / "events.fifo")
    line = substituted(example, url)
    goes_on = any(re.search(pattern, line) for pattern in GOES_ON)
    if OF_SERVERS.search(line):
        write(folder / "example.sh", f"exec {line}\n")
        line = "mcpreel host -s x='bash ./example.sh' --consent --do '/wait 400ms'"
        goes_on = False
    for made in re.findall(r"(?:-o|--record) ([\w.-]+)", example):
        if len(re.findall(re.escape(made), example)) == 1:
            (folder / made).unlink(missing_ok=True)
    code, out, err = run(stage, folder, line, WATCHED if goes_on else LIMIT)
    shutil.rmtree(folder, ignore_errors=True)
    expected = {0, 1} if any(re.search(pattern, example) for pattern in FINDS) else {0}
    if goes_on:
        expected |= {None}
    if code in expected and "mcpreel: error" not in err:
        return None
    said = (err or out).strip()[-600:]
    return f"{source}: {example}\n    exit code {code}: {said}"


def live_sessions(stage):
    """Starts all sessions that examples name; returns the processes and the address of a server over HTTP."""
    def serving(words):
        running.append(start(stage, stage / "work", f"mcpreel {words} 2>&1"))
        return re.search(r"(?:http|unix):\S+", running[-1].stdout.readline())[0].rstrip(",;")

    def talking(words):
        running.append(start(stage, stage / "work", f"mcpreel host --consent {words}", stdin=subprocess.PIPE))

    def await_sessions(names):
        for _ in range(400):
            known = subprocess.run([MCPREEL, "sessions", "--format", "json"], capture_output=True, text=True,
                                   env=environment(stage)).stdout
            if all(f'"{name}"' in known for name in names):
                return
            time.sleep(0.1)
        sys.exit(f"not all of these are live sessions: {names}")

    running = []
    servers = " ".join(f"-s {name}='mcpreel record --label {name} -- my-server'" for name in SESSIONS)
    # The servers below are called `serve-3` and so on then: these two alone deny scopes.
    talking("--set mcpl.scope=deny --set mcpe.subscribe='build.*' -s serve='mcpreel serve' -s other='mcpreel serve'")
    await_sessions(["serve", "serve-2"])
    talking(f"--set mcpl.scope=approve --set mcpe.subscribe='build.*' {servers}")
    await_sessions(SESSIONS)
    for name in ["gateway", "web"]:
        url = serving(f"record --label {name} --listen 0 -- my-server")
        talking(f"-s first={url} -s second={url}")
    serving("serve --listen unix:../server.sock")
    url = serving("serve --listen 0")
    await_sessions(["gateway", "web"])
    return running, url


def main():
    examples = [(source, line) for source, line in [*in_help(), *in_guide()] if PATTERN.search(line)]
    wanted = [(source, line) for line, source in {line: source for source, line in examples}.items()
              if not any(re.search(pattern, line) for pattern in NOT_RUN)]
    if not PATTERN.pattern and len(wanted) < 200:
        sys.exit(f"only {len(wanted)} examples were found")
    stage = pathlib.Path(tempfile.mkdtemp())
    running = []
    try:
        prepare(stage)
        running, url = live_sessions(stage)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            done = pool.map(lambda item: check(stage, item[0], *item[1], url), enumerate(wanted))
            wrong = [problem for problem in done if problem]
    finally:
        for process in running:
            stop(process)
        shutil.rmtree(stage, ignore_errors=True)
    print(f"{len(wanted) - len(wrong)} of {len(wanted)} examples work")
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()

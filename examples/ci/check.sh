#!/bin/sh
# Checks an MCP server against recordings:
#   check.sh RECORDINGS REPORTS -- COMMAND...
# replays each reel (*.reel, *.jsonl) in the folder RECORDINGS with the server, compares the answers, and validates the new
# session. The folder REPORTS gets JUnit, SARIF and the new sessions without secrets. If there are a baseline of known
# findings (RECORDINGS/known.json) or a lock file of what the server offers (RECORDINGS/server.lock.json), they count.
# The exit code is 0 if all is well, else the highest that a check had.
set -u
recordings=$1 reports=$2
shift 3
mkdir -p "$reports"
worst=0
# Runs a check, and remembers its exit code.
check() {
    "$@"
    code=$?
    [ "$code" -le "$worst" ] || worst=$code
}

set -- -- "$@"
for recording in "$recordings"/*.reel "$recordings"/*.jsonl; do
    [ -f "$recording" ] || continue
    name=$(basename "$recording")
    name=$reports/${name%.*}
    check mcpreel replay "$recording" --record "$name.new.reel" --format junit "$@" >"$name.replay.xml"
    [ -f "$name.new.reel" ] || continue
    known=
    [ ! -f "$recordings/known.json" ] || known="--baseline $recordings/known.json"
    # shellcheck disable=SC2086
    check mcpreel validate "$name.new.reel" --fail-on error $known --format junit >"$name.validate.xml"
    # shellcheck disable=SC2086
    mcpreel validate "$name.new.reel" --fail-on never $known --format sarif >"$name.sarif"
    mcpreel redact "$name.new.reel" -o "$name.reel" --force >"$name.redacted.txt" && rm "$name.new.reel"
done
if [ -f "$recordings/server.lock.json" ]; then
    check mcpreel diff --surface "$recordings/server.lock.json" "$@"
fi
exit "$worst"

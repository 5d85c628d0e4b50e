#!/bin/sh
# Checks an MCP server against recordings:
#   check.sh RECORDINGS REPORTS [OPTION...] -- COMMAND...
# replays each reel (*.reel, *.jsonl) in the folder RECORDINGS with the server, compares the answers, and validates the new
# sessions. OPTIONs are those of `mcpreel replay`, such as --ignore and --allow-destructive. The folder REPORTS gets JUnit,
# SARIF, the new sessions, and their JSON lines, to which SARIF points: all without the secrets that mcpreel recognises. If
# there are a baseline of known findings (RECORDINGS/known.json) or a lock file of what the server offers
# (RECORDINGS/server.lock.json), they count. Standard output says what differs and what is wrong. The exit code is 0 if all
# is well, else the highest that a check had.
set -u
usage() {
    echo "usage: check.sh RECORDINGS REPORTS [OPTION...] -- COMMAND..." >&2
    exit 2
}
[ $# -ge 4 ] && [ "$1" != -- ] && [ "$2" != -- ] || usage
recordings=$1 reports=$2
shift 2
case " $* " in *" -- "?*) ;; *) usage ;; esac

# What has secrets is in a folder that only this user can read, and that does not outlive the script.
new=$(mktemp -d) || exit 3
trap 'rm -rf "$new"' EXIT
trap 'exit 130' HUP INT TERM
mkdir -p "$reports" || exit 3
if [ ! -d "$recordings" ] || [ "$(cd "$recordings" && pwd -P)" = "$(cd "$reports" && pwd -P)" ]; then
    echo "check.sh: there is no folder $recordings, or it is the same as $reports" >&2
    exit 3
fi
worst=0
# Runs a check, and remembers its exit code.
check() {
    "$@"
    code=$?
    [ "$code" -le "$worst" ] || worst=$code
}
# The name of a recording in REPORTS.
name() {
    basename "$1" .reel
}
# Compares what the server offers with the lock file.
surface() {
    while [ "$1" != -- ]; do shift; done
    mcpreel diff --surface "$recordings/server.lock.json" "$@"
}

count=0
for recording in "$recordings"/*.reel "$recordings"/*.jsonl; do
    [ -f "$recording" ] || continue
    count=$((count + 1))
    name=$(name "$recording")
    rm -f "$reports/$name.reel" "$reports/$name.jsonl"
    check mcpreel replay "$recording" --record "$new/$name.reel" --redact --junit "$reports/$name.replay.xml" "$@"
    [ -f "$new/$name.reel" ] || continue
    check mcpreel redact "$new/$name.reel" -o "$reports/$name.reel" >"$reports/$name.redacted.txt"
    [ ! -f "$reports/$name.reel" ] || check mcpreel export "$reports/$name.reel" -o "$reports/$name.jsonl"
done
if [ "$count" = 0 ]; then
    echo "check.sh: no recordings (*.reel, *.jsonl) in $recordings" >&2
    exit 3
fi
[ ! -f "$recordings/server.lock.json" ] || check surface "$@"

# All sessions are validated in one run, because they share the baseline.
set --
for recording in "$recordings"/*.reel "$recordings"/*.jsonl; do
    reel=$reports/$(name "$recording").reel
    [ ! -f "$recording" ] || [ ! -f "$reel" ] || set -- "$@" "$reel"
done
if [ $# -gt 0 ]; then
    [ ! -f "$recordings/known.json" ] || set -- "$@" --baseline "$recordings/known.json"
    check mcpreel validate "$@" --redact --fail-on error
    mcpreel validate "$@" --redact --fail-on error --format junit >"$reports/validate.xml"
    mcpreel validate "$@" --redact --fail-on never --format sarif >"$reports/validate.sarif"
fi
exit "$worst"

#!/bin/sh
# Tests a client with a recording in place of its server. Fails if the client asks for what was not recorded, or does not
# ask for what was. Needs nothing but mcpreel.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
mcpreel mock session.jsonl --strict --listen 0 --ready-file "$work/ready.json" >/dev/null 2>"$work/report" &
mock=$!
trap 'kill "$mock" 2>/dev/null || true; rm -rf "$work"' EXIT
until [ -s "$work/ready.json" ]; do
    kill -0 "$mock" 2>/dev/null || { cat "$work/report"; exit 1; } >&2
    sleep 0.1
done
url=$(sed 's/.*"url":"\([^"]*\)".*/\1/' "$work/ready.json")

# The client under test, and what it should print:
status=0
sum=$(mcpreel call tools/call name=add arguments.a:=2 arguments.b:=40 --format json --url "$url") || status=$?

kill "$mock"
wait "$mock" || { echo "the client did not do what was recorded:"; cat "$work/report"; exit 1; } >&2
[ "$status" = 0 ] || { echo "the client failed with exit code $status"; exit 1; } >&2
case $sum in
*'"sum":42'*) echo passed ;;
*) echo "expected the sum 42, got $sum" >&2; exit 1 ;;
esac

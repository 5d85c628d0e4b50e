#!/usr/bin/env bash
# Makes reels as three machines could have recorded them, for docs/guide/fleet.md.
#
#   examples/fleet.sh FOLDER
#
# They are the examples' sessions with other times and versions, so that every question there has an answer.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
if [ $# -ne 1 ]; then
    echo "usage: examples/fleet.sh FOLDER" >&2
    exit 2
fi
folder=$1

# made REEL EXAMPLE [SED-ARGUMENT...]: imports an example after sed has changed it.
made() {
    local reel=$folder/$1 example=$here/$2
    shift 2
    mkdir -p "$(dirname -- "$reel")"
    sed -e '' "$@" "$example" | mcpreel import - -o "$reel" 2>/dev/null
}

made build-1/monday.reel session.jsonl
made build-1/tuesday.reel session.jsonl -e 's/2026-11-23T06/2026-11-24T06/g'
# A new version of the server is slower, and answers with more.
made build-2/tuesday.reel session.jsonl -e 's/2026-11-23T06/2026-11-24T07/g' \
    -e 's/"mcpreel-live","version":"0.1.0"/"mcpreel-live","version":"0.2.0"/' \
    -e '/"id":5,"result"/s/45.515372186/45.689372186/' -e 's/Counted to 2/Counted to 2: one, two/'
# Another client repeats a call that failed, and the session ends before the last response.
line() {
    printf '{"time":"2026-11-24T08:19:47.%sZ","stream":0,"dir":"%s","event":"message","message":{"jsonrpc":"2.0","id":%s}}\\n' "$@"
}
again='"method":"tools/call","params":{"name":"fail","arguments":{"message":"disk quota exceeded"}}'
failed='"result":{"content":[{"type":"text","text":"disk quota exceeded"}],"isError":true}'
last='"method":"resources/read","params":{"uri":"memory://notes"}'
made build-3/tuesday.reel session.jsonl -e 's/2026-11-23T06/2026-11-24T08/g' -e 's/"version":"1.4"/"version":"1.5"/' \
    -e 's/"protocolVersion":"2025-11-25"/"protocolVersion":"2025-06-18"/g' -e '/"seq":2[34],/d' \
    -e "/\"seq\":25,/i $(line 470 c2s "8,$again" 472 s2c "8,$failed" 474 c2s "9,$last" | sed 's/\\n$//')"
made build-3/monday.reel testing/session.jsonl

#!/bin/sh
# Makes corpora from the examples, test data and what campaigns have found (seeds/), and a dictionary from the schemas.
# corpus.sh MCPREEL FOLDER: the binary to record with, and where to put the corpora (one folder per target).
set -eu
mcpreel=$1 out=$2
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MCPREEL_HOME="$work/home"
for target in "$root"/fuzz/fuzz_targets/*.rs; do
    name=$(basename "$target" .rs)
    mkdir -p "$out/$name"
    [ ! -d "$root/fuzz/seeds/$name" ] || cp "$root/fuzz/seeds/$name"/* "$out/$name/"
done

"$mcpreel" demo -o "$work/demo.reel" >"$work/output" 2>&1
for scenario in "$root"/examples/scenarios/*.yaml; do
    name=$(basename "$scenario" .yaml)
    "$mcpreel" host --scenario "$scenario" --record "$work/$name.reel" >"$work/output" 2>&1 </dev/null || true
    cp "$scenario" "$out/scenario/"
done
cp "$root"/examples/overlays/*.yaml "$out/overlay_plan/"
cp "$root"/src/pack/shipped/*.yaml "$out/pack/"
printf 'all:\n  host: {tool_rounds: 3, prompt_bytes: 16k}\nservers:\n  one: {host: {history: none}}\n' >"$out/policy/policy"

# A conversation: a byte for direction and time, then the message.
lines='select(.event == "message" and .message != null)
    | (if .dir == "c2s" then "`" else "a" end) + (.message | tojson)'
for reel in "$work"/*.reel; do
    name=$(basename "$reel" .reel)
    { printf '\002'; cat "$reel"; } >"$out/reel/$name"
    "$mcpreel" export "$reel" -o "$work/$name.jsonl"
    cp "$work/$name.jsonl" "$out/jsonl/"
    cp "$work/$name.jsonl" "$out/export/"
    jq -r "$lines" "$work/$name.jsonl" >"$work/$name.talk"
    for target in validate overlay survive; do cp "$work/$name.talk" "$out/$target/$name"; done
    cp "$work/$name.talk" "$out/mcp/$name"
    { printf '\120\040\001'; jq . "$work/$name.jsonl" | head -c 2000; } >"$out/screen/$name"
    # The server receives only its clients' messages; the host its servers' messages, a turn, and an end.
    { sed -n '/^`/p' "$work/$name.talk"; } >"$out/server/$name"
    { sed -n '/^a/p' "$work/$name.talk"; echo '`Hello'; sed -n '/^a/p' "$work/$name.talk"; } >"$out/host/$name"
    { printf '\003'; cat "$work/$name.talk"; printf '\n=\n'; cat "$work/$name.talk"; } >"$out/diff/$name"
    { cat "$work/$name.talk"; printf '\n=\n'; cat "$work/$name.talk"; } >"$out/replay/$name"
    { printf '\001'; cat "$out/replay/$name"; } >"$out/mock/$name"
    { printf '\100'; cut -c2- "$work/$name.talk"; } >"$out/line_framer/$name"
    cut -c2- "$work/$name.talk" | while IFS= read -r message; do
        sum=$(printf %s "$message" | cksum | tr ' ' -)
        printf %s "$message" >"$out/envelope/$sum"
        printf %s "$message" >"$out/pretty/$sum"
        printf '\300%s' "$message" >"$out/redact/$sum"
        printf '{"tools":[]}\n%s' "$message" >"$out/http/$sum"
        printf '/params/arguments/0\n%s' "$message" >"$out/pointer/$sum"
        case $message in *'"result":{"tools":['* | *'"result":{"resources":['* | *'"result":{"prompts":['*) printf %s "$message" | jq -c .result >"$out/surface/$sum" ;; esac
    done
    { printf '\100'; sed 's/^./data: /; s/$/\n/' "$work/$name.talk"; } >"$out/sse/$name"
    { printf '\001\100'; sed 's/^./data: /; s/$/\n/' "$work/$name.talk"; } >"$out/body/$name"
    { printf '\005\100'; sed 's/^./data: /; s/$/\n/' "$work/$name.talk" | gzip; } >"$out/body/$name.gz"
    printf '\002\100\201\005Hello\211\000\001\002{"\200\001}' >"$out/body/frames"
    { printf '\000\100'; sed 's/^./data: /; s/$/\n/' "$work/$name.talk"; } >"$out/cut/$name"
    printf '\000\100{"jsonrpc":"2.0","id":"mcpreel-0123abcd-1","result":{}}\n' >"$out/cut/answer"
    printf '\000\100\201\005Hello\211\000\001\002{"\200\001}' >"$out/cut/frames"
done
printf '%s\n' '{"time":1.5,"dir":"c2s","raw":"{\"id\":1,\"method\":\"x\"}"}' \
    '{"ts":"2026-01-01T00:00:00Z","direction":"s2c","msg":{"id":1,"result":{}}}' \
    '{"time":1700000000000,"dir":"c2s","conn":"1","http":{"method":"POST"},"raw":"{\"id\":2,\"method\":\"y\"}"}' \
    '{"dir":"s2c","conn":"1","http":{"status":404,"headers":{"a":"b"}}}' \
    '{"dir":"s2c","conn":"1","sse":["id: 1","data: {}"]}' '{"dir":"stderr","text":"hello"}' >"$work/transcript"
# The first byte is the format's place in the target's list.
place() { printf "\\$(printf %o $((97 + $1)))"; }
imports=$root/tests/it/imports
number=0
for file in "$work/transcript" "$imports"/mcpsnoop.jsonl "$imports"/mcp-rec.jsonl "$imports"/mcp-cassette.json \
    "$imports"/mcp-recorder.json "$imports"/agent-vcr.vcr "$imports"/mcp-vcr.yaml "$imports"/mcp-vcr.ndjson \
    "$imports"/mcp-snoop.log "$imports"/claude-desktop.log "$imports"/vscode.log "$imports"/inspector.json \
    "$imports"/session.har "$imports"/client.txt; do
    { place "$number"; cat "$file"; } >"$out/import/$(basename "$file")"
    number=$((number + 1))
done
{ place 11; cat "$imports/inspector-network.json"; } >"$out/import/inspector-network.json"
printf '%s\n' '{"mcpServers":{"a":{"command":"npx","args":["-y","${A:-b}"],"env":{"K":"v"}}, // c
  "b":{"type":"http","url":"https://x.example/mcp?key=1","headers":{"Authorization":"Bearer x"}},},}' >"$out/clients/json"
printf '%s\n' '[mcp_servers.a]' 'command = "npx"' 'args = ["-y", "b"]' '[mcp_servers.a.env]' 'K = "v"' \
    '[mcp_servers.b]' 'url = "https://x.example"' 'http_headers = { "X" = "y" }' 'bearer_token_env_var = "T"' \
    >"$out/clients/toml"
printf '%s\n' 'ppacks = ["mcp-events"]' '[validate]' 'only = ["schema/*"]' 'fail-on = "warning"' \
    '[[validate.suppress]]' 'rule = "schema/*"' 'path = "/params/*"' '[validate.severity]' '"pairing/*" = "off"' \
    '[redact]' 'pointers = ["/params/x"]' 'allow-patterns = ["a+"]' '[[redact.rules]]' 'name = "n"' 'pattern = "x[0-9]+"' \
    >"$out/settings/project"
printf 'b{"version":2,"findings":[{"rule":"schema/params","method":"ping","path":"/params","count":2}]}' >"$out/settings/baseline"
printf '%s\n' 'cname: all' 'checks:' '  - call: tools/call' '    params: {name: echo, arguments: {message: "${a}"}}' \
    '    capture: {a: .content}' '    expect: [.isError, true]' >"$out/settings/checks"
printf 'yextensions: {a: {cmd: uvx, args: [b], envs: {A: b}, type: stdio}}' >"$out/settings/goose"
printf 'ymcpServers: [{name: a, command: b, args: [-y]}]' >"$out/settings/continue"
printf 'l[{"server":"https://h/mcp","resource":"https://h/mcp","issuer":"https://h","token_endpoint":"https://h/t",' \
    >"$out/settings/logins"
printf '"client":{"id":"c","registration":"dynamic","redirect_uri":"http://127.0.0.1/c"},"access_token":"t"}]' \
    >>"$out/settings/logins"
printf '%s\n' '{"op":"info","tag":1}' '{"op":"send","toward":"server","message":"{\"method\":\"x\"}"}' \
    '{"op":"send","toward":"client","stream":9,"message":"{}","wait_ms":1}' '{"op":"fire","fire":{"kind":"push"}}' \
    >"$out/control/lines"
printf '%s\n%s' '{"hooks":{"declarations":[{"event":"post_tool_use","matcher":{"tool_name":"a*[!b]?"},"context":"{tool_name} {x}","priority":"required"}]}}' \
    'add' >"$out/matching/hooks"
printf '*/5 2-6 * * MON#1\nEurope/Berlin' >"$out/matching/cron"
printf 'a.*.c\na.b.c' >"$out/matching/pattern"
printf '\100POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n' \
    >"$out/heads/requests"
printf '5;a\r\nhello\r\n0\r\nT: t\r\n\r\nPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n' \
    >>"$out/heads/requests"
for reel in "$imports"/session.har "$imports"/inspector-network.json "$imports"/mcp-vcr.yaml; do
    "$mcpreel" import "$reel" -o "$work/imported.reel" --force >"$work/output" 2>&1
    "$mcpreel" export "$work/imported.reel" -o "$out/export/$(basename "$reel")" --force
done
printf '%s\n' '`{"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{}}}' \
    '`{"method":"notifications/initialized"}' '`{"id":2,"method":"tools/call","params":{"name":"explain","arguments":{}}}' \
    'a{"result":{"content":[],"structuredContent":{}}}' '`{"id":3,"method":"resources/read","params":{"uri":"reel://a"}}' \
    'a{"missing":"reel://a"}' '`{"id":4,"method":"resources/list"}' 'a{"refused":"no"}' '`{"id":5,"method":"prompts/get"}' \
    '`{"method":"notifications/cancelled","params":{"requestId":5}}' >"$out/mcp/requests"
printf '\033[1mbold\033[0m \033[38;5;200mtext\033[2J' >"$work/colours"
{ printf '\010\005\002'; cat "$work/colours" "$work/colours"; } >"$out/screen/colours"
printf '\012\014\010\003\022\010bad span' >"$out/collector/protobuf"
printf '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"bad span"}}' >"$out/collector/json"
printf '<!DOCTYPE html><html><style>a</style><p class="x">not\nfound</p></html>' >"$out/collector/page"
printf '/mcp\nhost: localhost:80\norigin: http://localhost:80\ncontent-type: application/json' >"$out/origin/local"
printf 'http://127.0.0.1:1/\nhost: 127.0.0.1:1\nsec-fetch-site: same-origin' >"$out/origin/target"
printf '/\nhost: [::1]\norigin: null' >"$out/origin/null"
printf '%s\n' 'Bearer resource_metadata="https://h.example/meta", scope="a b"' 'state=STATE&code=x&iss=https://as.example' \
    '200{"resource":"https://h.example/mcp","authorization_servers":["https://as.example"],"scopes_supported":["a"]}' \
    '200{"issuer":"https://as.example","authorization_endpoint":"https://as.example/a","token_endpoint":"https://as.example/t","registration_endpoint":"https://as.example/r","revocation_endpoint":"https://as.example/v","code_challenge_methods_supported":["S256"]}' \
    '201{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post","scope":"a"}' \
    '200{"access_token":"t","token_type":"Bearer","expires_in":100,"refresh_token":"r","scope":"a b"}' \
    '200{"access_token":"u","token_type":"bearer"}' '400{"error":"invalid_grant","error_description":"x"}' >"$out/oauth/login"
number=0
for header in 'Bearer realm="example", error="invalid_token", error_description="The access token expired"' \
    'Bearer error="insufficient_scope", scope="files:read files:write", resource_metadata="https://h.example/.well-known/oauth-protected-resource/mcp"' \
    'Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"", bEARER SCOPE = a,,=' \
    'Negotiate YWJj==, Bearer scope="open'; do
    printf '%s\n' "$header" >"$out/challenge/$number"
    number=$((number + 1))
done
cat "$out"/challenge/[0-9] >"$out/challenge/all"
printf 'method:tools/* and not (dir:s2c or slow:>500ms) text:"x"' >"$out/filter/filter"

grep -oh '"[A-Za-z$][A-Za-z_/$-]*"' "$root"/src/protocol/schema/*.json "$root"/src/proposals/*/*.json |
    sort -u >"$out/words.dict"


use builtin;
use str;

set edit:completion:arg-completer[mcpreel] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'mcpreel'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'mcpreel'= {
            cand --color 'When to colour the output'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand demo 'Take a tour with the built-in server: record, show, validate and summarise a session'
            cand record 'Record a session: start a server, relay every byte in both directions, and copy it to a reel'
            cand call 'Send one request to a server and print the result'
            cand fire 'Send one message that a draft proposal defines, or any raw message'
            cand events 'Subscribe to a server''s events (MCPE proposal)'
            cand show 'Show recorded messages: one line per message, in full, as a table or as JSON'
            cand stats 'Count messages, bytes, errors, latencies and unanswered requests by method'
            cand validate 'Check sessions against JSON-RPC, MCP and the five proposals'
            cand explain 'Explain a method, a capability, an error code or a rule of `validate`'
            cand diff 'Compare two recordings by what was requested and answered, or what two servers offer'
            cand replay 'Send the client side of a recorded session to a server, and compare the answers'
            cand serve 'Run the built-in server, which implements all five proposals (see docs/proposals.md)'
            cand mock 'Serve a recording in place of the server that it was recorded from'
            cand host 'Act as a host: hold a conversation with one or more servers'
            cand overlay 'Record a server and make it also speak the proposals'
            cand survive 'Test how an MCP client handles the proposals'' messages'
            cand sessions 'List your live sessions'
            cand reel 'Inspect and repair reel files'
            cand redact 'Replace the secrets in a reel, so that it can be shared'
            cand export 'Convert a reel to another format'
            cand import 'Convert another format to a reel'
            cand wrap 'Put `mcpreel record` in front of servers in an MCP client''s configuration'
            cand unwrap 'Remove mcpreel from an MCP client''s configuration'
            cand completions 'Print a shell''s completion script'
            cand man 'Print a manual page, or write all of them'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;demo'= {
            cand --color 'When to colour the output'
            cand -o 'Write the reel to this file instead of the folder of reels'
            cand --output 'Write the reel to this file instead of the folder of reels'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;record'= {
            cand --color 'When to colour the output'
            cand -o 'Write the reel to this file; `-` writes it to stdout instead of the server''s output'
            cand --output 'Write the reel to this file; `-` writes it to stdout instead of the server''s output'
            cand --label 'A name for the reel'
            cand --note 'Store a note in the reel (repeatable)'
            cand --on-overload 'What to do if recording cannot keep up with the traffic'
            cand --queue-bytes 'Maximum number of bytes that may wait for the recorder (default: 131072)'
            cand --key-file 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Overwrite an existing file'
            cand --require-recording 'If the reel cannot be created, do not start the server; if writing fails later, stop it and exit with 4'
            cand --redact 'Replace secrets in messages and on standard error by pseudonyms before anything is written, as `mcpreel redact` does, but event by event: a secret that is divided between events, or recognised only later, stays'
            cand --check 'Check the session while it runs, and report findings on stderr, as `validate` does. The server''s exit code stays'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;call'= {
            cand --color 'When to colour the output'
            cand --format 'What to print'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand --era 'The era to use; auto tries `server/discover`, then `initialize`'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --notify 'Send a notification and do not wait for a response. Implied by methods that begin with notifications/'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire'= {
            cand --color 'When to colour the output'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand user-message 'Send a user''s message (`conversation/userMessage`, SEP-1975) and print the context that the server returns'
            cand hook 'Fire a hook event (SEP-2282): match it against the server''s declared hooks and print what they would inject'
            cand push 'Act as a server and send a push event (MCPL) to the host'
            cand reminder 'Act as a server and send a reminder (`notifications/reminder`) to the host'
            cand event 'Publish an event (MCPE): the server sends it (`events/event`, `events/batch`) to the subscriptions that match'
            cand before-inference 'Ask a server for context before an inference (`context/beforeInference`), as its host (MCPL)'
            cand after-inference 'Report the model''s answer to a server (`context/afterInference`), as its host (MCPL)'
            cand inference 'Ask the host''s model for an answer (`inference/request`), as a server (MCPL)'
            cand model-info 'Ask the host which model it uses (`model/info`), as a server (MCPL)'
            cand feature-sets 'Send a message about feature sets: which are enabled, or which exist'
            cand scope 'Ask the host for access to a scope (`scope/elevate`), as a server (MCPL)'
            cand rollback 'Ask a server to return to a checkpoint (`state/rollback`), as its host (MCPL)'
            cand channel 'Send a message about channels (MCPL): to a host as its server, or to a server as its host'
            cand raw 'Send one message byte for byte and print the response'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;fire;user-message'= {
            cand --color 'When to colour the output'
            cand --message-id 'The message''s id (default: a new one)'
            cand --history 'An earlier message, oldest first (repeatable): user=TEXT or assistant=TEXT'
            cand --carrier 'How to send it'
            cand --deadline 'How long the server may take to respond'
            cand --linger 'How long to wait after the deadline for a late response'
            cand --format 'Output format'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --era 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Send the message even if the server has not subscribed'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;hook'= {
            cand --color 'When to colour the output'
            cand --tool 'The tool''s name without a prefix (for tool events)'
            cand --tool-server 'The server that provides the tool'
            cand --input 'The tool''s arguments (repeatable): name=text, name:=JSON, a JSON object, @file'
            cand --output 'The tool''s result (repeatable), in the same form as --input'
            cand --project 'The value of {project_name} (default: the current folder''s name)'
            cand --session-id 'The value of {session_id}'
            cand --format 'Output format'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --era 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --no-call 'Print the names of context tools without calling them'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;push'= {
            cand --color 'When to colour the output'
            cand --text 'What happened, in words'
            cand --feature-set 'The push''s feature set (default: the server''s own one that declares pushEvents)'
            cand --event-id 'The event''s id (default: a new one)'
            cand --origin 'The event''s origin (repeatable): name=text, name:=JSON, a JSON object'
            cand --after 'Wait this long after the handshake'
            cand --session 'Send in this live session, as its server; `mcpreel sessions` lists them'
            cand --format 'Output format of the result, with --session'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --report 'Write reports to this file, one JSON object per line'
            cand --answer-timeout 'How long to wait for the host''s responses'
            cand --seed 'Generate ids from this seed: the same seed and input give the same bytes'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --on-signal 'Send only when the process receives SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;reminder'= {
            cand --color 'When to colour the output'
            cand --tag 'A tag (repeatable)'
            cand --dedupe-key 'A newer reminder with the same key replaces an older one that is still waiting'
            cand --ttl 'The number of turns for which the reminder is valid'
            cand --propagate 'Which agents see the reminder'
            cand --role 'The role in which the host should show it to the model'
            cand --after 'Wait this long after the handshake'
            cand --session 'Send in this live session, as its server; `mcpreel sessions` lists them'
            cand --format 'Output format of the result, with --session'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --report 'Write reports to this file, one JSON object per line'
            cand --answer-timeout 'How long to wait for the host''s responses'
            cand --seed 'Generate ids from this seed: the same seed and input give the same bytes'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --preserve 'Keep the reminder when the conversation is compacted'
            cand --legacy 'Use the older envelope: a log message with `_meta.harn.reminder`'
            cand --on-signal 'Send only when the process receives SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;event'= {
            cand --color 'When to colour the output'
            cand --data 'A member of the event''s data (repeatable): NAME=TEXT, or NAME:=JSON'
            cand --tag 'A tag (repeatable)'
            cand --priority 'How urgent the event is'
            cand --source-event-id 'The event''s id at its source'
            cand --after 'Wait this long after the handshake'
            cand --session 'Send in this live session, as its server; `mcpreel sessions` lists them'
            cand --format 'Output format of the result, with --session'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --report 'Write reports to this file, one JSON object per line'
            cand --answer-timeout 'How long to wait for the host''s responses'
            cand --seed 'Generate ids from this seed: the same seed and input give the same bytes'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --on-signal 'Send only when the process receives SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;before-inference'= {
            cand --color 'When to colour the output'
            cand --inference 'The inference''s id (default: a new one)'
            cand --conversation 'The conversation''s id'
            cand --turn 'The turn''s number, from 0; incremented with --repeat'
            cand --model 'The model''s id'
            cand --channel 'The channel that the message came from'
            cand --deadline 'Response timeout (default: what the proposal recommends for the hook, else 30s)'
            cand --format 'Output format'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --era 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Send the message even if the server has not declared support for it'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;after-inference'= {
            cand --color 'When to colour the output'
            cand --message 'The user''s message before it'
            cand --inference 'The inference''s id (default: a new one)'
            cand --conversation 'The conversation''s id'
            cand --turn 'The turn''s number, from 0; incremented with --repeat'
            cand --model 'The model''s id'
            cand --carrier 'How to send it'
            cand --deadline 'Response timeout (default: what the proposal recommends for the hook, else 30s)'
            cand --format 'Output format'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --era 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Send the message even if the server has not declared support for it'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;inference'= {
            cand --color 'When to colour the output'
            cand --feature-set 'The request''s feature set (default: the server''s own one that declares inferenceRequest)'
            cand --conversation 'The request''s conversation'
            cand --max-tokens 'The maximum number of tokens in the answer'
            cand --temperature 'The sampling temperature'
            cand --after 'Wait this long after the handshake'
            cand --session 'Send in this live session, as its server; `mcpreel sessions` lists them'
            cand --format 'Output format of the result, with --session'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --report 'Write reports to this file, one JSON object per line'
            cand --answer-timeout 'How long to wait for the host''s responses'
            cand --seed 'Generate ids from this seed: the same seed and input give the same bytes'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --stream 'Ask for a streamed answer, if the host supports it'
            cand --on-signal 'Send only when the process receives SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;model-info'= {
            cand --color 'When to colour the output'
            cand --after 'Wait this long after the handshake'
            cand --session 'Send in this live session, as its server; `mcpreel sessions` lists them'
            cand --format 'Output format of the result, with --session'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --report 'Write reports to this file, one JSON object per line'
            cand --answer-timeout 'How long to wait for the host''s responses'
            cand --seed 'Generate ids from this seed: the same seed and input give the same bytes'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --on-signal 'Send only when the process receives SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;feature-sets'= {
            cand --color 'When to colour the output'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand update 'Inform a server which feature sets are enabled (`featureSets/update`), as its host (MCPL)'
            cand changed 'Report feature sets that were added or removed (`featureSets/changed`), as a server (MCPL)'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;fire;feature-sets;update'= {
            cand --color 'When to colour the output'
            cand --enable 'Enable this feature set (repeatable)'
            cand --disable 'Disable this feature set (repeatable)'
            cand --allow 'Add a pattern to a feature set''s whitelist (repeatable): SET=PATTERN'
            cand --deny 'Add a pattern to a feature set''s blacklist (repeatable): SET=PATTERN'
            cand --deadline 'Response timeout (default: what the proposal recommends for the hook, else 30s)'
            cand --format 'Output format'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --era 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Send the message even if the server has not declared support for it'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;feature-sets;changed'= {
            cand --color 'When to colour the output'
            cand --add 'A new feature set (repeatable): NAME=USE,USE… or NAME:=DECLARATION'
            cand --remove 'The name of a removed feature set (repeatable)'
            cand --after 'Wait this long after the handshake'
            cand --session 'Send in this live session, as its server; `mcpreel sessions` lists them'
            cand --format 'Output format of the result, with --session'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --report 'Write reports to this file, one JSON object per line'
            cand --answer-timeout 'How long to wait for the host''s responses'
            cand --seed 'Generate ids from this seed: the same seed and input give the same bytes'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --on-signal 'Send only when the process receives SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;feature-sets;help'= {
            cand update 'Inform a server which feature sets are enabled (`featureSets/update`), as its host (MCPL)'
            cand changed 'Report feature sets that were added or removed (`featureSets/changed`), as a server (MCPL)'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;fire;feature-sets;help;update'= {
        }
        &'mcpreel;fire;feature-sets;help;changed'= {
        }
        &'mcpreel;fire;feature-sets;help;help'= {
        }
        &'mcpreel;fire;scope'= {
            cand --color 'When to colour the output'
            cand --payload 'Data that comes back with an approval (repeatable): name=text, name:=JSON, a JSON object'
            cand --feature-set 'The scope''s feature set (default: the server''s own one that is scoped)'
            cand --after 'Wait this long after the handshake'
            cand --session 'Send in this live session, as its server; `mcpreel sessions` lists them'
            cand --format 'Output format of the result, with --session'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --report 'Write reports to this file, one JSON object per line'
            cand --answer-timeout 'How long to wait for the host''s responses'
            cand --seed 'Generate ids from this seed: the same seed and input give the same bytes'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --on-signal 'Send only when the process receives SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;rollback'= {
            cand --color 'When to colour the output'
            cand --feature-set 'The feature set (default: the server''s first one that supports rollback)'
            cand --deadline 'Response timeout (default: what the proposal recommends for the hook, else 30s)'
            cand --format 'Output format'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --era 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Send the message even if the server has not declared support for it'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel'= {
            cand --color 'When to colour the output'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand register 'Register channels with the host (`channels/register`), as its server'
            cand changed 'Report channels that were added, removed or changed (`channels/changed`), as a server'
            cand incoming 'Deliver a message from a channel to the host (`channels/incoming`), as its server'
            cand list-host 'Ask the host which channels it knows (`channels/list`), as its server'
            cand list 'Ask a server which channels it has (`channels/list`), as its host'
            cand open 'Ask a server to open a channel (`channels/open`), as its host'
            cand close 'Ask a server to close a channel (`channels/close`), as its host'
            cand publish 'Ask a server to deliver content to a channel (`channels/publish`), as its host'
            cand outgoing 'Show a server what is being sent to a channel (`channels/outgoing/chunk`, then `…/complete`), as its host'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;fire;channel;register'= {
            cand --color 'When to colour the output'
            cand --after 'Wait this long after the handshake'
            cand --session 'Send in this live session, as its server; `mcpreel sessions` lists them'
            cand --format 'Output format of the result, with --session'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --report 'Write reports to this file, one JSON object per line'
            cand --answer-timeout 'How long to wait for the host''s responses'
            cand --seed 'Generate ids from this seed: the same seed and input give the same bytes'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --on-signal 'Send only when the process receives SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;changed'= {
            cand --color 'When to colour the output'
            cand --add 'A new channel (repeatable): its id, or its descriptor as JSON or @file'
            cand --remove 'The id of a removed channel (repeatable)'
            cand --update 'A changed channel (repeatable): its descriptor as JSON, or its id'
            cand --after 'Wait this long after the handshake'
            cand --session 'Send in this live session, as its server; `mcpreel sessions` lists them'
            cand --format 'Output format of the result, with --session'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --report 'Write reports to this file, one JSON object per line'
            cand --answer-timeout 'How long to wait for the host''s responses'
            cand --seed 'Generate ids from this seed: the same seed and input give the same bytes'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --on-signal 'Send only when the process receives SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;incoming'= {
            cand --color 'When to colour the output'
            cand --channel 'The channel''s id'
            cand --message-id 'The message''s id (default: a new one)'
            cand --thread 'The message''s thread'
            cand --author 'The message''s author'
            cand --metadata 'Other metadata (repeatable): name=text, name:=JSON, a JSON object'
            cand --after 'Wait this long after the handshake'
            cand --session 'Send in this live session, as its server; `mcpreel sessions` lists them'
            cand --format 'Output format of the result, with --session'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --report 'Write reports to this file, one JSON object per line'
            cand --answer-timeout 'How long to wait for the host''s responses'
            cand --seed 'Generate ids from this seed: the same seed and input give the same bytes'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --on-signal 'Send only when the process receives SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;list-host'= {
            cand --color 'When to colour the output'
            cand --after 'Wait this long after the handshake'
            cand --session 'Send in this live session, as its server; `mcpreel sessions` lists them'
            cand --format 'Output format of the result, with --session'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --report 'Write reports to this file, one JSON object per line'
            cand --answer-timeout 'How long to wait for the host''s responses'
            cand --seed 'Generate ids from this seed: the same seed and input give the same bytes'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --on-signal 'Send only when the process receives SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;list'= {
            cand --color 'When to colour the output'
            cand --deadline 'Response timeout (default: what the proposal recommends for the hook, else 30s)'
            cand --format 'Output format'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --era 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Send the message even if the server has not declared support for it'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;open'= {
            cand --color 'When to colour the output'
            cand --deadline 'Response timeout (default: what the proposal recommends for the hook, else 30s)'
            cand --format 'Output format'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --era 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Send the message even if the server has not declared support for it'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;close'= {
            cand --color 'When to colour the output'
            cand --deadline 'Response timeout (default: what the proposal recommends for the hook, else 30s)'
            cand --format 'Output format'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --era 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Send the message even if the server has not declared support for it'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;publish'= {
            cand --color 'When to colour the output'
            cand --conversation 'The conversation''s id'
            cand --deadline 'Response timeout (default: what the proposal recommends for the hook, else 30s)'
            cand --format 'Output format'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --era 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --notification 'Send a notification: there is no response that confirms the delivery'
            cand --force 'Send the message even if the server has not declared support for it'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;outgoing'= {
            cand --color 'When to colour the output'
            cand --chunks 'The number of chunks to send before the complete text'
            cand --inference 'The inference''s id (default: a new one)'
            cand --conversation 'The conversation''s id'
            cand --deadline 'Response timeout (default: what the proposal recommends for the hook, else 30s)'
            cand --format 'Output format'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --era 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Send the message even if the server has not declared support for it'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;help'= {
            cand register 'Register channels with the host (`channels/register`), as its server'
            cand changed 'Report channels that were added, removed or changed (`channels/changed`), as a server'
            cand incoming 'Deliver a message from a channel to the host (`channels/incoming`), as its server'
            cand list-host 'Ask the host which channels it knows (`channels/list`), as its server'
            cand list 'Ask a server which channels it has (`channels/list`), as its host'
            cand open 'Ask a server to open a channel (`channels/open`), as its host'
            cand close 'Ask a server to close a channel (`channels/close`), as its host'
            cand publish 'Ask a server to deliver content to a channel (`channels/publish`), as its host'
            cand outgoing 'Show a server what is being sent to a channel (`channels/outgoing/chunk`, then `…/complete`), as its host'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;fire;channel;help;register'= {
        }
        &'mcpreel;fire;channel;help;changed'= {
        }
        &'mcpreel;fire;channel;help;incoming'= {
        }
        &'mcpreel;fire;channel;help;list-host'= {
        }
        &'mcpreel;fire;channel;help;list'= {
        }
        &'mcpreel;fire;channel;help;open'= {
        }
        &'mcpreel;fire;channel;help;close'= {
        }
        &'mcpreel;fire;channel;help;publish'= {
        }
        &'mcpreel;fire;channel;help;outgoing'= {
        }
        &'mcpreel;fire;channel;help;help'= {
        }
        &'mcpreel;fire;raw'= {
            cand --color 'When to colour the output'
            cand --as 'In which role to send it: to the server, or (in a live session only) to the client'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --format 'Output format'
            cand --expect 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures'
            cand --repeat 'How many times to send the message, on one connection. A summary is printed to stderr at the end'
            cand --interval 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand --era 'The era to use; auto tries `server/discover`, then `initialize`'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --no-handshake 'Send it to the started server as the very first message'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;help'= {
            cand user-message 'Send a user''s message (`conversation/userMessage`, SEP-1975) and print the context that the server returns'
            cand hook 'Fire a hook event (SEP-2282): match it against the server''s declared hooks and print what they would inject'
            cand push 'Act as a server and send a push event (MCPL) to the host'
            cand reminder 'Act as a server and send a reminder (`notifications/reminder`) to the host'
            cand event 'Publish an event (MCPE): the server sends it (`events/event`, `events/batch`) to the subscriptions that match'
            cand before-inference 'Ask a server for context before an inference (`context/beforeInference`), as its host (MCPL)'
            cand after-inference 'Report the model''s answer to a server (`context/afterInference`), as its host (MCPL)'
            cand inference 'Ask the host''s model for an answer (`inference/request`), as a server (MCPL)'
            cand model-info 'Ask the host which model it uses (`model/info`), as a server (MCPL)'
            cand feature-sets 'Send a message about feature sets: which are enabled, or which exist'
            cand scope 'Ask the host for access to a scope (`scope/elevate`), as a server (MCPL)'
            cand rollback 'Ask a server to return to a checkpoint (`state/rollback`), as its host (MCPL)'
            cand channel 'Send a message about channels (MCPL): to a host as its server, or to a server as its host'
            cand raw 'Send one message byte for byte and print the response'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;fire;help;user-message'= {
        }
        &'mcpreel;fire;help;hook'= {
        }
        &'mcpreel;fire;help;push'= {
        }
        &'mcpreel;fire;help;reminder'= {
        }
        &'mcpreel;fire;help;event'= {
        }
        &'mcpreel;fire;help;before-inference'= {
        }
        &'mcpreel;fire;help;after-inference'= {
        }
        &'mcpreel;fire;help;inference'= {
        }
        &'mcpreel;fire;help;model-info'= {
        }
        &'mcpreel;fire;help;feature-sets'= {
            cand update 'Inform a server which feature sets are enabled (`featureSets/update`), as its host (MCPL)'
            cand changed 'Report feature sets that were added or removed (`featureSets/changed`), as a server (MCPL)'
        }
        &'mcpreel;fire;help;feature-sets;update'= {
        }
        &'mcpreel;fire;help;feature-sets;changed'= {
        }
        &'mcpreel;fire;help;scope'= {
        }
        &'mcpreel;fire;help;rollback'= {
        }
        &'mcpreel;fire;help;channel'= {
            cand register 'Register channels with the host (`channels/register`), as its server'
            cand changed 'Report channels that were added, removed or changed (`channels/changed`), as a server'
            cand incoming 'Deliver a message from a channel to the host (`channels/incoming`), as its server'
            cand list-host 'Ask the host which channels it knows (`channels/list`), as its server'
            cand list 'Ask a server which channels it has (`channels/list`), as its host'
            cand open 'Ask a server to open a channel (`channels/open`), as its host'
            cand close 'Ask a server to close a channel (`channels/close`), as its host'
            cand publish 'Ask a server to deliver content to a channel (`channels/publish`), as its host'
            cand outgoing 'Show a server what is being sent to a channel (`channels/outgoing/chunk`, then `…/complete`), as its host'
        }
        &'mcpreel;fire;help;channel;register'= {
        }
        &'mcpreel;fire;help;channel;changed'= {
        }
        &'mcpreel;fire;help;channel;incoming'= {
        }
        &'mcpreel;fire;help;channel;list-host'= {
        }
        &'mcpreel;fire;help;channel;list'= {
        }
        &'mcpreel;fire;help;channel;open'= {
        }
        &'mcpreel;fire;help;channel;close'= {
        }
        &'mcpreel;fire;help;channel;publish'= {
        }
        &'mcpreel;fire;help;channel;outgoing'= {
        }
        &'mcpreel;fire;help;raw'= {
        }
        &'mcpreel;fire;help;help'= {
        }
        &'mcpreel;events'= {
            cand --color 'When to colour the output'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand watch 'Subscribe to events and print each as one line of JSON as it arrives'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;events;watch'= {
            cand --color 'When to colour the output'
            cand --tag 'Only events with this tag (repeatable; one of them must match)'
            cand --priority 'Only events with this priority (repeatable; one of them must match)'
            cand --cron 'Let the server collect events and deliver them on this schedule'
            cand --at 'Let the server collect events and deliver them once, at this time (2026-01-31T09:00:00Z)'
            cand --timezone 'The time zone of --cron or --at, as an IANA name'
            cand --expect 'Exit after this many events'
            cand --for 'Exit after this time'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand --era 'The era to use; auto tries `initialize` first. Subscriptions need the legacy era'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --renew 'Subscribe again when the subscription expires'
            cand --no-reconnect 'Exit with code 4 if the connection is lost, instead of reconnecting. Implied by a server''s command and by --record'
            cand --strict 'Exit with code 1 if the server delivered malformed events, events outside the filter, or duplicates'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;events;help'= {
            cand watch 'Subscribe to events and print each as one line of JSON as it arrives'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;events;help;watch'= {
        }
        &'mcpreel;events;help;help'= {
        }
        &'mcpreel;show'= {
            cand --color 'When to colour the output'
            cand -f 'Output format'
            cand --format 'Output format'
            cand --view 'What to show: events, or the tree of MCPL checkpoints (states that a server saved), with branches and rollbacks (`--format json` prints one object per connection)'
            cand --jq 'Run a jq program on each event''s JSON object and print the results: strings as they are (on a terminal, with control characters made visible), everything else as JSON'
            cand --session 'Show the reel of a live session; the arguments are then only a filter. `mcpreel sessions` lists the sessions'
            cand --time 'How to show times'
            cand --from 'Start at this time: seconds since the start of the reel, or an RFC 3339 time'
            cand --seq 'Start at the event with this number'
            cand -n 'Show at most this many events'
            cand --limit 'Show at most this many events'
            cand --key-file 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --check 'Check the messages, and print findings below them, as `validate` does. The counts go to stderr'
            cand --full 'Short for `--format full`'
            cand --raw 'Print the exact bytes of messages and stderr, each followed by a line break. Other events are printed only with event:KIND in the filter'
            cand --no-fold 'Do not shorten long strings in the full format'
            cand --follow 'Keep reading while the reel grows'
            cand --as-call 'Print the `mcpreel call` command that repeats each request or notification of the client'
            cand --redact 'Replace secrets by pseudonyms, as `mcpreel redact` does'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;stats'= {
            cand --color 'When to colour the output'
            cand --session 'Use the reel of a live session; `mcpreel sessions` lists them'
            cand --format 'Output format'
            cand --key-file 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --audit 'List the operations of MCPL: each push, injection, changed answer, inference, scope request, rollback and channel message, with its server, feature set, inference and outcome. Reads every message'
            cand --redact 'Replace secrets by pseudonyms, as `mcpreel redact` does'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;validate'= {
            cand --color 'When to colour the output'
            cand -f 'Output format'
            cand --format 'Output format'
            cand --fail-on 'Exit with 1 if a finding is at least this severe (default: error)'
            cand --only 'Check only these rules: names or patterns such as ''schema/*'', separated by commas'
            cand --skip 'Do not check these rules'
            cand --injected 'What to do with findings in messages that mcpreel injected (default: report)'
            cand --baseline 'Findings in this file are known and do not count. An entry is stale, and fails, if its rule was checked and nothing violates it'
            cand --session 'Check the reel of a live session. `mcpreel sessions` lists the sessions'
            cand --key-file 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --write-baseline 'Write all findings to the --baseline file, so that they do not count any more. Entries whose rules were not checked stay in it'
            cand --follow 'Keep reading while the reel grows, and print findings as they come (with --format json, one object per line). Ctrl-C ends the check with its summary'
            cand --redact 'Replace secrets by pseudonyms, as `mcpreel redact` does'
            cand --rules 'List all rules and exit'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;explain'= {
            cand --color 'When to colour the output'
            cand -f 'Output format'
            cand --format 'Output format'
            cand --schema 'Print the JSON Schema of a method, and nothing else'
            cand --part 'Which part of the method --schema prints'
            cand --revision 'Explain it as it is in this revision of MCP (default: the newest revision that has it)'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;diff'= {
            cand --color 'When to colour the output'
            cand --learn 'Ignore what also differs between A and C, a second recording of the same version as A'
            cand --ignore 'Ignore the value at this JSON Pointer, as the report prints it; `*` matches any one member, `**` any number (repeatable)'
            cand --unordered 'Ignore the order of the array at this JSON Pointer; after `=`, the member that identifies an item (repeatable)'
            cand --tolerance 'Accept numbers that differ by at most this much, such as `0.5` or `1%`; with a JSON Pointer, only there (repeatable)'
            cand -f 'Output format'
            cand --format 'Output format'
            cand --view 'How to show the differences as text'
            cand --only 'Compare only a part of the sessions (repeatable, or separated by commas)'
            cand --fail-on 'Exit with 1 if a change is at least this severe'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand --key-file 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)'
            cand --era 'The era to use; auto tries `server/discover`, then `initialize`'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --exact 'Compare all values as they are, also the order of members, the notation of numbers, JSON inside text byte for byte, and the names of renamed tools'
            cand --ids 'Also compare ids by value: JSON-RPC ids, UUIDs, tokens, ports, process ids, temporary paths and folders'
            cand --times 'Also compare times and durations by value'
            cand --volatile 'List the values that differ in every run and were therefore not compared'
            cand --order 'Also compare the order of requests and notifications, whether a notification came before or after the result of its request, and the order of lists such as tools'
            cand --stderr 'Also compare what the servers wrote to stderr'
            cand --full 'Show long values whole. Otherwise, unchanged parts of them are folded'
            cand --latency 'Also compare response times, by method and tool. B must be slower or faster with statistical certainty (Mann–Whitney U test, 1 % for all methods together) and by at least 10 % and 100 µs in the median'
            cand --surface 'Compare what the servers offer (tools, prompts, resources, capabilities), not what was said. A and B can be reels, JSON lines or lock files. Without B, list everything that the server named by the target options offers'
            cand --update 'Write the surface of B, or of the live server, to the lock file A'
            cand --rules 'List the rules by which surfaces are compared, and exit'
            cand --insecure 'Do not verify the server''s certificate'
            cand --redact 'Replace secrets by pseudonyms, as `mcpreel redact` does'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;replay'= {
            cand --color 'When to colour the output'
            cand --pace 'When to send: fast (as soon as everything before has come), recorded (with the recorded pauses), or a factor such as 2x (with pauses half as long)'
            cand --timeout 'How long to wait for each answer (default: 30s)'
            cand --concurrency 'Send at most this many requests at the same time'
            cand --from 'Send nothing before this event, except for the handshake'
            cand --to 'Send nothing after this event'
            cand --stream 'Replay only this session of a reel with several (repeatable)'
            cand --era 'The era of the live server: recorded sends the messages as they are; modern replays a recording with `initialize` against a server of revision 2026-07-28, and reports what has no equivalent there'
            cand --repeat 'Replay this many times, each on a new connection'
            cand --answer 'Answer requests of the server from this file: a JSON object with a result for each method, or a list of results'
            cand --map 'Replace a path or another text in all recorded messages, such as a folder by a fresh one (repeatable)'
            cand --record 'Record the new session to this reel (default: a new reel in the folder of reels)'
            cand -j 'Replay this many recordings of a folder or suite at the same time'
            cand --jobs 'Replay this many recordings of a folder or suite at the same time'
            cand --shard 'Replay only this part of a folder or suite, such as 1/4'
            cand -f 'Output format'
            cand --format 'Output format'
            cand --learn 'Ignore what also differs between A and C, a second recording of the same version as A'
            cand --ignore 'Ignore the value at this JSON Pointer, as the report prints it; `*` matches any one member, `**` any number (repeatable)'
            cand --unordered 'Ignore the order of the array at this JSON Pointer; after `=`, the member that identifies an item (repeatable)'
            cand --tolerance 'Accept numbers that differ by at most this much, such as `0.5` or `1%`; with a JSON Pointer, only there (repeatable)'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --dry-run 'Print what would be sent, and send nothing'
            cand --allow-destructive 'Also call tools that the recorded server annotated with `destructiveHint`'
            cand --read-only 'Send only what reads: listings, reads, and calls of tools that are annotated with `readOnlyHint`'
            cand --fail-fast 'Stop at the first answer that differs'
            cand --update 'Replace the recording by the new session, after the differences were printed'
            cand --exact 'Compare all values as they are, also the order of members, the notation of numbers, JSON inside text byte for byte, and the names of renamed tools'
            cand --ids 'Also compare ids by value: JSON-RPC ids, UUIDs, tokens, ports, process ids, temporary paths and folders'
            cand --times 'Also compare times and durations by value'
            cand --volatile 'List the values that differ in every run and were therefore not compared'
            cand --order 'Also compare the order of requests and notifications, whether a notification came before or after the result of its request, and the order of lists such as tools'
            cand --stderr 'Also compare what the servers wrote to stderr'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;serve'= {
            cand --color 'When to colour the output'
            cand --declare 'Declare only this proposal (repeatable): conversation, reminder, mcpl, hooks, mcpe'
            cand --era 'The era to support. The proposals need the legacy era; plain MCP works in both'
            cand --set 'Change a setting of a proposal (repeatable): conversation.carrier=request, mcpl.push_sets:=''["ci.builds"]'', mcpl.channels:=''["discord:#general"]'', mcpl.redact.api_key=''sk-\w+'''
            cand --plan 'Send a message on its own, on a timer: {"after_ms":N,"every_ms":N,"times":N,"fire":{"kind":…}} (repeatable)'
            cand --on-signal 'Send this message whenever the process receives SIGUSR1 (repeatable)'
            cand --record 'Record the session to this reel. If the file exists and a client started this server (stdin is a pipe or a socket), a free name is used. With handlers, the session is always recorded, including each run of a handler'
            cand --report 'Write reports to this file, one JSON object per line'
            cand --answer-timeout 'How long to wait for the host''s responses'
            cand --seed 'Generate ids from this seed: the same seed and input give the same bytes'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand --scenario 'Play one built-in server that this scenario defines: the messages it sends, the faults on its connection, and the messages expected on it. The host starts this command, or connects with --listen. When the host has disconnected, the report is printed to stderr'
            cand --as 'Which server of the scenario to play'
            cand --junit 'Write the scenario''s report as JUnit XML'
            cand --format 'Format of the scenario''s report'
            cand --reel 'Serve this recording in place of the built-in server, as `mcpreel mock` does (repeatable)'
            cand --match 'When a request repeats a recorded one: exact (method and params are equal), normalised (times, ids, random tokens, ports and temporary paths may differ), method (method and tool, or resource, are equal), or sequence (it comes at the same position)'
            cand --pace 'When to answer: fast, recorded (with the recorded latencies), or a factor such as 2x (twice as fast)'
            cand --fault 'Break answers on purpose: ''METHOD: ACTION [PERCENT%]'' (repeatable). Actions: delay TIME, drop, duplicate, reorder, error [CODE], truncate, malformed, disconnect'
            cand --ready-file 'When ready, write the address to this file as a JSON object'
            cand --memory 'Whether the server has a memory, with the tools for it'
            cand --watch 'Watch this folder (repeatable). Its text files become resources. Changes are reported to subscribers of the file or of a folder above it, and to all hosts as a reminder'
            cand --ignore 'Ignore files whose name or path within the folder matches (repeatable), in addition to .git, target and node_modules'
            cand --watch-command 'Run this command in a shell at the start and after each change, and send a reminder if its result has changed (repeatable). The tool `check` reports the result, too'
            cand --watch-every 'Also run the commands at this interval'
            cand --watch-limit 'How long a command may run'
            cand --watch-quiet 'Report changes once the files have been unchanged for this long'
            cand --allow-handlers 'Allow subscriptions to have handlers of this kind (repeatable, or comma-separated). With bash, subscribers can run any command as you. Subscriptions with other handlers are refused'
            cand --handler-timeout 'The maximum time a handler may run'
            cand --handler-dir 'The folder in which bash handlers run'
            cand --handler-shell 'The program that runs bash handlers, with the handler''s command as its last argument; for example a sandbox such as ''bwrap --ro-bind / / bash -c'''
            cand --handler-secret 'Replace ${NAME} in the headers of webhooks to this host with the environment variable NAME (repeatable). Without a port, this applies only to the scheme''s default port (443 for https, 80 for http). Put an IPv6 address in brackets before a port'
            cand --allow-private-host 'Let webhooks reach this host although its address is not public, for example because it is in your network (repeatable). Without this, such addresses are refused, whatever name leads to them; except for this machine itself, by localhost or its address'
            cand --agent-command 'Run agent handlers with this program instead of the host''s model: it reads the request as JSON on stdin. If bash handlers are allowed, too, the program gets as small an environment as they do, because they could read it'
            cand --webhook 'Accept JSON posts from this machine and push each as an event: a port (0 for a free one) or HOST:PORT. The body may contain eventId, text, payload, origin and featureSet; any other object becomes the event''s text. A post to /events/TYPE is published to subscriptions (MCPE) with its data, tags and priority, or without data, with the whole body except its priority as data'
            cand --channel-socket 'Provide a channel on a Unix socket with this path: each line that is written to it becomes a message from the channel, as text or JSON; what the host publishes is printed to it as JSON lines'
            cand --feed 'Send one message per line of PATH, in the format of --on-signal. PATH is a file, a FIFO, unix:PATH (lines from clients of a Unix socket) or - (stdin, with --listen). Reading begins when a host is connected'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --reuse 'Repeat the last answer to a request that comes more often than recorded'
            cand --strict 'Exit with 1 if a request had no recorded answer, or if a recorded request was never asked for'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;mock'= {
            cand --color 'When to colour the output'
            cand --match 'When a request repeats a recorded one: exact (method and params are equal), normalised (times, ids, random tokens, ports and temporary paths may differ), method (method and tool, or resource, are equal), or sequence (it comes at the same position)'
            cand --pace 'When to answer: fast, recorded (with the recorded latencies), or a factor such as 2x (twice as fast)'
            cand --fault 'Break answers on purpose: ''METHOD: ACTION [PERCENT%]'' (repeatable). Actions: delay TIME, drop, duplicate, reorder, error [CODE], truncate, malformed, disconnect'
            cand --ready-file 'When ready, write the address to this file as a JSON object'
            cand --ignore 'Ignore the value at this JSON Pointer, relative to the message, when requests are compared (repeatable)'
            cand --report 'Write the report to this file as one JSON object, instead of to stderr as text'
            cand --seed 'Make the faults depend on this number: the same number and input give the same faults'
            cand --on-miss 'What to do about a request without a recorded answer: error, forward (ask the server given as TARGET), or record (the same, and append the exchange to the recording)'
            cand --listen 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines'
            cand --allow-host 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted'
            cand --allow-origin 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted'
            cand --max-body 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --reuse 'Repeat the last answer to a request that comes more often than recorded'
            cand --strict 'Exit with 1 if a request had no recorded answer, or if a recorded request was never asked for'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;host'= {
            cand --color 'When to colour the output'
            cand -s 'Add a server: NAME=COMMAND, NAME=URL or NAME=session:SESSION (repeatable)'
            cand --add 'Add a server: NAME=COMMAND, NAME=URL or NAME=session:SESSION (repeatable)'
            cand --builtin 'Add the built-in server under this name, with all proposals or the listed ones (repeatable)'
            cand --say 'Say this as the user (repeatable)'
            cand --do 'Run this line as if it had been typed (repeatable; --say and --do run in the order of the command line)'
            cand --scenario 'Play this scenario (YAML; docs/scenario.schema.json) and check its expectations'
            cand --reel 'Play the host of this recorded session against the target, with its timing. The answers are not compared; `mcpreel replay` does that'
            cand --clock 'The clock of the scenario (default: as the scenario says)'
            cand --junit 'Write the scenario''s report as JUnit XML'
            cand --model 'The built-in model'
            cand --model-command 'Use a program as the model: it reads the prompt as JSON on stdin and prints its answer to stdout'
            cand --model-timeout 'How long that program may take'
            cand --policy 'A policy file, in YAML or JSON: `all` and `servers`, each with options by proposal, and a `layout`'
            cand --set 'Set an option for all servers or for one (repeatable)'
            cand --on-event 'Also deliver events of subscriptions: PATTERN=file:PATH appends them to a file as lines of JSON, PATTERN=command:COMMAND passes them to a command''s stdin (repeatable). For the prompt and for turns, see the option mcpe.route'
            cand --system 'The host''s own system prompt; or @FILE'
            cand --project 'The project''s name in templates (default: the current folder''s name)'
            cand --seed 'Generate ids from this seed: the same seed gives the same ids and prompts (default: new ids each time)'
            cand --format 'What to print'
            cand --era 'The era to use; auto tries `initialize` first. With a server of the modern era, the host does without the proposals'
            cand --protocol-version 'The protocol version to request. Any value is sent as given'
            cand --timeout 'Response timeout (default: 30s)'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Record the session to this reel (default: a new file in the folder of reels)'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'A server in that configuration (repeatable)'
            cand --session 'Use the server of a live session: at its own address if it listens, else on its client''s connection'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --trace 'Show what happens in the scenario, in addition to the report'
            cand --consent 'Let every server that asks for it receive your messages. Without this, the host asks you on a terminal; in a script, only servers whose command is given here receive them, and those of a policy'
            cand --strict 'Exit with code 1 if a server delivered something malformed, unasked for or twice'
            cand --options 'List all options with their defaults'
            cand --prompts 'Show each prompt'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;overlay'= {
            cand --color 'When to colour the output'
            cand --value 'Replace {NAME} in the file with this value instead of the file''s own (repeatable)'
            cand --label 'A name for the reel'
            cand --note 'Store a note in the reel (repeatable)'
            cand --on-overload 'What to do if recording cannot keep up with the traffic'
            cand --queue-bytes 'Maximum number of bytes that may wait for the recorder (default: 131072)'
            cand --key-file 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)'
            cand --url 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable'
            cand -H 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header'
            cand --header-env 'Add a header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file in addition to the system''s'
            cand --config 'Find the server in this configuration file of an MCP client (default: search the usual places)'
            cand --server 'The server''s name in the configuration'
            cand -e 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --env 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand --session 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them'
            cand -o 'Write the reel to this file'
            cand --output 'Write the reel to this file'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --check 'Check the file without starting anything'
            cand --schema 'Print the JSON Schema of overlay files'
            cand --force 'Overwrite an existing file'
            cand --require-recording 'If the reel cannot be created, do not start the server; if writing fails later, stop it and exit with 4'
            cand --redact 'Replace secrets in messages and on standard error by pseudonyms before anything is written, as `mcpreel redact` does, but event by event: a secret that is divided between events, or recognised only later, stays'
            cand --insecure 'Do not verify the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;survive'= {
            cand --color 'When to colour the output'
            cand --only 'Test only this proposal''s declarations and messages (repeatable): conversation, reminder, mcpl, hooks, mcpe'
            cand --wait 'How long to wait for a response to a message or a ping'
            cand --connect 'How long the client may take from its start to the end of the handshake'
            cand --restarts 'Maximum number of restarts of the client, not counting those that test declarations'
            cand -o 'Write the reel to this file, one stream per session (default: a new file in the folder of reels)'
            cand --output 'Write the reel to this file, one stream per session (default: a new file in the folder of reels)'
            cand --format 'Output format'
            cand --max-message 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;sessions'= {
            cand --color 'When to colour the output'
            cand --format 'Output format'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel'= {
            cand --color 'When to colour the output'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand info 'Print a reel''s metadata and counts'
            cand verify 'Read the whole reel, check its index, and report all damage. Exits with 1 if there is any'
            cand repair 'Write an intact reel from what can be read; what is lost is noted as gaps'
            cand index 'Add a missing index (after a killed recorder) or replace a wrong one, in place'
            cand compact 'Compress a reel as much as possible. It is left alone if it would not get smaller'
            cand cat 'Print the exact bytes of one direction, or of stderr'
            cand cut 'Write a part of a reel: what a filter, a time and streams select'
            cand merge 'Write several reels as one, in the order of time. Each session keeps a stream of its own'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;reel;info'= {
            cand --color 'When to colour the output'
            cand --format 'Output format'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;verify'= {
            cand --color 'When to colour the output'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;repair'= {
            cand --color 'When to colour the output'
            cand -o 'Write to this file; `-` is stdout (default: replace the reel)'
            cand --output 'Write to this file; `-` is stdout (default: replace the reel)'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Overwrite an existing file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;index'= {
            cand --color 'When to colour the output'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;compact'= {
            cand --color 'When to colour the output'
            cand -o 'Write to this file; `-` is stdout (default: replace the reel)'
            cand --output 'Write to this file; `-` is stdout (default: replace the reel)'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Overwrite an existing file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;cat'= {
            cand --color 'When to colour the output'
            cand --stream 'Which bytes to print'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;cut'= {
            cand --color 'When to colour the output'
            cand -o 'Write to this file; `-` is stdout'
            cand --output 'Write to this file; `-` is stdout'
            cand --from 'Start at this time: seconds since the start of the reel, or an RFC 3339 time'
            cand --to 'End at this time'
            cand --stream 'Only the session with this stream number (repeatable); `mcpreel show` prints it after #'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Overwrite an existing file'
            cand --no-handshake 'Leave out the handshake, unless it is selected'
            cand --no-pairs 'Leave out the other half of a request and its response, unless it is selected'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;merge'= {
            cand --color 'When to colour the output'
            cand -o 'Write to this file; `-` is stdout'
            cand --output 'Write to this file; `-` is stdout'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Overwrite an existing file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;help'= {
            cand info 'Print a reel''s metadata and counts'
            cand verify 'Read the whole reel, check its index, and report all damage. Exits with 1 if there is any'
            cand repair 'Write an intact reel from what can be read; what is lost is noted as gaps'
            cand index 'Add a missing index (after a killed recorder) or replace a wrong one, in place'
            cand compact 'Compress a reel as much as possible. It is left alone if it would not get smaller'
            cand cat 'Print the exact bytes of one direction, or of stderr'
            cand cut 'Write a part of a reel: what a filter, a time and streams select'
            cand merge 'Write several reels as one, in the order of time. Each session keeps a stream of its own'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;reel;help;info'= {
        }
        &'mcpreel;reel;help;verify'= {
        }
        &'mcpreel;reel;help;repair'= {
        }
        &'mcpreel;reel;help;index'= {
        }
        &'mcpreel;reel;help;compact'= {
        }
        &'mcpreel;reel;help;cat'= {
        }
        &'mcpreel;reel;help;cut'= {
        }
        &'mcpreel;reel;help;merge'= {
        }
        &'mcpreel;reel;help;help'= {
        }
        &'mcpreel;redact'= {
            cand --color 'When to colour the output'
            cand -o 'Write the redacted reel to this file; `-` is stdout'
            cand --output 'Write the redacted reel to this file; `-` is stdout'
            cand --key-file 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)'
            cand -f 'The format of the report'
            cand --format 'The format of the report'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Overwrite an existing file'
            cand --dry-run 'Only report what would be replaced'
            cand --check 'Only report what would be replaced, and exit with 1 if there is anything'
            cand --rules 'List all detectors and exit'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;export'= {
            cand --color 'When to colour the output'
            cand --format 'The output format'
            cand -o 'Write to this file; `-` is stdout'
            cand --output 'Write to this file; `-` is stdout'
            cand --key-file 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Overwrite an existing file'
            cand --redact 'Replace secrets by pseudonyms, as `mcpreel redact` does'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;import'= {
            cand --color 'When to colour the output'
            cand --format 'The input format'
            cand -o 'Write the reel to this file; `-` is stdout'
            cand --output 'Write the reel to this file; `-` is stdout'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --force 'Overwrite an existing file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;wrap'= {
            cand --color 'When to colour the output'
            cand --config 'The client''s configuration file (default: search the usual places)'
            cand --bin 'The mcpreel program that the client will start (default: the path of this one; in a project''s shared file `mcpreel`, found through PATH, so that the file contains no path of yours)'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --all 'All servers in the file'
            cand -y 'Write without asking'
            cand --yes 'Write without asking'
            cand --dry-run 'Show the change without writing it'
            cand --no-backup 'Do not keep a copy of the old file (FILE.bak-TIME)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;unwrap'= {
            cand --color 'When to colour the output'
            cand --config 'The client''s configuration file (default: search the usual places)'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand --all 'All servers in the file'
            cand -y 'Write without asking'
            cand --yes 'Write without asking'
            cand --dry-run 'Show the change without writing it'
            cand --no-backup 'Do not keep a copy of the old file (FILE.bak-TIME)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;completions'= {
            cand --color 'When to colour the output'
            cand --all 'Write the scripts of all shells to this folder'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;man'= {
            cand --color 'When to colour the output'
            cand --all 'Write all pages to this folder'
            cand -v 'Print more detail to stderr (-vv for even more)'
            cand --verbose 'Print more detail to stderr (-vv for even more)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;help'= {
            cand demo 'Take a tour with the built-in server: record, show, validate and summarise a session'
            cand record 'Record a session: start a server, relay every byte in both directions, and copy it to a reel'
            cand call 'Send one request to a server and print the result'
            cand fire 'Send one message that a draft proposal defines, or any raw message'
            cand events 'Subscribe to a server''s events (MCPE proposal)'
            cand show 'Show recorded messages: one line per message, in full, as a table or as JSON'
            cand stats 'Count messages, bytes, errors, latencies and unanswered requests by method'
            cand validate 'Check sessions against JSON-RPC, MCP and the five proposals'
            cand explain 'Explain a method, a capability, an error code or a rule of `validate`'
            cand diff 'Compare two recordings by what was requested and answered, or what two servers offer'
            cand replay 'Send the client side of a recorded session to a server, and compare the answers'
            cand serve 'Run the built-in server, which implements all five proposals (see docs/proposals.md)'
            cand mock 'Serve a recording in place of the server that it was recorded from'
            cand host 'Act as a host: hold a conversation with one or more servers'
            cand overlay 'Record a server and make it also speak the proposals'
            cand survive 'Test how an MCP client handles the proposals'' messages'
            cand sessions 'List your live sessions'
            cand reel 'Inspect and repair reel files'
            cand redact 'Replace the secrets in a reel, so that it can be shared'
            cand export 'Convert a reel to another format'
            cand import 'Convert another format to a reel'
            cand wrap 'Put `mcpreel record` in front of servers in an MCP client''s configuration'
            cand unwrap 'Remove mcpreel from an MCP client''s configuration'
            cand completions 'Print a shell''s completion script'
            cand man 'Print a manual page, or write all of them'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;help;demo'= {
        }
        &'mcpreel;help;record'= {
        }
        &'mcpreel;help;call'= {
        }
        &'mcpreel;help;fire'= {
            cand user-message 'Send a user''s message (`conversation/userMessage`, SEP-1975) and print the context that the server returns'
            cand hook 'Fire a hook event (SEP-2282): match it against the server''s declared hooks and print what they would inject'
            cand push 'Act as a server and send a push event (MCPL) to the host'
            cand reminder 'Act as a server and send a reminder (`notifications/reminder`) to the host'
            cand event 'Publish an event (MCPE): the server sends it (`events/event`, `events/batch`) to the subscriptions that match'
            cand before-inference 'Ask a server for context before an inference (`context/beforeInference`), as its host (MCPL)'
            cand after-inference 'Report the model''s answer to a server (`context/afterInference`), as its host (MCPL)'
            cand inference 'Ask the host''s model for an answer (`inference/request`), as a server (MCPL)'
            cand model-info 'Ask the host which model it uses (`model/info`), as a server (MCPL)'
            cand feature-sets 'Send a message about feature sets: which are enabled, or which exist'
            cand scope 'Ask the host for access to a scope (`scope/elevate`), as a server (MCPL)'
            cand rollback 'Ask a server to return to a checkpoint (`state/rollback`), as its host (MCPL)'
            cand channel 'Send a message about channels (MCPL): to a host as its server, or to a server as its host'
            cand raw 'Send one message byte for byte and print the response'
        }
        &'mcpreel;help;fire;user-message'= {
        }
        &'mcpreel;help;fire;hook'= {
        }
        &'mcpreel;help;fire;push'= {
        }
        &'mcpreel;help;fire;reminder'= {
        }
        &'mcpreel;help;fire;event'= {
        }
        &'mcpreel;help;fire;before-inference'= {
        }
        &'mcpreel;help;fire;after-inference'= {
        }
        &'mcpreel;help;fire;inference'= {
        }
        &'mcpreel;help;fire;model-info'= {
        }
        &'mcpreel;help;fire;feature-sets'= {
            cand update 'Inform a server which feature sets are enabled (`featureSets/update`), as its host (MCPL)'
            cand changed 'Report feature sets that were added or removed (`featureSets/changed`), as a server (MCPL)'
        }
        &'mcpreel;help;fire;feature-sets;update'= {
        }
        &'mcpreel;help;fire;feature-sets;changed'= {
        }
        &'mcpreel;help;fire;scope'= {
        }
        &'mcpreel;help;fire;rollback'= {
        }
        &'mcpreel;help;fire;channel'= {
            cand register 'Register channels with the host (`channels/register`), as its server'
            cand changed 'Report channels that were added, removed or changed (`channels/changed`), as a server'
            cand incoming 'Deliver a message from a channel to the host (`channels/incoming`), as its server'
            cand list-host 'Ask the host which channels it knows (`channels/list`), as its server'
            cand list 'Ask a server which channels it has (`channels/list`), as its host'
            cand open 'Ask a server to open a channel (`channels/open`), as its host'
            cand close 'Ask a server to close a channel (`channels/close`), as its host'
            cand publish 'Ask a server to deliver content to a channel (`channels/publish`), as its host'
            cand outgoing 'Show a server what is being sent to a channel (`channels/outgoing/chunk`, then `…/complete`), as its host'
        }
        &'mcpreel;help;fire;channel;register'= {
        }
        &'mcpreel;help;fire;channel;changed'= {
        }
        &'mcpreel;help;fire;channel;incoming'= {
        }
        &'mcpreel;help;fire;channel;list-host'= {
        }
        &'mcpreel;help;fire;channel;list'= {
        }
        &'mcpreel;help;fire;channel;open'= {
        }
        &'mcpreel;help;fire;channel;close'= {
        }
        &'mcpreel;help;fire;channel;publish'= {
        }
        &'mcpreel;help;fire;channel;outgoing'= {
        }
        &'mcpreel;help;fire;raw'= {
        }
        &'mcpreel;help;events'= {
            cand watch 'Subscribe to events and print each as one line of JSON as it arrives'
        }
        &'mcpreel;help;events;watch'= {
        }
        &'mcpreel;help;show'= {
        }
        &'mcpreel;help;stats'= {
        }
        &'mcpreel;help;validate'= {
        }
        &'mcpreel;help;explain'= {
        }
        &'mcpreel;help;diff'= {
        }
        &'mcpreel;help;replay'= {
        }
        &'mcpreel;help;serve'= {
        }
        &'mcpreel;help;mock'= {
        }
        &'mcpreel;help;host'= {
        }
        &'mcpreel;help;overlay'= {
        }
        &'mcpreel;help;survive'= {
        }
        &'mcpreel;help;sessions'= {
        }
        &'mcpreel;help;reel'= {
            cand info 'Print a reel''s metadata and counts'
            cand verify 'Read the whole reel, check its index, and report all damage. Exits with 1 if there is any'
            cand repair 'Write an intact reel from what can be read; what is lost is noted as gaps'
            cand index 'Add a missing index (after a killed recorder) or replace a wrong one, in place'
            cand compact 'Compress a reel as much as possible. It is left alone if it would not get smaller'
            cand cat 'Print the exact bytes of one direction, or of stderr'
            cand cut 'Write a part of a reel: what a filter, a time and streams select'
            cand merge 'Write several reels as one, in the order of time. Each session keeps a stream of its own'
        }
        &'mcpreel;help;reel;info'= {
        }
        &'mcpreel;help;reel;verify'= {
        }
        &'mcpreel;help;reel;repair'= {
        }
        &'mcpreel;help;reel;index'= {
        }
        &'mcpreel;help;reel;compact'= {
        }
        &'mcpreel;help;reel;cat'= {
        }
        &'mcpreel;help;reel;cut'= {
        }
        &'mcpreel;help;reel;merge'= {
        }
        &'mcpreel;help;redact'= {
        }
        &'mcpreel;help;export'= {
        }
        &'mcpreel;help;import'= {
        }
        &'mcpreel;help;wrap'= {
        }
        &'mcpreel;help;unwrap'= {
        }
        &'mcpreel;help;completions'= {
        }
        &'mcpreel;help;man'= {
        }
        &'mcpreel;help;help'= {
        }
    ]
    $completions[$command]
}

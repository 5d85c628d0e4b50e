
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'mcpreel' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'mcpreel'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'mcpreel' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Take a tour with the built-in server: record, show, validate and summarise a session')
            [CompletionResult]::new('record', 'record', [CompletionResultType]::ParameterValue, 'Record a session: start a server, relay every byte in both directions, and copy it to a reel')
            [CompletionResult]::new('call', 'call', [CompletionResultType]::ParameterValue, 'Send one request to a server and print the result')
            [CompletionResult]::new('fire', 'fire', [CompletionResultType]::ParameterValue, 'Send one message that a draft proposal defines, or any raw message')
            [CompletionResult]::new('events', 'events', [CompletionResultType]::ParameterValue, 'Subscribe to a server''s events (MCPE proposal)')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show recorded messages: one line per message, in full, as a table or as JSON')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Count messages, bytes, errors, latencies and unanswered requests by method')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Check sessions against JSON-RPC, MCP and the five proposals')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a method, a capability, an error code or a rule of `validate`')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two recordings by what was requested and answered, or what two servers offer')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Send the client side of a recorded session to a server, and compare the answers')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Run the built-in server, which implements all five proposals (see docs/proposals.md)')
            [CompletionResult]::new('mock', 'mock', [CompletionResultType]::ParameterValue, 'Serve a recording in place of the server that it was recorded from')
            [CompletionResult]::new('host', 'host', [CompletionResultType]::ParameterValue, 'Act as a host: hold a conversation with one or more servers')
            [CompletionResult]::new('overlay', 'overlay', [CompletionResultType]::ParameterValue, 'Record a server and make it also speak the proposals')
            [CompletionResult]::new('survive', 'survive', [CompletionResultType]::ParameterValue, 'Test how an MCP client handles the proposals'' messages')
            [CompletionResult]::new('sessions', 'sessions', [CompletionResultType]::ParameterValue, 'List your live sessions')
            [CompletionResult]::new('reel', 'reel', [CompletionResultType]::ParameterValue, 'Inspect and repair reel files')
            [CompletionResult]::new('redact', 'redact', [CompletionResultType]::ParameterValue, 'Replace the secrets in a reel, so that it can be shared')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Convert a reel to another format')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Convert another format to a reel')
            [CompletionResult]::new('wrap', 'wrap', [CompletionResultType]::ParameterValue, 'Put `mcpreel record` in front of servers in an MCP client''s configuration')
            [CompletionResult]::new('unwrap', 'unwrap', [CompletionResultType]::ParameterValue, 'Remove mcpreel from an MCP client''s configuration')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a shell''s completion script')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print a manual page, or write all of them')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;demo' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the reel to this file instead of the folder of reels')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the reel to this file instead of the folder of reels')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;record' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the reel to this file; `-` writes it to stdout instead of the server''s output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the reel to this file; `-` writes it to stdout instead of the server''s output')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A name for the reel')
            [CompletionResult]::new('--note', '--note', [CompletionResultType]::ParameterName, 'Store a note in the reel (repeatable)')
            [CompletionResult]::new('--on-overload', '--on-overload', [CompletionResultType]::ParameterName, 'What to do if recording cannot keep up with the traffic')
            [CompletionResult]::new('--queue-bytes', '--queue-bytes', [CompletionResultType]::ParameterName, 'Maximum number of bytes that may wait for the recorder (default: 131072)')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('--require-recording', '--require-recording', [CompletionResultType]::ParameterName, 'If the reel cannot be created, do not start the server; if writing fails later, stop it and exit with 4')
            [CompletionResult]::new('--redact', '--redact', [CompletionResultType]::ParameterName, 'Replace secrets in messages and on standard error by pseudonyms before anything is written, as `mcpreel redact` does, but event by event: a secret that is divided between events, or recognised only later, stays')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Check the session while it runs, and report findings on stderr, as `validate` does. The server''s exit code stays')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;call' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What to print')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `server/discover`, then `initialize`')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--notify', '--notify', [CompletionResultType]::ParameterName, 'Send a notification and do not wait for a response. Implied by methods that begin with notifications/')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('user-message', 'user-message', [CompletionResultType]::ParameterValue, 'Send a user''s message (`conversation/userMessage`, SEP-1975) and print the context that the server returns')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Fire a hook event (SEP-2282): match it against the server''s declared hooks and print what they would inject')
            [CompletionResult]::new('push', 'push', [CompletionResultType]::ParameterValue, 'Act as a server and send a push event (MCPL) to the host')
            [CompletionResult]::new('reminder', 'reminder', [CompletionResultType]::ParameterValue, 'Act as a server and send a reminder (`notifications/reminder`) to the host')
            [CompletionResult]::new('event', 'event', [CompletionResultType]::ParameterValue, 'Publish an event (MCPE): the server sends it (`events/event`, `events/batch`) to the subscriptions that match')
            [CompletionResult]::new('before-inference', 'before-inference', [CompletionResultType]::ParameterValue, 'Ask a server for context before an inference (`context/beforeInference`), as its host (MCPL)')
            [CompletionResult]::new('after-inference', 'after-inference', [CompletionResultType]::ParameterValue, 'Report the model''s answer to a server (`context/afterInference`), as its host (MCPL)')
            [CompletionResult]::new('inference', 'inference', [CompletionResultType]::ParameterValue, 'Ask the host''s model for an answer (`inference/request`), as a server (MCPL)')
            [CompletionResult]::new('model-info', 'model-info', [CompletionResultType]::ParameterValue, 'Ask the host which model it uses (`model/info`), as a server (MCPL)')
            [CompletionResult]::new('feature-sets', 'feature-sets', [CompletionResultType]::ParameterValue, 'Send a message about feature sets: which are enabled, or which exist')
            [CompletionResult]::new('scope', 'scope', [CompletionResultType]::ParameterValue, 'Ask the host for access to a scope (`scope/elevate`), as a server (MCPL)')
            [CompletionResult]::new('rollback', 'rollback', [CompletionResultType]::ParameterValue, 'Ask a server to return to a checkpoint (`state/rollback`), as its host (MCPL)')
            [CompletionResult]::new('channel', 'channel', [CompletionResultType]::ParameterValue, 'Send a message about channels (MCPL): to a host as its server, or to a server as its host')
            [CompletionResult]::new('raw', 'raw', [CompletionResultType]::ParameterValue, 'Send one message byte for byte and print the response')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;fire;user-message' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--message-id', '--message-id', [CompletionResultType]::ParameterName, 'The message''s id (default: a new one)')
            [CompletionResult]::new('--history', '--history', [CompletionResultType]::ParameterName, 'An earlier message, oldest first (repeatable): user=TEXT or assistant=TEXT')
            [CompletionResult]::new('--carrier', '--carrier', [CompletionResultType]::ParameterName, 'How to send it')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the server may take to respond')
            [CompletionResult]::new('--linger', '--linger', [CompletionResultType]::ParameterName, 'How long to wait after the deadline for a late response')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send the message even if the server has not subscribed')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;hook' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool''s name without a prefix (for tool events)')
            [CompletionResult]::new('--tool-server', '--tool-server', [CompletionResultType]::ParameterName, 'The server that provides the tool')
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'The tool''s arguments (repeatable): name=text, name:=JSON, a JSON object, @file')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The tool''s result (repeatable), in the same form as --input')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The value of {project_name} (default: the current folder''s name)')
            [CompletionResult]::new('--session-id', '--session-id', [CompletionResultType]::ParameterName, 'The value of {session_id}')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--no-call', '--no-call', [CompletionResultType]::ParameterName, 'Print the names of context tools without calling them')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;push' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--text', '--text', [CompletionResultType]::ParameterName, 'What happened, in words')
            [CompletionResult]::new('--feature-set', '--feature-set', [CompletionResultType]::ParameterName, 'The push''s feature set (default: the server''s own one that declares pushEvents)')
            [CompletionResult]::new('--event-id', '--event-id', [CompletionResultType]::ParameterName, 'The event''s id (default: a new one)')
            [CompletionResult]::new('--origin', '--origin', [CompletionResultType]::ParameterName, 'The event''s origin (repeatable): name=text, name:=JSON, a JSON object')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Wait this long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Send in this live session, as its server; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format of the result, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write reports to this file, one JSON object per line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long to wait for the host''s responses')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send only when the process receives SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;reminder' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'A tag (repeatable)')
            [CompletionResult]::new('--dedupe-key', '--dedupe-key', [CompletionResultType]::ParameterName, 'A newer reminder with the same key replaces an older one that is still waiting')
            [CompletionResult]::new('--ttl', '--ttl', [CompletionResultType]::ParameterName, 'The number of turns for which the reminder is valid')
            [CompletionResult]::new('--propagate', '--propagate', [CompletionResultType]::ParameterName, 'Which agents see the reminder')
            [CompletionResult]::new('--role', '--role', [CompletionResultType]::ParameterName, 'The role in which the host should show it to the model')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Wait this long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Send in this live session, as its server; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format of the result, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write reports to this file, one JSON object per line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long to wait for the host''s responses')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--preserve', '--preserve', [CompletionResultType]::ParameterName, 'Keep the reminder when the conversation is compacted')
            [CompletionResult]::new('--legacy', '--legacy', [CompletionResultType]::ParameterName, 'Use the older envelope: a log message with `_meta.harn.reminder`')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send only when the process receives SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;event' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'A member of the event''s data (repeatable): NAME=TEXT, or NAME:=JSON')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'A tag (repeatable)')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, 'How urgent the event is')
            [CompletionResult]::new('--source-event-id', '--source-event-id', [CompletionResultType]::ParameterName, 'The event''s id at its source')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Wait this long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Send in this live session, as its server; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format of the result, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write reports to this file, one JSON object per line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long to wait for the host''s responses')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send only when the process receives SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;before-inference' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--inference', '--inference', [CompletionResultType]::ParameterName, 'The inference''s id (default: a new one)')
            [CompletionResult]::new('--conversation', '--conversation', [CompletionResultType]::ParameterName, 'The conversation''s id')
            [CompletionResult]::new('--turn', '--turn', [CompletionResultType]::ParameterName, 'The turn''s number, from 0; incremented with --repeat')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model''s id')
            [CompletionResult]::new('--channel', '--channel', [CompletionResultType]::ParameterName, 'The channel that the message came from')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'Response timeout (default: what the proposal recommends for the hook, else 30s)')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send the message even if the server has not declared support for it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;after-inference' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--message', '--message', [CompletionResultType]::ParameterName, 'The user''s message before it')
            [CompletionResult]::new('--inference', '--inference', [CompletionResultType]::ParameterName, 'The inference''s id (default: a new one)')
            [CompletionResult]::new('--conversation', '--conversation', [CompletionResultType]::ParameterName, 'The conversation''s id')
            [CompletionResult]::new('--turn', '--turn', [CompletionResultType]::ParameterName, 'The turn''s number, from 0; incremented with --repeat')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model''s id')
            [CompletionResult]::new('--carrier', '--carrier', [CompletionResultType]::ParameterName, 'How to send it')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'Response timeout (default: what the proposal recommends for the hook, else 30s)')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send the message even if the server has not declared support for it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;inference' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--feature-set', '--feature-set', [CompletionResultType]::ParameterName, 'The request''s feature set (default: the server''s own one that declares inferenceRequest)')
            [CompletionResult]::new('--conversation', '--conversation', [CompletionResultType]::ParameterName, 'The request''s conversation')
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'The maximum number of tokens in the answer')
            [CompletionResult]::new('--temperature', '--temperature', [CompletionResultType]::ParameterName, 'The sampling temperature')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Wait this long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Send in this live session, as its server; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format of the result, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write reports to this file, one JSON object per line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long to wait for the host''s responses')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Ask for a streamed answer, if the host supports it')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send only when the process receives SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;model-info' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Wait this long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Send in this live session, as its server; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format of the result, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write reports to this file, one JSON object per line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long to wait for the host''s responses')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send only when the process receives SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;feature-sets' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Inform a server which feature sets are enabled (`featureSets/update`), as its host (MCPL)')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Report feature sets that were added or removed (`featureSets/changed`), as a server (MCPL)')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;fire;feature-sets;update' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--enable', '--enable', [CompletionResultType]::ParameterName, 'Enable this feature set (repeatable)')
            [CompletionResult]::new('--disable', '--disable', [CompletionResultType]::ParameterName, 'Disable this feature set (repeatable)')
            [CompletionResult]::new('--allow', '--allow', [CompletionResultType]::ParameterName, 'Add a pattern to a feature set''s whitelist (repeatable): SET=PATTERN')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Add a pattern to a feature set''s blacklist (repeatable): SET=PATTERN')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'Response timeout (default: what the proposal recommends for the hook, else 30s)')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send the message even if the server has not declared support for it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;feature-sets;changed' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--add', '--add', [CompletionResultType]::ParameterName, 'A new feature set (repeatable): NAME=USE,USE… or NAME:=DECLARATION')
            [CompletionResult]::new('--remove', '--remove', [CompletionResultType]::ParameterName, 'The name of a removed feature set (repeatable)')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Wait this long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Send in this live session, as its server; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format of the result, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write reports to this file, one JSON object per line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long to wait for the host''s responses')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send only when the process receives SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;feature-sets;help' {
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Inform a server which feature sets are enabled (`featureSets/update`), as its host (MCPL)')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Report feature sets that were added or removed (`featureSets/changed`), as a server (MCPL)')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;fire;feature-sets;help;update' {
            break
        }
        'mcpreel;fire;feature-sets;help;changed' {
            break
        }
        'mcpreel;fire;feature-sets;help;help' {
            break
        }
        'mcpreel;fire;scope' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--payload', '--payload', [CompletionResultType]::ParameterName, 'Data that comes back with an approval (repeatable): name=text, name:=JSON, a JSON object')
            [CompletionResult]::new('--feature-set', '--feature-set', [CompletionResultType]::ParameterName, 'The scope''s feature set (default: the server''s own one that is scoped)')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Wait this long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Send in this live session, as its server; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format of the result, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write reports to this file, one JSON object per line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long to wait for the host''s responses')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send only when the process receives SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;rollback' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--feature-set', '--feature-set', [CompletionResultType]::ParameterName, 'The feature set (default: the server''s first one that supports rollback)')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'Response timeout (default: what the proposal recommends for the hook, else 30s)')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send the message even if the server has not declared support for it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('register', 'register', [CompletionResultType]::ParameterValue, 'Register channels with the host (`channels/register`), as its server')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Report channels that were added, removed or changed (`channels/changed`), as a server')
            [CompletionResult]::new('incoming', 'incoming', [CompletionResultType]::ParameterValue, 'Deliver a message from a channel to the host (`channels/incoming`), as its server')
            [CompletionResult]::new('list-host', 'list-host', [CompletionResultType]::ParameterValue, 'Ask the host which channels it knows (`channels/list`), as its server')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Ask a server which channels it has (`channels/list`), as its host')
            [CompletionResult]::new('open', 'open', [CompletionResultType]::ParameterValue, 'Ask a server to open a channel (`channels/open`), as its host')
            [CompletionResult]::new('close', 'close', [CompletionResultType]::ParameterValue, 'Ask a server to close a channel (`channels/close`), as its host')
            [CompletionResult]::new('publish', 'publish', [CompletionResultType]::ParameterValue, 'Ask a server to deliver content to a channel (`channels/publish`), as its host')
            [CompletionResult]::new('outgoing', 'outgoing', [CompletionResultType]::ParameterValue, 'Show a server what is being sent to a channel (`channels/outgoing/chunk`, then `…/complete`), as its host')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;fire;channel;register' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Wait this long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Send in this live session, as its server; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format of the result, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write reports to this file, one JSON object per line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long to wait for the host''s responses')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send only when the process receives SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;changed' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--add', '--add', [CompletionResultType]::ParameterName, 'A new channel (repeatable): its id, or its descriptor as JSON or @file')
            [CompletionResult]::new('--remove', '--remove', [CompletionResultType]::ParameterName, 'The id of a removed channel (repeatable)')
            [CompletionResult]::new('--update', '--update', [CompletionResultType]::ParameterName, 'A changed channel (repeatable): its descriptor as JSON, or its id')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Wait this long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Send in this live session, as its server; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format of the result, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write reports to this file, one JSON object per line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long to wait for the host''s responses')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send only when the process receives SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;incoming' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--channel', '--channel', [CompletionResultType]::ParameterName, 'The channel''s id')
            [CompletionResult]::new('--message-id', '--message-id', [CompletionResultType]::ParameterName, 'The message''s id (default: a new one)')
            [CompletionResult]::new('--thread', '--thread', [CompletionResultType]::ParameterName, 'The message''s thread')
            [CompletionResult]::new('--author', '--author', [CompletionResultType]::ParameterName, 'The message''s author')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Other metadata (repeatable): name=text, name:=JSON, a JSON object')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Wait this long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Send in this live session, as its server; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format of the result, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write reports to this file, one JSON object per line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long to wait for the host''s responses')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send only when the process receives SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;list-host' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Wait this long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Send in this live session, as its server; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format of the result, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write reports to this file, one JSON object per line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long to wait for the host''s responses')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send only when the process receives SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;list' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'Response timeout (default: what the proposal recommends for the hook, else 30s)')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send the message even if the server has not declared support for it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;open' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'Response timeout (default: what the proposal recommends for the hook, else 30s)')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send the message even if the server has not declared support for it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;close' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'Response timeout (default: what the proposal recommends for the hook, else 30s)')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send the message even if the server has not declared support for it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;publish' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--conversation', '--conversation', [CompletionResultType]::ParameterName, 'The conversation''s id')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'Response timeout (default: what the proposal recommends for the hook, else 30s)')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--notification', '--notification', [CompletionResultType]::ParameterName, 'Send a notification: there is no response that confirms the delivery')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send the message even if the server has not declared support for it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;outgoing' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The number of chunks to send before the complete text')
            [CompletionResult]::new('--inference', '--inference', [CompletionResultType]::ParameterName, 'The inference''s id (default: a new one)')
            [CompletionResult]::new('--conversation', '--conversation', [CompletionResultType]::ParameterName, 'The conversation''s id')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'Response timeout (default: what the proposal recommends for the hook, else 30s)')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send the message even if the server has not declared support for it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;help' {
            [CompletionResult]::new('register', 'register', [CompletionResultType]::ParameterValue, 'Register channels with the host (`channels/register`), as its server')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Report channels that were added, removed or changed (`channels/changed`), as a server')
            [CompletionResult]::new('incoming', 'incoming', [CompletionResultType]::ParameterValue, 'Deliver a message from a channel to the host (`channels/incoming`), as its server')
            [CompletionResult]::new('list-host', 'list-host', [CompletionResultType]::ParameterValue, 'Ask the host which channels it knows (`channels/list`), as its server')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Ask a server which channels it has (`channels/list`), as its host')
            [CompletionResult]::new('open', 'open', [CompletionResultType]::ParameterValue, 'Ask a server to open a channel (`channels/open`), as its host')
            [CompletionResult]::new('close', 'close', [CompletionResultType]::ParameterValue, 'Ask a server to close a channel (`channels/close`), as its host')
            [CompletionResult]::new('publish', 'publish', [CompletionResultType]::ParameterValue, 'Ask a server to deliver content to a channel (`channels/publish`), as its host')
            [CompletionResult]::new('outgoing', 'outgoing', [CompletionResultType]::ParameterValue, 'Show a server what is being sent to a channel (`channels/outgoing/chunk`, then `…/complete`), as its host')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;fire;channel;help;register' {
            break
        }
        'mcpreel;fire;channel;help;changed' {
            break
        }
        'mcpreel;fire;channel;help;incoming' {
            break
        }
        'mcpreel;fire;channel;help;list-host' {
            break
        }
        'mcpreel;fire;channel;help;list' {
            break
        }
        'mcpreel;fire;channel;help;open' {
            break
        }
        'mcpreel;fire;channel;help;close' {
            break
        }
        'mcpreel;fire;channel;help;publish' {
            break
        }
        'mcpreel;fire;channel;help;outgoing' {
            break
        }
        'mcpreel;fire;channel;help;help' {
            break
        }
        'mcpreel;fire;raw' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'In which role to send it: to the server, or (in a live session only) to the client')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How many times to send the message, on one connection. A summary is printed to stderr at the end')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `server/discover`, then `initialize`')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--no-handshake', '--no-handshake', [CompletionResultType]::ParameterName, 'Send it to the started server as the very first message')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;help' {
            [CompletionResult]::new('user-message', 'user-message', [CompletionResultType]::ParameterValue, 'Send a user''s message (`conversation/userMessage`, SEP-1975) and print the context that the server returns')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Fire a hook event (SEP-2282): match it against the server''s declared hooks and print what they would inject')
            [CompletionResult]::new('push', 'push', [CompletionResultType]::ParameterValue, 'Act as a server and send a push event (MCPL) to the host')
            [CompletionResult]::new('reminder', 'reminder', [CompletionResultType]::ParameterValue, 'Act as a server and send a reminder (`notifications/reminder`) to the host')
            [CompletionResult]::new('event', 'event', [CompletionResultType]::ParameterValue, 'Publish an event (MCPE): the server sends it (`events/event`, `events/batch`) to the subscriptions that match')
            [CompletionResult]::new('before-inference', 'before-inference', [CompletionResultType]::ParameterValue, 'Ask a server for context before an inference (`context/beforeInference`), as its host (MCPL)')
            [CompletionResult]::new('after-inference', 'after-inference', [CompletionResultType]::ParameterValue, 'Report the model''s answer to a server (`context/afterInference`), as its host (MCPL)')
            [CompletionResult]::new('inference', 'inference', [CompletionResultType]::ParameterValue, 'Ask the host''s model for an answer (`inference/request`), as a server (MCPL)')
            [CompletionResult]::new('model-info', 'model-info', [CompletionResultType]::ParameterValue, 'Ask the host which model it uses (`model/info`), as a server (MCPL)')
            [CompletionResult]::new('feature-sets', 'feature-sets', [CompletionResultType]::ParameterValue, 'Send a message about feature sets: which are enabled, or which exist')
            [CompletionResult]::new('scope', 'scope', [CompletionResultType]::ParameterValue, 'Ask the host for access to a scope (`scope/elevate`), as a server (MCPL)')
            [CompletionResult]::new('rollback', 'rollback', [CompletionResultType]::ParameterValue, 'Ask a server to return to a checkpoint (`state/rollback`), as its host (MCPL)')
            [CompletionResult]::new('channel', 'channel', [CompletionResultType]::ParameterValue, 'Send a message about channels (MCPL): to a host as its server, or to a server as its host')
            [CompletionResult]::new('raw', 'raw', [CompletionResultType]::ParameterValue, 'Send one message byte for byte and print the response')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;fire;help;user-message' {
            break
        }
        'mcpreel;fire;help;hook' {
            break
        }
        'mcpreel;fire;help;push' {
            break
        }
        'mcpreel;fire;help;reminder' {
            break
        }
        'mcpreel;fire;help;event' {
            break
        }
        'mcpreel;fire;help;before-inference' {
            break
        }
        'mcpreel;fire;help;after-inference' {
            break
        }
        'mcpreel;fire;help;inference' {
            break
        }
        'mcpreel;fire;help;model-info' {
            break
        }
        'mcpreel;fire;help;feature-sets' {
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Inform a server which feature sets are enabled (`featureSets/update`), as its host (MCPL)')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Report feature sets that were added or removed (`featureSets/changed`), as a server (MCPL)')
            break
        }
        'mcpreel;fire;help;feature-sets;update' {
            break
        }
        'mcpreel;fire;help;feature-sets;changed' {
            break
        }
        'mcpreel;fire;help;scope' {
            break
        }
        'mcpreel;fire;help;rollback' {
            break
        }
        'mcpreel;fire;help;channel' {
            [CompletionResult]::new('register', 'register', [CompletionResultType]::ParameterValue, 'Register channels with the host (`channels/register`), as its server')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Report channels that were added, removed or changed (`channels/changed`), as a server')
            [CompletionResult]::new('incoming', 'incoming', [CompletionResultType]::ParameterValue, 'Deliver a message from a channel to the host (`channels/incoming`), as its server')
            [CompletionResult]::new('list-host', 'list-host', [CompletionResultType]::ParameterValue, 'Ask the host which channels it knows (`channels/list`), as its server')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Ask a server which channels it has (`channels/list`), as its host')
            [CompletionResult]::new('open', 'open', [CompletionResultType]::ParameterValue, 'Ask a server to open a channel (`channels/open`), as its host')
            [CompletionResult]::new('close', 'close', [CompletionResultType]::ParameterValue, 'Ask a server to close a channel (`channels/close`), as its host')
            [CompletionResult]::new('publish', 'publish', [CompletionResultType]::ParameterValue, 'Ask a server to deliver content to a channel (`channels/publish`), as its host')
            [CompletionResult]::new('outgoing', 'outgoing', [CompletionResultType]::ParameterValue, 'Show a server what is being sent to a channel (`channels/outgoing/chunk`, then `…/complete`), as its host')
            break
        }
        'mcpreel;fire;help;channel;register' {
            break
        }
        'mcpreel;fire;help;channel;changed' {
            break
        }
        'mcpreel;fire;help;channel;incoming' {
            break
        }
        'mcpreel;fire;help;channel;list-host' {
            break
        }
        'mcpreel;fire;help;channel;list' {
            break
        }
        'mcpreel;fire;help;channel;open' {
            break
        }
        'mcpreel;fire;help;channel;close' {
            break
        }
        'mcpreel;fire;help;channel;publish' {
            break
        }
        'mcpreel;fire;help;channel;outgoing' {
            break
        }
        'mcpreel;fire;help;raw' {
            break
        }
        'mcpreel;fire;help;help' {
            break
        }
        'mcpreel;events' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('watch', 'watch', [CompletionResultType]::ParameterValue, 'Subscribe to events and print each as one line of JSON as it arrives')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;events;watch' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'Only events with this tag (repeatable; one of them must match)')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, 'Only events with this priority (repeatable; one of them must match)')
            [CompletionResult]::new('--cron', '--cron', [CompletionResultType]::ParameterName, 'Let the server collect events and deliver them on this schedule')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Let the server collect events and deliver them once, at this time (2026-01-31T09:00:00Z)')
            [CompletionResult]::new('--timezone', '--timezone', [CompletionResultType]::ParameterName, 'The time zone of --cron or --at, as an IANA name')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'Exit after this many events')
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'Exit after this time')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. Subscriptions need the legacy era')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--renew', '--renew', [CompletionResultType]::ParameterName, 'Subscribe again when the subscription expires')
            [CompletionResult]::new('--no-reconnect', '--no-reconnect', [CompletionResultType]::ParameterName, 'Exit with code 4 if the connection is lost, instead of reconnecting. Implied by a server''s command and by --record')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Exit with code 1 if the server delivered malformed events, events outside the filter, or duplicates')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;events;help' {
            [CompletionResult]::new('watch', 'watch', [CompletionResultType]::ParameterValue, 'Subscribe to events and print each as one line of JSON as it arrives')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;events;help;watch' {
            break
        }
        'mcpreel;events;help;help' {
            break
        }
        'mcpreel;show' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--view', '--view', [CompletionResultType]::ParameterName, 'What to show: events, or the tree of MCPL checkpoints (states that a server saved), with branches and rollbacks (`--format json` prints one object per connection)')
            [CompletionResult]::new('--jq', '--jq', [CompletionResultType]::ParameterName, 'Run a jq program on each event''s JSON object and print the results: strings as they are (on a terminal, with control characters made visible), everything else as JSON')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Show the reel of a live session; the arguments are then only a filter. `mcpreel sessions` lists the sessions')
            [CompletionResult]::new('--time', '--time', [CompletionResultType]::ParameterName, 'How to show times')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Start at this time: seconds since the start of the reel, or an RFC 3339 time')
            [CompletionResult]::new('--seq', '--seq', [CompletionResultType]::ParameterName, 'Start at the event with this number')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show at most this many events')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Show at most this many events')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Check the messages, and print findings below them, as `validate` does. The counts go to stderr')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Short for `--format full`')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'Print the exact bytes of messages and stderr, each followed by a line break. Other events are printed only with event:KIND in the filter')
            [CompletionResult]::new('--no-fold', '--no-fold', [CompletionResultType]::ParameterName, 'Do not shorten long strings in the full format')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Keep reading while the reel grows')
            [CompletionResult]::new('--as-call', '--as-call', [CompletionResultType]::ParameterName, 'Print the `mcpreel call` command that repeats each request or notification of the client')
            [CompletionResult]::new('--redact', '--redact', [CompletionResultType]::ParameterName, 'Replace secrets by pseudonyms, as `mcpreel redact` does')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;stats' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use the reel of a live session; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--audit', '--audit', [CompletionResultType]::ParameterName, 'List the operations of MCPL: each push, injection, changed answer, inference, scope request, rollback and channel message, with its server, feature set, inference and outcome. Reads every message')
            [CompletionResult]::new('--redact', '--redact', [CompletionResultType]::ParameterName, 'Replace secrets by pseudonyms, as `mcpreel redact` does')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;validate' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 1 if a finding is at least this severe (default: error)')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Check only these rules: names or patterns such as ''schema/*'', separated by commas')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Do not check these rules')
            [CompletionResult]::new('--injected', '--injected', [CompletionResultType]::ParameterName, 'What to do with findings in messages that mcpreel injected (default: report)')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Findings in this file are known and do not count. An entry is stale, and fails, if its rule was checked and nothing violates it')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Check the reel of a live session. `mcpreel sessions` lists the sessions')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--write-baseline', '--write-baseline', [CompletionResultType]::ParameterName, 'Write all findings to the --baseline file, so that they do not count any more. Entries whose rules were not checked stay in it')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Keep reading while the reel grows, and print findings as they come (with --format json, one object per line). Ctrl-C ends the check with its summary')
            [CompletionResult]::new('--redact', '--redact', [CompletionResultType]::ParameterName, 'Replace secrets by pseudonyms, as `mcpreel redact` does')
            [CompletionResult]::new('--rules', '--rules', [CompletionResultType]::ParameterName, 'List all rules and exit')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;explain' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'Print the JSON Schema of a method, and nothing else')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Which part of the method --schema prints')
            [CompletionResult]::new('--revision', '--revision', [CompletionResultType]::ParameterName, 'Explain it as it is in this revision of MCP (default: the newest revision that has it)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;diff' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--learn', '--learn', [CompletionResultType]::ParameterName, 'Ignore what also differs between A and C, a second recording of the same version as A')
            [CompletionResult]::new('--ignore', '--ignore', [CompletionResultType]::ParameterName, 'Ignore the value at this JSON Pointer, as the report prints it; `*` matches any one member, `**` any number (repeatable)')
            [CompletionResult]::new('--unordered', '--unordered', [CompletionResultType]::ParameterName, 'Ignore the order of the array at this JSON Pointer; after `=`, the member that identifies an item (repeatable)')
            [CompletionResult]::new('--tolerance', '--tolerance', [CompletionResultType]::ParameterName, 'Accept numbers that differ by at most this much, such as `0.5` or `1%`; with a JSON Pointer, only there (repeatable)')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--view', '--view', [CompletionResultType]::ParameterName, 'How to show the differences as text')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Compare only a part of the sessions (repeatable, or separated by commas)')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 1 if a change is at least this severe')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `server/discover`, then `initialize`')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--exact', '--exact', [CompletionResultType]::ParameterName, 'Compare all values as they are, also the order of members, the notation of numbers, JSON inside text byte for byte, and the names of renamed tools')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Also compare ids by value: JSON-RPC ids, UUIDs, tokens, ports, process ids, temporary paths and folders')
            [CompletionResult]::new('--times', '--times', [CompletionResultType]::ParameterName, 'Also compare times and durations by value')
            [CompletionResult]::new('--volatile', '--volatile', [CompletionResultType]::ParameterName, 'List the values that differ in every run and were therefore not compared')
            [CompletionResult]::new('--order', '--order', [CompletionResultType]::ParameterName, 'Also compare the order of requests and notifications, whether a notification came before or after the result of its request, and the order of lists such as tools')
            [CompletionResult]::new('--stderr', '--stderr', [CompletionResultType]::ParameterName, 'Also compare what the servers wrote to stderr')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Show long values whole. Otherwise, unchanged parts of them are folded')
            [CompletionResult]::new('--latency', '--latency', [CompletionResultType]::ParameterName, 'Also compare response times, by method and tool. B must be slower or faster with statistical certainty (Mann–Whitney U test, 1 % for all methods together) and by at least 10 % and 100 µs in the median')
            [CompletionResult]::new('--surface', '--surface', [CompletionResultType]::ParameterName, 'Compare what the servers offer (tools, prompts, resources, capabilities), not what was said. A and B can be reels, JSON lines or lock files. Without B, list everything that the server named by the target options offers')
            [CompletionResult]::new('--update', '--update', [CompletionResultType]::ParameterName, 'Write the surface of B, or of the live server, to the lock file A')
            [CompletionResult]::new('--rules', '--rules', [CompletionResultType]::ParameterName, 'List the rules by which surfaces are compared, and exit')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('--redact', '--redact', [CompletionResultType]::ParameterName, 'Replace secrets by pseudonyms, as `mcpreel redact` does')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;replay' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--pace', '--pace', [CompletionResultType]::ParameterName, 'When to send: fast (as soon as everything before has come), recorded (with the recorded pauses), or a factor such as 2x (with pauses half as long)')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long to wait for each answer (default: 30s)')
            [CompletionResult]::new('--concurrency', '--concurrency', [CompletionResultType]::ParameterName, 'Send at most this many requests at the same time')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Send nothing before this event, except for the handshake')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Send nothing after this event')
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Replay only this session of a reel with several (repeatable)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era of the live server: recorded sends the messages as they are; modern replays a recording with `initialize` against a server of revision 2026-07-28, and reports what has no equivalent there')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'Replay this many times, each on a new connection')
            [CompletionResult]::new('--answer', '--answer', [CompletionResultType]::ParameterName, 'Answer requests of the server from this file: a JSON object with a result for each method, or a list of results')
            [CompletionResult]::new('--map', '--map', [CompletionResultType]::ParameterName, 'Replace a path or another text in all recorded messages, such as a folder by a fresh one (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the new session to this reel (default: a new reel in the folder of reels)')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'Replay this many recordings of a folder or suite at the same time')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Replay this many recordings of a folder or suite at the same time')
            [CompletionResult]::new('--shard', '--shard', [CompletionResultType]::ParameterName, 'Replay only this part of a folder or suite, such as 1/4')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--learn', '--learn', [CompletionResultType]::ParameterName, 'Ignore what also differs between A and C, a second recording of the same version as A')
            [CompletionResult]::new('--ignore', '--ignore', [CompletionResultType]::ParameterName, 'Ignore the value at this JSON Pointer, as the report prints it; `*` matches any one member, `**` any number (repeatable)')
            [CompletionResult]::new('--unordered', '--unordered', [CompletionResultType]::ParameterName, 'Ignore the order of the array at this JSON Pointer; after `=`, the member that identifies an item (repeatable)')
            [CompletionResult]::new('--tolerance', '--tolerance', [CompletionResultType]::ParameterName, 'Accept numbers that differ by at most this much, such as `0.5` or `1%`; with a JSON Pointer, only there (repeatable)')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print what would be sent, and send nothing')
            [CompletionResult]::new('--allow-destructive', '--allow-destructive', [CompletionResultType]::ParameterName, 'Also call tools that the recorded server annotated with `destructiveHint`')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Send only what reads: listings, reads, and calls of tools that are annotated with `readOnlyHint`')
            [CompletionResult]::new('--fail-fast', '--fail-fast', [CompletionResultType]::ParameterName, 'Stop at the first answer that differs')
            [CompletionResult]::new('--update', '--update', [CompletionResultType]::ParameterName, 'Replace the recording by the new session, after the differences were printed')
            [CompletionResult]::new('--exact', '--exact', [CompletionResultType]::ParameterName, 'Compare all values as they are, also the order of members, the notation of numbers, JSON inside text byte for byte, and the names of renamed tools')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Also compare ids by value: JSON-RPC ids, UUIDs, tokens, ports, process ids, temporary paths and folders')
            [CompletionResult]::new('--times', '--times', [CompletionResultType]::ParameterName, 'Also compare times and durations by value')
            [CompletionResult]::new('--volatile', '--volatile', [CompletionResultType]::ParameterName, 'List the values that differ in every run and were therefore not compared')
            [CompletionResult]::new('--order', '--order', [CompletionResultType]::ParameterName, 'Also compare the order of requests and notifications, whether a notification came before or after the result of its request, and the order of lists such as tools')
            [CompletionResult]::new('--stderr', '--stderr', [CompletionResultType]::ParameterName, 'Also compare what the servers wrote to stderr')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;serve' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--declare', '--declare', [CompletionResultType]::ParameterName, 'Declare only this proposal (repeatable): conversation, reminder, mcpl, hooks, mcpe')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to support. The proposals need the legacy era; plain MCP works in both')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Change a setting of a proposal (repeatable): conversation.carrier=request, mcpl.push_sets:=''["ci.builds"]'', mcpl.channels:=''["discord:#general"]'', mcpl.redact.api_key=''sk-\w+''')
            [CompletionResult]::new('--plan', '--plan', [CompletionResultType]::ParameterName, 'Send a message on its own, on a timer: {"after_ms":N,"every_ms":N,"times":N,"fire":{"kind":…}} (repeatable)')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send this message whenever the process receives SIGUSR1 (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel. If the file exists and a client started this server (stdin is a pipe or a socket), a free name is used. With handlers, the session is always recorded, including each run of a handler')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write reports to this file, one JSON object per line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long to wait for the host''s responses')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('--scenario', '--scenario', [CompletionResultType]::ParameterName, 'Play one built-in server that this scenario defines: the messages it sends, the faults on its connection, and the messages expected on it. The host starts this command, or connects with --listen. When the host has disconnected, the report is printed to stderr')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Which server of the scenario to play')
            [CompletionResult]::new('--junit', '--junit', [CompletionResultType]::ParameterName, 'Write the scenario''s report as JUnit XML')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Format of the scenario''s report')
            [CompletionResult]::new('--reel', '--reel', [CompletionResultType]::ParameterName, 'Serve this recording in place of the built-in server, as `mcpreel mock` does (repeatable)')
            [CompletionResult]::new('--match', '--match', [CompletionResultType]::ParameterName, 'When a request repeats a recorded one: exact (method and params are equal), normalised (times, ids, random tokens, ports and temporary paths may differ), method (method and tool, or resource, are equal), or sequence (it comes at the same position)')
            [CompletionResult]::new('--pace', '--pace', [CompletionResultType]::ParameterName, 'When to answer: fast, recorded (with the recorded latencies), or a factor such as 2x (twice as fast)')
            [CompletionResult]::new('--fault', '--fault', [CompletionResultType]::ParameterName, 'Break answers on purpose: ''METHOD: ACTION [PERCENT%]'' (repeatable). Actions: delay TIME, drop, duplicate, reorder, error [CODE], truncate, malformed, disconnect')
            [CompletionResult]::new('--ready-file', '--ready-file', [CompletionResultType]::ParameterName, 'When ready, write the address to this file as a JSON object')
            [CompletionResult]::new('--memory', '--memory', [CompletionResultType]::ParameterName, 'Whether the server has a memory, with the tools for it')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Watch this folder (repeatable). Its text files become resources. Changes are reported to subscribers of the file or of a folder above it, and to all hosts as a reminder')
            [CompletionResult]::new('--ignore', '--ignore', [CompletionResultType]::ParameterName, 'Ignore files whose name or path within the folder matches (repeatable), in addition to .git, target and node_modules')
            [CompletionResult]::new('--watch-command', '--watch-command', [CompletionResultType]::ParameterName, 'Run this command in a shell at the start and after each change, and send a reminder if its result has changed (repeatable). The tool `check` reports the result, too')
            [CompletionResult]::new('--watch-every', '--watch-every', [CompletionResultType]::ParameterName, 'Also run the commands at this interval')
            [CompletionResult]::new('--watch-limit', '--watch-limit', [CompletionResultType]::ParameterName, 'How long a command may run')
            [CompletionResult]::new('--watch-quiet', '--watch-quiet', [CompletionResultType]::ParameterName, 'Report changes once the files have been unchanged for this long')
            [CompletionResult]::new('--allow-handlers', '--allow-handlers', [CompletionResultType]::ParameterName, 'Allow subscriptions to have handlers of this kind (repeatable, or comma-separated). With bash, subscribers can run any command as you. Subscriptions with other handlers are refused')
            [CompletionResult]::new('--handler-timeout', '--handler-timeout', [CompletionResultType]::ParameterName, 'The maximum time a handler may run')
            [CompletionResult]::new('--handler-dir', '--handler-dir', [CompletionResultType]::ParameterName, 'The folder in which bash handlers run')
            [CompletionResult]::new('--handler-shell', '--handler-shell', [CompletionResultType]::ParameterName, 'The program that runs bash handlers, with the handler''s command as its last argument; for example a sandbox such as ''bwrap --ro-bind / / bash -c''')
            [CompletionResult]::new('--handler-secret', '--handler-secret', [CompletionResultType]::ParameterName, 'Replace ${NAME} in the headers of webhooks to this host with the environment variable NAME (repeatable). Without a port, this applies only to the scheme''s default port (443 for https, 80 for http). Put an IPv6 address in brackets before a port')
            [CompletionResult]::new('--allow-private-host', '--allow-private-host', [CompletionResultType]::ParameterName, 'Let webhooks reach this host although its address is not public, for example because it is in your network (repeatable). Without this, such addresses are refused, whatever name leads to them; except for this machine itself, by localhost or its address')
            [CompletionResult]::new('--agent-command', '--agent-command', [CompletionResultType]::ParameterName, 'Run agent handlers with this program instead of the host''s model: it reads the request as JSON on stdin. If bash handlers are allowed, too, the program gets as small an environment as they do, because they could read it')
            [CompletionResult]::new('--webhook', '--webhook', [CompletionResultType]::ParameterName, 'Accept JSON posts from this machine and push each as an event: a port (0 for a free one) or HOST:PORT. The body may contain eventId, text, payload, origin and featureSet; any other object becomes the event''s text. A post to /events/TYPE is published to subscriptions (MCPE) with its data, tags and priority, or without data, with the whole body except its priority as data')
            [CompletionResult]::new('--channel-socket', '--channel-socket', [CompletionResultType]::ParameterName, 'Provide a channel on a Unix socket with this path: each line that is written to it becomes a message from the channel, as text or JSON; what the host publishes is printed to it as JSON lines')
            [CompletionResult]::new('--feed', '--feed', [CompletionResultType]::ParameterName, 'Send one message per line of PATH, in the format of --on-signal. PATH is a file, a FIFO, unix:PATH (lines from clients of a Unix socket) or - (stdin, with --listen). Reading begins when a host is connected')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--reuse', '--reuse', [CompletionResultType]::ParameterName, 'Repeat the last answer to a request that comes more often than recorded')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Exit with 1 if a request had no recorded answer, or if a recorded request was never asked for')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;mock' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--match', '--match', [CompletionResultType]::ParameterName, 'When a request repeats a recorded one: exact (method and params are equal), normalised (times, ids, random tokens, ports and temporary paths may differ), method (method and tool, or resource, are equal), or sequence (it comes at the same position)')
            [CompletionResult]::new('--pace', '--pace', [CompletionResultType]::ParameterName, 'When to answer: fast, recorded (with the recorded latencies), or a factor such as 2x (twice as fast)')
            [CompletionResult]::new('--fault', '--fault', [CompletionResultType]::ParameterName, 'Break answers on purpose: ''METHOD: ACTION [PERCENT%]'' (repeatable). Actions: delay TIME, drop, duplicate, reorder, error [CODE], truncate, malformed, disconnect')
            [CompletionResult]::new('--ready-file', '--ready-file', [CompletionResultType]::ParameterName, 'When ready, write the address to this file as a JSON object')
            [CompletionResult]::new('--ignore', '--ignore', [CompletionResultType]::ParameterName, 'Ignore the value at this JSON Pointer, relative to the message, when requests are compared (repeatable)')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write the report to this file as one JSON object, instead of to stderr as text')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Make the faults depend on this number: the same number and input give the same faults')
            [CompletionResult]::new('--on-miss', '--on-miss', [CompletionResultType]::ParameterName, 'What to do about a request without a recorded answer: error, forward (ask the server given as TARGET), or record (the same, and append the exchange to the recording)')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--reuse', '--reuse', [CompletionResultType]::ParameterName, 'Repeat the last answer to a request that comes more often than recorded')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Exit with 1 if a request had no recorded answer, or if a recorded request was never asked for')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;host' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Add a server: NAME=COMMAND, NAME=URL or NAME=session:SESSION (repeatable)')
            [CompletionResult]::new('--add', '--add', [CompletionResultType]::ParameterName, 'Add a server: NAME=COMMAND, NAME=URL or NAME=session:SESSION (repeatable)')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'Add the built-in server under this name, with all proposals or the listed ones (repeatable)')
            [CompletionResult]::new('--say', '--say', [CompletionResultType]::ParameterName, 'Say this as the user (repeatable)')
            [CompletionResult]::new('--do', '--do', [CompletionResultType]::ParameterName, 'Run this line as if it had been typed (repeatable; --say and --do run in the order of the command line)')
            [CompletionResult]::new('--scenario', '--scenario', [CompletionResultType]::ParameterName, 'Play this scenario (YAML; docs/scenario.schema.json) and check its expectations')
            [CompletionResult]::new('--reel', '--reel', [CompletionResultType]::ParameterName, 'Play the host of this recorded session against the target, with its timing. The answers are not compared; `mcpreel replay` does that')
            [CompletionResult]::new('--clock', '--clock', [CompletionResultType]::ParameterName, 'The clock of the scenario (default: as the scenario says)')
            [CompletionResult]::new('--junit', '--junit', [CompletionResultType]::ParameterName, 'Write the scenario''s report as JUnit XML')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The built-in model')
            [CompletionResult]::new('--model-command', '--model-command', [CompletionResultType]::ParameterName, 'Use a program as the model: it reads the prompt as JSON on stdin and prints its answer to stdout')
            [CompletionResult]::new('--model-timeout', '--model-timeout', [CompletionResultType]::ParameterName, 'How long that program may take')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'A policy file, in YAML or JSON: `all` and `servers`, each with options by proposal, and a `layout`')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Set an option for all servers or for one (repeatable)')
            [CompletionResult]::new('--on-event', '--on-event', [CompletionResultType]::ParameterName, 'Also deliver events of subscriptions: PATTERN=file:PATH appends them to a file as lines of JSON, PATTERN=command:COMMAND passes them to a command''s stdin (repeatable). For the prompt and for turns, see the option mcpe.route')
            [CompletionResult]::new('--system', '--system', [CompletionResultType]::ParameterName, 'The host''s own system prompt; or @FILE')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project''s name in templates (default: the current folder''s name)')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Generate ids from this seed: the same seed gives the same ids and prompts (default: new ids each time)')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What to print')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to use; auto tries `initialize` first. With a server of the modern era, the host does without the proposals')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to request. Any value is sent as given')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Response timeout (default: 30s)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the session to this reel (default: a new file in the folder of reels)')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'A server in that configuration (repeatable)')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use the server of a live session: at its own address if it listens, else on its client''s connection')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--trace', '--trace', [CompletionResultType]::ParameterName, 'Show what happens in the scenario, in addition to the report')
            [CompletionResult]::new('--consent', '--consent', [CompletionResultType]::ParameterName, 'Let every server that asks for it receive your messages. Without this, the host asks you on a terminal; in a script, only servers whose command is given here receive them, and those of a policy')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Exit with code 1 if a server delivered something malformed, unasked for or twice')
            [CompletionResult]::new('--options', '--options', [CompletionResultType]::ParameterName, 'List all options with their defaults')
            [CompletionResult]::new('--prompts', '--prompts', [CompletionResultType]::ParameterName, 'Show each prompt')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;overlay' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--value', '--value', [CompletionResultType]::ParameterName, 'Replace {NAME} in the file with this value instead of the file''s own (repeatable)')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A name for the reel')
            [CompletionResult]::new('--note', '--note', [CompletionResultType]::ParameterName, 'Store a note in the reel (repeatable)')
            [CompletionResult]::new('--on-overload', '--on-overload', [CompletionResultType]::ParameterName, 'What to do if recording cannot keep up with the traffic')
            [CompletionResult]::new('--queue-bytes', '--queue-bytes', [CompletionResultType]::ParameterName, 'Maximum number of bytes that may wait for the recorder (default: 131072)')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'Add a header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file in addition to the system''s')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Find the server in this configuration file of an MCP client (default: search the usual places)')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in the configuration')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add a variable to the server''s environment (repeatable). mcpreel writes only its name to the reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the reel to this file')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the reel to this file')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Check the file without starting anything')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'Print the JSON Schema of overlay files')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('--require-recording', '--require-recording', [CompletionResultType]::ParameterName, 'If the reel cannot be created, do not start the server; if writing fails later, stop it and exit with 4')
            [CompletionResult]::new('--redact', '--redact', [CompletionResultType]::ParameterName, 'Replace secrets in messages and on standard error by pseudonyms before anything is written, as `mcpreel redact` does, but event by event: a secret that is divided between events, or recognised only later, stays')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;survive' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Test only this proposal''s declarations and messages (repeatable): conversation, reminder, mcpl, hooks, mcpe')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How long to wait for a response to a message or a ping')
            [CompletionResult]::new('--connect', '--connect', [CompletionResultType]::ParameterName, 'How long the client may take from its start to the end of the handshake')
            [CompletionResult]::new('--restarts', '--restarts', [CompletionResultType]::ParameterName, 'Maximum number of restarts of the client, not counting those that test declarations')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the reel to this file, one stream per session (default: a new file in the folder of reels)')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the reel to this file, one stream per session (default: a new file in the folder of reels)')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;sessions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('info', 'info', [CompletionResultType]::ParameterValue, 'Print a reel''s metadata and counts')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Read the whole reel, check its index, and report all damage. Exits with 1 if there is any')
            [CompletionResult]::new('repair', 'repair', [CompletionResultType]::ParameterValue, 'Write an intact reel from what can be read; what is lost is noted as gaps')
            [CompletionResult]::new('index', 'index', [CompletionResultType]::ParameterValue, 'Add a missing index (after a killed recorder) or replace a wrong one, in place')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Compress a reel as much as possible. It is left alone if it would not get smaller')
            [CompletionResult]::new('cat', 'cat', [CompletionResultType]::ParameterValue, 'Print the exact bytes of one direction, or of stderr')
            [CompletionResult]::new('cut', 'cut', [CompletionResultType]::ParameterValue, 'Write a part of a reel: what a filter, a time and streams select')
            [CompletionResult]::new('merge', 'merge', [CompletionResultType]::ParameterValue, 'Write several reels as one, in the order of time. Each session keeps a stream of its own')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;reel;info' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;verify' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;repair' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write to this file; `-` is stdout (default: replace the reel)')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write to this file; `-` is stdout (default: replace the reel)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;index' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;compact' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write to this file; `-` is stdout (default: replace the reel)')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write to this file; `-` is stdout (default: replace the reel)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;cat' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Which bytes to print')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;cut' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write to this file; `-` is stdout')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write to this file; `-` is stdout')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Start at this time: seconds since the start of the reel, or an RFC 3339 time')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'End at this time')
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Only the session with this stream number (repeatable); `mcpreel show` prints it after #')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('--no-handshake', '--no-handshake', [CompletionResultType]::ParameterName, 'Leave out the handshake, unless it is selected')
            [CompletionResult]::new('--no-pairs', '--no-pairs', [CompletionResultType]::ParameterName, 'Leave out the other half of a request and its response, unless it is selected')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;merge' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write to this file; `-` is stdout')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write to this file; `-` is stdout')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;help' {
            [CompletionResult]::new('info', 'info', [CompletionResultType]::ParameterValue, 'Print a reel''s metadata and counts')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Read the whole reel, check its index, and report all damage. Exits with 1 if there is any')
            [CompletionResult]::new('repair', 'repair', [CompletionResultType]::ParameterValue, 'Write an intact reel from what can be read; what is lost is noted as gaps')
            [CompletionResult]::new('index', 'index', [CompletionResultType]::ParameterValue, 'Add a missing index (after a killed recorder) or replace a wrong one, in place')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Compress a reel as much as possible. It is left alone if it would not get smaller')
            [CompletionResult]::new('cat', 'cat', [CompletionResultType]::ParameterValue, 'Print the exact bytes of one direction, or of stderr')
            [CompletionResult]::new('cut', 'cut', [CompletionResultType]::ParameterValue, 'Write a part of a reel: what a filter, a time and streams select')
            [CompletionResult]::new('merge', 'merge', [CompletionResultType]::ParameterValue, 'Write several reels as one, in the order of time. Each session keeps a stream of its own')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;reel;help;info' {
            break
        }
        'mcpreel;reel;help;verify' {
            break
        }
        'mcpreel;reel;help;repair' {
            break
        }
        'mcpreel;reel;help;index' {
            break
        }
        'mcpreel;reel;help;compact' {
            break
        }
        'mcpreel;reel;help;cat' {
            break
        }
        'mcpreel;reel;help;cut' {
            break
        }
        'mcpreel;reel;help;merge' {
            break
        }
        'mcpreel;reel;help;help' {
            break
        }
        'mcpreel;redact' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the redacted reel to this file; `-` is stdout')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the redacted reel to this file; `-` is stdout')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'The format of the report')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The format of the report')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only report what would be replaced')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Only report what would be replaced, and exit with 1 if there is anything')
            [CompletionResult]::new('--rules', '--rules', [CompletionResultType]::ParameterName, 'List all detectors and exit')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;export' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The output format')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write to this file; `-` is stdout')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write to this file; `-` is stdout')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('--redact', '--redact', [CompletionResultType]::ParameterName, 'Replace secrets by pseudonyms, as `mcpreel redact` does')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;import' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The input format')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the reel to this file; `-` is stdout')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the reel to this file; `-` is stdout')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;wrap' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The client''s configuration file (default: search the usual places)')
            [CompletionResult]::new('--bin', '--bin', [CompletionResultType]::ParameterName, 'The mcpreel program that the client will start (default: the path of this one; in a project''s shared file `mcpreel`, found through PATH, so that the file contains no path of yours)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'All servers in the file')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Write without asking')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Write without asking')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the change without writing it')
            [CompletionResult]::new('--no-backup', '--no-backup', [CompletionResultType]::ParameterName, 'Do not keep a copy of the old file (FILE.bak-TIME)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;unwrap' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The client''s configuration file (default: search the usual places)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'All servers in the file')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Write without asking')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Write without asking')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the change without writing it')
            [CompletionResult]::new('--no-backup', '--no-backup', [CompletionResultType]::ParameterName, 'Do not keep a copy of the old file (FILE.bak-TIME)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Write the scripts of all shells to this folder')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;man' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the output')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Write all pages to this folder')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more detail to stderr (-vv for even more)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;help' {
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Take a tour with the built-in server: record, show, validate and summarise a session')
            [CompletionResult]::new('record', 'record', [CompletionResultType]::ParameterValue, 'Record a session: start a server, relay every byte in both directions, and copy it to a reel')
            [CompletionResult]::new('call', 'call', [CompletionResultType]::ParameterValue, 'Send one request to a server and print the result')
            [CompletionResult]::new('fire', 'fire', [CompletionResultType]::ParameterValue, 'Send one message that a draft proposal defines, or any raw message')
            [CompletionResult]::new('events', 'events', [CompletionResultType]::ParameterValue, 'Subscribe to a server''s events (MCPE proposal)')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show recorded messages: one line per message, in full, as a table or as JSON')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Count messages, bytes, errors, latencies and unanswered requests by method')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Check sessions against JSON-RPC, MCP and the five proposals')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a method, a capability, an error code or a rule of `validate`')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two recordings by what was requested and answered, or what two servers offer')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Send the client side of a recorded session to a server, and compare the answers')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Run the built-in server, which implements all five proposals (see docs/proposals.md)')
            [CompletionResult]::new('mock', 'mock', [CompletionResultType]::ParameterValue, 'Serve a recording in place of the server that it was recorded from')
            [CompletionResult]::new('host', 'host', [CompletionResultType]::ParameterValue, 'Act as a host: hold a conversation with one or more servers')
            [CompletionResult]::new('overlay', 'overlay', [CompletionResultType]::ParameterValue, 'Record a server and make it also speak the proposals')
            [CompletionResult]::new('survive', 'survive', [CompletionResultType]::ParameterValue, 'Test how an MCP client handles the proposals'' messages')
            [CompletionResult]::new('sessions', 'sessions', [CompletionResultType]::ParameterValue, 'List your live sessions')
            [CompletionResult]::new('reel', 'reel', [CompletionResultType]::ParameterValue, 'Inspect and repair reel files')
            [CompletionResult]::new('redact', 'redact', [CompletionResultType]::ParameterValue, 'Replace the secrets in a reel, so that it can be shared')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Convert a reel to another format')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Convert another format to a reel')
            [CompletionResult]::new('wrap', 'wrap', [CompletionResultType]::ParameterValue, 'Put `mcpreel record` in front of servers in an MCP client''s configuration')
            [CompletionResult]::new('unwrap', 'unwrap', [CompletionResultType]::ParameterValue, 'Remove mcpreel from an MCP client''s configuration')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a shell''s completion script')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print a manual page, or write all of them')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;help;demo' {
            break
        }
        'mcpreel;help;record' {
            break
        }
        'mcpreel;help;call' {
            break
        }
        'mcpreel;help;fire' {
            [CompletionResult]::new('user-message', 'user-message', [CompletionResultType]::ParameterValue, 'Send a user''s message (`conversation/userMessage`, SEP-1975) and print the context that the server returns')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Fire a hook event (SEP-2282): match it against the server''s declared hooks and print what they would inject')
            [CompletionResult]::new('push', 'push', [CompletionResultType]::ParameterValue, 'Act as a server and send a push event (MCPL) to the host')
            [CompletionResult]::new('reminder', 'reminder', [CompletionResultType]::ParameterValue, 'Act as a server and send a reminder (`notifications/reminder`) to the host')
            [CompletionResult]::new('event', 'event', [CompletionResultType]::ParameterValue, 'Publish an event (MCPE): the server sends it (`events/event`, `events/batch`) to the subscriptions that match')
            [CompletionResult]::new('before-inference', 'before-inference', [CompletionResultType]::ParameterValue, 'Ask a server for context before an inference (`context/beforeInference`), as its host (MCPL)')
            [CompletionResult]::new('after-inference', 'after-inference', [CompletionResultType]::ParameterValue, 'Report the model''s answer to a server (`context/afterInference`), as its host (MCPL)')
            [CompletionResult]::new('inference', 'inference', [CompletionResultType]::ParameterValue, 'Ask the host''s model for an answer (`inference/request`), as a server (MCPL)')
            [CompletionResult]::new('model-info', 'model-info', [CompletionResultType]::ParameterValue, 'Ask the host which model it uses (`model/info`), as a server (MCPL)')
            [CompletionResult]::new('feature-sets', 'feature-sets', [CompletionResultType]::ParameterValue, 'Send a message about feature sets: which are enabled, or which exist')
            [CompletionResult]::new('scope', 'scope', [CompletionResultType]::ParameterValue, 'Ask the host for access to a scope (`scope/elevate`), as a server (MCPL)')
            [CompletionResult]::new('rollback', 'rollback', [CompletionResultType]::ParameterValue, 'Ask a server to return to a checkpoint (`state/rollback`), as its host (MCPL)')
            [CompletionResult]::new('channel', 'channel', [CompletionResultType]::ParameterValue, 'Send a message about channels (MCPL): to a host as its server, or to a server as its host')
            [CompletionResult]::new('raw', 'raw', [CompletionResultType]::ParameterValue, 'Send one message byte for byte and print the response')
            break
        }
        'mcpreel;help;fire;user-message' {
            break
        }
        'mcpreel;help;fire;hook' {
            break
        }
        'mcpreel;help;fire;push' {
            break
        }
        'mcpreel;help;fire;reminder' {
            break
        }
        'mcpreel;help;fire;event' {
            break
        }
        'mcpreel;help;fire;before-inference' {
            break
        }
        'mcpreel;help;fire;after-inference' {
            break
        }
        'mcpreel;help;fire;inference' {
            break
        }
        'mcpreel;help;fire;model-info' {
            break
        }
        'mcpreel;help;fire;feature-sets' {
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Inform a server which feature sets are enabled (`featureSets/update`), as its host (MCPL)')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Report feature sets that were added or removed (`featureSets/changed`), as a server (MCPL)')
            break
        }
        'mcpreel;help;fire;feature-sets;update' {
            break
        }
        'mcpreel;help;fire;feature-sets;changed' {
            break
        }
        'mcpreel;help;fire;scope' {
            break
        }
        'mcpreel;help;fire;rollback' {
            break
        }
        'mcpreel;help;fire;channel' {
            [CompletionResult]::new('register', 'register', [CompletionResultType]::ParameterValue, 'Register channels with the host (`channels/register`), as its server')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Report channels that were added, removed or changed (`channels/changed`), as a server')
            [CompletionResult]::new('incoming', 'incoming', [CompletionResultType]::ParameterValue, 'Deliver a message from a channel to the host (`channels/incoming`), as its server')
            [CompletionResult]::new('list-host', 'list-host', [CompletionResultType]::ParameterValue, 'Ask the host which channels it knows (`channels/list`), as its server')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Ask a server which channels it has (`channels/list`), as its host')
            [CompletionResult]::new('open', 'open', [CompletionResultType]::ParameterValue, 'Ask a server to open a channel (`channels/open`), as its host')
            [CompletionResult]::new('close', 'close', [CompletionResultType]::ParameterValue, 'Ask a server to close a channel (`channels/close`), as its host')
            [CompletionResult]::new('publish', 'publish', [CompletionResultType]::ParameterValue, 'Ask a server to deliver content to a channel (`channels/publish`), as its host')
            [CompletionResult]::new('outgoing', 'outgoing', [CompletionResultType]::ParameterValue, 'Show a server what is being sent to a channel (`channels/outgoing/chunk`, then `…/complete`), as its host')
            break
        }
        'mcpreel;help;fire;channel;register' {
            break
        }
        'mcpreel;help;fire;channel;changed' {
            break
        }
        'mcpreel;help;fire;channel;incoming' {
            break
        }
        'mcpreel;help;fire;channel;list-host' {
            break
        }
        'mcpreel;help;fire;channel;list' {
            break
        }
        'mcpreel;help;fire;channel;open' {
            break
        }
        'mcpreel;help;fire;channel;close' {
            break
        }
        'mcpreel;help;fire;channel;publish' {
            break
        }
        'mcpreel;help;fire;channel;outgoing' {
            break
        }
        'mcpreel;help;fire;raw' {
            break
        }
        'mcpreel;help;events' {
            [CompletionResult]::new('watch', 'watch', [CompletionResultType]::ParameterValue, 'Subscribe to events and print each as one line of JSON as it arrives')
            break
        }
        'mcpreel;help;events;watch' {
            break
        }
        'mcpreel;help;show' {
            break
        }
        'mcpreel;help;stats' {
            break
        }
        'mcpreel;help;validate' {
            break
        }
        'mcpreel;help;explain' {
            break
        }
        'mcpreel;help;diff' {
            break
        }
        'mcpreel;help;replay' {
            break
        }
        'mcpreel;help;serve' {
            break
        }
        'mcpreel;help;mock' {
            break
        }
        'mcpreel;help;host' {
            break
        }
        'mcpreel;help;overlay' {
            break
        }
        'mcpreel;help;survive' {
            break
        }
        'mcpreel;help;sessions' {
            break
        }
        'mcpreel;help;reel' {
            [CompletionResult]::new('info', 'info', [CompletionResultType]::ParameterValue, 'Print a reel''s metadata and counts')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Read the whole reel, check its index, and report all damage. Exits with 1 if there is any')
            [CompletionResult]::new('repair', 'repair', [CompletionResultType]::ParameterValue, 'Write an intact reel from what can be read; what is lost is noted as gaps')
            [CompletionResult]::new('index', 'index', [CompletionResultType]::ParameterValue, 'Add a missing index (after a killed recorder) or replace a wrong one, in place')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Compress a reel as much as possible. It is left alone if it would not get smaller')
            [CompletionResult]::new('cat', 'cat', [CompletionResultType]::ParameterValue, 'Print the exact bytes of one direction, or of stderr')
            [CompletionResult]::new('cut', 'cut', [CompletionResultType]::ParameterValue, 'Write a part of a reel: what a filter, a time and streams select')
            [CompletionResult]::new('merge', 'merge', [CompletionResultType]::ParameterValue, 'Write several reels as one, in the order of time. Each session keeps a stream of its own')
            break
        }
        'mcpreel;help;reel;info' {
            break
        }
        'mcpreel;help;reel;verify' {
            break
        }
        'mcpreel;help;reel;repair' {
            break
        }
        'mcpreel;help;reel;index' {
            break
        }
        'mcpreel;help;reel;compact' {
            break
        }
        'mcpreel;help;reel;cat' {
            break
        }
        'mcpreel;help;reel;cut' {
            break
        }
        'mcpreel;help;reel;merge' {
            break
        }
        'mcpreel;help;redact' {
            break
        }
        'mcpreel;help;export' {
            break
        }
        'mcpreel;help;import' {
            break
        }
        'mcpreel;help;wrap' {
            break
        }
        'mcpreel;help;unwrap' {
            break
        }
        'mcpreel;help;completions' {
            break
        }
        'mcpreel;help;man' {
            break
        }
        'mcpreel;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}

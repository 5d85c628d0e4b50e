
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
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'See everything at once, on the built-in server: record, show, check, sum up')
            [CompletionResult]::new('record', 'record', [CompletionResultType]::ParameterValue, 'Tap a session: start a server, relay every byte both ways, keep a copy in a reel')
            [CompletionResult]::new('call', 'call', [CompletionResultType]::ParameterValue, 'Send one request to a server and print the result')
            [CompletionResult]::new('fire', 'fire', [CompletionResultType]::ParameterValue, 'Fire one event by hand: a user message, a hook event, a push event, a reminder, or any message as it is')
            [CompletionResult]::new('events', 'events', [CompletionResultType]::ParameterValue, 'Subscribe to a server''s events (MCPE)')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show what crossed the wire: a line a message, in full, as a table or as JSON')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Count what happened: messages, bytes, errors, latencies, unanswered requests, by method')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Check a session: JSON-RPC, MCP''s rules and schemas, and the five proposals''')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two reels: what was asked and answered, not when or under which id')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Be a server: the built-in live server, which declares all five proposals')
            [CompletionResult]::new('host', 'host', [CompletionResultType]::ParameterValue, 'Be a host: run a conversation over several servers, with all that they declare')
            [CompletionResult]::new('overlay', 'overlay', [CompletionResultType]::ParameterValue, 'Tap a server and add what a file says: hooks, context for user messages, reminders, pushes, events')
            [CompletionResult]::new('survive', 'survive', [CompletionResultType]::ParameterValue, 'Try the proposals on an MCP client: what does it answer, refuse, ignore, and what breaks it?')
            [CompletionResult]::new('sessions', 'sessions', [CompletionResultType]::ParameterValue, 'List the live sessions: every running `record` and `serve` of yours')
            [CompletionResult]::new('reel', 'reel', [CompletionResultType]::ParameterValue, 'Look after reel files: info, verify, repair, index, compact, cat')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Write a reel in another format')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Make a reel of another format')
            [CompletionResult]::new('wrap', 'wrap', [CompletionResultType]::ParameterValue, 'Put the tap in front of servers in an MCP client''s configuration')
            [CompletionResult]::new('unwrap', 'unwrap', [CompletionResultType]::ParameterValue, 'Take the tap out of an MCP client''s configuration again')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a shell''s completion script')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print a manual page, or write all of them')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;demo' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the reel here; among the recordings where nothing is named')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the reel here; among the recordings where nothing is named')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;record' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the reel here; `-` is standard output, where there is no client')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the reel here; `-` is standard output, where there is no client')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A name for the reel')
            [CompletionResult]::new('--note', '--note', [CompletionResultType]::ParameterName, 'A note kept in the reel (repeatable)')
            [CompletionResult]::new('--on-overload', '--on-overload', [CompletionResultType]::ParameterName, 'What to do when recording cannot keep up: hold the traffic back, or record less and say so')
            [CompletionResult]::new('--queue-bytes', '--queue-bytes', [CompletionResultType]::ParameterName, 'How many bytes may wait for the recorder')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite the file')
            [CompletionResult]::new('--require-recording', '--require-recording', [CompletionResultType]::ParameterName, 'Fail where the session cannot be recorded: before the server starts, or with exit code 4 as soon as writing fails')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;call' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What to print')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--notify', '--notify', [CompletionResultType]::ParameterName, 'Send it as a notification: nothing is answered or printed. So is every method that begins with notifications/')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('user-message', 'user-message', [CompletionResultType]::ParameterValue, 'Send a user''s message (`conversation/userMessage`) and print the context that comes back')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Fire a hook event: read the server''s declarations, match them, and print what would be injected')
            [CompletionResult]::new('push', 'push', [CompletionResultType]::ParameterValue, 'Push an event to the host that started this command as its server')
            [CompletionResult]::new('reminder', 'reminder', [CompletionResultType]::ParameterValue, 'Send a reminder (`notifications/reminder`) to the host that started this command as its server')
            [CompletionResult]::new('event', 'event', [CompletionResultType]::ParameterValue, 'Publish an event: the server sends it (`events/event`, `events/batch`) to the subscriptions that it is for')
            [CompletionResult]::new('before-inference', 'before-inference', [CompletionResultType]::ParameterValue, 'Ask a server for context before an inference (`context/beforeInference`), as its host')
            [CompletionResult]::new('after-inference', 'after-inference', [CompletionResultType]::ParameterValue, 'Tell a server what the model said (`context/afterInference`), as its host')
            [CompletionResult]::new('inference', 'inference', [CompletionResultType]::ParameterValue, 'Ask the host''s model something (`inference/request`), as a server')
            [CompletionResult]::new('model-info', 'model-info', [CompletionResultType]::ParameterValue, 'Ask the host which model it runs (`model/info`), as a server')
            [CompletionResult]::new('feature-sets', 'feature-sets', [CompletionResultType]::ParameterValue, 'Fire what either side says about feature sets: which are on, which there are')
            [CompletionResult]::new('scope', 'scope', [CompletionResultType]::ParameterValue, 'Ask the host for a scope (`scope/elevate`), as a server')
            [CompletionResult]::new('rollback', 'rollback', [CompletionResultType]::ParameterValue, 'Have a server go back to a checkpoint (`state/rollback`), as its host')
            [CompletionResult]::new('channel', 'channel', [CompletionResultType]::ParameterValue, 'Fire a message about channels: as a server at its host, or as a host at a server')
            [CompletionResult]::new('raw', 'raw', [CompletionResultType]::ParameterValue, 'Send one message byte for byte, and print what is answered')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;fire;user-message' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--message-id', '--message-id', [CompletionResultType]::ParameterName, 'Its id; a new one where none is given')
            [CompletionResult]::new('--history', '--history', [CompletionResultType]::ParameterName, 'An earlier message, oldest first (repeatable): user=TEXT or assistant=TEXT')
            [CompletionResult]::new('--carrier', '--carrier', [CompletionResultType]::ParameterName, 'How it travels')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the server may take')
            [CompletionResult]::new('--linger', '--linger', [CompletionResultType]::ParameterName, 'How long to wait after the deadline, to name late answers')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send it even where the server did not subscribe')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;hook' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool''s bare name (tool events)')
            [CompletionResult]::new('--tool-server', '--tool-server', [CompletionResultType]::ParameterName, 'The server that provides the tool')
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'The tool''s arguments (repeatable): name=text, name:=JSON, a JSON object, @file')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The tool''s result (repeatable), as --input')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'For {project_name}; the current folder''s name where none is given')
            [CompletionResult]::new('--session-id', '--session-id', [CompletionResultType]::ParameterName, 'For {session_id}')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--no-call', '--no-call', [CompletionResultType]::ParameterName, 'Name the context tools, but do not call them')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;push' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--text', '--text', [CompletionResultType]::ParameterName, 'What happened, in words')
            [CompletionResult]::new('--feature-set', '--feature-set', [CompletionResultType]::ParameterName, 'The feature set that it belongs to; the server''s own that declares pushEvents where none is named')
            [CompletionResult]::new('--event-id', '--event-id', [CompletionResultType]::ParameterName, 'The event''s id; a new one where none is given')
            [CompletionResult]::new('--origin', '--origin', [CompletionResultType]::ParameterName, 'Where it is from (repeatable): name=text, name:=JSON, a JSON object')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'How long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Into a live session instead, as its server: `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print what came of it, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write facts here, one JSON object a line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long an answer of the host is waited for')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Draw ids from this seed; the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Only when the process gets SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;reminder' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'A label (repeatable)')
            [CompletionResult]::new('--dedupe-key', '--dedupe-key', [CompletionResultType]::ParameterName, 'A newer reminder with the same key replaces an older one that waits')
            [CompletionResult]::new('--ttl', '--ttl', [CompletionResultType]::ParameterName, 'For how many turns it holds')
            [CompletionResult]::new('--propagate', '--propagate', [CompletionResultType]::ParameterName, 'Which agents see it')
            [CompletionResult]::new('--role', '--role', [CompletionResultType]::ParameterName, 'As whom the host should say it')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'How long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Into a live session instead, as its server: `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print what came of it, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write facts here, one JSON object a line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long an answer of the host is waited for')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Draw ids from this seed; the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--preserve', '--preserve', [CompletionResultType]::ParameterName, 'It outlives a compaction of the conversation')
            [CompletionResult]::new('--legacy', '--legacy', [CompletionResultType]::ParameterName, 'In the older envelope: a log message with `_meta.harn.reminder`')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Only when the process gets SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;event' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'A member of its data (repeatable): NAME=TEXT, or NAME:=JSON')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'A label (repeatable)')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, 'How urgent it is')
            [CompletionResult]::new('--source-event-id', '--source-event-id', [CompletionResultType]::ParameterName, 'What its source calls it')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'How long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Into a live session instead, as its server: `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print what came of it, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write facts here, one JSON object a line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long an answer of the host is waited for')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Draw ids from this seed; the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Only when the process gets SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;before-inference' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--inference', '--inference', [CompletionResultType]::ParameterName, 'Its id; a new one where none is given')
            [CompletionResult]::new('--conversation', '--conversation', [CompletionResultType]::ParameterName, 'The conversation''s id')
            [CompletionResult]::new('--turn', '--turn', [CompletionResultType]::ParameterName, 'The turn''s number, from 0; it counts up with --repeat')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model''s id')
            [CompletionResult]::new('--channel', '--channel', [CompletionResultType]::ParameterName, 'The channel that the message came in by')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send it even where the server did not declare what takes it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;after-inference' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--message', '--message', [CompletionResultType]::ParameterName, 'What the user had said')
            [CompletionResult]::new('--inference', '--inference', [CompletionResultType]::ParameterName, 'Its id; a new one where none is given')
            [CompletionResult]::new('--conversation', '--conversation', [CompletionResultType]::ParameterName, 'The conversation''s id')
            [CompletionResult]::new('--turn', '--turn', [CompletionResultType]::ParameterName, 'The turn''s number, from 0; it counts up with --repeat')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model''s id')
            [CompletionResult]::new('--carrier', '--carrier', [CompletionResultType]::ParameterName, 'How it travels')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send it even where the server did not declare what takes it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;inference' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--feature-set', '--feature-set', [CompletionResultType]::ParameterName, 'The feature set that it belongs to; the server''s own that declares inferenceRequest where none is named')
            [CompletionResult]::new('--conversation', '--conversation', [CompletionResultType]::ParameterName, 'The conversation that it belongs to')
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'How many tokens the model may give at most')
            [CompletionResult]::new('--temperature', '--temperature', [CompletionResultType]::ParameterName, 'How freely the model may choose')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'How long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Into a live session instead, as its server: `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print what came of it, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write facts here, one JSON object a line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long an answer of the host is waited for')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Draw ids from this seed; the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Have the answer streamed, where the host can')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Only when the process gets SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;model-info' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'How long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Into a live session instead, as its server: `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print what came of it, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write facts here, one JSON object a line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long an answer of the host is waited for')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Draw ids from this seed; the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Only when the process gets SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;feature-sets' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Tell a server which of its feature sets are on (`featureSets/update`), as its host')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Tell the host of feature sets that came or went (`featureSets/changed`), as a server')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;fire;feature-sets;update' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--enable', '--enable', [CompletionResultType]::ParameterName, 'A set that is on (repeatable)')
            [CompletionResult]::new('--disable', '--disable', [CompletionResultType]::ParameterName, 'A set that is off (repeatable)')
            [CompletionResult]::new('--allow', '--allow', [CompletionResultType]::ParameterName, 'A pattern for a set''s whitelist (repeatable): SET=PATTERN')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'A pattern for a set''s blacklist (repeatable): SET=PATTERN')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send it even where the server did not declare what takes it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;feature-sets;changed' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--add', '--add', [CompletionResultType]::ParameterName, 'A set that is new (repeatable): NAME=USE,USE… or NAME:=DECLARATION')
            [CompletionResult]::new('--remove', '--remove', [CompletionResultType]::ParameterName, 'A set that goes (repeatable)')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'How long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Into a live session instead, as its server: `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print what came of it, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write facts here, one JSON object a line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long an answer of the host is waited for')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Draw ids from this seed; the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Only when the process gets SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;feature-sets;help' {
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Tell a server which of its feature sets are on (`featureSets/update`), as its host')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Tell the host of feature sets that came or went (`featureSets/changed`), as a server')
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
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--payload', '--payload', [CompletionResultType]::ParameterName, 'What comes back with an approval (repeatable): name=text, name:=JSON, a JSON object')
            [CompletionResult]::new('--feature-set', '--feature-set', [CompletionResultType]::ParameterName, 'The feature set that it belongs to; the server''s own that is scoped where none is named')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'How long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Into a live session instead, as its server: `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print what came of it, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write facts here, one JSON object a line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long an answer of the host is waited for')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Draw ids from this seed; the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Only when the process gets SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;rollback' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--feature-set', '--feature-set', [CompletionResultType]::ParameterName, 'The feature set; the server''s first that can roll back where none is named')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send it even where the server did not declare what takes it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('register', 'register', [CompletionResultType]::ParameterValue, 'Register channels (`channels/register`), as a server')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Tell of channels that come, go or change (`channels/changed`), as a server')
            [CompletionResult]::new('incoming', 'incoming', [CompletionResultType]::ParameterValue, 'Bring a message in from a channel (`channels/incoming`), as a server')
            [CompletionResult]::new('list-host', 'list-host', [CompletionResultType]::ParameterValue, 'Ask the host which channels it knows (`channels/list`), as a server')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Ask a server which channels it has (`channels/list`), as its host')
            [CompletionResult]::new('open', 'open', [CompletionResultType]::ParameterValue, 'Have a server open a channel (`channels/open`), as its host')
            [CompletionResult]::new('close', 'close', [CompletionResultType]::ParameterValue, 'Have a server close a channel (`channels/close`), as its host')
            [CompletionResult]::new('publish', 'publish', [CompletionResultType]::ParameterValue, 'Have a server deliver content to a channel (`channels/publish`), as its host')
            [CompletionResult]::new('outgoing', 'outgoing', [CompletionResultType]::ParameterValue, 'Show a server what goes out by a channel (`channels/outgoing/chunk`, then `…/complete`), as its host')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;fire;channel;register' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'How long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Into a live session instead, as its server: `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print what came of it, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write facts here, one JSON object a line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long an answer of the host is waited for')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Draw ids from this seed; the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Only when the process gets SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;changed' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--add', '--add', [CompletionResultType]::ParameterName, 'One that is new (repeatable): its id, or its descriptor as JSON or @file')
            [CompletionResult]::new('--remove', '--remove', [CompletionResultType]::ParameterName, 'One that goes, by its id (repeatable)')
            [CompletionResult]::new('--update', '--update', [CompletionResultType]::ParameterName, 'One that is otherwise now (repeatable): its descriptor as JSON, or its id')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'How long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Into a live session instead, as its server: `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print what came of it, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write facts here, one JSON object a line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long an answer of the host is waited for')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Draw ids from this seed; the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Only when the process gets SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;incoming' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--channel', '--channel', [CompletionResultType]::ParameterName, 'The channel''s id')
            [CompletionResult]::new('--message-id', '--message-id', [CompletionResultType]::ParameterName, 'The message''s id; a new one where none is given')
            [CompletionResult]::new('--thread', '--thread', [CompletionResultType]::ParameterName, 'Its thread')
            [CompletionResult]::new('--author', '--author', [CompletionResultType]::ParameterName, 'Who wrote it')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Anything else about it (repeatable): name=text, name:=JSON, a JSON object')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'How long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Into a live session instead, as its server: `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print what came of it, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write facts here, one JSON object a line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long an answer of the host is waited for')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Draw ids from this seed; the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Only when the process gets SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;list-host' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'How long after the handshake')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Into a live session instead, as its server: `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print what came of it, with --session')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write facts here, one JSON object a line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long an answer of the host is waited for')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Draw ids from this seed; the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Only when the process gets SIGUSR1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;list' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send it even where the server did not declare what takes it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;open' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send it even where the server did not declare what takes it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;close' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send it even where the server did not declare what takes it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;publish' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--conversation', '--conversation', [CompletionResultType]::ParameterName, 'The conversation''s id')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--notification', '--notification', [CompletionResultType]::ParameterName, 'As a notification: nobody says whether it was delivered')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send it even where the server did not declare what takes it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;outgoing' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'In how many pieces before the whole')
            [CompletionResult]::new('--inference', '--inference', [CompletionResultType]::ParameterName, 'The inference''s id; a new one where none is given')
            [CompletionResult]::new('--conversation', '--conversation', [CompletionResultType]::ParameterName, 'The conversation''s id')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Send it even where the server did not declare what takes it')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;channel;help' {
            [CompletionResult]::new('register', 'register', [CompletionResultType]::ParameterValue, 'Register channels (`channels/register`), as a server')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Tell of channels that come, go or change (`channels/changed`), as a server')
            [CompletionResult]::new('incoming', 'incoming', [CompletionResultType]::ParameterValue, 'Bring a message in from a channel (`channels/incoming`), as a server')
            [CompletionResult]::new('list-host', 'list-host', [CompletionResultType]::ParameterValue, 'Ask the host which channels it knows (`channels/list`), as a server')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Ask a server which channels it has (`channels/list`), as its host')
            [CompletionResult]::new('open', 'open', [CompletionResultType]::ParameterValue, 'Have a server open a channel (`channels/open`), as its host')
            [CompletionResult]::new('close', 'close', [CompletionResultType]::ParameterValue, 'Have a server close a channel (`channels/close`), as its host')
            [CompletionResult]::new('publish', 'publish', [CompletionResultType]::ParameterValue, 'Have a server deliver content to a channel (`channels/publish`), as its host')
            [CompletionResult]::new('outgoing', 'outgoing', [CompletionResultType]::ParameterValue, 'Show a server what goes out by a channel (`channels/outgoing/chunk`, then `…/complete`), as its host')
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
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'As whom to send: toward the server, or (into a live session only) toward the client')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'How often, on one connection. A summary is told at the end, on standard error')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How long from the beginning of one to that of the next; at once where that is over')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--no-handshake', '--no-handshake', [CompletionResultType]::ParameterName, 'Send it as the very first message to the server that is started')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;fire;help' {
            [CompletionResult]::new('user-message', 'user-message', [CompletionResultType]::ParameterValue, 'Send a user''s message (`conversation/userMessage`) and print the context that comes back')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Fire a hook event: read the server''s declarations, match them, and print what would be injected')
            [CompletionResult]::new('push', 'push', [CompletionResultType]::ParameterValue, 'Push an event to the host that started this command as its server')
            [CompletionResult]::new('reminder', 'reminder', [CompletionResultType]::ParameterValue, 'Send a reminder (`notifications/reminder`) to the host that started this command as its server')
            [CompletionResult]::new('event', 'event', [CompletionResultType]::ParameterValue, 'Publish an event: the server sends it (`events/event`, `events/batch`) to the subscriptions that it is for')
            [CompletionResult]::new('before-inference', 'before-inference', [CompletionResultType]::ParameterValue, 'Ask a server for context before an inference (`context/beforeInference`), as its host')
            [CompletionResult]::new('after-inference', 'after-inference', [CompletionResultType]::ParameterValue, 'Tell a server what the model said (`context/afterInference`), as its host')
            [CompletionResult]::new('inference', 'inference', [CompletionResultType]::ParameterValue, 'Ask the host''s model something (`inference/request`), as a server')
            [CompletionResult]::new('model-info', 'model-info', [CompletionResultType]::ParameterValue, 'Ask the host which model it runs (`model/info`), as a server')
            [CompletionResult]::new('feature-sets', 'feature-sets', [CompletionResultType]::ParameterValue, 'Fire what either side says about feature sets: which are on, which there are')
            [CompletionResult]::new('scope', 'scope', [CompletionResultType]::ParameterValue, 'Ask the host for a scope (`scope/elevate`), as a server')
            [CompletionResult]::new('rollback', 'rollback', [CompletionResultType]::ParameterValue, 'Have a server go back to a checkpoint (`state/rollback`), as its host')
            [CompletionResult]::new('channel', 'channel', [CompletionResultType]::ParameterValue, 'Fire a message about channels: as a server at its host, or as a host at a server')
            [CompletionResult]::new('raw', 'raw', [CompletionResultType]::ParameterValue, 'Send one message byte for byte, and print what is answered')
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
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Tell a server which of its feature sets are on (`featureSets/update`), as its host')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Tell the host of feature sets that came or went (`featureSets/changed`), as a server')
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
            [CompletionResult]::new('register', 'register', [CompletionResultType]::ParameterValue, 'Register channels (`channels/register`), as a server')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Tell of channels that come, go or change (`channels/changed`), as a server')
            [CompletionResult]::new('incoming', 'incoming', [CompletionResultType]::ParameterValue, 'Bring a message in from a channel (`channels/incoming`), as a server')
            [CompletionResult]::new('list-host', 'list-host', [CompletionResultType]::ParameterValue, 'Ask the host which channels it knows (`channels/list`), as a server')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Ask a server which channels it has (`channels/list`), as its host')
            [CompletionResult]::new('open', 'open', [CompletionResultType]::ParameterValue, 'Have a server open a channel (`channels/open`), as its host')
            [CompletionResult]::new('close', 'close', [CompletionResultType]::ParameterValue, 'Have a server close a channel (`channels/close`), as its host')
            [CompletionResult]::new('publish', 'publish', [CompletionResultType]::ParameterValue, 'Have a server deliver content to a channel (`channels/publish`), as its host')
            [CompletionResult]::new('outgoing', 'outgoing', [CompletionResultType]::ParameterValue, 'Show a server what goes out by a channel (`channels/outgoing/chunk`, then `…/complete`), as its host')
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
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('watch', 'watch', [CompletionResultType]::ParameterValue, 'Subscribe to events and print each as one JSON object a line, as it comes')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;events;watch' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'Only events with this tag (repeatable: any of them)')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, 'Only events of this priority (repeatable: any of them)')
            [CompletionResult]::new('--cron', '--cron', [CompletionResultType]::ParameterName, 'Have events gathered and delivered on this schedule')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Have events gathered and delivered once, at this time (2026-01-31T09:00:00Z)')
            [CompletionResult]::new('--timezone', '--timezone', [CompletionResultType]::ParameterName, 'The time zone of --cron or --at, as an IANA name')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'End after so many events')
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'End after this time')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--renew', '--renew', [CompletionResultType]::ParameterName, 'Subscribe again where the subscription expires')
            [CompletionResult]::new('--no-reconnect', '--no-reconnect', [CompletionResultType]::ParameterName, 'End where the connection is lost, with exit code 4. That is so in any case for a server''s command, and with --record')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;events;help' {
            [CompletionResult]::new('watch', 'watch', [CompletionResultType]::ParameterValue, 'Subscribe to events and print each as one JSON object a line, as it comes')
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
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--view', '--view', [CompletionResultType]::ParameterName, 'What to show: events, or the tree of checkpoints that servers handed out, with branches, rollbacks, what could not be undone and what is gone (`--format json` for one object a connection)')
            [CompletionResult]::new('--jq', '--jq', [CompletionResultType]::ParameterName, 'Run a jq program on each event''s JSON object and print what it gives: strings as they are (on a terminal, with control characters made visible), anything else as JSON')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'The reel of a live session; every word is then a filter''s. `mcpreel sessions` lists them')
            [CompletionResult]::new('--time', '--time', [CompletionResultType]::ParameterName, 'How times are shown')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Begin at this time: seconds from the reel''s beginning, or an RFC 3339 time')
            [CompletionResult]::new('--seq', '--seq', [CompletionResultType]::ParameterName, 'Begin at this event')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show at most so many events')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Show at most so many events')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Short for `--format full`')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'The exact bytes of messages and standard error (of other events where the filter names them), a line end after each')
            [CompletionResult]::new('--no-fold', '--no-fold', [CompletionResultType]::ParameterName, 'Do not fold long strings in the full form')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Keep reading as the reel grows')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;stats' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'The reel of a live session, as far as it goes; `mcpreel sessions` lists them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--audit', '--audit', [CompletionResultType]::ParameterName, 'A row for each push, injection, changed response, inference, scope, rollback and message into a channel, with its server, feature set, inference and outcome. Reads every message')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;validate' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'The least bad finding that makes the exit code 1')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--rules', '--rules', [CompletionResultType]::ParameterName, 'List the rules instead')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;diff' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--ignore', '--ignore', [CompletionResultType]::ParameterName, 'A place that never counts, a JSON pointer from the message''s root with `*` for any one member (repeatable)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--exact', '--exact', [CompletionResultType]::ParameterName, 'Member order, number spelling and JSON inside text count too')
            [CompletionResult]::new('--order', '--order', [CompletionResultType]::ParameterName, 'The order of exchanges, and of lists with names, counts too')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Ids are compared by value')
            [CompletionResult]::new('--times', '--times', [CompletionResultType]::ParameterName, 'Times are compared by value')
            [CompletionResult]::new('--stderr', '--stderr', [CompletionResultType]::ParameterName, 'Compare what the servers wrote to standard error, too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;serve' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--declare', '--declare', [CompletionResultType]::ParameterName, 'Declare only this proposal (repeatable): conversation, reminder, mcpl, hooks, mcpe')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to speak. The proposals have no carrier in the modern one; plain MCP is served in both')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Have a proposal''s side do something otherwise (repeatable): conversation.carrier=request, mcpl.push_sets:=''["ci.builds"]'', mcpl.channels:=''["discord:#general"]'', mcpl.redact.api_key=''sk-\w+''')
            [CompletionResult]::new('--plan', '--plan', [CompletionResultType]::ParameterName, 'Send something by itself: {"after_ms":N,"every_ms":N,"times":N,"fire":{"kind":…}} (repeatable)')
            [CompletionResult]::new('--on-signal', '--on-signal', [CompletionResultType]::ParameterName, 'Send this whenever the process gets SIGUSR1 (repeatable)')
            [CompletionResult]::new('--scenario', '--scenario', [CompletionResultType]::ParameterName, 'Play one built-in server''s part of this scenario: what it fires and when, the faults on its connection, and which messages are expected there. The host is whoever starts this, or comes with --listen; once it has gone the report goes to standard error')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Which server of the scenario to be')
            [CompletionResult]::new('--junit', '--junit', [CompletionResultType]::ParameterName, 'Write the scenario''s report as JUnit XML')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the scenario''s report is told')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel. Where the file exists and a client started this (standard input is a pipe or a socket), the reel gets a free name. Where handlers are allowed it is kept in any case, each of their runs in it')
            [CompletionResult]::new('--memory', '--memory', [CompletionResultType]::ParameterName, 'Whether it has a memory, and the tools for it')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Watch this folder (repeatable). Its text files are resources; a change is told to those who subscribed to the file or a folder above it, and to all as a reminder')
            [CompletionResult]::new('--ignore', '--ignore', [CompletionResultType]::ParameterName, 'Ignore what this matches, by its name or its path from the folder (repeatable), beside .git, target and node_modules')
            [CompletionResult]::new('--watch-command', '--watch-command', [CompletionResultType]::ParameterName, 'Run this command in a shell at the start and after each change, and remind when another outcome came of it (repeatable). Its outcome is told by the tool `check` too')
            [CompletionResult]::new('--watch-every', '--watch-every', [CompletionResultType]::ParameterName, 'Run the commands again after this time, too')
            [CompletionResult]::new('--watch-limit', '--watch-limit', [CompletionResultType]::ParameterName, 'How long a command may take')
            [CompletionResult]::new('--watch-quiet', '--watch-quiet', [CompletionResultType]::ParameterName, 'Tell changes once nothing has changed for so long')
            [CompletionResult]::new('--allow-handlers', '--allow-handlers', [CompletionResultType]::ParameterName, 'Let subscriptions have handlers of this kind (repeatable, or with commas). With bash, whoever subscribes runs any command as you. Without it, a subscription with a handler is refused')
            [CompletionResult]::new('--handler-timeout', '--handler-timeout', [CompletionResultType]::ParameterName, 'How long a handler may take at most')
            [CompletionResult]::new('--handler-dir', '--handler-dir', [CompletionResultType]::ParameterName, 'The folder where bash handlers run; their own is found from there')
            [CompletionResult]::new('--handler-shell', '--handler-shell', [CompletionResultType]::ParameterName, 'What takes a bash handler''s command as its last argument: a sandbox, as in ''bwrap --ro-bind / / bash -c''')
            [CompletionResult]::new('--handler-secret', '--handler-secret', [CompletionResultType]::ParameterName, 'Let webhooks to this host have the environment''s variable NAME where their headers say ${NAME} (repeatable). Without a port, only the scheme''s own (443 for https, 80 for http) gets it. An IPv6 address stands in brackets before a port')
            [CompletionResult]::new('--agent-command', '--agent-command', [CompletionResultType]::ParameterName, 'Answer agent handlers with this program, not with the host''s model: what is asked comes as JSON on its standard input. Where bash is allowed too, which could look into it, it finds as little in its environment')
            [CompletionResult]::new('--webhook', '--webhook', [CompletionResultType]::ParameterName, 'Take JSON posts here, on this machine only, and push each as an event: a port (0 takes a free one) or HOST:PORT. The body may have eventId, text, payload, origin and featureSet; another object is the event''s text as a whole. A post to /events/TYPE is published to subscriptions (MCPE): its data, tags and priority, or all of it as the data')
            [CompletionResult]::new('--channel-socket', '--channel-socket', [CompletionResultType]::ParameterName, 'Have a channel over a Unix socket of this path: each line is a message of it, as text or JSON; what the host publishes comes out, a JSON line each')
            [CompletionResult]::new('--feed', '--feed', [CompletionResultType]::ParameterName, 'Send what lines say, each what --on-signal takes: from a file or FIFO, from whoever connects to a Unix socket (unix:PATH), or from standard input (-, with --listen). They are read once a host is there')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write facts here, one JSON object a line')
            [CompletionResult]::new('--answer-timeout', '--answer-timeout', [CompletionResultType]::ParameterName, 'How long an answer of the host is waited for')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Draw ids from this seed; the same seed and input give the same bytes')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines')
            [CompletionResult]::new('--allow-host', '--allow-host', [CompletionResultType]::ParameterName, 'A name beside those of this machine that `Host` may have (repeatable)')
            [CompletionResult]::new('--allow-origin', '--allow-origin', [CompletionResultType]::ParameterName, 'An origin beside this machine that browsers may come from (repeatable)')
            [CompletionResult]::new('--max-body', '--max-body', [CompletionResultType]::ParameterName, 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;host' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'A server: NAME=COMMAND, NAME=URL or NAME=session:SESSION (repeatable)')
            [CompletionResult]::new('--add', '--add', [CompletionResultType]::ParameterName, 'A server: NAME=COMMAND, NAME=URL or NAME=session:SESSION (repeatable)')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'The built-in server under this name, with all proposals or those named (repeatable)')
            [CompletionResult]::new('--say', '--say', [CompletionResultType]::ParameterName, 'Say this (repeatable)')
            [CompletionResult]::new('--do', '--do', [CompletionResultType]::ParameterName, 'Do what this line says, as if it was typed (repeatable; after what is said)')
            [CompletionResult]::new('--scenario', '--scenario', [CompletionResultType]::ParameterName, 'Play this scenario (YAML; docs/scenario.schema.json) and judge what it expects')
            [CompletionResult]::new('--clock', '--clock', [CompletionResultType]::ParameterName, 'Whose time passes in the scenario; what it says itself where this is not given')
            [CompletionResult]::new('--junit', '--junit', [CompletionResultType]::ParameterName, 'Write the scenario''s report as JUnit XML')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The built-in model')
            [CompletionResult]::new('--model-command', '--model-command', [CompletionResultType]::ParameterName, 'A program as the model: the prompt as JSON on its standard input, its answer on its standard output')
            [CompletionResult]::new('--model-timeout', '--model-timeout', [CompletionResultType]::ParameterName, 'How long that program may take')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'A policy, in YAML or JSON: `all` and `servers`, each with options by proposal; and a `layout`')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Set an option, for all servers or for one (repeatable)')
            [CompletionResult]::new('--on-event', '--on-event', [CompletionResultType]::ParameterName, 'Take events of subscriptions somewhere, too: PATTERN=file:PATH adds a line of JSON to a file, PATTERN=command:COMMAND gives it to a command on its standard input (repeatable; mcpe.route is for the prompt and for turns)')
            [CompletionResult]::new('--system', '--system', [CompletionResultType]::ParameterName, 'What the host itself says to the model; or @FILE')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project''s name, for templates; the folder''s where none is given')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'What ids are drawn from: the same seed, the same prompts')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What to print')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1')
            [CompletionResult]::new('--protocol-version', '--protocol-version', [CompletionResultType]::ParameterName, 'The protocol version to ask for, known or not')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take: 30s where nothing is said')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'A root to offer to the server: a folder or a URI (repeatable)')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Keep the session in a reel')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'A server of that configuration (repeatable)')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: at its address where it listens, else in the connection of its client, beside that')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--trace', '--trace', [CompletionResultType]::ParameterName, 'Show what happens in the scenario, not only the report')
            [CompletionResult]::new('--options', '--options', [CompletionResultType]::ParameterName, 'List what can be set, and its defaults')
            [CompletionResult]::new('--prompts', '--prompts', [CompletionResultType]::ParameterName, 'Show each prompt')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;overlay' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--value', '--value', [CompletionResultType]::ParameterName, 'A value that stands for {NAME} in the file (repeatable), in place of its own')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the reel here; `-` is standard output, where there is no client')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the reel here; `-` is standard output, where there is no client')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'A name for the reel')
            [CompletionResult]::new('--note', '--note', [CompletionResultType]::ParameterName, 'A note kept in the reel (repeatable)')
            [CompletionResult]::new('--on-overload', '--on-overload', [CompletionResultType]::ParameterName, 'What to do when recording cannot keep up: hold the traffic back, or record less and say so')
            [CompletionResult]::new('--queue-bytes', '--queue-bytes', [CompletionResultType]::ParameterName, 'How many bytes may wait for the recorder')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`')
            [CompletionResult]::new('--header-env', '--header-env', [CompletionResultType]::ParameterName, 'A header whose value is in an environment variable (repeatable)')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, beside those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'An MCP client''s configuration to find the server in; the usual places are searched where none is named')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server''s name in that configuration')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Add to the server''s environment (repeatable). The value is never written to a reel')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Start the server in this folder')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Check the file, and start nothing')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'Print the file''s JSON Schema')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite the file')
            [CompletionResult]::new('--require-recording', '--require-recording', [CompletionResultType]::ParameterName, 'Fail where the session cannot be recorded: before the server starts, or with exit code 4 as soon as writing fails')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;survive' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Only this proposal''s declarations and messages (repeatable): conversation, reminder, mcpl, hooks, mcpe')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How long an answer is waited for, to a message and to a ping')
            [CompletionResult]::new('--connect', '--connect', [CompletionResultType]::ParameterName, 'How long the client may take from its start to the end of the handshake')
            [CompletionResult]::new('--restarts', '--restarts', [CompletionResultType]::ParameterName, 'How often the client is started again at most')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the reel here, a stream for each session; by default among the recordings')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the reel here, a stream for each session; by default among the recordings')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--max-message', '--max-message', [CompletionResultType]::ParameterName, 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;sessions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('info', 'info', [CompletionResultType]::ParameterValue, 'What a reel says about itself and holds')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Read everything, compare the index with it, and report every damage. Exit code 1 where there is any')
            [CompletionResult]::new('repair', 'repair', [CompletionResultType]::ParameterValue, 'Write a whole reel from what can be read; what is lost is noted as gaps')
            [CompletionResult]::new('index', 'index', [CompletionResultType]::ParameterValue, 'Give a reel without an index (from a killed recorder), or with a wrong one, its index, in place')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Pack a reel as small as it gets. One that would not become smaller stays as it is')
            [CompletionResult]::new('cat', 'cat', [CompletionResultType]::ParameterValue, 'The exact bytes of one direction, or of standard error')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mcpreel;reel;info' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;verify' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;repair' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write here; in place where nothing is named; `-` is standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write here; in place where nothing is named; `-` is standard output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite the file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;index' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;compact' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write here; in place where nothing is named; `-` is standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write here; in place where nothing is named; `-` is standard output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite the file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;cat' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Whose bytes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;reel;help' {
            [CompletionResult]::new('info', 'info', [CompletionResultType]::ParameterValue, 'What a reel says about itself and holds')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Read everything, compare the index with it, and report every damage. Exit code 1 where there is any')
            [CompletionResult]::new('repair', 'repair', [CompletionResultType]::ParameterValue, 'Write a whole reel from what can be read; what is lost is noted as gaps')
            [CompletionResult]::new('index', 'index', [CompletionResultType]::ParameterValue, 'Give a reel without an index (from a killed recorder), or with a wrong one, its index, in place')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Pack a reel as small as it gets. One that would not become smaller stays as it is')
            [CompletionResult]::new('cat', 'cat', [CompletionResultType]::ParameterValue, 'The exact bytes of one direction, or of standard error')
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
        'mcpreel;reel;help;help' {
            break
        }
        'mcpreel;export' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write here; `-` is standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write here; `-` is standard output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite the file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;import' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the reel here; `-` is standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the reel here; `-` is standard output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite the file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;wrap' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The client''s configuration; the usual places are searched where none is named')
            [CompletionResult]::new('--bin', '--bin', [CompletionResultType]::ParameterName, 'The mcpreel that the client is to start. Where none is named, it is this one by its path, and in a file that a project shares `mcpreel`, as PATH has it: no path of yours goes into such a file')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every server of the file')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Write without asking')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Write without asking')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the change and write nothing')
            [CompletionResult]::new('--no-backup', '--no-backup', [CompletionResultType]::ParameterName, 'Keep no copy of the old file (FILE.bak-TIME)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;unwrap' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The client''s configuration; the usual places are searched where none is named')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every server of the file')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Write without asking')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Write without asking')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the change and write nothing')
            [CompletionResult]::new('--no-backup', '--no-backup', [CompletionResultType]::ParameterName, 'Keep no copy of the old file (FILE.bak-TIME)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Write every shell''s script into this folder')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;man' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Write every page into this folder')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more on standard error; twice for more still')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mcpreel;help' {
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'See everything at once, on the built-in server: record, show, check, sum up')
            [CompletionResult]::new('record', 'record', [CompletionResultType]::ParameterValue, 'Tap a session: start a server, relay every byte both ways, keep a copy in a reel')
            [CompletionResult]::new('call', 'call', [CompletionResultType]::ParameterValue, 'Send one request to a server and print the result')
            [CompletionResult]::new('fire', 'fire', [CompletionResultType]::ParameterValue, 'Fire one event by hand: a user message, a hook event, a push event, a reminder, or any message as it is')
            [CompletionResult]::new('events', 'events', [CompletionResultType]::ParameterValue, 'Subscribe to a server''s events (MCPE)')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show what crossed the wire: a line a message, in full, as a table or as JSON')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Count what happened: messages, bytes, errors, latencies, unanswered requests, by method')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Check a session: JSON-RPC, MCP''s rules and schemas, and the five proposals''')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two reels: what was asked and answered, not when or under which id')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Be a server: the built-in live server, which declares all five proposals')
            [CompletionResult]::new('host', 'host', [CompletionResultType]::ParameterValue, 'Be a host: run a conversation over several servers, with all that they declare')
            [CompletionResult]::new('overlay', 'overlay', [CompletionResultType]::ParameterValue, 'Tap a server and add what a file says: hooks, context for user messages, reminders, pushes, events')
            [CompletionResult]::new('survive', 'survive', [CompletionResultType]::ParameterValue, 'Try the proposals on an MCP client: what does it answer, refuse, ignore, and what breaks it?')
            [CompletionResult]::new('sessions', 'sessions', [CompletionResultType]::ParameterValue, 'List the live sessions: every running `record` and `serve` of yours')
            [CompletionResult]::new('reel', 'reel', [CompletionResultType]::ParameterValue, 'Look after reel files: info, verify, repair, index, compact, cat')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Write a reel in another format')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Make a reel of another format')
            [CompletionResult]::new('wrap', 'wrap', [CompletionResultType]::ParameterValue, 'Put the tap in front of servers in an MCP client''s configuration')
            [CompletionResult]::new('unwrap', 'unwrap', [CompletionResultType]::ParameterValue, 'Take the tap out of an MCP client''s configuration again')
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
            [CompletionResult]::new('user-message', 'user-message', [CompletionResultType]::ParameterValue, 'Send a user''s message (`conversation/userMessage`) and print the context that comes back')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Fire a hook event: read the server''s declarations, match them, and print what would be injected')
            [CompletionResult]::new('push', 'push', [CompletionResultType]::ParameterValue, 'Push an event to the host that started this command as its server')
            [CompletionResult]::new('reminder', 'reminder', [CompletionResultType]::ParameterValue, 'Send a reminder (`notifications/reminder`) to the host that started this command as its server')
            [CompletionResult]::new('event', 'event', [CompletionResultType]::ParameterValue, 'Publish an event: the server sends it (`events/event`, `events/batch`) to the subscriptions that it is for')
            [CompletionResult]::new('before-inference', 'before-inference', [CompletionResultType]::ParameterValue, 'Ask a server for context before an inference (`context/beforeInference`), as its host')
            [CompletionResult]::new('after-inference', 'after-inference', [CompletionResultType]::ParameterValue, 'Tell a server what the model said (`context/afterInference`), as its host')
            [CompletionResult]::new('inference', 'inference', [CompletionResultType]::ParameterValue, 'Ask the host''s model something (`inference/request`), as a server')
            [CompletionResult]::new('model-info', 'model-info', [CompletionResultType]::ParameterValue, 'Ask the host which model it runs (`model/info`), as a server')
            [CompletionResult]::new('feature-sets', 'feature-sets', [CompletionResultType]::ParameterValue, 'Fire what either side says about feature sets: which are on, which there are')
            [CompletionResult]::new('scope', 'scope', [CompletionResultType]::ParameterValue, 'Ask the host for a scope (`scope/elevate`), as a server')
            [CompletionResult]::new('rollback', 'rollback', [CompletionResultType]::ParameterValue, 'Have a server go back to a checkpoint (`state/rollback`), as its host')
            [CompletionResult]::new('channel', 'channel', [CompletionResultType]::ParameterValue, 'Fire a message about channels: as a server at its host, or as a host at a server')
            [CompletionResult]::new('raw', 'raw', [CompletionResultType]::ParameterValue, 'Send one message byte for byte, and print what is answered')
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
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Tell a server which of its feature sets are on (`featureSets/update`), as its host')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Tell the host of feature sets that came or went (`featureSets/changed`), as a server')
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
            [CompletionResult]::new('register', 'register', [CompletionResultType]::ParameterValue, 'Register channels (`channels/register`), as a server')
            [CompletionResult]::new('changed', 'changed', [CompletionResultType]::ParameterValue, 'Tell of channels that come, go or change (`channels/changed`), as a server')
            [CompletionResult]::new('incoming', 'incoming', [CompletionResultType]::ParameterValue, 'Bring a message in from a channel (`channels/incoming`), as a server')
            [CompletionResult]::new('list-host', 'list-host', [CompletionResultType]::ParameterValue, 'Ask the host which channels it knows (`channels/list`), as a server')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Ask a server which channels it has (`channels/list`), as its host')
            [CompletionResult]::new('open', 'open', [CompletionResultType]::ParameterValue, 'Have a server open a channel (`channels/open`), as its host')
            [CompletionResult]::new('close', 'close', [CompletionResultType]::ParameterValue, 'Have a server close a channel (`channels/close`), as its host')
            [CompletionResult]::new('publish', 'publish', [CompletionResultType]::ParameterValue, 'Have a server deliver content to a channel (`channels/publish`), as its host')
            [CompletionResult]::new('outgoing', 'outgoing', [CompletionResultType]::ParameterValue, 'Show a server what goes out by a channel (`channels/outgoing/chunk`, then `…/complete`), as its host')
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
            [CompletionResult]::new('watch', 'watch', [CompletionResultType]::ParameterValue, 'Subscribe to events and print each as one JSON object a line, as it comes')
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
        'mcpreel;help;diff' {
            break
        }
        'mcpreel;help;serve' {
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
            [CompletionResult]::new('info', 'info', [CompletionResultType]::ParameterValue, 'What a reel says about itself and holds')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Read everything, compare the index with it, and report every damage. Exit code 1 where there is any')
            [CompletionResult]::new('repair', 'repair', [CompletionResultType]::ParameterValue, 'Write a whole reel from what can be read; what is lost is noted as gaps')
            [CompletionResult]::new('index', 'index', [CompletionResultType]::ParameterValue, 'Give a reel without an index (from a killed recorder), or with a wrong one, its index, in place')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Pack a reel as small as it gets. One that would not become smaller stays as it is')
            [CompletionResult]::new('cat', 'cat', [CompletionResultType]::ParameterValue, 'The exact bytes of one direction, or of standard error')
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

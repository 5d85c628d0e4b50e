# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_mcpreel_global_optspecs
    string join \n color= v/verbose h/help V/version
end

function __fish_mcpreel_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_mcpreel_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_mcpreel_using_subcommand
    set -l cmd (__fish_mcpreel_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c mcpreel -n "__fish_mcpreel_needs_command" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_needs_command" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -s V -l version -d 'Print version'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "demo" -d 'Take a tour with the built-in server: record, show, validate and summarise a session'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "record" -d 'Record a session: start a server, relay every byte in both directions, and copy it to a reel'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "call" -d 'Send one request to a server and print the result'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "fire" -d 'Send one message that a draft proposal defines, or any raw message'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "events" -d 'Subscribe to a server\'s events (MCPE proposal)'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "show" -d 'Show recorded messages: one line per message, in full, as a table or as JSON'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "stats" -d 'Count messages, bytes, errors, latencies and unanswered requests by method'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "validate" -d 'Check sessions against JSON-RPC, MCP and the five proposals'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "explain" -d 'Explain a method, a capability, an error code or a rule of `validate`'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "diff" -d 'Compare two recordings by what was requested and answered, or what two servers offer'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "replay" -d 'Send the client side of a recorded session to a server, and compare the answers'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "serve" -d 'Run the built-in server, which implements all five proposals (see docs/proposals.md)'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "mock" -d 'Serve a recording in place of the server that it was recorded from'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "host" -d 'Act as a host: hold a conversation with one or more servers'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "overlay" -d 'Record a server and make it also speak the proposals'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "survive" -d 'Test how an MCP client handles the proposals\' messages'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "sessions" -d 'List your live sessions'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "reel" -d 'Inspect and repair reel files'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "redact" -d 'Replace the secrets in a reel, so that it can be shared'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "export" -d 'Convert a reel to another format'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "import" -d 'Convert another format to a reel'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "wrap" -d 'Put `mcpreel record` in front of servers in an MCP client\'s configuration'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "unwrap" -d 'Remove mcpreel from an MCP client\'s configuration'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "completions" -d 'Print a shell\'s completion script'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "man" -d 'Print a manual page, or write all of them'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand demo" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand demo" -s o -l output -d 'Write the reel to this file instead of the folder of reels' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand demo" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -s o -l output -d 'Write the reel to this file; `-` writes it to stdout instead of the server\'s output' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l label -d 'A name for the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l note -d 'Store a note in the reel (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l on-overload -d 'What to do if recording cannot keep up with the traffic' -r -f -a "block\t'Slow the traffic down to the disk\'s speed; lose nothing'
drop\t'Never slow the traffic down; count losses and note them in the reel'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l queue-bytes -d 'Maximum number of bytes that may wait for the recorder (default: 131072)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l key-file -d 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l listen -d 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l allow-host -d 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l allow-origin -d 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l max-body -d 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l force -d 'Overwrite an existing file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l require-recording -d 'If the reel cannot be created, do not start the server; if writing fails later, stop it and exit with 4'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l redact -d 'Replace secrets in messages and on standard error by pseudonyms before anything is written, as `mcpreel redact` does, but event by event: a secret that is divided between events, or recognised only later, stays'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l check -d 'Check the session while it runs, and report findings on stderr, as `validate` does. The server\'s exit code stays'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l format -d 'What to print' -r -f -a "human\t'The result or error, indented'
json\t'The result or error as received'
envelope\t'One JSON object with the whole message, the latency, the era and the revision'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l protocol-version -d 'The protocol version to request. Any value is sent as given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l timeout -d 'Response timeout (default: 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l record -d 'Record the session to this reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l era -d 'The era to use; auto tries `server/discover`, then `initialize`' -r -f -a "auto\t'Whichever the server speaks'
legacy\t'With `initialize`: revisions up to 2025-11-25'
modern\t'With `server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l notify -d 'Send a notification and do not wait for a response. Implied by methods that begin with notifications/'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "user-message" -d 'Send a user\'s message (`conversation/userMessage`, SEP-1975) and print the context that the server returns'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "hook" -d 'Fire a hook event (SEP-2282): match it against the server\'s declared hooks and print what they would inject'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "push" -d 'Act as a server and send a push event (MCPL) to the host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "reminder" -d 'Act as a server and send a reminder (`notifications/reminder`) to the host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "event" -d 'Publish an event (MCPE): the server sends it (`events/event`, `events/batch`) to the subscriptions that match'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "before-inference" -d 'Ask a server for context before an inference (`context/beforeInference`), as its host (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "after-inference" -d 'Report the model\'s answer to a server (`context/afterInference`), as its host (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "inference" -d 'Ask the host\'s model for an answer (`inference/request`), as a server (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "model-info" -d 'Ask the host which model it uses (`model/info`), as a server (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "feature-sets" -d 'Send a message about feature sets: which are enabled, or which exist'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "scope" -d 'Ask the host for access to a scope (`scope/elevate`), as a server (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "rollback" -d 'Ask a server to return to a checkpoint (`state/rollback`), as its host (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "channel" -d 'Send a message about channels (MCPL): to a host as its server, or to a server as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "raw" -d 'Send one message byte for byte and print the response'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l message-id -d 'The message\'s id (default: a new one)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l history -d 'An earlier message, oldest first (repeatable): user=TEXT or assistant=TEXT' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l carrier -d 'How to send it' -r -f -a "auto\t'As a request; as a notification if the server does not know the method'
request\t'As a request'
notification\t'As a notification, to which `conversation/context` is the response'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l deadline -d 'How long the server may take to respond' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l linger -d 'How long to wait after the deadline for a late response' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l format -d 'Output format' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l expect -d 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l repeat -d 'How many times to send the message, on one connection. A summary is printed to stderr at the end' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l interval -d 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l era -d 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks'
legacy\t'With `initialize`: revisions up to 2025-11-25'
modern\t'With `server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l protocol-version -d 'The protocol version to request. Any value is sent as given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l timeout -d 'Response timeout (default: 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l record -d 'Record the session to this reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l force -d 'Send the message even if the server has not subscribed'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l tool -d 'The tool\'s name without a prefix (for tool events)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l tool-server -d 'The server that provides the tool' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l input -d 'The tool\'s arguments (repeatable): name=text, name:=JSON, a JSON object, @file' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l output -d 'The tool\'s result (repeatable), in the same form as --input' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l project -d 'The value of {project_name} (default: the current folder\'s name)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l session-id -d 'The value of {session_id}' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l format -d 'Output format' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l expect -d 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l repeat -d 'How many times to send the message, on one connection. A summary is printed to stderr at the end' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l interval -d 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l era -d 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks'
legacy\t'With `initialize`: revisions up to 2025-11-25'
modern\t'With `server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l protocol-version -d 'The protocol version to request. Any value is sent as given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l timeout -d 'Response timeout (default: 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l record -d 'Record the session to this reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l no-call -d 'Print the names of context tools without calling them'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l text -d 'What happened, in words' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l feature-set -d 'The push\'s feature set (default: the server\'s own one that declares pushEvents)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l event-id -d 'The event\'s id (default: a new one)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l origin -d 'The event\'s origin (repeatable): name=text, name:=JSON, a JSON object' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l after -d 'Wait this long after the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l session -d 'Send in this live session, as its server; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l format -d 'Output format of the result, with --session' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l expect -d 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l repeat -d 'How many times to send the message, on one connection. A summary is printed to stderr at the end' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l interval -d 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l report -d 'Write reports to this file, one JSON object per line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l answer-timeout -d 'How long to wait for the host\'s responses' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l seed -d 'Generate ids from this seed: the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l listen -d 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l allow-host -d 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l allow-origin -d 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l max-body -d 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l on-signal -d 'Send only when the process receives SIGUSR1'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l tag -d 'A tag (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l dedupe-key -d 'A newer reminder with the same key replaces an older one that is still waiting' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l ttl -d 'The number of turns for which the reminder is valid' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l propagate -d 'Which agents see the reminder' -r -f -a "all\t'All agents, including sub-agents'
session\t'The agents of this session'
none\t'Only this agent'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l role -d 'The role in which the host should show it to the model' -r -f -a "system\t'As a system message'
developer\t'As a developer message'
user_block\t'As a block of the user\'s message'
ephemeral_cache\t'Where it does not invalidate the provider\'s cache'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l after -d 'Wait this long after the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l session -d 'Send in this live session, as its server; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l format -d 'Output format of the result, with --session' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l expect -d 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l repeat -d 'How many times to send the message, on one connection. A summary is printed to stderr at the end' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l interval -d 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l report -d 'Write reports to this file, one JSON object per line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l answer-timeout -d 'How long to wait for the host\'s responses' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l seed -d 'Generate ids from this seed: the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l listen -d 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l allow-host -d 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l allow-origin -d 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l max-body -d 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l preserve -d 'Keep the reminder when the conversation is compacted'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l legacy -d 'Use the older envelope: a log message with `_meta.harn.reminder`'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l on-signal -d 'Send only when the process receives SIGUSR1'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l data -d 'A member of the event\'s data (repeatable): NAME=TEXT, or NAME:=JSON' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l tag -d 'A tag (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l priority -d 'How urgent the event is' -r -f -a "low\t'Not urgent'
normal\t'The usual priority'
high\t'Urgent'
critical\t'Most urgent'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l source-event-id -d 'The event\'s id at its source' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l after -d 'Wait this long after the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l session -d 'Send in this live session, as its server; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l format -d 'Output format of the result, with --session' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l expect -d 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l repeat -d 'How many times to send the message, on one connection. A summary is printed to stderr at the end' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l interval -d 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l report -d 'Write reports to this file, one JSON object per line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l answer-timeout -d 'How long to wait for the host\'s responses' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l seed -d 'Generate ids from this seed: the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l listen -d 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l allow-host -d 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l allow-origin -d 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l max-body -d 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l on-signal -d 'Send only when the process receives SIGUSR1'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l inference -d 'The inference\'s id (default: a new one)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l conversation -d 'The conversation\'s id' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l turn -d 'The turn\'s number, from 0; incremented with --repeat' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l model -d 'The model\'s id' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l channel -d 'The channel that the message came from' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l deadline -d 'Response timeout (default: what the proposal recommends for the hook, else 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l format -d 'Output format' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l expect -d 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l repeat -d 'How many times to send the message, on one connection. A summary is printed to stderr at the end' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l interval -d 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l era -d 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks'
legacy\t'With `initialize`: revisions up to 2025-11-25'
modern\t'With `server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l protocol-version -d 'The protocol version to request. Any value is sent as given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l timeout -d 'Response timeout (default: 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l record -d 'Record the session to this reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l force -d 'Send the message even if the server has not declared support for it'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l message -d 'The user\'s message before it' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l inference -d 'The inference\'s id (default: a new one)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l conversation -d 'The conversation\'s id' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l turn -d 'The turn\'s number, from 0; incremented with --repeat' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l model -d 'The model\'s id' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l carrier -d 'How to send it' -r -f -a "auto\t'As the server has declared'
request\t'As a request'
notification\t'As a notification'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l deadline -d 'Response timeout (default: what the proposal recommends for the hook, else 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l format -d 'Output format' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l expect -d 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l repeat -d 'How many times to send the message, on one connection. A summary is printed to stderr at the end' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l interval -d 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l era -d 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks'
legacy\t'With `initialize`: revisions up to 2025-11-25'
modern\t'With `server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l protocol-version -d 'The protocol version to request. Any value is sent as given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l timeout -d 'Response timeout (default: 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l record -d 'Record the session to this reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l force -d 'Send the message even if the server has not declared support for it'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l feature-set -d 'The request\'s feature set (default: the server\'s own one that declares inferenceRequest)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l conversation -d 'The request\'s conversation' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l max-tokens -d 'The maximum number of tokens in the answer' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l temperature -d 'The sampling temperature' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l after -d 'Wait this long after the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l session -d 'Send in this live session, as its server; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l format -d 'Output format of the result, with --session' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l expect -d 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l repeat -d 'How many times to send the message, on one connection. A summary is printed to stderr at the end' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l interval -d 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l report -d 'Write reports to this file, one JSON object per line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l answer-timeout -d 'How long to wait for the host\'s responses' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l seed -d 'Generate ids from this seed: the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l listen -d 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l allow-host -d 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l allow-origin -d 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l max-body -d 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l stream -d 'Ask for a streamed answer, if the host supports it'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l on-signal -d 'Send only when the process receives SIGUSR1'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l after -d 'Wait this long after the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l session -d 'Send in this live session, as its server; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l format -d 'Output format of the result, with --session' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l expect -d 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l repeat -d 'How many times to send the message, on one connection. A summary is printed to stderr at the end' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l interval -d 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l report -d 'Write reports to this file, one JSON object per line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l answer-timeout -d 'How long to wait for the host\'s responses' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l seed -d 'Generate ids from this seed: the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l listen -d 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l allow-host -d 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l allow-origin -d 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l max-body -d 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l on-signal -d 'Send only when the process receives SIGUSR1'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from feature-sets" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from feature-sets" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from feature-sets" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from feature-sets" -f -a "update" -d 'Inform a server which feature sets are enabled (`featureSets/update`), as its host (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from feature-sets" -f -a "changed" -d 'Report feature sets that were added or removed (`featureSets/changed`), as a server (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from feature-sets" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l payload -d 'Data that comes back with an approval (repeatable): name=text, name:=JSON, a JSON object' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l feature-set -d 'The scope\'s feature set (default: the server\'s own one that is scoped)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l after -d 'Wait this long after the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l session -d 'Send in this live session, as its server; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l format -d 'Output format of the result, with --session' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l expect -d 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l repeat -d 'How many times to send the message, on one connection. A summary is printed to stderr at the end' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l interval -d 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l report -d 'Write reports to this file, one JSON object per line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l answer-timeout -d 'How long to wait for the host\'s responses' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l seed -d 'Generate ids from this seed: the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l listen -d 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l allow-host -d 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l allow-origin -d 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l max-body -d 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l on-signal -d 'Send only when the process receives SIGUSR1'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l feature-set -d 'The feature set (default: the server\'s first one that supports rollback)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l deadline -d 'Response timeout (default: what the proposal recommends for the hook, else 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l format -d 'Output format' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l expect -d 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l repeat -d 'How many times to send the message, on one connection. A summary is printed to stderr at the end' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l interval -d 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l era -d 'The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks'
legacy\t'With `initialize`: revisions up to 2025-11-25'
modern\t'With `server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l protocol-version -d 'The protocol version to request. Any value is sent as given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l timeout -d 'Response timeout (default: 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l record -d 'Record the session to this reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l force -d 'Send the message even if the server has not declared support for it'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "register" -d 'Register channels with the host (`channels/register`), as its server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "changed" -d 'Report channels that were added, removed or changed (`channels/changed`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "incoming" -d 'Deliver a message from a channel to the host (`channels/incoming`), as its server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "list-host" -d 'Ask the host which channels it knows (`channels/list`), as its server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "list" -d 'Ask a server which channels it has (`channels/list`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "open" -d 'Ask a server to open a channel (`channels/open`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "close" -d 'Ask a server to close a channel (`channels/close`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "publish" -d 'Ask a server to deliver content to a channel (`channels/publish`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "outgoing" -d 'Show a server what is being sent to a channel (`channels/outgoing/chunk`, then `…/complete`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l as -d 'In which role to send it: to the server, or (in a live session only) to the client' -r -f -a "host\t'As the host (client): to the server'
server\t'As the server: to the client'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l listen -d 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l allow-host -d 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l allow-origin -d 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l max-body -d 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l format -d 'Output format' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l expect -d 'A jq expression that must be true for each result, as printed by --format json. Overrides the default success check; connection failures still count as failures' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l repeat -d 'How many times to send the message, on one connection. A summary is printed to stderr at the end' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l interval -d 'Time from the start of one message to the start of the next (0s: as soon as the previous one is done)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l protocol-version -d 'The protocol version to request. Any value is sent as given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l timeout -d 'Response timeout (default: 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l record -d 'Record the session to this reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l era -d 'The era to use; auto tries `server/discover`, then `initialize`' -r -f -a "auto\t'Whichever the server speaks'
legacy\t'With `initialize`: revisions up to 2025-11-25'
modern\t'With `server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l no-handshake -d 'Send it to the started server as the very first message'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "user-message" -d 'Send a user\'s message (`conversation/userMessage`, SEP-1975) and print the context that the server returns'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "hook" -d 'Fire a hook event (SEP-2282): match it against the server\'s declared hooks and print what they would inject'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "push" -d 'Act as a server and send a push event (MCPL) to the host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "reminder" -d 'Act as a server and send a reminder (`notifications/reminder`) to the host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "event" -d 'Publish an event (MCPE): the server sends it (`events/event`, `events/batch`) to the subscriptions that match'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "before-inference" -d 'Ask a server for context before an inference (`context/beforeInference`), as its host (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "after-inference" -d 'Report the model\'s answer to a server (`context/afterInference`), as its host (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "inference" -d 'Ask the host\'s model for an answer (`inference/request`), as a server (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "model-info" -d 'Ask the host which model it uses (`model/info`), as a server (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "feature-sets" -d 'Send a message about feature sets: which are enabled, or which exist'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "scope" -d 'Ask the host for access to a scope (`scope/elevate`), as a server (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "rollback" -d 'Ask a server to return to a checkpoint (`state/rollback`), as its host (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "channel" -d 'Send a message about channels (MCPL): to a host as its server, or to a server as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "raw" -d 'Send one message byte for byte and print the response'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and not __fish_seen_subcommand_from watch help" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and not __fish_seen_subcommand_from watch help" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and not __fish_seen_subcommand_from watch help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and not __fish_seen_subcommand_from watch help" -f -a "watch" -d 'Subscribe to events and print each as one line of JSON as it arrives'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and not __fish_seen_subcommand_from watch help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l tag -d 'Only events with this tag (repeatable; one of them must match)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l priority -d 'Only events with this priority (repeatable; one of them must match)' -r -f -a "low\t'Not urgent'
normal\t'The usual priority'
high\t'Urgent'
critical\t'Most urgent'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l cron -d 'Let the server collect events and deliver them on this schedule' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l at -d 'Let the server collect events and deliver them once, at this time (2026-01-31T09:00:00Z)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l timezone -d 'The time zone of --cron or --at, as an IANA name' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l expect -d 'Exit after this many events' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l for -d 'Exit after this time' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l protocol-version -d 'The protocol version to request. Any value is sent as given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l timeout -d 'Response timeout (default: 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l record -d 'Record the session to this reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l era -d 'The era to use; auto tries `initialize` first. Subscriptions need the legacy era' -r -f -a "auto\t'Whichever the server speaks'
legacy\t'With `initialize`: revisions up to 2025-11-25'
modern\t'With `server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l renew -d 'Subscribe again when the subscription expires'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l no-reconnect -d 'Exit with code 4 if the connection is lost, instead of reconnecting. Implied by a server\'s command and by --record'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l strict -d 'Exit with code 1 if the server delivered malformed events, events outside the filter, or duplicates'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from help" -f -a "watch" -d 'Subscribe to events and print each as one line of JSON as it arrives'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -s f -l format -d 'Output format' -r -f -a "list\t'One line per event'
full\t'Each event with its whole message, indented and coloured'
table\t'Tables of at most 1000 rows'
json\t'One JSON object per event, as written by `export --format jsonl`, plus computed members (kind, latency_ms, …)'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l view -d 'What to show: events, or the tree of MCPL checkpoints (states that a server saved), with branches and rollbacks (`--format json` prints one object per connection)' -r -f -a "events\t'Events'
tree\t'Checkpoints'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l jq -d 'Run a jq program on each event\'s JSON object and print the results: strings as they are (on a terminal, with control characters made visible), everything else as JSON' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l session -d 'Show the reel of a live session; the arguments are then only a filter. `mcpreel sessions` lists the sessions' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l time -d 'How to show times' -r -f -a "offset\t'Seconds since the start of the reel'
clock\t'Local time'
utc\t'RFC 3339 in UTC'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l from -d 'Start at this time: seconds since the start of the reel, or an RFC 3339 time' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l seq -d 'Start at the event with this number' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -s n -l limit -d 'Show at most this many events' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l key-file -d 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l check -d 'Check the messages, and print findings below them, as `validate` does. The counts go to stderr'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l full -d 'Short for `--format full`'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l raw -d 'Print the exact bytes of messages and stderr, each followed by a line break. Other events are printed only with event:KIND in the filter'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l no-fold -d 'Do not shorten long strings in the full format'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l follow -d 'Keep reading while the reel grows'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l as-call -d 'Print the `mcpreel call` command that repeats each request or notification of the client'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l redact -d 'Replace secrets by pseudonyms, as `mcpreel redact` does'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -l session -d 'Use the reel of a live session; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -l format -d 'Output format' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -l key-file -d 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -l audit -d 'List the operations of MCPL: each push, injection, changed answer, inference, scope request, rollback and channel message, with its server, feature set, inference and outcome. Reads every message'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -l redact -d 'Replace secrets by pseudonyms, as `mcpreel redact` does'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -s f -l format -d 'Output format' -r -f -a "human\t'Text that points into the messages'
json\t'One JSON object'
junit\t'JUnit XML: one suite per session, one case per rule'
sarif\t'SARIF 2.1.0, for code scanning'
github\t'Annotations for GitHub Actions'
markdown\t'Markdown, for a summary'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l fail-on -d 'Exit with 1 if a finding is at least this severe (default: error)' -r -f -a "info\t'Any finding'
warning\t'Warnings and errors'
error\t'Errors'
never\t'Never: the exit code only says whether the reel could be read'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l only -d 'Check only these rules: names or patterns such as \'schema/*\', separated by commas' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l skip -d 'Do not check these rules' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l injected -d 'What to do with findings in messages that mcpreel injected (default: report)' -r -f -a "report\t'Report them, but do not count them'
include\t'Report and count them as any other'
exclude\t'Leave them out'
only\t'Leave out all others'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l baseline -d 'Findings in this file are known and do not count. An entry is stale, and fails, if its rule was checked and nothing violates it' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l session -d 'Check the reel of a live session. `mcpreel sessions` lists the sessions' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l key-file -d 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l write-baseline -d 'Write all findings to the --baseline file, so that they do not count any more. Entries whose rules were not checked stay in it'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l follow -d 'Keep reading while the reel grows, and print findings as they come (with --format json, one object per line). Ctrl-C ends the check with its summary'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l redact -d 'Replace secrets by pseudonyms, as `mcpreel redact` does'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l rules -d 'List all rules and exit'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand explain" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand explain" -s f -l format -d 'Output format' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand explain" -l schema -d 'Print the JSON Schema of a method, and nothing else' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand explain" -l part -d 'Which part of the method --schema prints' -r -f -a "params\t'The params of the message'
result\t'The result of the request'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand explain" -l revision -d 'Explain it as it is in this revision of MCP (default: the newest revision that has it)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand explain" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l learn -d 'Ignore what also differs between A and C, a second recording of the same version as A' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l ignore -d 'Ignore the value at this JSON Pointer, as the report prints it; `*` matches any one member, `**` any number (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l unordered -d 'Ignore the order of the array at this JSON Pointer; after `=`, the member that identifies an item (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l tolerance -d 'Accept numbers that differ by at most this much, such as `0.5` or `1%`; with a JSON Pointer, only there (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -s f -l format -d 'Output format' -r -f -a "human\t'Text'
json\t'One JSON object, with a JSON Patch (RFC 6902) for each message that changed'
markdown\t'Markdown, for a comment on a pull request'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l view -d 'How to show the differences as text' -r -f -a "unified\t'The changes of each message, A above B'
side-by-side\t'The changes of each message, A beside B'
summary\t'Counts by method and tool, and the places that changed'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l only -d 'Compare only a part of the sessions (repeatable, or separated by commas)' -r -f -a "server\t'What the server sent'
client\t'What the client sent'
capabilities\t'The handshake: revision, capabilities, names and versions'
tools\t'The lists and calls of tools'
latency\t'Response times'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l fail-on -d 'Exit with 1 if a change is at least this severe' -r -f -a "breaking\t'Only breaking changes'
risk\t'Breaking changes and risks'
any\t'Any change'
never\t'Never: the exit code only says whether the surfaces could be read'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l protocol-version -d 'The protocol version to request. Any value is sent as given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l timeout -d 'Response timeout (default: 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l record -d 'Record the session to this reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l key-file -d 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l era -d 'The era to use; auto tries `server/discover`, then `initialize`' -r -f -a "auto\t'Whichever the server speaks'
legacy\t'With `initialize`: revisions up to 2025-11-25'
modern\t'With `server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l exact -d 'Compare all values as they are, also the order of members, the notation of numbers, JSON inside text byte for byte, and the names of renamed tools'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l ids -d 'Also compare ids by value: JSON-RPC ids, UUIDs, tokens, ports, process ids, temporary paths and folders'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l times -d 'Also compare times and durations by value'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l volatile -d 'List the values that differ in every run and were therefore not compared'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l order -d 'Also compare the order of requests and notifications, whether a notification came before or after the result of its request, and the order of lists such as tools'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l stderr -d 'Also compare what the servers wrote to stderr'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l full -d 'Show long values whole. Otherwise, unchanged parts of them are folded'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l latency -d 'Also compare response times, by method and tool. B must be slower or faster with statistical certainty (Mann–Whitney U test, 1 % for all methods together) and by at least 10 % and 100 µs in the median'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l surface -d 'Compare what the servers offer (tools, prompts, resources, capabilities), not what was said. A and B can be reels, JSON lines or lock files. Without B, list everything that the server named by the target options offers'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l update -d 'Write the surface of B, or of the live server, to the lock file A'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l rules -d 'List the rules by which surfaces are compared, and exit'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l redact -d 'Replace secrets by pseudonyms, as `mcpreel redact` does'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l pace -d 'When to send: fast (as soon as everything before has come), recorded (with the recorded pauses), or a factor such as 2x (with pauses half as long)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l timeout -d 'How long to wait for each answer (default: 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l concurrency -d 'Send at most this many requests at the same time' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l from -d 'Send nothing before this event, except for the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l to -d 'Send nothing after this event' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l stream -d 'Replay only this session of a reel with several (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l era -d 'The era of the live server: recorded sends the messages as they are; modern replays a recording with `initialize` against a server of revision 2026-07-28, and reports what has no equivalent there' -r -f -a "recorded\t'That of the recording'
modern\t'Revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l repeat -d 'Replay this many times, each on a new connection' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l answer -d 'Answer requests of the server from this file: a JSON object with a result for each method, or a list of results' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l map -d 'Replace a path or another text in all recorded messages, such as a folder by a fresh one (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l record -d 'Record the new session to this reel (default: a new reel in the folder of reels)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -s j -l jobs -d 'Replay this many recordings of a folder or suite at the same time' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l shard -d 'Replay only this part of a folder or suite, such as 1/4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -s f -l format -d 'Output format' -r -f -a "human\t'Text'
json\t'One JSON object for each session'
junit\t'JUnit XML: one suite for each session, one case for each request'
github\t'Annotations for GitHub Actions'
markdown\t'Markdown, for a summary'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l learn -d 'Ignore what also differs between A and C, a second recording of the same version as A' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l ignore -d 'Ignore the value at this JSON Pointer, as the report prints it; `*` matches any one member, `**` any number (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l unordered -d 'Ignore the order of the array at this JSON Pointer; after `=`, the member that identifies an item (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l tolerance -d 'Accept numbers that differ by at most this much, such as `0.5` or `1%`; with a JSON Pointer, only there (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l dry-run -d 'Print what would be sent, and send nothing'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l allow-destructive -d 'Also call tools that the recorded server annotated with `destructiveHint`'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l read-only -d 'Send only what reads: listings, reads, and calls of tools that are annotated with `readOnlyHint`'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l fail-fast -d 'Stop at the first answer that differs'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l update -d 'Replace the recording by the new session, after the differences were printed'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l exact -d 'Compare all values as they are, also the order of members, the notation of numbers, JSON inside text byte for byte, and the names of renamed tools'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l ids -d 'Also compare ids by value: JSON-RPC ids, UUIDs, tokens, ports, process ids, temporary paths and folders'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l times -d 'Also compare times and durations by value'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l volatile -d 'List the values that differ in every run and were therefore not compared'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l order -d 'Also compare the order of requests and notifications, whether a notification came before or after the result of its request, and the order of lists such as tools'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l stderr -d 'Also compare what the servers wrote to stderr'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l declare -d 'Declare only this proposal (repeatable): conversation, reminder, mcpl, hooks, mcpe' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l era -d 'The era to support. The proposals need the legacy era; plain MCP works in both' -r -f -a "legacy\t'With `initialize`: revisions up to 2025-11-25'
modern\t'With `server/discover`: revision 2026-07-28'
both\t'Whichever the host begins with'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l set -d 'Change a setting of a proposal (repeatable): conversation.carrier=request, mcpl.push_sets:=\'["ci.builds"]\', mcpl.channels:=\'["discord:#general"]\', mcpl.redact.api_key=\'sk-\\w+\'' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l plan -d 'Send a message on its own, on a timer: {"after_ms":N,"every_ms":N,"times":N,"fire":{"kind":…}} (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l on-signal -d 'Send this message whenever the process receives SIGUSR1 (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l record -d 'Record the session to this reel. If the file exists and a client started this server (stdin is a pipe or a socket), a free name is used. With handlers, the session is always recorded, including each run of a handler' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l report -d 'Write reports to this file, one JSON object per line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l answer-timeout -d 'How long to wait for the host\'s responses' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l seed -d 'Generate ids from this seed: the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l listen -d 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l allow-host -d 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l allow-origin -d 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l max-body -d 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l scenario -d 'Play one built-in server that this scenario defines: the messages it sends, the faults on its connection, and the messages expected on it. The host starts this command, or connects with --listen. When the host has disconnected, the report is printed to stderr' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l as -d 'Which server of the scenario to play' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l junit -d 'Write the scenario\'s report as JUnit XML' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l format -d 'Format of the scenario\'s report' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l reel -d 'Serve this recording in place of the built-in server, as `mcpreel mock` does (repeatable)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l match -d 'When a request repeats a recorded one: exact (method and params are equal), normalised (times, ids, random tokens, ports and temporary paths may differ), method (method and tool, or resource, are equal), or sequence (it comes at the same position)' -r -f -a "exact\t'Method and params are equal, apart from _meta'
normalised\t'Times, ids, random tokens, ports and temporary paths may differ'
method\t'Method and tool, resource or prompt are equal'
sequence\t'It comes at the same position'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l pace -d 'When to answer: fast, recorded (with the recorded latencies), or a factor such as 2x (twice as fast)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l fault -d 'Break answers on purpose: \'METHOD: ACTION [PERCENT%]\' (repeatable). Actions: delay TIME, drop, duplicate, reorder, error [CODE], truncate, malformed, disconnect' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l ready-file -d 'When ready, write the address to this file as a JSON object' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l memory -d 'Whether the server has a memory, with the tools for it' -r -f -a "on\t'On'
off\t'Off'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l watch -d 'Watch this folder (repeatable). Its text files become resources. Changes are reported to subscribers of the file or of a folder above it, and to all hosts as a reminder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l ignore -d 'Ignore files whose name or path within the folder matches (repeatable), in addition to .git, target and node_modules' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l watch-command -d 'Run this command in a shell at the start and after each change, and send a reminder if its result has changed (repeatable). The tool `check` reports the result, too' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l watch-every -d 'Also run the commands at this interval' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l watch-limit -d 'How long a command may run' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l watch-quiet -d 'Report changes once the files have been unchanged for this long' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l allow-handlers -d 'Allow subscriptions to have handlers of this kind (repeatable, or comma-separated). With bash, subscribers can run any command as you. Subscriptions with other handlers are refused' -r -f -a "bash\t'A shell command that the subscriber chooses'
webhook\t'An HTTP POST'
agent\t'A prompt to the host\'s model, or to --agent-command'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l handler-timeout -d 'The maximum time a handler may run' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l handler-dir -d 'The folder in which bash handlers run' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l handler-shell -d 'The program that runs bash handlers, with the handler\'s command as its last argument; for example a sandbox such as \'bwrap --ro-bind / / bash -c\'' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l handler-secret -d 'Replace ${NAME} in the headers of webhooks to this host with the environment variable NAME (repeatable). Without a port, this applies only to the scheme\'s default port (443 for https, 80 for http). Put an IPv6 address in brackets before a port' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l allow-private-host -d 'Let webhooks reach this host although its address is not public, for example because it is in your network (repeatable). Without this, such addresses are refused, whatever name leads to them; except for this machine itself, by localhost or its address' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l agent-command -d 'Run agent handlers with this program instead of the host\'s model: it reads the request as JSON on stdin. If bash handlers are allowed, too, the program gets as small an environment as they do, because they could read it' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l webhook -d 'Accept JSON posts from this machine and push each as an event: a port (0 for a free one) or HOST:PORT. The body may contain eventId, text, payload, origin and featureSet; any other object becomes the event\'s text. A post to /events/TYPE is published to subscriptions (MCPE) with its data, tags and priority, or without data, with the whole body except its priority as data' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l channel-socket -d 'Provide a channel on a Unix socket with this path: each line that is written to it becomes a message from the channel, as text or JSON; what the host publishes is printed to it as JSON lines' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l feed -d 'Send one message per line of PATH, in the format of --on-signal. PATH is a file, a FIFO, unix:PATH (lines from clients of a Unix socket) or - (stdin, with --listen). Reading begins when a host is connected' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l reuse -d 'Repeat the last answer to a request that comes more often than recorded'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l strict -d 'Exit with 1 if a request had no recorded answer, or if a recorded request was never asked for'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l match -d 'When a request repeats a recorded one: exact (method and params are equal), normalised (times, ids, random tokens, ports and temporary paths may differ), method (method and tool, or resource, are equal), or sequence (it comes at the same position)' -r -f -a "exact\t'Method and params are equal, apart from _meta'
normalised\t'Times, ids, random tokens, ports and temporary paths may differ'
method\t'Method and tool, resource or prompt are equal'
sequence\t'It comes at the same position'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l pace -d 'When to answer: fast, recorded (with the recorded latencies), or a factor such as 2x (twice as fast)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l fault -d 'Break answers on purpose: \'METHOD: ACTION [PERCENT%]\' (repeatable). Actions: delay TIME, drop, duplicate, reorder, error [CODE], truncate, malformed, disconnect' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l ready-file -d 'When ready, write the address to this file as a JSON object' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l ignore -d 'Ignore the value at this JSON Pointer, relative to the message, when requests are compared (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l report -d 'Write the report to this file as one JSON object, instead of to stderr as text' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l seed -d 'Make the faults depend on this number: the same number and input give the same faults' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l on-miss -d 'What to do about a request without a recorded answer: error, forward (ask the server given as TARGET), or record (the same, and append the exchange to the recording)' -r -f -a "error\t'Answer with an error that says what is missing'
forward\t'Ask the server given as TARGET'
record\t'Ask the server given as TARGET, and append the exchange to the recording'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l listen -d 'Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or unix:PATH for JSON lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l allow-host -d 'Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP addresses are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l allow-origin -d 'Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and the origin that matches the `Host` header, are always accepted' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l max-body -d 'Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other listeners, --max-message applies as well' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l reuse -d 'Repeat the last answer to a request that comes more often than recorded'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l strict -d 'Exit with 1 if a request had no recorded answer, or if a recorded request was never asked for'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand mock" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -s s -l add -d 'Add a server: NAME=COMMAND, NAME=URL or NAME=session:SESSION (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l builtin -d 'Add the built-in server under this name, with all proposals or the listed ones (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l say -d 'Say this as the user (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l do -d 'Run this line as if it had been typed (repeatable; --say and --do run in the order of the command line)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l scenario -d 'Play this scenario (YAML; docs/scenario.schema.json) and check its expectations' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l reel -d 'Play the host of this recorded session against the target, with its timing. The answers are not compared; `mcpreel replay` does that' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l clock -d 'The clock of the scenario (default: as the scenario says)' -r -f -a "real\t'Real time'
virtual\t'Simulated time, which skips waiting; for built-in servers only'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l junit -d 'Write the scenario\'s report as JUnit XML' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l model -d 'The built-in model' -r -f -a "echo\t'Repeats the last user message and says how much context came with it'
none\t'Says nothing'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l model-command -d 'Use a program as the model: it reads the prompt as JSON on stdin and prints its answer to stdout' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l model-timeout -d 'How long that program may take' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l policy -d 'A policy file, in YAML or JSON: `all` and `servers`, each with options by proposal, and a `layout`' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l set -d 'Set an option for all servers or for one (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l on-event -d 'Also deliver events of subscriptions: PATTERN=file:PATH appends them to a file as lines of JSON, PATTERN=command:COMMAND passes them to a command\'s stdin (repeatable). For the prompt and for turns, see the option mcpe.route' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l system -d 'The host\'s own system prompt; or @FILE' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l project -d 'The project\'s name in templates (default: the current folder\'s name)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l seed -d 'Generate ids from this seed: the same seed gives the same ids and prompts (default: new ids each time)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l format -d 'What to print' -r -f -a "human\t'A transcript'
json\t'One JSON object per line'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l era -d 'The era to use; auto tries `initialize` first. With a server of the modern era, the host does without the proposals' -r -f -a "auto\t'Whichever the server speaks'
legacy\t'With `initialize`: revisions up to 2025-11-25'
modern\t'With `server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l protocol-version -d 'The protocol version to request. Any value is sent as given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l timeout -d 'Response timeout (default: 30s)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l record -d 'Record the session to this reel (default: a new file in the folder of reels)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l server -d 'A server in that configuration (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l session -d 'Use the server of a live session: at its own address if it listens, else on its client\'s connection' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l trace -d 'Show what happens in the scenario, in addition to the report'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l consent -d 'Let every server that asks for it receive your messages. Without this, the host asks you on a terminal; in a script, only servers whose command is given here receive them, and those of a policy'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l strict -d 'Exit with code 1 if a server delivered something malformed, unasked for or twice'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l options -d 'List all options with their defaults'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l prompts -d 'Show each prompt'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l value -d 'Replace {NAME} in the file with this value instead of the file\'s own (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l label -d 'A name for the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l note -d 'Store a note in the reel (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l on-overload -d 'What to do if recording cannot keep up with the traffic' -r -f -a "block\t'Slow the traffic down to the disk\'s speed; lose nothing'
drop\t'Never slow the traffic down; count losses and note them in the reel'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l queue-bytes -d 'Maximum number of bytes that may wait for the recorder (default: 131072)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l key-file -d 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l url -d 'Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL from an environment variable' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -s H -l header -d 'Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l header-env -d 'Add a header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l cacert -d 'Trust the certificates in this PEM file in addition to the system\'s' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l config -d 'Find the server in this configuration file of an MCP client (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l server -d 'The server\'s name in the configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -s e -l env -d 'Add a variable to the server\'s environment (repeatable). mcpreel writes only its name to the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l session -d 'Use a live session, that is, a running `record` or `serve`; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -s o -l output -d 'Write the reel to this file' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l check -d 'Check the file without starting anything'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l schema -d 'Print the JSON Schema of overlay files'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l force -d 'Overwrite an existing file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l require-recording -d 'If the reel cannot be created, do not start the server; if writing fails later, stop it and exit with 4'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l redact -d 'Replace secrets in messages and on standard error by pseudonyms before anything is written, as `mcpreel redact` does, but event by event: a secret that is divided between events, or recognised only later, stays'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l insecure -d 'Do not verify the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l only -d 'Test only this proposal\'s declarations and messages (repeatable): conversation, reminder, mcpl, hooks, mcpe' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l wait -d 'How long to wait for a response to a message or a ping' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l connect -d 'How long the client may take from its start to the end of the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l restarts -d 'Maximum number of restarts of the client, not counting those that test declarations' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -s o -l output -d 'Write the reel to this file, one stream per session (default: a new file in the folder of reels)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l format -d 'Output format' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l max-message -d 'Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its connection; a command that cannot continue without it exits with 4' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand sessions" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand sessions" -l format -d 'Output format' -r -f -a "human\t'A table'
json\t'One JSON object per session, each on a line'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand sessions" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand sessions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat cut merge help" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat cut merge help" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat cut merge help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat cut merge help" -f -a "info" -d 'Print a reel\'s metadata and counts'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat cut merge help" -f -a "verify" -d 'Read the whole reel, check its index, and report all damage. Exits with 1 if there is any'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat cut merge help" -f -a "repair" -d 'Write an intact reel from what can be read; what is lost is noted as gaps'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat cut merge help" -f -a "index" -d 'Add a missing index (after a killed recorder) or replace a wrong one, in place'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat cut merge help" -f -a "compact" -d 'Compress a reel as much as possible. It is left alone if it would not get smaller'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat cut merge help" -f -a "cat" -d 'Print the exact bytes of one direction, or of stderr'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat cut merge help" -f -a "cut" -d 'Write a part of a reel: what a filter, a time and streams select'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat cut merge help" -f -a "merge" -d 'Write several reels as one, in the order of time. Each session keeps a stream of its own'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat cut merge help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from info" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from info" -l format -d 'Output format' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from info" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from info" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from verify" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from repair" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from repair" -s o -l output -d 'Write to this file; `-` is stdout (default: replace the reel)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from repair" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from repair" -l force -d 'Overwrite an existing file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from repair" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from index" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from index" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from index" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from compact" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from compact" -s o -l output -d 'Write to this file; `-` is stdout (default: replace the reel)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from compact" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from compact" -l force -d 'Overwrite an existing file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from compact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cat" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cat" -l stream -d 'Which bytes to print' -r -f -a "c2s\t'From the client to the server'
s2c\t'From the server to the client'
stderr\t'The server\'s stderr'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cat" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cut" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cut" -s o -l output -d 'Write to this file; `-` is stdout' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cut" -l from -d 'Start at this time: seconds since the start of the reel, or an RFC 3339 time' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cut" -l to -d 'End at this time' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cut" -l stream -d 'Only the session with this stream number (repeatable); `mcpreel show` prints it after #' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cut" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cut" -l force -d 'Overwrite an existing file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cut" -l no-handshake -d 'Leave out the handshake, unless it is selected'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cut" -l no-pairs -d 'Leave out the other half of a request and its response, unless it is selected'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cut" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from merge" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from merge" -s o -l output -d 'Write to this file; `-` is stdout' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from merge" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from merge" -l force -d 'Overwrite an existing file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from merge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "info" -d 'Print a reel\'s metadata and counts'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Read the whole reel, check its index, and report all damage. Exits with 1 if there is any'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "repair" -d 'Write an intact reel from what can be read; what is lost is noted as gaps'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "index" -d 'Add a missing index (after a killed recorder) or replace a wrong one, in place'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "compact" -d 'Compress a reel as much as possible. It is left alone if it would not get smaller'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "cat" -d 'Print the exact bytes of one direction, or of stderr'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "cut" -d 'Write a part of a reel: what a filter, a time and streams select'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "merge" -d 'Write several reels as one, in the order of time. Each session keeps a stream of its own'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand redact" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand redact" -s o -l output -d 'Write the redacted reel to this file; `-` is stdout' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand redact" -l key-file -d 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand redact" -s f -l format -d 'The format of the report' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand redact" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand redact" -l force -d 'Overwrite an existing file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand redact" -l dry-run -d 'Only report what would be replaced'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand redact" -l check -d 'Only report what would be replaced, and exit with 1 if there is anything'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand redact" -l rules -d 'List all detectors and exit'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand redact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -l format -d 'The output format' -r -f -a "jsonl\t'JSON lines, one event per line; loses nothing'
commands\t'Shell commands that repeat the client\'s requests with `mcpreel call`'
csv\t'A table for spreadsheets, one message per row'
mermaid\t'A Mermaid sequence diagram, one arrow per message'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -s o -l output -d 'Write to this file; `-` is stdout' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -l key-file -d 'A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used (default: a new random key each time)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -l force -d 'Overwrite an existing file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -l redact -d 'Replace secrets by pseudonyms, as `mcpreel redact` does'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand import" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand import" -l format -d 'The input format' -r -f -a "auto\t'Detect the format by the beginning of the file'
transcript\t'JSON lines of other tools, each with a time, a direction (c2s, s2c, client_to_server, …) and a message'
jsonl\t'What `export` writes: JSON lines, one event per line; loses nothing'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand import" -s o -l output -d 'Write the reel to this file; `-` is stdout' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand import" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand import" -l force -d 'Overwrite an existing file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -l config -d 'The client\'s configuration file (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -l bin -d 'The mcpreel program that the client will start (default: the path of this one; in a project\'s shared file `mcpreel`, found through PATH, so that the file contains no path of yours)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -l all -d 'All servers in the file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -s y -l yes -d 'Write without asking'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -l dry-run -d 'Show the change without writing it'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -l no-backup -d 'Do not keep a copy of the old file (FILE.bak-TIME)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -l config -d 'The client\'s configuration file (default: search the usual places)' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -l all -d 'All servers in the file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -s y -l yes -d 'Write without asking'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -l dry-run -d 'Show the change without writing it'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -l no-backup -d 'Do not keep a copy of the old file (FILE.bak-TIME)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand completions" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand completions" -l all -d 'Write the scripts of all shells to this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand completions" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand man" -l color -d 'When to colour the output' -r -f -a "auto\t'If the output is a terminal and NO_COLOR is not set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand man" -l all -d 'Write all pages to this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand man" -s v -l verbose -d 'Print more detail to stderr (-vv for even more)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "demo" -d 'Take a tour with the built-in server: record, show, validate and summarise a session'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "record" -d 'Record a session: start a server, relay every byte in both directions, and copy it to a reel'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "call" -d 'Send one request to a server and print the result'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "fire" -d 'Send one message that a draft proposal defines, or any raw message'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "events" -d 'Subscribe to a server\'s events (MCPE proposal)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "show" -d 'Show recorded messages: one line per message, in full, as a table or as JSON'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "stats" -d 'Count messages, bytes, errors, latencies and unanswered requests by method'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "validate" -d 'Check sessions against JSON-RPC, MCP and the five proposals'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "explain" -d 'Explain a method, a capability, an error code or a rule of `validate`'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "diff" -d 'Compare two recordings by what was requested and answered, or what two servers offer'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "replay" -d 'Send the client side of a recorded session to a server, and compare the answers'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "serve" -d 'Run the built-in server, which implements all five proposals (see docs/proposals.md)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "mock" -d 'Serve a recording in place of the server that it was recorded from'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "host" -d 'Act as a host: hold a conversation with one or more servers'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "overlay" -d 'Record a server and make it also speak the proposals'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "survive" -d 'Test how an MCP client handles the proposals\' messages'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "sessions" -d 'List your live sessions'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "reel" -d 'Inspect and repair reel files'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "redact" -d 'Replace the secrets in a reel, so that it can be shared'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "export" -d 'Convert a reel to another format'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "import" -d 'Convert another format to a reel'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "wrap" -d 'Put `mcpreel record` in front of servers in an MCP client\'s configuration'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "unwrap" -d 'Remove mcpreel from an MCP client\'s configuration'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "completions" -d 'Print a shell\'s completion script'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "man" -d 'Print a manual page, or write all of them'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate explain diff replay serve mock host overlay survive sessions reel redact export import wrap unwrap completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "user-message" -d 'Send a user\'s message (`conversation/userMessage`, SEP-1975) and print the context that the server returns'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "hook" -d 'Fire a hook event (SEP-2282): match it against the server\'s declared hooks and print what they would inject'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "push" -d 'Act as a server and send a push event (MCPL) to the host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "reminder" -d 'Act as a server and send a reminder (`notifications/reminder`) to the host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "event" -d 'Publish an event (MCPE): the server sends it (`events/event`, `events/batch`) to the subscriptions that match'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "before-inference" -d 'Ask a server for context before an inference (`context/beforeInference`), as its host (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "after-inference" -d 'Report the model\'s answer to a server (`context/afterInference`), as its host (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "inference" -d 'Ask the host\'s model for an answer (`inference/request`), as a server (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "model-info" -d 'Ask the host which model it uses (`model/info`), as a server (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "feature-sets" -d 'Send a message about feature sets: which are enabled, or which exist'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "scope" -d 'Ask the host for access to a scope (`scope/elevate`), as a server (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "rollback" -d 'Ask a server to return to a checkpoint (`state/rollback`), as its host (MCPL)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "channel" -d 'Send a message about channels (MCPL): to a host as its server, or to a server as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "raw" -d 'Send one message byte for byte and print the response'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from events" -f -a "watch" -d 'Subscribe to events and print each as one line of JSON as it arrives'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "info" -d 'Print a reel\'s metadata and counts'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "verify" -d 'Read the whole reel, check its index, and report all damage. Exits with 1 if there is any'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "repair" -d 'Write an intact reel from what can be read; what is lost is noted as gaps'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "index" -d 'Add a missing index (after a killed recorder) or replace a wrong one, in place'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "compact" -d 'Compress a reel as much as possible. It is left alone if it would not get smaller'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "cat" -d 'Print the exact bytes of one direction, or of stderr'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "cut" -d 'Write a part of a reel: what a filter, a time and streams select'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "merge" -d 'Write several reels as one, in the order of time. Each session keeps a stream of its own'

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

complete -c mcpreel -n "__fish_mcpreel_needs_command" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_needs_command" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -s V -l version -d 'Print version'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "demo" -d 'See everything at once, on the built-in server: record, show, check, sum up'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "record" -d 'Tap a session: start a server, relay every byte both ways, keep a copy in a reel'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "call" -d 'Send one request to a server and print the result'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "fire" -d 'Fire one event by hand: a user message, a hook event, a push event, a reminder, or any message as it is'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "events" -d 'Subscribe to a server\'s events (MCPE)'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "show" -d 'Show what crossed the wire: a line a message, in full, as a table or as JSON'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "stats" -d 'Count what happened: messages, bytes, errors, latencies, unanswered requests, by method'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "validate" -d 'Check a session: JSON-RPC, MCP\'s rules and schemas, and the five proposals\''
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "diff" -d 'Compare two reels: what was asked and answered, not when or under which id'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "serve" -d 'Be a server: the built-in live server, which declares all five proposals'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "host" -d 'Be a host: run a conversation over several servers, with all that they declare'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "overlay" -d 'Tap a server and add what a file says: hooks, context for user messages, reminders, pushes, events'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "survive" -d 'Try the proposals on an MCP client: what does it answer, refuse, ignore, and what breaks it?'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "sessions" -d 'List the live sessions: every running `record` and `serve` of yours'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "reel" -d 'Look after reel files: info, verify, repair, index, compact, cat'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "export" -d 'Write a reel in another format'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "import" -d 'Make a reel of another format'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "wrap" -d 'Put the tap in front of servers in an MCP client\'s configuration'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "unwrap" -d 'Take the tap out of an MCP client\'s configuration again'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "completions" -d 'Print a shell\'s completion script'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "man" -d 'Print a manual page, or write all of them'
complete -c mcpreel -n "__fish_mcpreel_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand demo" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand demo" -s o -l output -d 'Write the reel here; among the recordings where nothing is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand demo" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -s o -l output -d 'Write the reel here; `-` is standard output, where there is no client' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l label -d 'A name for the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l note -d 'A note kept in the reel (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l on-overload -d 'What to do when recording cannot keep up: hold the traffic back, or record less and say so' -r -f -a "block\t'Lose nothing; traffic may slow down to the disk\'s pace'
drop\t'Never slow traffic; losses are counted and noted in the reel'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l queue-bytes -d 'How many bytes may wait for the recorder' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l listen -d 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l allow-host -d 'A name beside those of this machine that `Host` may have (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l allow-origin -d 'An origin beside this machine that browsers may come from (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l max-body -d 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l url -d 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -s H -l header -d 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l header-env -d 'A header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l cacert -d 'Trust the certificates in this PEM file, beside those of the system' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l config -d 'An MCP client\'s configuration to find the server in; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l server -d 'The server\'s name in that configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -s e -l env -d 'Add to the server\'s environment (repeatable). The value is never written to a reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l session -d 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l force -d 'Overwrite the file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l require-recording -d 'Fail where the session cannot be recorded: before the server starts, or with exit code 4 as soon as writing fails'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -l insecure -d 'Do not check the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand record" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l format -d 'What to print' -r -f -a "human\t'The result (or error), laid out'
json\t'The result (or error) as it came'
envelope\t'One object: the whole message, the latency, the era and revision'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l era -d 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks. `call` asks with `server/discover` and falls back to `initialize`; `host`, `fire` and `events watch`, which need the handshake, do the reverse'
legacy\t'`initialize`: revisions up to 2025-11-25'
modern\t'`server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l protocol-version -d 'The protocol version to ask for, known or not' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l timeout -d 'How long an answer may take: 30s where nothing is said' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l record -d 'Keep the session in a reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l url -d 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -s H -l header -d 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l header-env -d 'A header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l cacert -d 'Trust the certificates in this PEM file, beside those of the system' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l config -d 'An MCP client\'s configuration to find the server in; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l server -d 'The server\'s name in that configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l session -d 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -s e -l env -d 'Add to the server\'s environment (repeatable). The value is never written to a reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l notify -d 'Send it as a notification: nothing is answered or printed. So is every method that begins with notifications/'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -l insecure -d 'Do not check the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand call" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "user-message" -d 'Send a user\'s message (`conversation/userMessage`) and print the context that comes back'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "hook" -d 'Fire a hook event: read the server\'s declarations, match them, and print what would be injected'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "push" -d 'Push an event to the host that started this command as its server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "reminder" -d 'Send a reminder (`notifications/reminder`) to the host that started this command as its server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "event" -d 'Publish an event: the server sends it (`events/event`, `events/batch`) to the subscriptions that it is for'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "before-inference" -d 'Ask a server for context before an inference (`context/beforeInference`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "after-inference" -d 'Tell a server what the model said (`context/afterInference`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "inference" -d 'Ask the host\'s model something (`inference/request`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "model-info" -d 'Ask the host which model it runs (`model/info`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "feature-sets" -d 'Fire what either side says about feature sets: which are on, which there are'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "scope" -d 'Ask the host for a scope (`scope/elevate`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "rollback" -d 'Have a server go back to a checkpoint (`state/rollback`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "channel" -d 'Fire a message about channels: as a server at its host, or as a host at a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "raw" -d 'Send one message byte for byte, and print what is answered'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and not __fish_seen_subcommand_from user-message hook push reminder event before-inference after-inference inference model-info feature-sets scope rollback channel raw help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l message-id -d 'Its id; a new one where none is given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l history -d 'An earlier message, oldest first (repeatable): user=TEXT or assistant=TEXT' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l carrier -d 'How it travels' -r -f -a "auto\t'A request; a notification where the server does not know that method'
request\t'A request'
notification\t'A notification, answered by `conversation/context`'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l deadline -d 'How long the server may take' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l linger -d 'How long to wait after the deadline, to name late answers' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l format -d 'How to print' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l expect -d 'What must be true of each result, in jq\'s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l repeat -d 'How often, on one connection. A summary is told at the end, on standard error' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l interval -d 'How long from the beginning of one to that of the next; at once where that is over' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l era -d 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks. `call` asks with `server/discover` and falls back to `initialize`; `host`, `fire` and `events watch`, which need the handshake, do the reverse'
legacy\t'`initialize`: revisions up to 2025-11-25'
modern\t'`server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l protocol-version -d 'The protocol version to ask for, known or not' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l timeout -d 'How long an answer may take: 30s where nothing is said' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l record -d 'Keep the session in a reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l url -d 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -s H -l header -d 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l header-env -d 'A header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l cacert -d 'Trust the certificates in this PEM file, beside those of the system' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l config -d 'An MCP client\'s configuration to find the server in; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l server -d 'The server\'s name in that configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l session -d 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -s e -l env -d 'Add to the server\'s environment (repeatable). The value is never written to a reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l force -d 'Send it even where the server did not subscribe'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -l insecure -d 'Do not check the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from user-message" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l tool -d 'The tool\'s bare name (tool events)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l tool-server -d 'The server that provides the tool' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l input -d 'The tool\'s arguments (repeatable): name=text, name:=JSON, a JSON object, @file' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l output -d 'The tool\'s result (repeatable), as --input' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l project -d 'For {project_name}; the current folder\'s name where none is given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l session-id -d 'For {session_id}' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l format -d 'How to print' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l expect -d 'What must be true of each result, in jq\'s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l repeat -d 'How often, on one connection. A summary is told at the end, on standard error' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l interval -d 'How long from the beginning of one to that of the next; at once where that is over' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l era -d 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks. `call` asks with `server/discover` and falls back to `initialize`; `host`, `fire` and `events watch`, which need the handshake, do the reverse'
legacy\t'`initialize`: revisions up to 2025-11-25'
modern\t'`server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l protocol-version -d 'The protocol version to ask for, known or not' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l timeout -d 'How long an answer may take: 30s where nothing is said' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l record -d 'Keep the session in a reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l url -d 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -s H -l header -d 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l header-env -d 'A header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l cacert -d 'Trust the certificates in this PEM file, beside those of the system' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l config -d 'An MCP client\'s configuration to find the server in; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l server -d 'The server\'s name in that configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l session -d 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -s e -l env -d 'Add to the server\'s environment (repeatable). The value is never written to a reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l no-call -d 'Name the context tools, but do not call them'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -l insecure -d 'Do not check the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from hook" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l text -d 'What happened, in words' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l feature-set -d 'The feature set that it belongs to; the server\'s own that declares pushEvents where none is named' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l event-id -d 'The event\'s id; a new one where none is given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l origin -d 'Where it is from (repeatable): name=text, name:=JSON, a JSON object' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l after -d 'How long after the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l session -d 'Into a live session instead, as its server: `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l format -d 'How to print what came of it, with --session' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l expect -d 'What must be true of each result, in jq\'s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l repeat -d 'How often, on one connection. A summary is told at the end, on standard error' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l interval -d 'How long from the beginning of one to that of the next; at once where that is over' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l report -d 'Write facts here, one JSON object a line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l answer-timeout -d 'How long an answer of the host is waited for' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l seed -d 'Draw ids from this seed; the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l listen -d 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l allow-host -d 'A name beside those of this machine that `Host` may have (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l allow-origin -d 'An origin beside this machine that browsers may come from (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l max-body -d 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -l on-signal -d 'Only when the process gets SIGUSR1'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from push" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l tag -d 'A label (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l dedupe-key -d 'A newer reminder with the same key replaces an older one that waits' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l ttl -d 'For how many turns it holds' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l propagate -d 'Which agents see it' -r -f -a "all\t'Every agent, sub-agents too'
session\t'The agents of this session'
none\t'This agent alone'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l role -d 'As whom the host should say it' -r -f -a "system\t'As the system'
developer\t'As the developer'
user_block\t'In the user\'s message'
ephemeral_cache\t'Where a provider\'s cache is not disturbed'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l after -d 'How long after the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l session -d 'Into a live session instead, as its server: `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l format -d 'How to print what came of it, with --session' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l expect -d 'What must be true of each result, in jq\'s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l repeat -d 'How often, on one connection. A summary is told at the end, on standard error' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l interval -d 'How long from the beginning of one to that of the next; at once where that is over' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l report -d 'Write facts here, one JSON object a line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l answer-timeout -d 'How long an answer of the host is waited for' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l seed -d 'Draw ids from this seed; the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l listen -d 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l allow-host -d 'A name beside those of this machine that `Host` may have (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l allow-origin -d 'An origin beside this machine that browsers may come from (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l max-body -d 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l preserve -d 'It outlives a compaction of the conversation'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l legacy -d 'In the older envelope: a log message with `_meta.harn.reminder`'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -l on-signal -d 'Only when the process gets SIGUSR1'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from reminder" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l data -d 'A member of its data (repeatable): NAME=TEXT, or NAME:=JSON' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l tag -d 'A label (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l priority -d 'How urgent it is' -r -f -a "low\t'It can wait'
normal\t'As most are'
high\t'Soon'
critical\t'At once'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l source-event-id -d 'What its source calls it' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l after -d 'How long after the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l session -d 'Into a live session instead, as its server: `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l format -d 'How to print what came of it, with --session' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l expect -d 'What must be true of each result, in jq\'s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l repeat -d 'How often, on one connection. A summary is told at the end, on standard error' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l interval -d 'How long from the beginning of one to that of the next; at once where that is over' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l report -d 'Write facts here, one JSON object a line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l answer-timeout -d 'How long an answer of the host is waited for' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l seed -d 'Draw ids from this seed; the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l listen -d 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l allow-host -d 'A name beside those of this machine that `Host` may have (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l allow-origin -d 'An origin beside this machine that browsers may come from (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l max-body -d 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -l on-signal -d 'Only when the process gets SIGUSR1'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from event" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l inference -d 'Its id; a new one where none is given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l conversation -d 'The conversation\'s id' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l turn -d 'The turn\'s number, from 0; it counts up with --repeat' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l model -d 'The model\'s id' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l channel -d 'The channel that the message came in by' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l deadline -d 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l format -d 'How to print' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l expect -d 'What must be true of each result, in jq\'s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l repeat -d 'How often, on one connection. A summary is told at the end, on standard error' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l interval -d 'How long from the beginning of one to that of the next; at once where that is over' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l era -d 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks. `call` asks with `server/discover` and falls back to `initialize`; `host`, `fire` and `events watch`, which need the handshake, do the reverse'
legacy\t'`initialize`: revisions up to 2025-11-25'
modern\t'`server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l protocol-version -d 'The protocol version to ask for, known or not' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l timeout -d 'How long an answer may take: 30s where nothing is said' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l record -d 'Keep the session in a reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l url -d 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -s H -l header -d 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l header-env -d 'A header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l cacert -d 'Trust the certificates in this PEM file, beside those of the system' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l config -d 'An MCP client\'s configuration to find the server in; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l server -d 'The server\'s name in that configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l session -d 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -s e -l env -d 'Add to the server\'s environment (repeatable). The value is never written to a reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l force -d 'Send it even where the server did not declare what takes it'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -l insecure -d 'Do not check the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from before-inference" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l message -d 'What the user had said' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l inference -d 'Its id; a new one where none is given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l conversation -d 'The conversation\'s id' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l turn -d 'The turn\'s number, from 0; it counts up with --repeat' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l model -d 'The model\'s id' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l carrier -d 'How it travels' -r -f -a "auto\t'As the server declares it'
request\t'A request'
notification\t'A notification'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l deadline -d 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l format -d 'How to print' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l expect -d 'What must be true of each result, in jq\'s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l repeat -d 'How often, on one connection. A summary is told at the end, on standard error' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l interval -d 'How long from the beginning of one to that of the next; at once where that is over' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l era -d 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks. `call` asks with `server/discover` and falls back to `initialize`; `host`, `fire` and `events watch`, which need the handshake, do the reverse'
legacy\t'`initialize`: revisions up to 2025-11-25'
modern\t'`server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l protocol-version -d 'The protocol version to ask for, known or not' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l timeout -d 'How long an answer may take: 30s where nothing is said' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l record -d 'Keep the session in a reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l url -d 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -s H -l header -d 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l header-env -d 'A header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l cacert -d 'Trust the certificates in this PEM file, beside those of the system' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l config -d 'An MCP client\'s configuration to find the server in; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l server -d 'The server\'s name in that configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l session -d 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -s e -l env -d 'Add to the server\'s environment (repeatable). The value is never written to a reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l force -d 'Send it even where the server did not declare what takes it'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -l insecure -d 'Do not check the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from after-inference" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l feature-set -d 'The feature set that it belongs to; the server\'s own that declares inferenceRequest where none is named' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l conversation -d 'The conversation that it belongs to' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l max-tokens -d 'How many tokens the model may give at most' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l temperature -d 'How freely the model may choose' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l after -d 'How long after the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l session -d 'Into a live session instead, as its server: `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l format -d 'How to print what came of it, with --session' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l expect -d 'What must be true of each result, in jq\'s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l repeat -d 'How often, on one connection. A summary is told at the end, on standard error' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l interval -d 'How long from the beginning of one to that of the next; at once where that is over' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l report -d 'Write facts here, one JSON object a line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l answer-timeout -d 'How long an answer of the host is waited for' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l seed -d 'Draw ids from this seed; the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l listen -d 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l allow-host -d 'A name beside those of this machine that `Host` may have (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l allow-origin -d 'An origin beside this machine that browsers may come from (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l max-body -d 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l stream -d 'Have the answer streamed, where the host can'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -l on-signal -d 'Only when the process gets SIGUSR1'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from inference" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l after -d 'How long after the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l session -d 'Into a live session instead, as its server: `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l format -d 'How to print what came of it, with --session' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l expect -d 'What must be true of each result, in jq\'s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l repeat -d 'How often, on one connection. A summary is told at the end, on standard error' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l interval -d 'How long from the beginning of one to that of the next; at once where that is over' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l report -d 'Write facts here, one JSON object a line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l answer-timeout -d 'How long an answer of the host is waited for' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l seed -d 'Draw ids from this seed; the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l listen -d 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l allow-host -d 'A name beside those of this machine that `Host` may have (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l allow-origin -d 'An origin beside this machine that browsers may come from (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l max-body -d 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -l on-signal -d 'Only when the process gets SIGUSR1'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from model-info" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from feature-sets" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from feature-sets" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from feature-sets" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from feature-sets" -f -a "update" -d 'Tell a server which of its feature sets are on (`featureSets/update`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from feature-sets" -f -a "changed" -d 'Tell the host of feature sets that came or went (`featureSets/changed`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from feature-sets" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l payload -d 'What comes back with an approval (repeatable): name=text, name:=JSON, a JSON object' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l feature-set -d 'The feature set that it belongs to; the server\'s own that is scoped where none is named' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l after -d 'How long after the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l session -d 'Into a live session instead, as its server: `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l format -d 'How to print what came of it, with --session' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l expect -d 'What must be true of each result, in jq\'s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l repeat -d 'How often, on one connection. A summary is told at the end, on standard error' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l interval -d 'How long from the beginning of one to that of the next; at once where that is over' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l report -d 'Write facts here, one JSON object a line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l answer-timeout -d 'How long an answer of the host is waited for' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l seed -d 'Draw ids from this seed; the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l listen -d 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l allow-host -d 'A name beside those of this machine that `Host` may have (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l allow-origin -d 'An origin beside this machine that browsers may come from (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l max-body -d 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -l on-signal -d 'Only when the process gets SIGUSR1'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from scope" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l feature-set -d 'The feature set; the server\'s first that can roll back where none is named' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l deadline -d 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l format -d 'How to print' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l expect -d 'What must be true of each result, in jq\'s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l repeat -d 'How often, on one connection. A summary is told at the end, on standard error' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l interval -d 'How long from the beginning of one to that of the next; at once where that is over' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l era -d 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks. `call` asks with `server/discover` and falls back to `initialize`; `host`, `fire` and `events watch`, which need the handshake, do the reverse'
legacy\t'`initialize`: revisions up to 2025-11-25'
modern\t'`server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l protocol-version -d 'The protocol version to ask for, known or not' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l timeout -d 'How long an answer may take: 30s where nothing is said' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l record -d 'Keep the session in a reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l url -d 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -s H -l header -d 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l header-env -d 'A header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l cacert -d 'Trust the certificates in this PEM file, beside those of the system' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l config -d 'An MCP client\'s configuration to find the server in; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l server -d 'The server\'s name in that configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l session -d 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -s e -l env -d 'Add to the server\'s environment (repeatable). The value is never written to a reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l force -d 'Send it even where the server did not declare what takes it'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -l insecure -d 'Do not check the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from rollback" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "register" -d 'Register channels (`channels/register`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "changed" -d 'Tell of channels that come, go or change (`channels/changed`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "incoming" -d 'Bring a message in from a channel (`channels/incoming`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "list-host" -d 'Ask the host which channels it knows (`channels/list`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "list" -d 'Ask a server which channels it has (`channels/list`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "open" -d 'Have a server open a channel (`channels/open`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "close" -d 'Have a server close a channel (`channels/close`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "publish" -d 'Have a server deliver content to a channel (`channels/publish`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "outgoing" -d 'Show a server what goes out by a channel (`channels/outgoing/chunk`, then `…/complete`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from channel" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l as -d 'As whom to send: toward the server, or (into a live session only) toward the client' -r -f -a "host\t'As the host (the client): toward the server'
server\t'As the server: toward the client'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l format -d 'How to print' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l expect -d 'What must be true of each result, in jq\'s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l repeat -d 'How often, on one connection. A summary is told at the end, on standard error' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l interval -d 'How long from the beginning of one to that of the next; at once where that is over' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l era -d 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks. `call` asks with `server/discover` and falls back to `initialize`; `host`, `fire` and `events watch`, which need the handshake, do the reverse'
legacy\t'`initialize`: revisions up to 2025-11-25'
modern\t'`server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l protocol-version -d 'The protocol version to ask for, known or not' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l timeout -d 'How long an answer may take: 30s where nothing is said' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l record -d 'Keep the session in a reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l listen -d 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l allow-host -d 'A name beside those of this machine that `Host` may have (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l allow-origin -d 'An origin beside this machine that browsers may come from (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l max-body -d 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l url -d 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -s H -l header -d 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l header-env -d 'A header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l cacert -d 'Trust the certificates in this PEM file, beside those of the system' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l config -d 'An MCP client\'s configuration to find the server in; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l server -d 'The server\'s name in that configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l session -d 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -s e -l env -d 'Add to the server\'s environment (repeatable). The value is never written to a reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l no-handshake -d 'Send it as the very first message to the server that is started'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -l insecure -d 'Do not check the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from raw" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "user-message" -d 'Send a user\'s message (`conversation/userMessage`) and print the context that comes back'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "hook" -d 'Fire a hook event: read the server\'s declarations, match them, and print what would be injected'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "push" -d 'Push an event to the host that started this command as its server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "reminder" -d 'Send a reminder (`notifications/reminder`) to the host that started this command as its server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "event" -d 'Publish an event: the server sends it (`events/event`, `events/batch`) to the subscriptions that it is for'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "before-inference" -d 'Ask a server for context before an inference (`context/beforeInference`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "after-inference" -d 'Tell a server what the model said (`context/afterInference`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "inference" -d 'Ask the host\'s model something (`inference/request`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "model-info" -d 'Ask the host which model it runs (`model/info`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "feature-sets" -d 'Fire what either side says about feature sets: which are on, which there are'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "scope" -d 'Ask the host for a scope (`scope/elevate`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "rollback" -d 'Have a server go back to a checkpoint (`state/rollback`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "channel" -d 'Fire a message about channels: as a server at its host, or as a host at a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "raw" -d 'Send one message byte for byte, and print what is answered'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand fire; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and not __fish_seen_subcommand_from watch help" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and not __fish_seen_subcommand_from watch help" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and not __fish_seen_subcommand_from watch help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and not __fish_seen_subcommand_from watch help" -f -a "watch" -d 'Subscribe to events and print each as one JSON object a line, as it comes'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and not __fish_seen_subcommand_from watch help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l tag -d 'Only events with this tag (repeatable: any of them)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l priority -d 'Only events of this priority (repeatable: any of them)' -r -f -a "low\t'It can wait'
normal\t'As most are'
high\t'Soon'
critical\t'At once'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l cron -d 'Have events gathered and delivered on this schedule' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l at -d 'Have events gathered and delivered once, at this time (2026-01-31T09:00:00Z)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l timezone -d 'The time zone of --cron or --at, as an IANA name' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l expect -d 'End after so many events' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l for -d 'End after this time' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l era -d 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks. `call` asks with `server/discover` and falls back to `initialize`; `host`, `fire` and `events watch`, which need the handshake, do the reverse'
legacy\t'`initialize`: revisions up to 2025-11-25'
modern\t'`server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l protocol-version -d 'The protocol version to ask for, known or not' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l timeout -d 'How long an answer may take: 30s where nothing is said' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l record -d 'Keep the session in a reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l url -d 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -s H -l header -d 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l header-env -d 'A header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l cacert -d 'Trust the certificates in this PEM file, beside those of the system' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l config -d 'An MCP client\'s configuration to find the server in; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l server -d 'The server\'s name in that configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l session -d 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -s e -l env -d 'Add to the server\'s environment (repeatable). The value is never written to a reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l renew -d 'Subscribe again where the subscription expires'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l no-reconnect -d 'End where the connection is lost, with exit code 4. That is so in any case for a server\'s command, and with --record'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -l insecure -d 'Do not check the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from help" -f -a "watch" -d 'Subscribe to events and print each as one JSON object a line, as it comes'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand events; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -s f -l format -d 'How to print' -r -f -a "list\t'One line an event'
full\t'Each event with its whole message, laid out and coloured'
table\t'Tables of a thousand rows at most'
json\t'One JSON object an event, as `export --format jsonl` writes it, with what was derived added'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l view -d 'What to show: events, or the tree of checkpoints that servers handed out, with branches, rollbacks, what could not be undone and what is gone (`--format json` for one object a connection)' -r -f -a "events\t'Events'
tree\t'Checkpoints'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l jq -d 'Run a jq program on each event\'s JSON object and print what it gives: strings as they are (on a terminal, with control characters made visible), anything else as JSON' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l session -d 'The reel of a live session; every word is then a filter\'s. `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l time -d 'How times are shown' -r -f -a "offset\t'Seconds from the reel\'s beginning'
clock\t'The clock on the wall here'
utc\t'RFC 3339 in UTC'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l from -d 'Begin at this time: seconds from the reel\'s beginning, or an RFC 3339 time' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l seq -d 'Begin at this event' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -s n -l limit -d 'Show at most so many events' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l full -d 'Short for `--format full`'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l raw -d 'The exact bytes of messages and standard error (of other events where the filter names them), a line end after each'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l no-fold -d 'Do not fold long strings in the full form'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -l follow -d 'Keep reading as the reel grows'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -l session -d 'The reel of a live session, as far as it goes; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -l format -d 'How to print' -r -f -a "human\t'A table'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -l audit -d 'A row for each push, injection, changed response, inference, scope, rollback and message into a channel, with its server, feature set, inference and outcome. Reads every message'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l format -d 'How to print' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l fail-on -d 'The least bad finding that makes the exit code 1' -r -f -a "info\t'Anything found'
warning\t'Warnings and errors'
error\t'Errors'
never\t'Nothing: the exit code tells only whether the reel could be read'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -l rules -d 'List the rules instead'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l format -d 'How to print' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l ignore -d 'A place that never counts, a JSON pointer from the message\'s root with `*` for any one member (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l exact -d 'Member order, number spelling and JSON inside text count too'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l order -d 'The order of exchanges, and of lists with names, counts too'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l ids -d 'Ids are compared by value'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l times -d 'Times are compared by value'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -l stderr -d 'Compare what the servers wrote to standard error, too'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l declare -d 'Declare only this proposal (repeatable): conversation, reminder, mcpl, hooks, mcpe' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l era -d 'The era to speak. The proposals have no carrier in the modern one; plain MCP is served in both' -r -f -a "legacy\t'`initialize`: revisions up to 2025-11-25'
modern\t'`server/discover`: revision 2026-07-28'
both\t'Whichever the host begins with'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l set -d 'Have a proposal\'s side do something otherwise (repeatable): conversation.carrier=request, mcpl.push_sets:=\'["ci.builds"]\', mcpl.channels:=\'["discord:#general"]\', mcpl.redact.api_key=\'sk-\\w+\'' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l plan -d 'Send something by itself: {"after_ms":N,"every_ms":N,"times":N,"fire":{"kind":…}} (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l on-signal -d 'Send this whenever the process gets SIGUSR1 (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l scenario -d 'Play one built-in server\'s part of this scenario: what it fires and when, the faults on its connection, and which messages are expected there. The host is whoever starts this, or comes with --listen; once it has gone the report goes to standard error' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l as -d 'Which server of the scenario to be' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l junit -d 'Write the scenario\'s report as JUnit XML' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l format -d 'How the scenario\'s report is told' -r -f -a "human\t'In words'
json\t'As one JSON object on one line'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l record -d 'Keep the session in a reel. Where the file exists and a client started this (standard input is a pipe or a socket), the reel gets a free name. Where handlers are allowed it is kept in any case, each of their runs in it' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l memory -d 'Whether it has a memory, and the tools for it' -r -f -a "on\t'It is there'
off\t'It is not'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l watch -d 'Watch this folder (repeatable). Its text files are resources; a change is told to those who subscribed to the file or a folder above it, and to all as a reminder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l ignore -d 'Ignore what this matches, by its name or its path from the folder (repeatable), beside .git, target and node_modules' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l watch-command -d 'Run this command in a shell at the start and after each change, and remind when another outcome came of it (repeatable). Its outcome is told by the tool `check` too' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l watch-every -d 'Run the commands again after this time, too' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l watch-limit -d 'How long a command may take' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l watch-quiet -d 'Tell changes once nothing has changed for so long' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l allow-handlers -d 'Let subscriptions have handlers of this kind (repeatable, or with commas). With bash, whoever subscribes runs any command as you. Without it, a subscription with a handler is refused' -r -f -a "bash\t'A command of the subscriber\'s in a shell'
webhook\t'An HTTP POST'
agent\t'The host\'s model, or --agent-command'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l handler-timeout -d 'How long a handler may take at most' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l handler-dir -d 'The folder where bash handlers run; their own is found from there' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l handler-shell -d 'What takes a bash handler\'s command as its last argument: a sandbox, as in \'bwrap --ro-bind / / bash -c\'' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l handler-secret -d 'Let webhooks to this host have the environment\'s variable NAME where their headers say ${NAME} (repeatable). Without a port, only the scheme\'s own (443 for https, 80 for http) gets it. An IPv6 address stands in brackets before a port' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l agent-command -d 'Answer agent handlers with this program, not with the host\'s model: what is asked comes as JSON on its standard input. Where bash is allowed too, which could look into it, it finds as little in its environment' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l webhook -d 'Take JSON posts here, on this machine only, and push each as an event: a port (0 takes a free one) or HOST:PORT. The body may have eventId, text, payload, origin and featureSet; another object is the event\'s text as a whole. A post to /events/TYPE is published to subscriptions (MCPE): its data, tags and priority, or all of it as the data' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l channel-socket -d 'Have a channel over a Unix socket of this path: each line is a message of it, as text or JSON; what the host publishes comes out, a JSON line each' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l feed -d 'Send what lines say, each what --on-signal takes: from a file or FIFO, from whoever connects to a Unix socket (unix:PATH), or from standard input (-, with --listen). They are read once a host is there' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l report -d 'Write facts here, one JSON object a line' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l answer-timeout -d 'How long an answer of the host is waited for' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l seed -d 'Draw ids from this seed; the same seed and input give the same bytes' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l listen -d 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l allow-host -d 'A name beside those of this machine that `Host` may have (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l allow-origin -d 'An origin beside this machine that browsers may come from (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l max-body -d 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -s s -l add -d 'A server: NAME=COMMAND, NAME=URL or NAME=session:SESSION (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l builtin -d 'The built-in server under this name, with all proposals or those named (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l say -d 'Say this (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l do -d 'Do what this line says, as if it was typed (repeatable; after what is said)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l scenario -d 'Play this scenario (YAML; docs/scenario.schema.json) and judge what it expects' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l clock -d 'Whose time passes in the scenario; what it says itself where this is not given' -r -f -a "real\t'This machine\'s time'
virtual\t'Time that jumps to whatever is due next; built-in servers only'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l junit -d 'Write the scenario\'s report as JUnit XML' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l model -d 'The built-in model' -r -f -a "echo\t'Says what it was asked, the same every time'
none\t'Says nothing'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l model-command -d 'A program as the model: the prompt as JSON on its standard input, its answer on its standard output' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l model-timeout -d 'How long that program may take' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l policy -d 'A policy, in YAML or JSON: `all` and `servers`, each with options by proposal; and a `layout`' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l set -d 'Set an option, for all servers or for one (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l on-event -d 'Take events of subscriptions somewhere, too: PATTERN=file:PATH adds a line of JSON to a file, PATTERN=command:COMMAND gives it to a command on its standard input (repeatable; mcpe.route is for the prompt and for turns)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l system -d 'What the host itself says to the model; or @FILE' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l project -d 'The project\'s name, for templates; the folder\'s where none is given' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l seed -d 'What ids are drawn from: the same seed, the same prompts' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l format -d 'What to print' -r -f -a "human\t'A transcript'
json\t'One object a line'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l era -d 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1' -r -f -a "auto\t'Whichever the server speaks. `call` asks with `server/discover` and falls back to `initialize`; `host`, `fire` and `events watch`, which need the handshake, do the reverse'
legacy\t'`initialize`: revisions up to 2025-11-25'
modern\t'`server/discover`: revision 2026-07-28'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l protocol-version -d 'The protocol version to ask for, known or not' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l timeout -d 'How long an answer may take: 30s where nothing is said' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l root -d 'A root to offer to the server: a folder or a URI (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l record -d 'Keep the session in a reel' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l url -d 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -s H -l header -d 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l header-env -d 'A header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l cacert -d 'Trust the certificates in this PEM file, beside those of the system' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l config -d 'An MCP client\'s configuration to find the server in; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l server -d 'A server of that configuration (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l session -d 'A live session: at its address where it listens, else in the connection of its client, beside that' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -s e -l env -d 'Add to the server\'s environment (repeatable). The value is never written to a reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l trace -d 'Show what happens in the scenario, not only the report'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l options -d 'List what can be set, and its defaults'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l prompts -d 'Show each prompt'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -l insecure -d 'Do not check the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand host" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l value -d 'A value that stands for {NAME} in the file (repeatable), in place of its own' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -s o -l output -d 'Write the reel here; `-` is standard output, where there is no client' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l label -d 'A name for the reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l note -d 'A note kept in the reel (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l on-overload -d 'What to do when recording cannot keep up: hold the traffic back, or record less and say so' -r -f -a "block\t'Lose nothing; traffic may slow down to the disk\'s pace'
drop\t'Never slow traffic; losses are counted and noted in the reel'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l queue-bytes -d 'How many bytes may wait for the recorder' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l url -d 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -s H -l header -d 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l header-env -d 'A header whose value is in an environment variable (repeatable)' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l cacert -d 'Trust the certificates in this PEM file, beside those of the system' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l config -d 'An MCP client\'s configuration to find the server in; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l server -d 'The server\'s name in that configuration' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -s e -l env -d 'Add to the server\'s environment (repeatable). The value is never written to a reel' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l cwd -d 'Start the server in this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l session -d 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l check -d 'Check the file, and start nothing'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l schema -d 'Print the file\'s JSON Schema'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l force -d 'Overwrite the file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l require-recording -d 'Fail where the session cannot be recorded: before the server starts, or with exit code 4 as soon as writing fails'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -l insecure -d 'Do not check the server\'s certificate'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand overlay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l only -d 'Only this proposal\'s declarations and messages (repeatable): conversation, reminder, mcpl, hooks, mcpe' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l wait -d 'How long an answer is waited for, to a message and to a ping' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l connect -d 'How long the client may take from its start to the end of the handshake' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l restarts -d 'How often the client is started again at most' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -s o -l output -d 'Write the reel here, a stream for each session; by default among the recordings' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l format -d 'How to print' -r -f -a "human\t'A table'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -l max-message -d 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit' -r
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand survive" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand sessions" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand sessions" -l format -d 'How to print' -r -f -a "human\t'A table'
json\t'One JSON object a session, each on a line'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand sessions" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand sessions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat help" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat help" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat help" -f -a "info" -d 'What a reel says about itself and holds'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat help" -f -a "verify" -d 'Read everything, compare the index with it, and report every damage. Exit code 1 where there is any'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat help" -f -a "repair" -d 'Write a whole reel from what can be read; what is lost is noted as gaps'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat help" -f -a "index" -d 'Give a reel without an index (from a killed recorder), or with a wrong one, its index, in place'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat help" -f -a "compact" -d 'Pack a reel as small as it gets. One that would not become smaller stays as it is'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat help" -f -a "cat" -d 'The exact bytes of one direction, or of standard error'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and not __fish_seen_subcommand_from info verify repair index compact cat help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from info" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from info" -l format -d 'How to print' -r -f -a "human\t'Text'
json\t'One JSON object'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from info" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from info" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from verify" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from repair" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from repair" -s o -l output -d 'Write here; in place where nothing is named; `-` is standard output' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from repair" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from repair" -l force -d 'Overwrite the file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from repair" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from index" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from index" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from index" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from compact" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from compact" -s o -l output -d 'Write here; in place where nothing is named; `-` is standard output' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from compact" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from compact" -l force -d 'Overwrite the file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from compact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cat" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cat" -l stream -d 'Whose bytes' -r -f -a "c2s\t'From the client to the server'
s2c\t'From the server to the client'
stderr\t'The server\'s standard error'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cat" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from cat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "info" -d 'What a reel says about itself and holds'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Read everything, compare the index with it, and report every damage. Exit code 1 where there is any'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "repair" -d 'Write a whole reel from what can be read; what is lost is noted as gaps'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "index" -d 'Give a reel without an index (from a killed recorder), or with a wrong one, its index, in place'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "compact" -d 'Pack a reel as small as it gets. One that would not become smaller stays as it is'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "cat" -d 'The exact bytes of one direction, or of standard error'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand reel; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -l format -d 'The format' -r -f -a "jsonl\t'JSON lines, one event a line; loses nothing'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -s o -l output -d 'Write here; `-` is standard output' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -l force -d 'Overwrite the file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand import" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand import" -l format -d 'The format' -r -f -a "auto\t'What the first line shows'
jsonl\t'What `export` writes: JSON lines, one event a line; loses nothing'
transcript\t'JSON lines of other tools: each with a time, a direction (c2s, s2c, client_to_server, …) and a message'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand import" -s o -l output -d 'Write the reel here; `-` is standard output' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand import" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand import" -l force -d 'Overwrite the file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -l config -d 'The client\'s configuration; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -l bin -d 'The mcpreel that the client is to start. Where none is named, it is this one by its path, and in a file that a project shares `mcpreel`, as PATH has it: no path of yours goes into such a file' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -l all -d 'Every server of the file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -s y -l yes -d 'Write without asking'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -l dry-run -d 'Show the change and write nothing'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -l no-backup -d 'Keep no copy of the old file (FILE.bak-TIME)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand wrap" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -l config -d 'The client\'s configuration; the usual places are searched where none is named' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -l all -d 'Every server of the file'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -s y -l yes -d 'Write without asking'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -l dry-run -d 'Show the change and write nothing'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -l no-backup -d 'Keep no copy of the old file (FILE.bak-TIME)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand unwrap" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand completions" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand completions" -l all -d 'Write every shell\'s script into this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand completions" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand man" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c mcpreel -n "__fish_mcpreel_using_subcommand man" -l all -d 'Write every page into this folder' -r -F
complete -c mcpreel -n "__fish_mcpreel_using_subcommand man" -s v -l verbose -d 'Tell more on standard error; twice for more still'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "demo" -d 'See everything at once, on the built-in server: record, show, check, sum up'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "record" -d 'Tap a session: start a server, relay every byte both ways, keep a copy in a reel'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "call" -d 'Send one request to a server and print the result'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "fire" -d 'Fire one event by hand: a user message, a hook event, a push event, a reminder, or any message as it is'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "events" -d 'Subscribe to a server\'s events (MCPE)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "show" -d 'Show what crossed the wire: a line a message, in full, as a table or as JSON'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "stats" -d 'Count what happened: messages, bytes, errors, latencies, unanswered requests, by method'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "validate" -d 'Check a session: JSON-RPC, MCP\'s rules and schemas, and the five proposals\''
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "diff" -d 'Compare two reels: what was asked and answered, not when or under which id'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "serve" -d 'Be a server: the built-in live server, which declares all five proposals'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "host" -d 'Be a host: run a conversation over several servers, with all that they declare'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "overlay" -d 'Tap a server and add what a file says: hooks, context for user messages, reminders, pushes, events'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "survive" -d 'Try the proposals on an MCP client: what does it answer, refuse, ignore, and what breaks it?'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "sessions" -d 'List the live sessions: every running `record` and `serve` of yours'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "reel" -d 'Look after reel files: info, verify, repair, index, compact, cat'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "export" -d 'Write a reel in another format'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "import" -d 'Make a reel of another format'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "wrap" -d 'Put the tap in front of servers in an MCP client\'s configuration'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "unwrap" -d 'Take the tap out of an MCP client\'s configuration again'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "completions" -d 'Print a shell\'s completion script'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "man" -d 'Print a manual page, or write all of them'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and not __fish_seen_subcommand_from demo record call fire events show stats validate diff serve host overlay survive sessions reel export import wrap unwrap completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "user-message" -d 'Send a user\'s message (`conversation/userMessage`) and print the context that comes back'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "hook" -d 'Fire a hook event: read the server\'s declarations, match them, and print what would be injected'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "push" -d 'Push an event to the host that started this command as its server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "reminder" -d 'Send a reminder (`notifications/reminder`) to the host that started this command as its server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "event" -d 'Publish an event: the server sends it (`events/event`, `events/batch`) to the subscriptions that it is for'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "before-inference" -d 'Ask a server for context before an inference (`context/beforeInference`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "after-inference" -d 'Tell a server what the model said (`context/afterInference`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "inference" -d 'Ask the host\'s model something (`inference/request`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "model-info" -d 'Ask the host which model it runs (`model/info`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "feature-sets" -d 'Fire what either side says about feature sets: which are on, which there are'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "scope" -d 'Ask the host for a scope (`scope/elevate`), as a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "rollback" -d 'Have a server go back to a checkpoint (`state/rollback`), as its host'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "channel" -d 'Fire a message about channels: as a server at its host, or as a host at a server'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from fire" -f -a "raw" -d 'Send one message byte for byte, and print what is answered'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from events" -f -a "watch" -d 'Subscribe to events and print each as one JSON object a line, as it comes'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "info" -d 'What a reel says about itself and holds'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "verify" -d 'Read everything, compare the index with it, and report every damage. Exit code 1 where there is any'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "repair" -d 'Write a whole reel from what can be read; what is lost is noted as gaps'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "index" -d 'Give a reel without an index (from a killed recorder), or with a wrong one, its index, in place'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "compact" -d 'Pack a reel as small as it gets. One that would not become smaller stays as it is'
complete -c mcpreel -n "__fish_mcpreel_using_subcommand help; and __fish_seen_subcommand_from reel" -f -a "cat" -d 'The exact bytes of one direction, or of standard error'

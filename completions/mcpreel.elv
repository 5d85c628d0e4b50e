
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
            cand --color 'When to colour output'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand demo 'See everything at once, on the built-in server: record, show, check, sum up'
            cand record 'Tap a session: start a server, relay every byte both ways, keep a copy in a reel'
            cand call 'Send one request to a server and print the result'
            cand fire 'Fire one event by hand: a user message, a hook event, a push event, a reminder, or any message as it is'
            cand events 'Subscribe to a server''s events (MCPE)'
            cand show 'Show what crossed the wire: a line a message, in full, as a table or as JSON'
            cand stats 'Count what happened: messages, bytes, errors, latencies, unanswered requests, by method'
            cand validate 'Check a session: JSON-RPC, MCP''s rules and schemas, and the five proposals'''
            cand diff 'Compare two reels: what was asked and answered, not when or under which id'
            cand serve 'Be a server: the built-in live server, which declares all five proposals'
            cand host 'Be a host: run a conversation over several servers, with all that they declare'
            cand overlay 'Tap a server and add what a file says: hooks, context for user messages, reminders, pushes, events'
            cand survive 'Try the proposals on an MCP client: what does it answer, refuse, ignore, and what breaks it?'
            cand sessions 'List the live sessions: every running `record` and `serve` of yours'
            cand reel 'Look after reel files: info, verify, repair, index, compact, cat'
            cand export 'Write a reel in another format'
            cand import 'Make a reel of another format'
            cand wrap 'Put the tap in front of servers in an MCP client''s configuration'
            cand unwrap 'Take the tap out of an MCP client''s configuration again'
            cand completions 'Print a shell''s completion script'
            cand man 'Print a manual page, or write all of them'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;demo'= {
            cand --color 'When to colour output'
            cand -o 'Write the reel here; among the recordings where nothing is named'
            cand --output 'Write the reel here; among the recordings where nothing is named'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;record'= {
            cand --color 'When to colour output'
            cand -o 'Write the reel here; `-` is standard output, where there is no client'
            cand --output 'Write the reel here; `-` is standard output, where there is no client'
            cand --label 'A name for the reel'
            cand --note 'A note kept in the reel (repeatable)'
            cand --on-overload 'What to do when recording cannot keep up: hold the traffic back, or record less and say so'
            cand --queue-bytes 'How many bytes may wait for the recorder'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Overwrite the file'
            cand --require-recording 'Fail where the session cannot be recorded: before the server starts, or with exit code 4 as soon as writing fails'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;call'= {
            cand --color 'When to colour output'
            cand --format 'What to print'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --notify 'Send it as a notification: nothing is answered or printed. So is every method that begins with notifications/'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire'= {
            cand --color 'When to colour output'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand user-message 'Send a user''s message (`conversation/userMessage`) and print the context that comes back'
            cand hook 'Fire a hook event: read the server''s declarations, match them, and print what would be injected'
            cand push 'Push an event to the host that started this command as its server'
            cand reminder 'Send a reminder (`notifications/reminder`) to the host that started this command as its server'
            cand event 'Publish an event: the server sends it (`events/event`, `events/batch`) to the subscriptions that it is for'
            cand before-inference 'Ask a server for context before an inference (`context/beforeInference`), as its host'
            cand after-inference 'Tell a server what the model said (`context/afterInference`), as its host'
            cand inference 'Ask the host''s model something (`inference/request`), as a server'
            cand model-info 'Ask the host which model it runs (`model/info`), as a server'
            cand feature-sets 'Fire what either side says about feature sets: which are on, which there are'
            cand scope 'Ask the host for a scope (`scope/elevate`), as a server'
            cand rollback 'Have a server go back to a checkpoint (`state/rollback`), as its host'
            cand channel 'Fire a message about channels: as a server at its host, or as a host at a server'
            cand raw 'Send one message byte for byte, and print what is answered'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;fire;user-message'= {
            cand --color 'When to colour output'
            cand --message-id 'Its id; a new one where none is given'
            cand --history 'An earlier message, oldest first (repeatable): user=TEXT or assistant=TEXT'
            cand --carrier 'How it travels'
            cand --deadline 'How long the server may take'
            cand --linger 'How long to wait after the deadline, to name late answers'
            cand --format 'How to print'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Send it even where the server did not subscribe'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;hook'= {
            cand --color 'When to colour output'
            cand --tool 'The tool''s bare name (tool events)'
            cand --tool-server 'The server that provides the tool'
            cand --input 'The tool''s arguments (repeatable): name=text, name:=JSON, a JSON object, @file'
            cand --output 'The tool''s result (repeatable), as --input'
            cand --project 'For {project_name}; the current folder''s name where none is given'
            cand --session-id 'For {session_id}'
            cand --format 'How to print'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --no-call 'Name the context tools, but do not call them'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;push'= {
            cand --color 'When to colour output'
            cand --text 'What happened, in words'
            cand --feature-set 'The feature set that it belongs to; the server''s own that declares pushEvents where none is named'
            cand --event-id 'The event''s id; a new one where none is given'
            cand --origin 'Where it is from (repeatable): name=text, name:=JSON, a JSON object'
            cand --after 'How long after the handshake'
            cand --session 'Into a live session instead, as its server: `mcpreel sessions` lists them'
            cand --format 'How to print what came of it, with --session'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --report 'Write facts here, one JSON object a line'
            cand --answer-timeout 'How long an answer of the host is waited for'
            cand --seed 'Draw ids from this seed; the same seed and input give the same bytes'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --on-signal 'Only when the process gets SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;reminder'= {
            cand --color 'When to colour output'
            cand --tag 'A label (repeatable)'
            cand --dedupe-key 'A newer reminder with the same key replaces an older one that waits'
            cand --ttl 'For how many turns it holds'
            cand --propagate 'Which agents see it'
            cand --role 'As whom the host should say it'
            cand --after 'How long after the handshake'
            cand --session 'Into a live session instead, as its server: `mcpreel sessions` lists them'
            cand --format 'How to print what came of it, with --session'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --report 'Write facts here, one JSON object a line'
            cand --answer-timeout 'How long an answer of the host is waited for'
            cand --seed 'Draw ids from this seed; the same seed and input give the same bytes'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --preserve 'It outlives a compaction of the conversation'
            cand --legacy 'In the older envelope: a log message with `_meta.harn.reminder`'
            cand --on-signal 'Only when the process gets SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;event'= {
            cand --color 'When to colour output'
            cand --data 'A member of its data (repeatable): NAME=TEXT, or NAME:=JSON'
            cand --tag 'A label (repeatable)'
            cand --priority 'How urgent it is'
            cand --source-event-id 'What its source calls it'
            cand --after 'How long after the handshake'
            cand --session 'Into a live session instead, as its server: `mcpreel sessions` lists them'
            cand --format 'How to print what came of it, with --session'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --report 'Write facts here, one JSON object a line'
            cand --answer-timeout 'How long an answer of the host is waited for'
            cand --seed 'Draw ids from this seed; the same seed and input give the same bytes'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --on-signal 'Only when the process gets SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;before-inference'= {
            cand --color 'When to colour output'
            cand --inference 'Its id; a new one where none is given'
            cand --conversation 'The conversation''s id'
            cand --turn 'The turn''s number, from 0; it counts up with --repeat'
            cand --model 'The model''s id'
            cand --channel 'The channel that the message came in by'
            cand --deadline 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s'
            cand --format 'How to print'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Send it even where the server did not declare what takes it'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;after-inference'= {
            cand --color 'When to colour output'
            cand --message 'What the user had said'
            cand --inference 'Its id; a new one where none is given'
            cand --conversation 'The conversation''s id'
            cand --turn 'The turn''s number, from 0; it counts up with --repeat'
            cand --model 'The model''s id'
            cand --carrier 'How it travels'
            cand --deadline 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s'
            cand --format 'How to print'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Send it even where the server did not declare what takes it'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;inference'= {
            cand --color 'When to colour output'
            cand --feature-set 'The feature set that it belongs to; the server''s own that declares inferenceRequest where none is named'
            cand --conversation 'The conversation that it belongs to'
            cand --max-tokens 'How many tokens the model may give at most'
            cand --temperature 'How freely the model may choose'
            cand --after 'How long after the handshake'
            cand --session 'Into a live session instead, as its server: `mcpreel sessions` lists them'
            cand --format 'How to print what came of it, with --session'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --report 'Write facts here, one JSON object a line'
            cand --answer-timeout 'How long an answer of the host is waited for'
            cand --seed 'Draw ids from this seed; the same seed and input give the same bytes'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --stream 'Have the answer streamed, where the host can'
            cand --on-signal 'Only when the process gets SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;model-info'= {
            cand --color 'When to colour output'
            cand --after 'How long after the handshake'
            cand --session 'Into a live session instead, as its server: `mcpreel sessions` lists them'
            cand --format 'How to print what came of it, with --session'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --report 'Write facts here, one JSON object a line'
            cand --answer-timeout 'How long an answer of the host is waited for'
            cand --seed 'Draw ids from this seed; the same seed and input give the same bytes'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --on-signal 'Only when the process gets SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;feature-sets'= {
            cand --color 'When to colour output'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand update 'Tell a server which of its feature sets are on (`featureSets/update`), as its host'
            cand changed 'Tell the host of feature sets that came or went (`featureSets/changed`), as a server'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;fire;feature-sets;update'= {
            cand --color 'When to colour output'
            cand --enable 'A set that is on (repeatable)'
            cand --disable 'A set that is off (repeatable)'
            cand --allow 'A pattern for a set''s whitelist (repeatable): SET=PATTERN'
            cand --deny 'A pattern for a set''s blacklist (repeatable): SET=PATTERN'
            cand --deadline 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s'
            cand --format 'How to print'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Send it even where the server did not declare what takes it'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;feature-sets;changed'= {
            cand --color 'When to colour output'
            cand --add 'A set that is new (repeatable): NAME=USE,USE… or NAME:=DECLARATION'
            cand --remove 'A set that goes (repeatable)'
            cand --after 'How long after the handshake'
            cand --session 'Into a live session instead, as its server: `mcpreel sessions` lists them'
            cand --format 'How to print what came of it, with --session'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --report 'Write facts here, one JSON object a line'
            cand --answer-timeout 'How long an answer of the host is waited for'
            cand --seed 'Draw ids from this seed; the same seed and input give the same bytes'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --on-signal 'Only when the process gets SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;feature-sets;help'= {
            cand update 'Tell a server which of its feature sets are on (`featureSets/update`), as its host'
            cand changed 'Tell the host of feature sets that came or went (`featureSets/changed`), as a server'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;fire;feature-sets;help;update'= {
        }
        &'mcpreel;fire;feature-sets;help;changed'= {
        }
        &'mcpreel;fire;feature-sets;help;help'= {
        }
        &'mcpreel;fire;scope'= {
            cand --color 'When to colour output'
            cand --payload 'What comes back with an approval (repeatable): name=text, name:=JSON, a JSON object'
            cand --feature-set 'The feature set that it belongs to; the server''s own that is scoped where none is named'
            cand --after 'How long after the handshake'
            cand --session 'Into a live session instead, as its server: `mcpreel sessions` lists them'
            cand --format 'How to print what came of it, with --session'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --report 'Write facts here, one JSON object a line'
            cand --answer-timeout 'How long an answer of the host is waited for'
            cand --seed 'Draw ids from this seed; the same seed and input give the same bytes'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --on-signal 'Only when the process gets SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;rollback'= {
            cand --color 'When to colour output'
            cand --feature-set 'The feature set; the server''s first that can roll back where none is named'
            cand --deadline 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s'
            cand --format 'How to print'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Send it even where the server did not declare what takes it'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel'= {
            cand --color 'When to colour output'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand register 'Register channels (`channels/register`), as a server'
            cand changed 'Tell of channels that come, go or change (`channels/changed`), as a server'
            cand incoming 'Bring a message in from a channel (`channels/incoming`), as a server'
            cand list-host 'Ask the host which channels it knows (`channels/list`), as a server'
            cand list 'Ask a server which channels it has (`channels/list`), as its host'
            cand open 'Have a server open a channel (`channels/open`), as its host'
            cand close 'Have a server close a channel (`channels/close`), as its host'
            cand publish 'Have a server deliver content to a channel (`channels/publish`), as its host'
            cand outgoing 'Show a server what goes out by a channel (`channels/outgoing/chunk`, then `…/complete`), as its host'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;fire;channel;register'= {
            cand --color 'When to colour output'
            cand --after 'How long after the handshake'
            cand --session 'Into a live session instead, as its server: `mcpreel sessions` lists them'
            cand --format 'How to print what came of it, with --session'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --report 'Write facts here, one JSON object a line'
            cand --answer-timeout 'How long an answer of the host is waited for'
            cand --seed 'Draw ids from this seed; the same seed and input give the same bytes'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --on-signal 'Only when the process gets SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;changed'= {
            cand --color 'When to colour output'
            cand --add 'One that is new (repeatable): its id, or its descriptor as JSON or @file'
            cand --remove 'One that goes, by its id (repeatable)'
            cand --update 'One that is otherwise now (repeatable): its descriptor as JSON, or its id'
            cand --after 'How long after the handshake'
            cand --session 'Into a live session instead, as its server: `mcpreel sessions` lists them'
            cand --format 'How to print what came of it, with --session'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --report 'Write facts here, one JSON object a line'
            cand --answer-timeout 'How long an answer of the host is waited for'
            cand --seed 'Draw ids from this seed; the same seed and input give the same bytes'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --on-signal 'Only when the process gets SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;incoming'= {
            cand --color 'When to colour output'
            cand --channel 'The channel''s id'
            cand --message-id 'The message''s id; a new one where none is given'
            cand --thread 'Its thread'
            cand --author 'Who wrote it'
            cand --metadata 'Anything else about it (repeatable): name=text, name:=JSON, a JSON object'
            cand --after 'How long after the handshake'
            cand --session 'Into a live session instead, as its server: `mcpreel sessions` lists them'
            cand --format 'How to print what came of it, with --session'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --report 'Write facts here, one JSON object a line'
            cand --answer-timeout 'How long an answer of the host is waited for'
            cand --seed 'Draw ids from this seed; the same seed and input give the same bytes'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --on-signal 'Only when the process gets SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;list-host'= {
            cand --color 'When to colour output'
            cand --after 'How long after the handshake'
            cand --session 'Into a live session instead, as its server: `mcpreel sessions` lists them'
            cand --format 'How to print what came of it, with --session'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --report 'Write facts here, one JSON object a line'
            cand --answer-timeout 'How long an answer of the host is waited for'
            cand --seed 'Draw ids from this seed; the same seed and input give the same bytes'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --on-signal 'Only when the process gets SIGUSR1'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;list'= {
            cand --color 'When to colour output'
            cand --deadline 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s'
            cand --format 'How to print'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Send it even where the server did not declare what takes it'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;open'= {
            cand --color 'When to colour output'
            cand --deadline 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s'
            cand --format 'How to print'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Send it even where the server did not declare what takes it'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;close'= {
            cand --color 'When to colour output'
            cand --deadline 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s'
            cand --format 'How to print'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Send it even where the server did not declare what takes it'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;publish'= {
            cand --color 'When to colour output'
            cand --conversation 'The conversation''s id'
            cand --deadline 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s'
            cand --format 'How to print'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --notification 'As a notification: nobody says whether it was delivered'
            cand --force 'Send it even where the server did not declare what takes it'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;outgoing'= {
            cand --color 'When to colour output'
            cand --chunks 'In how many pieces before the whole'
            cand --inference 'The inference''s id; a new one where none is given'
            cand --conversation 'The conversation''s id'
            cand --deadline 'How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s'
            cand --format 'How to print'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Send it even where the server did not declare what takes it'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;channel;help'= {
            cand register 'Register channels (`channels/register`), as a server'
            cand changed 'Tell of channels that come, go or change (`channels/changed`), as a server'
            cand incoming 'Bring a message in from a channel (`channels/incoming`), as a server'
            cand list-host 'Ask the host which channels it knows (`channels/list`), as a server'
            cand list 'Ask a server which channels it has (`channels/list`), as its host'
            cand open 'Have a server open a channel (`channels/open`), as its host'
            cand close 'Have a server close a channel (`channels/close`), as its host'
            cand publish 'Have a server deliver content to a channel (`channels/publish`), as its host'
            cand outgoing 'Show a server what goes out by a channel (`channels/outgoing/chunk`, then `…/complete`), as its host'
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
            cand --color 'When to colour output'
            cand --as 'As whom to send: toward the server, or (into a live session only) toward the client'
            cand --format 'How to print'
            cand --expect 'What must be true of each result, in jq''s language, on what --format json prints. It decides alone what is a failure, but for a peer that fails'
            cand --repeat 'How often, on one connection. A summary is told at the end, on standard error'
            cand --interval 'How long from the beginning of one to that of the next; at once where that is over'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --no-handshake 'Send it as the very first message to the server that is started'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;fire;help'= {
            cand user-message 'Send a user''s message (`conversation/userMessage`) and print the context that comes back'
            cand hook 'Fire a hook event: read the server''s declarations, match them, and print what would be injected'
            cand push 'Push an event to the host that started this command as its server'
            cand reminder 'Send a reminder (`notifications/reminder`) to the host that started this command as its server'
            cand event 'Publish an event: the server sends it (`events/event`, `events/batch`) to the subscriptions that it is for'
            cand before-inference 'Ask a server for context before an inference (`context/beforeInference`), as its host'
            cand after-inference 'Tell a server what the model said (`context/afterInference`), as its host'
            cand inference 'Ask the host''s model something (`inference/request`), as a server'
            cand model-info 'Ask the host which model it runs (`model/info`), as a server'
            cand feature-sets 'Fire what either side says about feature sets: which are on, which there are'
            cand scope 'Ask the host for a scope (`scope/elevate`), as a server'
            cand rollback 'Have a server go back to a checkpoint (`state/rollback`), as its host'
            cand channel 'Fire a message about channels: as a server at its host, or as a host at a server'
            cand raw 'Send one message byte for byte, and print what is answered'
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
            cand update 'Tell a server which of its feature sets are on (`featureSets/update`), as its host'
            cand changed 'Tell the host of feature sets that came or went (`featureSets/changed`), as a server'
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
            cand register 'Register channels (`channels/register`), as a server'
            cand changed 'Tell of channels that come, go or change (`channels/changed`), as a server'
            cand incoming 'Bring a message in from a channel (`channels/incoming`), as a server'
            cand list-host 'Ask the host which channels it knows (`channels/list`), as a server'
            cand list 'Ask a server which channels it has (`channels/list`), as its host'
            cand open 'Have a server open a channel (`channels/open`), as its host'
            cand close 'Have a server close a channel (`channels/close`), as its host'
            cand publish 'Have a server deliver content to a channel (`channels/publish`), as its host'
            cand outgoing 'Show a server what goes out by a channel (`channels/outgoing/chunk`, then `…/complete`), as its host'
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
            cand --color 'When to colour output'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand watch 'Subscribe to events and print each as one JSON object a line, as it comes'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;events;watch'= {
            cand --color 'When to colour output'
            cand --tag 'Only events with this tag (repeatable: any of them)'
            cand --priority 'Only events of this priority (repeatable: any of them)'
            cand --cron 'Have events gathered and delivered on this schedule'
            cand --at 'Have events gathered and delivered once, at this time (2026-01-31T09:00:00Z)'
            cand --timezone 'The time zone of --cron or --at, as an IANA name'
            cand --expect 'End after so many events'
            cand --for 'End after this time'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --renew 'Subscribe again where the subscription expires'
            cand --no-reconnect 'End where the connection is lost, with exit code 4. That is so in any case for a server''s command, and with --record'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;events;help'= {
            cand watch 'Subscribe to events and print each as one JSON object a line, as it comes'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;events;help;watch'= {
        }
        &'mcpreel;events;help;help'= {
        }
        &'mcpreel;show'= {
            cand --color 'When to colour output'
            cand -f 'How to print'
            cand --format 'How to print'
            cand --view 'What to show: events, or the tree of checkpoints that servers handed out, with branches, rollbacks, what could not be undone and what is gone (`--format json` for one object a connection)'
            cand --jq 'Run a jq program on each event''s JSON object and print what it gives: strings as they are (on a terminal, with control characters made visible), anything else as JSON'
            cand --session 'The reel of a live session; every word is then a filter''s. `mcpreel sessions` lists them'
            cand --time 'How times are shown'
            cand --from 'Begin at this time: seconds from the reel''s beginning, or an RFC 3339 time'
            cand --seq 'Begin at this event'
            cand -n 'Show at most so many events'
            cand --limit 'Show at most so many events'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --full 'Short for `--format full`'
            cand --raw 'The exact bytes of messages and standard error (of other events where the filter names them), a line end after each'
            cand --no-fold 'Do not fold long strings in the full form'
            cand --follow 'Keep reading as the reel grows'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;stats'= {
            cand --color 'When to colour output'
            cand --session 'The reel of a live session, as far as it goes; `mcpreel sessions` lists them'
            cand --format 'How to print'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --audit 'A row for each push, injection, changed response, inference, scope, rollback and message into a channel, with its server, feature set, inference and outcome. Reads every message'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;validate'= {
            cand --color 'When to colour output'
            cand --format 'How to print'
            cand --fail-on 'The least bad finding that makes the exit code 1'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --rules 'List the rules instead'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;diff'= {
            cand --color 'When to colour output'
            cand --format 'How to print'
            cand --ignore 'A place that never counts, a JSON pointer from the message''s root with `*` for any one member (repeatable)'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --exact 'Member order, number spelling and JSON inside text count too'
            cand --order 'The order of exchanges, and of lists with names, counts too'
            cand --ids 'Ids are compared by value'
            cand --times 'Times are compared by value'
            cand --stderr 'Compare what the servers wrote to standard error, too'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;serve'= {
            cand --color 'When to colour output'
            cand --declare 'Declare only this proposal (repeatable): conversation, reminder, mcpl, hooks, mcpe'
            cand --era 'The era to speak. The proposals have no carrier in the modern one; plain MCP is served in both'
            cand --set 'Have a proposal''s side do something otherwise (repeatable): conversation.carrier=request, mcpl.push_sets:=''["ci.builds"]'', mcpl.channels:=''["discord:#general"]'', mcpl.redact.api_key=''sk-\w+'''
            cand --plan 'Send something by itself: {"after_ms":N,"every_ms":N,"times":N,"fire":{"kind":…}} (repeatable)'
            cand --on-signal 'Send this whenever the process gets SIGUSR1 (repeatable)'
            cand --scenario 'Play one built-in server''s part of this scenario: what it fires and when, the faults on its connection, and which messages are expected there. The host is whoever starts this, or comes with --listen; once it has gone the report goes to standard error'
            cand --as 'Which server of the scenario to be'
            cand --junit 'Write the scenario''s report as JUnit XML'
            cand --format 'How the scenario''s report is told'
            cand --record 'Keep the session in a reel. Where the file exists and a client started this (standard input is a pipe or a socket), the reel gets a free name. Where handlers are allowed it is kept in any case, each of their runs in it'
            cand --memory 'Whether it has a memory, and the tools for it'
            cand --watch 'Watch this folder (repeatable). Its text files are resources; a change is told to those who subscribed to the file or a folder above it, and to all as a reminder'
            cand --ignore 'Ignore what this matches, by its name or its path from the folder (repeatable), beside .git, target and node_modules'
            cand --watch-command 'Run this command in a shell at the start and after each change, and remind when another outcome came of it (repeatable). Its outcome is told by the tool `check` too'
            cand --watch-every 'Run the commands again after this time, too'
            cand --watch-limit 'How long a command may take'
            cand --watch-quiet 'Tell changes once nothing has changed for so long'
            cand --allow-handlers 'Let subscriptions have handlers of this kind (repeatable, or with commas). With bash, whoever subscribes runs any command as you. Without it, a subscription with a handler is refused'
            cand --handler-timeout 'How long a handler may take at most'
            cand --handler-dir 'The folder where bash handlers run; their own is found from there'
            cand --handler-shell 'What takes a bash handler''s command as its last argument: a sandbox, as in ''bwrap --ro-bind / / bash -c'''
            cand --handler-secret 'Let webhooks to this host have the environment''s variable NAME where their headers say ${NAME} (repeatable). Without a port, only the scheme''s own (443 for https, 80 for http) gets it. An IPv6 address stands in brackets before a port'
            cand --agent-command 'Answer agent handlers with this program, not with the host''s model: what is asked comes as JSON on its standard input. Where bash is allowed too, which could look into it, it finds as little in its environment'
            cand --webhook 'Take JSON posts here, on this machine only, and push each as an event: a port (0 takes a free one) or HOST:PORT. The body may have eventId, text, payload, origin and featureSet; another object is the event''s text as a whole. A post to /events/TYPE is published to subscriptions (MCPE): its data, tags and priority, or all of it as the data'
            cand --channel-socket 'Have a channel over a Unix socket of this path: each line is a message of it, as text or JSON; what the host publishes comes out, a JSON line each'
            cand --feed 'Send what lines say, each what --on-signal takes: from a file or FIFO, from whoever connects to a Unix socket (unix:PATH), or from standard input (-, with --listen). They are read once a host is there'
            cand --report 'Write facts here, one JSON object a line'
            cand --answer-timeout 'How long an answer of the host is waited for'
            cand --seed 'Draw ids from this seed; the same seed and input give the same bytes'
            cand --listen 'Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or unix:PATH for lines'
            cand --allow-host 'A name beside those of this machine that `Host` may have (repeatable)'
            cand --allow-origin 'An origin beside this machine that browsers may come from (repeatable)'
            cand --max-body 'The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners take is bounded by --max-message too'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;host'= {
            cand --color 'When to colour output'
            cand -s 'A server: NAME=COMMAND, NAME=URL or NAME=session:SESSION (repeatable)'
            cand --add 'A server: NAME=COMMAND, NAME=URL or NAME=session:SESSION (repeatable)'
            cand --builtin 'The built-in server under this name, with all proposals or those named (repeatable)'
            cand --say 'Say this (repeatable)'
            cand --do 'Do what this line says, as if it was typed (repeatable; after what is said)'
            cand --scenario 'Play this scenario (YAML; docs/scenario.schema.json) and judge what it expects'
            cand --clock 'Whose time passes in the scenario; what it says itself where this is not given'
            cand --junit 'Write the scenario''s report as JUnit XML'
            cand --model 'The built-in model'
            cand --model-command 'A program as the model: the prompt as JSON on its standard input, its answer on its standard output'
            cand --model-timeout 'How long that program may take'
            cand --policy 'A policy, in YAML or JSON: `all` and `servers`, each with options by proposal; and a `layout`'
            cand --set 'Set an option, for all servers or for one (repeatable)'
            cand --on-event 'Take events of subscriptions somewhere, too: PATTERN=file:PATH adds a line of JSON to a file, PATTERN=command:COMMAND gives it to a command on its standard input (repeatable; mcpe.route is for the prompt and for turns)'
            cand --system 'What the host itself says to the model; or @FILE'
            cand --project 'The project''s name, for templates; the folder''s where none is given'
            cand --seed 'What ids are drawn from: the same seed, the same prompts'
            cand --format 'What to print'
            cand --era 'The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends nothing and exits with 1'
            cand --protocol-version 'The protocol version to ask for, known or not'
            cand --timeout 'How long an answer may take: 30s where nothing is said'
            cand --root 'A root to offer to the server: a folder or a URI (repeatable)'
            cand --record 'Keep the session in a reel'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'A server of that configuration (repeatable)'
            cand --session 'A live session: at its address where it listens, else in the connection of its client, beside that'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --trace 'Show what happens in the scenario, not only the report'
            cand --options 'List what can be set, and its defaults'
            cand --prompts 'Show each prompt'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;overlay'= {
            cand --color 'When to colour output'
            cand --value 'A value that stands for {NAME} in the file (repeatable), in place of its own'
            cand -o 'Write the reel here; `-` is standard output, where there is no client'
            cand --output 'Write the reel here; `-` is standard output, where there is no client'
            cand --label 'A name for the reel'
            cand --note 'A note kept in the reel (repeatable)'
            cand --on-overload 'What to do when recording cannot keep up: hold the traffic back, or record less and say so'
            cand --queue-bytes 'How many bytes may wait for the recorder'
            cand --url 'Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that'
            cand -H 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header 'A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`'
            cand --header-env 'A header whose value is in an environment variable (repeatable)'
            cand --cacert 'Trust the certificates in this PEM file, beside those of the system'
            cand --config 'An MCP client''s configuration to find the server in; the usual places are searched where none is named'
            cand --server 'The server''s name in that configuration'
            cand -e 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --env 'Add to the server''s environment (repeatable). The value is never written to a reel'
            cand --cwd 'Start the server in this folder'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand --session 'A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --check 'Check the file, and start nothing'
            cand --schema 'Print the file''s JSON Schema'
            cand --force 'Overwrite the file'
            cand --require-recording 'Fail where the session cannot be recorded: before the server starts, or with exit code 4 as soon as writing fails'
            cand --insecure 'Do not check the server''s certificate'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;survive'= {
            cand --color 'When to colour output'
            cand --only 'Only this proposal''s declarations and messages (repeatable): conversation, reminder, mcpl, hooks, mcpe'
            cand --wait 'How long an answer is waited for, to a message and to a ping'
            cand --connect 'How long the client may take from its start to the end of the handshake'
            cand --restarts 'How often the client is started again at most'
            cand -o 'Write the reel here, a stream for each session; by default among the recordings'
            cand --output 'Write the reel here, a stream for each session; by default among the recordings'
            cand --format 'How to print'
            cand --max-message 'The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends its connection, with exit code 4 where there is no other. What `record` only passes on has no limit'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;sessions'= {
            cand --color 'When to colour output'
            cand --format 'How to print'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel'= {
            cand --color 'When to colour output'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand info 'What a reel says about itself and holds'
            cand verify 'Read everything, compare the index with it, and report every damage. Exit code 1 where there is any'
            cand repair 'Write a whole reel from what can be read; what is lost is noted as gaps'
            cand index 'Give a reel without an index (from a killed recorder), or with a wrong one, its index, in place'
            cand compact 'Pack a reel as small as it gets. One that would not become smaller stays as it is'
            cand cat 'The exact bytes of one direction, or of standard error'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mcpreel;reel;info'= {
            cand --color 'When to colour output'
            cand --format 'How to print'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;verify'= {
            cand --color 'When to colour output'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;repair'= {
            cand --color 'When to colour output'
            cand -o 'Write here; in place where nothing is named; `-` is standard output'
            cand --output 'Write here; in place where nothing is named; `-` is standard output'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Overwrite the file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;index'= {
            cand --color 'When to colour output'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;compact'= {
            cand --color 'When to colour output'
            cand -o 'Write here; in place where nothing is named; `-` is standard output'
            cand --output 'Write here; in place where nothing is named; `-` is standard output'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Overwrite the file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;cat'= {
            cand --color 'When to colour output'
            cand --stream 'Whose bytes'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;reel;help'= {
            cand info 'What a reel says about itself and holds'
            cand verify 'Read everything, compare the index with it, and report every damage. Exit code 1 where there is any'
            cand repair 'Write a whole reel from what can be read; what is lost is noted as gaps'
            cand index 'Give a reel without an index (from a killed recorder), or with a wrong one, its index, in place'
            cand compact 'Pack a reel as small as it gets. One that would not become smaller stays as it is'
            cand cat 'The exact bytes of one direction, or of standard error'
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
        &'mcpreel;reel;help;help'= {
        }
        &'mcpreel;export'= {
            cand --color 'When to colour output'
            cand --format 'The format'
            cand -o 'Write here; `-` is standard output'
            cand --output 'Write here; `-` is standard output'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Overwrite the file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;import'= {
            cand --color 'When to colour output'
            cand --format 'The format'
            cand -o 'Write the reel here; `-` is standard output'
            cand --output 'Write the reel here; `-` is standard output'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --force 'Overwrite the file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;wrap'= {
            cand --color 'When to colour output'
            cand --config 'The client''s configuration; the usual places are searched where none is named'
            cand --bin 'The mcpreel that the client is to start. Where none is named, it is this one by its path, and in a file that a project shares `mcpreel`, as PATH has it: no path of yours goes into such a file'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --all 'Every server of the file'
            cand -y 'Write without asking'
            cand --yes 'Write without asking'
            cand --dry-run 'Show the change and write nothing'
            cand --no-backup 'Keep no copy of the old file (FILE.bak-TIME)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;unwrap'= {
            cand --color 'When to colour output'
            cand --config 'The client''s configuration; the usual places are searched where none is named'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand --all 'Every server of the file'
            cand -y 'Write without asking'
            cand --yes 'Write without asking'
            cand --dry-run 'Show the change and write nothing'
            cand --no-backup 'Keep no copy of the old file (FILE.bak-TIME)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;completions'= {
            cand --color 'When to colour output'
            cand --all 'Write every shell''s script into this folder'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;man'= {
            cand --color 'When to colour output'
            cand --all 'Write every page into this folder'
            cand -v 'Tell more on standard error; twice for more still'
            cand --verbose 'Tell more on standard error; twice for more still'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mcpreel;help'= {
            cand demo 'See everything at once, on the built-in server: record, show, check, sum up'
            cand record 'Tap a session: start a server, relay every byte both ways, keep a copy in a reel'
            cand call 'Send one request to a server and print the result'
            cand fire 'Fire one event by hand: a user message, a hook event, a push event, a reminder, or any message as it is'
            cand events 'Subscribe to a server''s events (MCPE)'
            cand show 'Show what crossed the wire: a line a message, in full, as a table or as JSON'
            cand stats 'Count what happened: messages, bytes, errors, latencies, unanswered requests, by method'
            cand validate 'Check a session: JSON-RPC, MCP''s rules and schemas, and the five proposals'''
            cand diff 'Compare two reels: what was asked and answered, not when or under which id'
            cand serve 'Be a server: the built-in live server, which declares all five proposals'
            cand host 'Be a host: run a conversation over several servers, with all that they declare'
            cand overlay 'Tap a server and add what a file says: hooks, context for user messages, reminders, pushes, events'
            cand survive 'Try the proposals on an MCP client: what does it answer, refuse, ignore, and what breaks it?'
            cand sessions 'List the live sessions: every running `record` and `serve` of yours'
            cand reel 'Look after reel files: info, verify, repair, index, compact, cat'
            cand export 'Write a reel in another format'
            cand import 'Make a reel of another format'
            cand wrap 'Put the tap in front of servers in an MCP client''s configuration'
            cand unwrap 'Take the tap out of an MCP client''s configuration again'
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
            cand user-message 'Send a user''s message (`conversation/userMessage`) and print the context that comes back'
            cand hook 'Fire a hook event: read the server''s declarations, match them, and print what would be injected'
            cand push 'Push an event to the host that started this command as its server'
            cand reminder 'Send a reminder (`notifications/reminder`) to the host that started this command as its server'
            cand event 'Publish an event: the server sends it (`events/event`, `events/batch`) to the subscriptions that it is for'
            cand before-inference 'Ask a server for context before an inference (`context/beforeInference`), as its host'
            cand after-inference 'Tell a server what the model said (`context/afterInference`), as its host'
            cand inference 'Ask the host''s model something (`inference/request`), as a server'
            cand model-info 'Ask the host which model it runs (`model/info`), as a server'
            cand feature-sets 'Fire what either side says about feature sets: which are on, which there are'
            cand scope 'Ask the host for a scope (`scope/elevate`), as a server'
            cand rollback 'Have a server go back to a checkpoint (`state/rollback`), as its host'
            cand channel 'Fire a message about channels: as a server at its host, or as a host at a server'
            cand raw 'Send one message byte for byte, and print what is answered'
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
            cand update 'Tell a server which of its feature sets are on (`featureSets/update`), as its host'
            cand changed 'Tell the host of feature sets that came or went (`featureSets/changed`), as a server'
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
            cand register 'Register channels (`channels/register`), as a server'
            cand changed 'Tell of channels that come, go or change (`channels/changed`), as a server'
            cand incoming 'Bring a message in from a channel (`channels/incoming`), as a server'
            cand list-host 'Ask the host which channels it knows (`channels/list`), as a server'
            cand list 'Ask a server which channels it has (`channels/list`), as its host'
            cand open 'Have a server open a channel (`channels/open`), as its host'
            cand close 'Have a server close a channel (`channels/close`), as its host'
            cand publish 'Have a server deliver content to a channel (`channels/publish`), as its host'
            cand outgoing 'Show a server what goes out by a channel (`channels/outgoing/chunk`, then `…/complete`), as its host'
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
            cand watch 'Subscribe to events and print each as one JSON object a line, as it comes'
        }
        &'mcpreel;help;events;watch'= {
        }
        &'mcpreel;help;show'= {
        }
        &'mcpreel;help;stats'= {
        }
        &'mcpreel;help;validate'= {
        }
        &'mcpreel;help;diff'= {
        }
        &'mcpreel;help;serve'= {
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
            cand info 'What a reel says about itself and holds'
            cand verify 'Read everything, compare the index with it, and report every damage. Exit code 1 where there is any'
            cand repair 'Write a whole reel from what can be read; what is lost is noted as gaps'
            cand index 'Give a reel without an index (from a killed recorder), or with a wrong one, its index, in place'
            cand compact 'Pack a reel as small as it gets. One that would not become smaller stays as it is'
            cand cat 'The exact bytes of one direction, or of standard error'
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

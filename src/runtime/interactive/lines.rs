//! The lines that control a host: text to say, or a command after a slash. They are typed, piped in, or given with
//! `--do`.

use crate::error::CommandError;
use crate::host::engine::{Order, ToolCall};
use crate::proposals::host::Agent;
use crate::runtime::parameters;
use crate::wire::units::parse_time;
use serde_json::{Value, json};
use std::time::Duration;

/// What a line means.
#[derive(Debug, PartialEq)]
pub(crate) enum Line {
    /// An order for the host.
    Order(Order),
    /// Wait for a time.
    Wait(Duration),
    /// Show the last prompt.
    Prompt,
    /// Show the state of the proposals.
    State,
    /// Show the servers.
    Servers,
    /// Show the list of commands.
    Help,
    /// Show the orders of the proposals.
    Orders,
    /// Nothing.
    Nothing,
}

impl Line {
    /// Whether the line only shows something, and thus need not wait.
    pub(crate) fn is_a_look(&self) -> bool {
        !matches!(self, Self::Order(_) | Self::Wait(_))
    }
}

/// The commands: name, arguments, description.
pub(crate) const COMMANDS: &[(&str, &str, &str)] = &[
    ("turn", "TEXT", "say this as the user; the same as a line without a slash"),
    ("agent", "TEXT", "run a turn of a sub-agent in this session"),
    ("detached", "TEXT", "run a turn of a sub-agent in a session of its own"),
    ("tool", "[SERVER:]NAME [key=value …]", "call a tool, with its hooks"),
    ("hook", "EVENT [tool_name=… tool_input:=… …]", "fire a hook event"),
    ("do", "[ORDER [key=value …]]", "give an order of a proposal; without one, list the orders"),
    ("request", "SERVER METHOD [key=value …]", "send a request and show the response"),
    ("compact", "[SUMMARY]", "replace the transcript with a summary"),
    ("approve", "SERVER [PROPOSAL]", "allow what a server asks for"),
    ("revoke", "SERVER [PROPOSAL]", "withdraw that approval"),
    ("wait", "TIME", "wait"),
    ("prompt", "", "show the last prompt"),
    ("state", "", "show what is queued and allowed"),
    ("servers", "", "show the servers"),
    ("help", "", "show this list"),
    ("quit", "", "end the session"),
];

/// Reads one line.
///
/// # Errors
///
/// The command is unknown or its arguments are invalid.
pub(crate) fn parse(line: &str) -> Result<Line, CommandError> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(Line::Nothing);
    }
    let Some(command) = line.strip_prefix('/') else { return Ok(turn(line, Agent::Main)) };
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let rest = rest.trim();
    let words = || {
        shlex::split(rest)
            .ok_or_else(|| CommandError::usage(format!("/{name}: a quote is not closed")))
            .map(|words| words.into_iter().collect::<Vec<String>>())
    };
    let missing = || {
        let usage = COMMANDS.iter().find(|known| known.0 == name).map_or("", |known| known.1);
        CommandError::usage(format!("/{name} needs {usage}"))
    };
    let order = |order: Order| Ok(Line::Order(order));
    match name {
        "turn" | "agent" | "detached" if rest.is_empty() => Err(missing()),
        "turn" => Ok(turn(rest, Agent::Main)),
        "agent" => Ok(turn(rest, Agent::Sub)),
        "detached" => Ok(turn(rest, Agent::Detached)),
        "tool" => {
            let words = words()?;
            let (tool, arguments) = words.split_first().ok_or_else(missing)?;
            let (server, tool) = match tool.split_once(':') {
                Some((server, tool)) => (Some(server.to_owned()), tool.to_owned()),
                None => (None, tool.clone()),
            };
            order(Order::Tool(ToolCall { server, tool, arguments: Value::Object(parameters::object(arguments)?) }))
        }
        "hook" => {
            let words = words()?;
            let (event, members) = words.split_first().ok_or_else(missing)?;
            let mut params = Value::Object(parameters::object(members)?);
            params["event"] = event.as_str().into();
            order(Order::Proposal { order: "hook".to_owned(), params })
        }
        "do" if rest.is_empty() => Ok(Line::Orders),
        "do" => {
            let words = words()?;
            let (name, members) = words.split_first().ok_or_else(missing)?;
            order(Order::Proposal { order: name.clone(), params: Value::Object(parameters::object(members)?) })
        }
        "request" => {
            let words = words()?;
            let [server, method, members @ ..] = &words[..] else { return Err(missing()) };
            let params = if members.is_empty() { json!({}) } else { Value::Object(parameters::object(members)?) };
            order(Order::Request { server: server.clone(), method: method.clone(), params })
        }
        "compact" => order(Order::Compact { summary: Some(rest.to_owned()).filter(|rest| !rest.is_empty()) }),
        "approve" | "revoke" => {
            let words = words()?;
            let (server, proposal) = match &words[..] {
                [server] => (server.clone(), None),
                [server, proposal] => (server.clone(), Some(proposal.clone())),
                _ => return Err(missing()),
            };
            order(Order::Allow { server, proposal, is_allowed: name == "approve" })
        }
        "wait" => parse_time(rest).map(Line::Wait).map_err(|_| missing()),
        "prompt" => Ok(Line::Prompt),
        "state" => Ok(Line::State),
        "servers" => Ok(Line::Servers),
        "help" | "?" => Ok(Line::Help),
        "quit" | "exit" | "q" => order(Order::End),
        _ => {
            let known: Vec<String> = COMMANDS.iter().map(|known| format!("/{}", known.0)).collect();
            Err(CommandError::usage(format!("unknown command /{name}"))
                .hint(format!("the commands are {}", known.join(", "))))
        }
    }
}

fn turn(text: &str, agent: Agent) -> Line {
    Line::Order(Order::Turn { text: text.to_owned(), agent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_said_or_is_a_command() {
        let said = |line: &str| parse(line).expect("a line");
        assert_eq!(said("hello there"), turn("hello there", Agent::Main));
        assert_eq!(said("  # a remark"), Line::Nothing);
        assert_eq!(said("/wait 1.5s"), Line::Wait(Duration::from_millis(1500)));
        let call = ToolCall {
            server: Some("mem".to_owned()),
            tool: "add".to_owned(),
            arguments: json!({"text": "two words", "n": 2}),
        };
        assert_eq!(said("/tool mem:add text='two words' n:=2"), Line::Order(Order::Tool(call)));
        let Line::Order(Order::Proposal { params, .. }) = said("/hook post_tool_use tool_name=Bash") else {
            panic!("a hook");
        };
        assert_eq!(params, json!({"event": "post_tool_use", "tool_name": "Bash"}));
        let Line::Order(Order::Proposal { order, params }) = said("/do rollback server=n checkpoint=c1") else {
            panic!("an order");
        };
        assert_eq!((order.as_str(), params), ("rollback", json!({"server": "n", "checkpoint": "c1"})));
        assert!(parse("/nothing").is_err() && parse("/tool").is_err() && parse("/hook 'x").is_err());
    }
}

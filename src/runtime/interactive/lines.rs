//! The lines that control a host: text to say, or a command after a slash. They are typed, piped in, or given with
//! `--do`.

use crate::error::CommandError;
use crate::host::engine::{Order, ToolCall};
use crate::proposals::host::Agent;
use crate::runtime::parameters;
use crate::wire::units::parse_time;
use serde_json::Value;
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
    ("compact", "[SUMMARY]", "keep only the last turn, after a summary of the others"),
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
    if rest.is_empty() && matches!(name, "turn" | "agent" | "detached") {
        return Err(missing());
    }
    Ok(match name {
        "turn" => turn(rest, Agent::Main),
        "agent" => turn(rest, Agent::Sub),
        "detached" => turn(rest, Agent::Detached),
        "do" if rest.is_empty() => Line::Orders,
        "tool" | "hook" | "do" | "request" | "approve" | "revoke" => {
            Line::Order(order(name, &words()?)?.ok_or_else(missing)?)
        }
        "compact" => Line::Order(Order::Compact { summary: Some(rest.to_owned()).filter(|rest| !rest.is_empty()) }),
        "wait" => Line::Wait(parse_time(rest).map_err(|_| missing())?),
        "prompt" => Line::Prompt,
        "state" => Line::State,
        "servers" => Line::Servers,
        "help" | "?" => Line::Help,
        "quit" | "exit" | "q" => Line::Order(Order::End),
        _ => {
            let known: Vec<String> = COMMANDS.iter().map(|known| format!("/{}", known.0)).collect();
            return Err(CommandError::usage(format!("unknown command /{name}"))
                .hint(format!("the commands are {}", known.join(", "))));
        }
    })
}

/// Reads an order that consists of words; `None` if words are missing or superfluous.
fn order(name: &str, words: &[String]) -> Result<Option<Order>, CommandError> {
    let object = |members| parameters::object(members).map(Value::Object);
    Ok(Some(match (name, words) {
        ("tool", [tool, arguments @ ..]) => {
            let (server, tool) = match tool.split_once(':') {
                Some((server, tool)) => (Some(server.to_owned()), tool.to_owned()),
                None => (None, tool.clone()),
            };
            Order::Tool(ToolCall { server, tool, arguments: object(arguments)? })
        }
        ("hook", [event, members @ ..]) => {
            let mut params = object(members)?;
            params["event"] = event.as_str().into();
            Order::Proposal { order: "hook".to_owned(), params }
        }
        ("do", [order, members @ ..]) => Order::Proposal { order: order.clone(), params: object(members)? },
        ("request", [server, method, members @ ..]) => {
            Order::Request { server: server.clone(), method: method.clone(), params: object(members)? }
        }
        ("approve" | "revoke", [server, proposal @ ..]) if proposal.len() < 2 => {
            let proposal = proposal.first().cloned();
            Order::Allow { server: server.clone(), proposal, is_allowed: name == "approve" }
        }
        _ => return Ok(None),
    }))
}

fn turn(text: &str, agent: Agent) -> Line {
    Line::Order(Order::Turn { text: text.to_owned(), agent })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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

//! `fire channel`: messages about channels, from a server or a host (MCPL 0.4 §14).

use super::emit::{self, DeliveryOptions};
use super::host_request::{self, Call, Form, LIFECYCLE, LIST, OBSERVE, PUBLISH, Recipient};
use super::server_messages::{self, ServerMessageRequest};
use crate::cli::text::TextParser;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::runtime::parameters::{self, TextArgument};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Send a message about channels (MCPL): to a host as its server, or to a server as its host.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples, as a server:
  mcpreel fire channel register discord:#general --session everything
  mcpreel fire channel incoming 'any news?' --channel discord:#general

As a host:
  mcpreel fire channel list -- my-connector
  mcpreel fire channel publish discord:#general 'Hello team' --session connector
  mcpreel fire channel outgoing discord:#general 'Hello team' -- my-observer")]
#[command(defer = true)]
pub(crate) enum ChannelCommand {
    Register(RegisterArgs),
    Changed(ChangedArgs),
    Incoming(IncomingArgs),
    ListHost(ListHostArgs),
    List(ListArgs),
    Open(OpenArgs),
    Close(CloseArgs),
    Publish(PublishArgs),
    Outgoing(OutgoingArgs),
}

impl ChannelCommand {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// The command failed; the error's kind decides the exit code.
    pub(crate) fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        match self {
            Self::Register(args) => args.run(context),
            Self::Changed(args) => args.run(context),
            Self::Incoming(args) => args.run(context),
            Self::ListHost(args) => args.run(context),
            Self::List(args) => args.run(context),
            Self::Open(args) => args.run(context),
            Self::Close(args) => args.run(context),
            Self::Publish(args) => args.run(context),
            Self::Outgoing(args) => args.run(context),
        }
    }
}

/// Register channels with the host (`channels/register`), as its server.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel register discord:#general  # as a host's server
  mcpreel fire channel register discord:#general --session everything
  mcpreel fire channel register @channel.json

Exit codes: 0 the host registered the channels; 1 it refused, its response was invalid or late, or nothing was sent.")]
pub(crate) struct RegisterArgs {
    /// A channel's id, or its descriptor as JSON or @file.
    #[arg(required = true, value_name = "CHANNEL")]
    channels: Vec<String>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

/// Report channels that were added, removed or changed (`channels/changed`), as a server.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel changed --add d:#dev --remove d:#random --session all

Exit codes: 0 all were sent; 1 one was not sent.")]
pub(crate) struct ChangedArgs {
    /// A new channel (repeatable): its id, or its descriptor as JSON or @file.
    #[arg(long = "add", value_name = "CHANNEL", required_unless_present_any = ["removed", "updated"])]
    added: Vec<String>,
    /// The id of a removed channel (repeatable).
    #[arg(long = "remove", value_name = "ID")]
    removed: Vec<String>,
    /// A changed channel (repeatable): its descriptor as JSON, or its id.
    #[arg(long = "update", value_name = "CHANNEL")]
    updated: Vec<String>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

/// Deliver a message from a channel to the host (`channels/incoming`), as its server.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel incoming 'any news?' --channel discord:#general
  mcpreel fire channel incoming hi --channel d:#dev --author Alice --session all
  mcpreel fire channel incoming hi --channel c:1 --message-id m --repeat 9

Exit codes: 0 the host accepted it; 1 it refused, its response was invalid or late, or nothing was sent.")]
pub(crate) struct IncomingArgs {
    /// The message: its text, @file, or - for stdin.
    #[arg(value_parser = TextParser, allow_hyphen_values = true)]
    text: TextArgument,
    /// The channel's id.
    #[arg(long, value_name = "ID")]
    channel: String,
    /// The message's id (default: a new one).
    #[arg(long, value_name = "ID")]
    message_id: Option<String>,
    /// The message's thread.
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// The message's author.
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// Other metadata (repeatable): name=text, name:=JSON, a JSON object, @file, or - for stdin.
    #[arg(long = "metadata", value_name = "VALUE")]
    metadata: Vec<String>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

/// Ask the host which channels it knows (`channels/list`), as its server.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel list-host --session everything
  mcpreel fire channel list-host --session connector --expect '.missing == []'

Exit codes: 0 valid response; 1 the host refused, its response was invalid, late or missing, or nothing was sent.")]
pub(crate) struct ListHostArgs {
    #[command(flatten)]
    ways: DeliveryOptions,
}

/// Ask a server which channels it has (`channels/list`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel list -- my-connector
  mcpreel fire channel list --session connector --format json

Exit codes: 0 valid response; 1 not declared, refused, or an invalid response; 4 the server failed; 5 no response in time.")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    recipient: Recipient,
}

/// Ask a server to open a channel (`channels/open`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel open discord guild=acme channel=#general -- my-connector

Exit codes: 0 the channel is open; 1 not declared, refused, or an invalid response; 4 the server failed; 5 no response in time.")]
pub(crate) struct OpenArgs {
    /// The channel's type.
    #[arg(value_name = "TYPE")]
    kind: String,
    /// Its address: name=text, name:=JSON, a JSON object, @file, or - for stdin.
    #[arg(value_name = "VALUE")]
    address: Vec<String>,
    #[command(flatten)]
    recipient: Recipient,
}

/// Ask a server to close a channel (`channels/close`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel close discord:#general --session connector

Exit codes: 0 the channel is closed; 1 not declared, refused, not closed, or an invalid response; 4 the server failed; 5 no response in time.")]
pub(crate) struct CloseArgs {
    /// The channel's id.
    channel: String,
    #[command(flatten)]
    recipient: Recipient,
}

/// Ask a server to deliver content to a channel (`channels/publish`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel publish discord:#general 'Hello team' --session connector
  mcpreel fire channel publish d:#general Hello --notification -- my-server

Exit codes: 0 delivered, or sent as a notification; 1 not declared, refused, not delivered, or an invalid response; \
4 the server failed; 5 no response in time.")]
pub(crate) struct PublishArgs {
    /// The channel's id.
    channel: String,
    /// What to publish: a text, @file, or - for stdin.
    #[arg(value_parser = TextParser, allow_hyphen_values = true)]
    text: TextArgument,
    /// The conversation's id.
    #[arg(long, value_name = "ID", default_value = "conv_mcpreel")]
    conversation: String,
    /// Send a notification: there is no response that confirms the delivery.
    #[arg(long)]
    notification: bool,
    #[command(flatten)]
    recipient: Recipient,
}

/// Show a server what is being sent to a channel (`channels/outgoing/chunk`, then `…/complete`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel outgoing d:#general 'Hello team' --chunks 3 --session all

Exit codes: 0 sent; 1 not declared; 4 the server failed.")]
pub(crate) struct OutgoingArgs {
    /// The channel's id.
    channel: String,
    /// What is being sent: a text, @file, or - for stdin.
    #[arg(value_parser = TextParser, allow_hyphen_values = true)]
    text: TextArgument,
    /// The number of chunks to send before the complete text.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    chunks: usize,
    /// The inference's id (default: a new one).
    #[arg(long, value_name = "ID")]
    inference: Option<String>,
    /// The conversation's id.
    #[arg(long, value_name = "ID", default_value = "conv_mcpreel")]
    conversation: String,
    #[command(flatten)]
    recipient: Recipient,
}

/// Parses ids, or descriptors as JSON or @file.
fn channels(words: &[String]) -> Result<Vec<Value>, CommandError> {
    let channel = |word: &String| match word.starts_with(['{', '@']) {
        true => parameters::object(std::slice::from_ref(word)).map(Value::Object),
        false => Ok(word.as_str().into()),
    };
    words.iter().map(channel).collect()
}

fn some<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}

impl RegisterArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        self.ways.keep_stdin();
        let channels = channels(&self.channels)?;
        let request = ServerMessageRequest::new(&server_messages::REGISTER, json!({"channels": channels}));
        emit::run(&request.with_channels(Vec::new()), &self.ways, context)
    }
}

impl ChangedArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        self.ways.keep_stdin();
        let (added, updated) = (channels(&self.added)?, channels(&self.updated)?);
        let params = json!({"added": some(&added), "removed": some(&self.removed), "updated": some(&updated)});
        let known = self.removed.iter().map(|id| id.as_str().into()).chain(updated);
        emit::run(
            &ServerMessageRequest::new(&server_messages::CHANGED, params).with_channels(known.collect()),
            &self.ways,
            context,
        )
    }
}

impl IncomingArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        self.ways.keep_stdin();
        let metadata = if self.metadata.is_empty() { None } else { Some(parameters::object(&self.metadata)?) };
        let author = self.author.as_ref().map(|name| json!({"id": name, "name": name}));
        let params = json!({"text": self.text.read()?, "channelId": self.channel, "messageId": self.message_id,
            "threadId": self.thread, "author": author, "metadata": metadata});
        let request = ServerMessageRequest::new(&server_messages::INCOMING, params)
            .with_channels(vec![self.channel.as_str().into()]);
        emit::run(&request, &self.ways, context)
    }
}

impl ListHostArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let request = ServerMessageRequest::new(&server_messages::LIST, json!({}));
        emit::run(&request.with_channels(Vec::new()), &self.ways, context)
    }
}

impl ListArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        host_request::run(&LIST, &self.recipient, context, |_, _| Ok(vec![request("channels/list", json!({}))]))
    }
}

impl OpenArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let params = json!({"type": self.kind, "address": parameters::object(&self.address)?});
        host_request::run(&LIFECYCLE, &self.recipient, context, |_, _| {
            Ok(vec![request("channels/open", params.clone())])
        })
    }
}

impl CloseArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let params = json!({"channelId": self.channel});
        host_request::run(&LIFECYCLE, &self.recipient, context, |_, _| {
            Ok(vec![request("channels/close", params.clone())])
        })
    }
}

impl PublishArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let params = json!({"conversationId": self.conversation, "channelId": self.channel, "stream": false,
            "content": [{"type": "text", "text": self.text.read()?}]});
        let form = if self.notification { Form::Notification } else { Form::Request };
        host_request::run(&PUBLISH, &self.recipient, context, |_, _| {
            Ok(vec![Call { method: "channels/publish", form, params: params.clone() }])
        })
    }
}

impl OutgoingArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        host_request::run(&OBSERVE, &self.recipient, context, |done, _| Ok(self.calls(done, self.text.read()?)))
    }

    fn calls(&self, done: u64, text: &str) -> Vec<Call> {
        let inference = match &self.inference {
            None => format!("inf_{}", uuid::Uuid::now_v7().simple()),
            Some(given) if done == 0 => given.clone(),
            Some(given) => format!("{given}-{}", done + 1),
        };
        let about = json!({"inferenceId": inference, "conversationId": self.conversation, "channelId": self.channel});
        let letters: Vec<char> = text.chars().collect();
        let length = letters.len().div_ceil(self.chunks.max(1)).max(1);
        let pieces = if self.chunks == 0 { &[] } else { &letters[..] };
        let chunk = |(index, piece): (usize, &[char])| {
            let mut params = about.clone();
            params["index"] = index.into();
            params["delta"] = piece.iter().collect::<String>().into();
            Call { method: "channels/outgoing/chunk", form: Form::Notification, params }
        };
        let mut calls: Vec<Call> = pieces.chunks(length).enumerate().map(chunk).collect();
        let mut whole = about.clone();
        whole["content"] = json!([{"type": "text", "text": text}]);
        calls.push(Call { method: "channels/outgoing/complete", form: Form::Notification, params: whole });
        calls
    }
}

fn request(method: &'static str, params: Value) -> Call {
    Call { method, form: Form::Request, params }
}

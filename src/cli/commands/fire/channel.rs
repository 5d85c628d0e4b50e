//! `fire channel`: what either side says about channels (seed 002 §14).

use super::emit::{self, DeliveryOptions};
use super::host_request::{self, Call, Form, LIFECYCLE, LIST, OBSERVE, PUBLISH, Toward};
use super::server_messages::{self, Shot};
use crate::cli::{Context, Outcome, values};
use crate::error::CommandError;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Fire a message about channels: as a server at its host, or as a host at a server.
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
pub enum ChannelCommand {
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
    pub fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
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

/// Register channels (`channels/register`), as a server.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel register discord:#general  as a host's server command
  mcpreel fire channel register discord:#general --session everything
  mcpreel fire channel register @channel.json

Exit codes: 0 the host took them; 1 it was refused, odd, late, not answered, or not sent.")]
pub struct RegisterArgs {
    /// A channel's id, or its descriptor as JSON or @file.
    #[arg(required = true, value_name = "CHANNEL", value_parser = channel)]
    channels: Vec<Value>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

/// Tell of channels that come, go or change (`channels/changed`), as a server.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel changed --add d:#dev --remove d:#random --session all

Exit codes: 0 all were sent; 1 one was not.")]
pub struct ChangedArgs {
    /// One that is new (repeatable): its id, or its descriptor as JSON or @file.
    #[arg(long = "add", value_name = "CHANNEL", value_parser = channel,
        required_unless_present_any = ["removed", "updated"])]
    added: Vec<Value>,
    /// One that goes, by its id (repeatable).
    #[arg(long = "remove", value_name = "ID")]
    removed: Vec<String>,
    /// One that is otherwise now (repeatable): its descriptor as JSON, or its id.
    #[arg(long = "update", value_name = "CHANNEL", value_parser = channel)]
    updated: Vec<Value>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

/// Bring a message in from a channel (`channels/incoming`), as a server.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel incoming 'any news?' --channel discord:#general
  mcpreel fire channel incoming hi --channel d:#dev --author Alice --session all
  mcpreel fire channel incoming hi --channel c:1 --message-id m --repeat 9

Exit codes: 0 the host accepted it; 1 it was refused, odd, late, not answered, or not sent.")]
pub struct IncomingArgs {
    /// What it says.
    text: String,
    /// The channel's id.
    #[arg(long, value_name = "ID")]
    channel: String,
    /// The message's id; a new one where none is given.
    #[arg(long, value_name = "ID")]
    message_id: Option<String>,
    /// Its thread.
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Who wrote it.
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// Anything else about it (repeatable): name=text, name:=JSON, a JSON object.
    #[arg(long = "metadata", value_name = "VALUE")]
    metadata: Vec<String>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

/// Ask the host which channels it knows (`channels/list`), as a server.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel list-host --session everything
  mcpreel fire channel list-host --session serve --expect '.missing == []'

Exit codes: 0 the answer is sound; 1 it was refused, odd, late, not there, or nothing was sent.")]
pub struct ListHostArgs {
    #[command(flatten)]
    ways: DeliveryOptions,
}

/// Ask a server which channels it has (`channels/list`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel list -- my-connector
  mcpreel fire channel list --session connector --format json

Exit codes: 0 a sound answer in time; 1 not declared, refused, or odd; 4 the server failed; 5 no answer in time.")]
pub struct ListArgs {
    #[command(flatten)]
    toward: Toward,
}

/// Have a server open a channel (`channels/open`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel open discord guild=acme channel=#general -- my-connector

Exit codes: 0 it is open; 1 not declared, refused, or odd; 4 the server failed; 5 no answer in time.")]
pub struct OpenArgs {
    /// The channel's type.
    #[arg(value_name = "TYPE")]
    kind: String,
    /// Its address: name=text, name:=JSON, a JSON object.
    #[arg(value_name = "VALUE")]
    address: Vec<String>,
    #[command(flatten)]
    toward: Toward,
}

/// Have a server close a channel (`channels/close`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel close discord:#general --session connector

Exit codes: 0 it is closed; 1 not declared, refused, odd, or not closed; 4 the server failed; 5 no answer in time.")]
pub struct CloseArgs {
    /// The channel's id.
    channel: String,
    #[command(flatten)]
    toward: Toward,
}

/// Have a server deliver content to a channel (`channels/publish`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel publish discord:#general 'Hello team' --session connector
  mcpreel fire channel publish d:#general Hello --notification -- my-server

Exit codes: 0 delivered, or sent where no answer is asked for; 1 not declared, refused, odd, or not delivered; \
4 the server failed; 5 no answer in time.")]
pub struct PublishArgs {
    /// The channel's id.
    channel: String,
    /// What to say there.
    text: String,
    /// The conversation's id.
    #[arg(long, value_name = "ID", default_value = "conv_mcpreel")]
    conversation: String,
    /// As a notification: nobody says whether it was delivered.
    #[arg(long)]
    notification: bool,
    #[command(flatten)]
    toward: Toward,
}

/// Show a server what goes out by a channel (`channels/outgoing/chunk`, then `…/complete`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire channel outgoing d:#general 'Hello team' --chunks 3 --session all

Exit codes: 0 sent; 1 not declared; 4 the server failed.")]
pub struct OutgoingArgs {
    /// The channel's id.
    channel: String,
    /// What goes out.
    text: String,
    /// In how many pieces before the whole.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    chunks: usize,
    /// The inference's id; a new one where none is given.
    #[arg(long, value_name = "ID")]
    inference: Option<String>,
    /// The conversation's id.
    #[arg(long, value_name = "ID", default_value = "conv_mcpreel")]
    conversation: String,
    #[command(flatten)]
    toward: Toward,
}

/// An id, or a descriptor as JSON, which may be a file's.
fn channel(text: &str) -> Result<Value, String> {
    let is_json = text.starts_with(['{', '@']);
    if !is_json {
        return Ok(text.into());
    }
    values::object(&[text.to_owned()]).map(Value::Object).map_err(|error| error.message)
}

fn some<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}

impl RegisterArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let shot = Shot::new(&server_messages::REGISTER, json!({"channels": self.channels}));
        emit::run(&shot.with_channels(Vec::new()), &self.ways, context)
    }
}

impl ChangedArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let params =
            json!({"added": some(&self.added), "removed": some(&self.removed), "updated": some(&self.updated)});
        let known = self.removed.iter().map(|id| id.as_str().into()).chain(self.updated.iter().cloned());
        emit::run(&Shot::new(&server_messages::CHANGED, params).with_channels(known.collect()), &self.ways, context)
    }
}

impl IncomingArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let metadata = if self.metadata.is_empty() { None } else { Some(values::object(&self.metadata)?) };
        let author = self.author.as_ref().map(|name| json!({"id": name, "name": name}));
        let params = json!({"text": self.text, "channelId": self.channel, "messageId": self.message_id,
            "threadId": self.thread, "author": author, "metadata": metadata});
        let shot = Shot::new(&server_messages::INCOMING, params).with_channels(vec![self.channel.as_str().into()]);
        emit::run(&shot, &self.ways, context)
    }
}

impl ListHostArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let shot = Shot::new(&server_messages::LIST, json!({}));
        emit::run(&shot.with_channels(Vec::new()), &self.ways, context)
    }
}

impl ListArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        host_request::run(&LIST, &self.toward, context, |_, _| Ok(vec![request("channels/list", json!({}))]))
    }
}

impl OpenArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let params = json!({"type": self.kind, "address": values::object(&self.address)?});
        host_request::run(&LIFECYCLE, &self.toward, context, |_, _| Ok(vec![request("channels/open", params.clone())]))
    }
}

impl CloseArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let params = json!({"channelId": self.channel});
        host_request::run(&LIFECYCLE, &self.toward, context, |_, _| Ok(vec![request("channels/close", params.clone())]))
    }
}

impl PublishArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let params = json!({"conversationId": self.conversation, "channelId": self.channel, "stream": false,
            "content": [{"type": "text", "text": self.text}]});
        let form = if self.notification { Form::Notification } else { Form::Request };
        host_request::run(&PUBLISH, &self.toward, context, |_, _| {
            Ok(vec![Call { method: "channels/publish", form, params: params.clone() }])
        })
    }
}

impl OutgoingArgs {
    fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        host_request::run(&OBSERVE, &self.toward, context, |done, _| Ok(self.calls(done)))
    }

    fn calls(&self, done: u64) -> Vec<Call> {
        let inference = match &self.inference {
            None => format!("inf_{}", uuid::Uuid::now_v7().simple()),
            Some(given) if done == 0 => given.clone(),
            Some(given) => format!("{given}-{}", done + 1),
        };
        let about = json!({"inferenceId": inference, "conversationId": self.conversation, "channelId": self.channel});
        let letters: Vec<char> = self.text.chars().collect();
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
        whole["content"] = json!([{"type": "text", "text": self.text}]);
        calls.push(Call { method: "channels/outgoing/complete", form: Form::Notification, params: whole });
        calls
    }
}

fn request(method: &'static str, params: Value) -> Call {
    Call { method, form: Form::Request, params }
}

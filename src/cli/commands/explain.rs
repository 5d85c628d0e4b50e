//! `explain`: what a method, a capability, an error code or a rule is.

use crate::cli::packs::PackOptions;
use crate::cli::printer::Format;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::explain::{self, Subject, Topic};
use crate::proposals::Registry;
use crate::protocol::Revision;
use crate::render::explain as render;
use crate::render::text::indented_json;
use clap::{Args, ValueEnum};
use serde_json::Value;

/// Explain a method, a capability, an error code or a rule of `validate`.
///
/// Says what it is, who sends it when, what it contains, where it is specified, and what is related to it. If a name
/// has several meanings, all of them are explained. Without a name, lists everything that can be explained.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel explain tools/call
  mcpreel explain pairing/id-in-use     # a rule of `mcpreel validate`
  mcpreel explain -- -32001             # an error code: four meanings
  mcpreel explain server.tools          # a capability
  mcpreel explain mcpl                  # where a proposal is declared
  mcpreel explain                       # everything, one line each
  mcpreel explain --schema tools/call --revision 2025-11-25 >schema.json")]
pub(crate) struct ExplainArgs {
    /// The name: a method, a capability, an error code, a rule, or a proposal.
    #[arg(value_name = "NAME", allow_negative_numbers = true)]
    name: Option<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Print the JSON Schema of a method, and nothing else.
    #[arg(long, value_name = "METHOD", conflicts_with_all = ["name", "format"])]
    schema: Option<String>,
    /// Which part of the method --schema prints.
    #[arg(long, value_enum, default_value_t = PartName::Params, value_name = "PART", requires = "schema")]
    part: PartName,
    /// Explain it as it is in this revision of MCP (default: the newest revision that has it).
    #[arg(long, value_name = "REVISION", value_parser = revision)]
    revision: Option<Revision>,
    #[command(flatten)]
    packs: PackOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PartName {
    /// The params of the message.
    Params,
    /// The result of the request.
    Result,
}

impl PartName {
    fn name(self) -> &'static str {
        match self {
            Self::Params => "params",
            Self::Result => "result",
        }
    }
}

fn revision(text: &str) -> Result<Revision, String> {
    let known = || Revision::ALL.map(Revision::as_str).join(", ");
    Revision::parse(text).ok_or_else(|| format!("not a revision of MCP; there are {}", known()))
}

/// The width of explanations if stdout is not a terminal.
const WIDTH: usize = 100;

pub(super) fn run(args: &ExplainArgs, context: &Context) -> Result<Outcome, CommandError> {
    let registry = args.packs.registry()?;
    match (&args.schema, &args.name) {
        (Some(method), _) => print_schema(method, registry, args, context),
        (None, None) => list(registry, args, context),
        (None, Some(name)) => whole(&found(name, registry)?, args, context),
    }
    .map(|()| Outcome::Clean)
}

/// Everything with this name.
fn found(name: &str, registry: &'static Registry) -> Result<Vec<Subject>, CommandError> {
    let subjects = explain::find(name, registry);
    if !subjects.is_empty() {
        return Ok(subjects);
    }
    let error = CommandError::usage(match registry.is_neighbours(name) {
        true => format!("{name} belongs to another protocol, which uses the names of a proposal"),
        false => format!("nothing is named {name:?}"),
    });
    Err(match explain::similar(name, registry) {
        names if names.is_empty() => error.hint("`mcpreel explain` lists everything"),
        names => error.hint(format!("similar: {}", names.join(", "))),
    })
}

fn list(registry: &'static Registry, args: &ExplainArgs, context: &Context) -> Result<(), CommandError> {
    let (printer, all) = (&context.printer, explain::all(registry));
    if args.format == Format::Json {
        let entries: Vec<Value> = all.iter().map(|subject| subject.to_json(false, args.revision)).collect();
        return printer.json(&Value::Array(entries));
    }
    let mut out = String::new();
    let _ = render::list(&all, printer.width, &printer.palette, &mut out);
    printer.text(&out)
}

fn whole(subjects: &[Subject], args: &ExplainArgs, context: &Context) -> Result<(), CommandError> {
    let printer = &context.printer;
    for subject in subjects {
        check_revision(subject, args.revision)?;
    }
    if args.format == Format::Json {
        let entries: Vec<Value> = subjects.iter().map(|subject| subject.to_json(true, args.revision)).collect();
        return printer.json(&Value::Array(entries));
    }
    let mut out = String::new();
    for (number, subject) in subjects.iter().enumerate() {
        out.push_str(if number == 0 { "" } else { "\n" });
        let _ = render::whole(subject, args.revision, printer.width.unwrap_or(WIDTH), &printer.palette, &mut out);
    }
    printer.text(&out)
}

/// A revision that does not have the method has no schema of it either.
fn check_revision(subject: &Subject, revision: Option<Revision>) -> Result<(), CommandError> {
    match (subject.topic, revision) {
        (Topic::Method(spec), Some(revision)) if !spec.is_in(revision) => {
            let (name, since, until) = (spec.name, spec.since.as_str(), spec.until.as_str());
            Err(CommandError::usage(format!("{name} is not a method of revision {}", revision.as_str()))
                .hint(format!("it exists from {since} to {until}")))
        }
        _ => Ok(()),
    }
}

fn print_schema(
    method: &str,
    registry: &'static Registry,
    args: &ExplainArgs,
    context: &Context,
) -> Result<(), CommandError> {
    let is_method = |subject: &Subject| matches!(subject.topic, Topic::Method(_) | Topic::Tool(..));
    let subject = found(method, registry)?.into_iter().find(is_method).ok_or_else(|| {
        CommandError::usage(format!("{method} is not a method, so it has no schema"))
            .hint("`mcpreel explain` lists all methods")
    })?;
    check_revision(&subject, args.revision)?;
    let wanted = args.part.name();
    let parts = subject.parts(args.revision);
    // A tool has arguments instead of params.
    let part = parts.iter().find(|part| part.name == wanted || (part.name == "arguments" && wanted == "params"));
    let Some(part) = part else {
        return Err(CommandError::usage(format!("{method} has no {wanted}")));
    };
    let schema = part.definition.standalone(&format!("{} of {method}", part.name));
    let text = indented_json(&schema);
    context.printer.line(&text)
}

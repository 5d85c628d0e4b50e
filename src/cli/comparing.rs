//! What `diff` and `replay` do not compare: options, and the table `[diff]` of the project's settings.

use super::{Context, project};
use crate::diff::{Options, Tolerance, divided};
use crate::error::CommandError;
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;

/// Which differences do not count.
#[derive(Debug, Args)]
pub(super) struct NormaliseArgs {
    /// Compare all values as they are, also the order of members, the notation of numbers, JSON inside text byte for
    /// byte, and the names of renamed tools.
    #[arg(long)]
    exact: bool,
    /// Also compare ids by value: JSON-RPC ids, UUIDs, tokens, ports, process ids, temporary paths and folders.
    #[arg(long)]
    ids: bool,
    /// Also compare times and durations by value.
    #[arg(long)]
    times: bool,
    /// List the values that differ in every run and were therefore not compared.
    #[arg(long)]
    volatile: bool,
    /// Ignore what also differs between A and C, a second recording of the same version as A.
    #[arg(long, value_name = "C")]
    pub(super) learn: Option<PathBuf>,
    /// Ignore the value at this JSON Pointer, as the report prints it; `*` matches any one member, `**` any number. Only
    /// in some messages: tools/call:echo=/result/content/0/text; `*` stands for any text (repeatable).
    #[arg(long, value_name = "[METHOD[:NAME]=]POINTER", value_parser = pointer)]
    ignore: Vec<String>,
    /// Ignore the order of the array at this JSON Pointer; after `=`, the member that identifies an item (repeatable).
    #[arg(long, value_name = "[METHOD[:NAME]=]POINTER[=KEY]")]
    unordered: Vec<String>,
    /// Accept numbers that differ by at most this much, such as `0.5` or `1%`; with a JSON Pointer, only there
    /// (repeatable).
    #[arg(long, value_name = "[POINTER=]NUMBER")]
    tolerance: Vec<Tolerance>,
}

/// Accepts a JSON Pointer with globs, with or without the method and the name before it. It must begin with a slash: any
/// other text would match nothing.
pub(super) fn pointer(text: &str) -> Result<String, String> {
    let (scope, pointer) = divided(text);
    let is_place = pointer.starts_with('/') && scope.is_none_or(|scope| !scope.is_empty());
    is_place
        .then(|| text.to_owned())
        .ok_or_else(|| "expected a JSON Pointer such as /result/content/*/text, or tools/call:NAME=POINTER".to_owned())
}

/// Reports the places of `--ignore` and `--unordered` at which no message had anything.
pub(super) fn report_unused(unused: impl IntoIterator<Item = String>, context: &Context) {
    unused.into_iter().for_each(|place| context.printer.note(&place));
}

/// `[diff]` in `.mcpreel.toml`. Options on the command line add to it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct DiffSettings {
    /// Like `--exact`.
    exact: bool,
    /// Like `--ids`.
    ids: bool,
    /// Like `--times`.
    times: bool,
    /// Like `--ignore`; both apply.
    ignore: Vec<String>,
    /// Like `--unordered`; both apply.
    unordered: Vec<String>,
    /// Like `--tolerance`; both apply.
    tolerance: Vec<ToleranceSetting>,
}

/// A tolerance as the command line has it.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct ToleranceSetting(Tolerance);

impl TryFrom<String> for ToleranceSetting {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

/// Returns the options of a comparison, from the command line and the project's settings.
pub(super) fn options(args: &NormaliseArgs, order: bool) -> Result<Options, CommandError> {
    let settings: DiffSettings = project::settings("diff")?;
    let tolerance = settings.tolerance.into_iter().map(|setting| setting.0);
    Ok(Options {
        exact: args.exact || settings.exact,
        order,
        keep_times: args.times || settings.times,
        keep_ids: args.ids || settings.ids,
        ignore: [&settings.ignore[..], &args.ignore].concat(),
        ignores_own_items: false,
        unordered: [&settings.unordered[..], &args.unordered].concat(),
        tolerance: tolerance.chain(args.tolerance.iter().cloned()).collect(),
        lists_volatile: args.volatile,
    })
}

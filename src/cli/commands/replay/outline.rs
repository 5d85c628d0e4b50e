//! `replay --dry-run`: what would be sent.

use super::ReplayArgs;
use super::report::{Form, omitted};
use crate::cli::Context;
use crate::cli::secret_warning::Shared;
use crate::error::CommandError;
use crate::replay::Plan;
use crate::wire::text::visible_text;
use serde_json::{Value, json};
use std::fmt::Write;

/// Prints what plans send, and what they leave out.
///
/// # Errors
///
/// The recording cannot be read again, or the output not written.
pub(super) fn print_all(plans: &[Plan], args: &ReplayArgs, context: &Context) -> Result<(), CommandError> {
    let is_json = args.format == Form::Json;
    let mut shared = Shared::new(&args.redact, !is_json && context.printer.is_terminal)?;
    shared.learn(&args.reel)?;
    for plan in plans {
        match is_json {
            true => context.printer.json(&shared.json(to_json(plan)))?,
            false => context.printer.text(&shared.text(to_text(plan, plans.len() > 1)))?,
        }
    }
    shared.print();
    Ok(())
}

fn is_destructive(plan: &Plan, seq: u64) -> bool {
    plan.destructive().iter().any(|call| call.seq == seq)
}

fn to_json(plan: &Plan) -> Value {
    let bound = |(place, seq, pointer): &(&str, u64, &str)| json!({"place": place, "seq": seq, "from": pointer});
    let steps = plan.outline().map(|step| {
        json!({"seq": step.seq, "message": step.label, "destructive": is_destructive(plan, step.seq),
            "bound": step.bound.iter().map(bound).collect::<Vec<Value>>()})
    });
    let sent: Vec<Value> = steps.collect();
    json!({"stream": plan.stream(), "sent": sent, "omitted": omitted(plan)})
}

/// The plan as lines. With several sessions, the number of each comes first.
fn to_text(plan: &Plan, has_others: bool) -> String {
    let mut out = String::new();
    if has_others {
        let _ = writeln!(out, "session {}", plan.stream());
    }
    for step in plan.outline() {
        let mark = if is_destructive(plan, step.seq) { "  may destroy data" } else { "" };
        let _ = writeln!(out, "{:>5}  {}{mark}", step.seq, step.label);
        for (place, seq, pointer) in &step.bound {
            let (place, pointer) = (visible_text(place), visible_text(pointer));
            let _ = writeln!(out, "       {place} as the live server returns it: {pointer} of seq {seq}");
        }
    }
    for omission in plan.omissions() {
        let _ = writeln!(out, "{:>5}  {} is left out: {}", omission.seq, omission.label, omission.why);
    }
    out
}

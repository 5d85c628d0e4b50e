//! `replay --dry-run`: what would be sent.

use super::ReplayArgs;
use super::report::{Form, omitted};
use crate::cli::Context;
use crate::error::CommandError;
use crate::replay::Plan;
use serde_json::{Value, json};

/// Prints what a plan sends, and what it leaves out. With several sessions, the number of each comes first.
pub(super) fn print(plan: &Plan, has_others: bool, args: &ReplayArgs, context: &Context) -> Result<(), CommandError> {
    let is_destructive = |seq| plan.destructive().iter().any(|call| call.seq == seq);
    if args.format == Form::Json {
        let bound = |(place, seq, pointer): &(&str, u64, &str)| json!({"place": place, "seq": seq, "from": pointer});
        let steps = plan.outline().map(|step| {
            json!({"seq": step.seq, "message": step.label, "destructive": is_destructive(step.seq),
                "bound": step.bound.iter().map(bound).collect::<Vec<Value>>()})
        });
        let sent: Vec<Value> = steps.collect();
        return context.printer.json(&json!({"stream": plan.stream(), "sent": sent, "omitted": omitted(plan)}));
    }
    if has_others {
        context.printer.line(&format!("session {}", plan.stream()))?;
    }
    for step in plan.outline() {
        let mark = if is_destructive(step.seq) { "  may destroy data" } else { "" };
        context.printer.line(&format!("{:>5}  {}{mark}", step.seq, step.label))?;
        for (place, seq, pointer) in &step.bound {
            context.printer.line(&format!("       {place} as the live server returns it: {pointer} of seq {seq}"))?;
        }
    }
    for omission in plan.omissions() {
        context.printer.line(&format!("{:>5}  {} is left out: {}", omission.seq, omission.label, omission.why))?;
    }
    Ok(())
}

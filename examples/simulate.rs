//! Plays a scenario in virtual time and prints its report and its speed:
//! `cargo run --release --example simulate -- FILE`.
//! The exit code is 1 if an expectation failed.

use mcpreel::testing::host::engine::ModelReply;
use mcpreel::testing::render::scenario;
use mcpreel::testing::render::style::Palette;
use mcpreel::testing::runtime::simulate::{SimulationContext, simulate};
use mcpreel::testing::scenario::{Observation, Scenario};
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("missing argument: the file of a scenario")?;
    let scenario = Scenario::read(&std::fs::read_to_string(&file)?)?;
    let (mut prompts, mut messages) = (0u32, 0u32);
    let mut observe = |_: Duration, seen: &Observation<'_>| match seen {
        Observation::Prompt(_) => prompts += 1,
        Observation::Message { .. } => messages += 1,
        _ => {}
    };
    let began = Instant::now();
    let report = simulate(
        &scenario,
        SimulationContext { wall_base_ns: 0, model: &mut |prompt| Ok(ModelReply::echo(prompt)), observe: &mut observe },
    )?;
    let took = began.elapsed().as_secs_f64();
    let mut text = String::new();
    scenario::text(&report, &file, true, &Palette::plain(), &mut text)?;
    let rate = f64::from(prompts) / took;
    let mut out = std::io::stdout();
    writeln!(out, "{text}{prompts} prompts and {messages} messages in {took:.3} s: {rate:.0} prompts per second")?;
    Ok(if report.is_passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

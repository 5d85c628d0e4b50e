//! The `mcpreel` binary: it parses the command line, runs the command and maps the outcome to an exit code. Nothing
//! else.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(failure) = mcpreel::process::child::become_if_asked() {
        return mcpreel::cli::trampoline_failed(&failure);
    }
    if let Some(code) = mcpreel::process::supervisor::keep_if_asked() {
        return code;
    }
    if let Some(code) = mcpreel::process::stdio_bridge::carry_if_asked() {
        return code;
    }
    mcpreel::cli::run()
}

//! The `mcpreel` binary: it parses the command line, runs the command and maps the outcome to an exit code. Nothing
//! else.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcpreel::main()
}

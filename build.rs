//! Duty: have the functions that `record` and `show` run lie together in the release binary.
//!
//! A page of code is in memory, with its neighbours, as soon as one function on it has run. Strewn over twenty
//! megabytes, the few that a tap runs bring in half of them. `order.ld` names them; `benches/order.py` makes it.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=order.ld");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_known = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is("PROFILE", "release") && is_known && !chooses_linker() && has_known_linker() {
        let root = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-T");
        println!("cargo::rustc-link-arg-bins={}", Path::new(&root).join("order.ld").display());
    }
}

/// Whoever chooses a linker may have one that knows no such scripts: gold, mold.
fn chooses_linker() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let crosses = env::var("HOST").ok() != env::var("TARGET").ok();
    crosses || env::var_os("RUSTC_LINKER").is_some() || flags.contains("link-arg") || flags.contains("linker")
}

/// Nor need the system's linker be the usual one, where that is the one that is used.
fn has_known_linker() -> bool {
    let asked = Command::new("cc").arg("-Wl,--version").output();
    asked.is_ok_and(|answer| {
        let told = String::from_utf8_lossy(&answer.stdout);
        told.starts_with("GNU ld") || told.lines().next().is_some_and(|line| line.contains("LLD"))
    })
}

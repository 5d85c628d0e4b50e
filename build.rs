//! Sets `on_linux`, and places the functions that `record` and `show` run next to each other in the release binary.
//!
//! Without `on_linux`, `src/platform/` uses its fallbacks. `MCPREEL_PORTABLE` builds them on Linux, to test them.
//!
//! When a function runs, its page of code and the neighbouring pages are loaded. If the few functions that recording
//! runs were scattered over twenty megabytes, half of these would be loaded. `benches/order.py` makes `order.ld`.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=order.ld");
    println!("cargo::rerun-if-env-changed=MCPREEL_PORTABLE");
    println!("cargo::rustc-check-cfg=cfg(on_linux)");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_known = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is("CARGO_CFG_TARGET_OS", "linux") && env::var_os("MCPREEL_PORTABLE").is_none() {
        println!("cargo::rustc-cfg=on_linux");
    }
    if is("PROFILE", "release") && is_known && !chooses_linker() && has_known_linker() {
        let root = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-T");
        println!("cargo::rustc-link-arg-bins={}", Path::new(&root).join("order.ld").display());
    }
}

/// Whether a linker was chosen; it may not support such scripts (gold, mold).
fn chooses_linker() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let crosses = env::var("HOST").ok() != env::var("TARGET").ok();
    crosses || env::var_os("RUSTC_LINKER").is_some() || flags.contains("link-arg") || flags.contains("linker")
}

/// Whether the system's linker supports such scripts.
fn has_known_linker() -> bool {
    let output = Command::new("cc").arg("-Wl,--version").output();
    output.is_ok_and(|answer| {
        let version = String::from_utf8_lossy(&answer.stdout);
        version.starts_with("GNU ld") || version.lines().next().is_some_and(|line| line.contains("LLD"))
    })
}

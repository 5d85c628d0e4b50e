//! Sets `on_linux`, packs the files of pages, and places the functions that `record`, `show` and `stats` run next to
//! each other in the release binary.
//!
//! Without `on_linux`, `src/platform/` uses its fallbacks. `MCPREEL_PORTABLE` builds them on Linux, to test them.
//!
//! When a function runs, its page of code and the neighbouring pages are loaded. If the few functions that recording
//! runs were scattered over twenty megabytes, half of these would be loaded. `benches/order.py` makes `order.ld`.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The style sheet, the body and the modules of pages.
const ASSETS: &str = "src/page/assets";

fn main() -> io::Result<()> {
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
    println!("cargo::rerun-if-changed={ASSETS}");
    pack_assets(&Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("assets.zlib"))
}

/// Packs the files of pages for `src/page/assets.rs`: compressed together, name and text of each ended by a zero byte.
fn pack_assets(packed: &Path) -> io::Result<()> {
    let mut out = ZlibEncoder::new(File::create(packed)?, Compression::best());
    let mut paths = fs::read_dir(ASSETS)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    for path in paths {
        out.write_all(path.file_name().unwrap_or_default().as_encoded_bytes())?;
        out.write_all(b"\0")?;
        out.write_all(&fs::read(&path)?)?;
        out.write_all(b"\0")?;
    }
    out.finish()?;
    Ok(())
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

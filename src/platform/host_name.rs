//! The name of this machine.
//!
//! Fallback: what `uname -n` prints.

/// The name, if it is known.
pub(crate) fn get() -> Option<String> {
    read().map(|name| name.trim().to_owned())
}

#[cfg(on_linux)]
fn read() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/hostname").ok()
}

#[cfg(not(on_linux))]
fn read() -> Option<String> {
    let output = std::process::Command::new("uname").arg("-n").stderr(std::process::Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok().filter(|name| !name.trim().is_empty())
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_one_word() {
        let name = super::get().expect("a name");
        assert!(!name.is_empty() && !name.contains(char::is_whitespace), "{name:?}");
    }
}

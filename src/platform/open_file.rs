//! A path that leads to an open file, even if the file has no other.
//!
//! Fallback: `/dev/fd`. Elsewhere than on Linux, opening this path may give the same open file with the same position, so
//! readers must name positions.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

#[cfg(on_linux)]
const FOLDER: &str = "/proc/self/fd";
#[cfg(not(on_linux))]
const FOLDER: &str = "/dev/fd";

/// The path, valid while the file is open.
pub(crate) fn path(file: &File) -> PathBuf {
    PathBuf::from(format!("{FOLDER}/{}", file.as_raw_fd()))
}

/// The path by which other processes of this user, such as its children, open the file.
///
/// Fallback: only this process can use it.
pub(crate) fn path_for_others(file: &File) -> PathBuf {
    #[cfg(on_linux)]
    let folder = format!("/proc/{}/fd", std::process::id());
    #[cfg(not(on_linux))]
    let folder = FOLDER;
    PathBuf::from(format!("{folder}/{}", file.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};

    #[test]
    fn it_leads_to_a_file_without_a_name() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"text").expect("written");
        file.rewind().expect("rewound");
        let mut text = String::new();
        std::fs::File::open(super::path(&file)).expect("opened").read_to_string(&mut text).expect("read");
        assert_eq!(text, "text");
    }
}

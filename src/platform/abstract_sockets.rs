//! Unix sockets with a name outside of the file system, from which a confined process can be kept.
//!
//! Fallback: a socket file of the user's in the folder for temporary files, which [`clean_up`] removes. Every process of
//! the user can connect to it.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};

#[cfg(on_linux)]
mod system {
    use super::{UnixListener, UnixStream, io};
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;

    pub(super) fn bind(name: &str) -> io::Result<(String, UnixListener)> {
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
        Ok((name.to_owned(), listener))
    }

    pub(super) fn connect(name: &str) -> io::Result<UnixStream> {
        UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)
    }

    pub(super) fn clean_up() {}
}

#[cfg(not(on_linux))]
mod system {
    use super::{UnixListener, UnixStream, io};
    use parking_lot::Mutex;
    use rustix::fs::Mode;
    use rustix::process::umask;
    use std::path::PathBuf;

    /// The files that this process has created.
    static CREATED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

    pub(super) fn bind(name: &str) -> io::Result<(String, UnixListener)> {
        let path = std::env::temp_dir().join(format!("{name}.sock"));
        // A socket accepts connections as soon as it is bound, so its mode must be right from the start.
        let before = umask(Mode::from_raw_mode(0o177));
        let listener = UnixListener::bind(&path);
        umask(before);
        let listener = listener?;
        let address = path.to_string_lossy().into_owned();
        CREATED.lock().push(path);
        Ok((address, listener))
    }

    pub(super) fn connect(name: &str) -> io::Result<UnixStream> {
        // A socket whose file is gone is the same to callers as one on which nobody listens.
        UnixStream::connect(name).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::ErrorKind::ConnectionRefused.into(),
            _ => error,
        })
    }

    pub(super) fn clean_up() {
        for path in CREATED.lock().drain(..) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Creates a socket; returns the name for [`connect`], and its listener.
///
/// # Errors
/// The system refuses.
pub(crate) fn bind(name: &str) -> io::Result<(String, UnixListener)> {
    system::bind(name)
}

/// Connects to a socket by the name that [`bind`] returned.
///
/// # Errors
/// Nobody listens (`ConnectionRefused`), or this process may not connect (`PermissionDenied`).
pub(crate) fn connect(name: &str) -> io::Result<UnixStream> {
    system::connect(name)
}

/// Removes what the sockets of this process leave behind. Nobody can connect to them any more.
pub(crate) fn clean_up() {
    system::clean_up();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_socket_is_reached_by_its_name_until_nobody_listens() {
        let (name, listener) = bind(&format!("mcpreel-test-{}", uuid::Uuid::new_v4().simple())).expect("bound");
        connect(&name).expect("connected").write_all(b"x").expect("written");
        let mut got = Vec::new();
        listener.accept().expect("accepted").0.read_to_end(&mut got).expect("read");
        assert_eq!(got, b"x");
        drop(listener);
        let refused = |name: &str| connect(name).expect_err("nobody listens").kind();
        assert_eq!(refused(&name), io::ErrorKind::ConnectionRefused);
    }
}

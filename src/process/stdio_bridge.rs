//! Lets a client start a server of mcpreel as a process: copies bytes between standard input and output and the Unix
//! socket of the server, and ends with either.
//!
//! Never interprets messages.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;

/// The first argument that starts the bridge.
const BRIDGE_ARGUMENT: &str = "__plug";

/// The command line with which a client starts the server at this socket.
///
/// # Errors
/// The path of this executable is unknown.
pub(crate) fn command_line(socket: &Path) -> io::Result<Vec<OsString>> {
    Ok(vec![std::env::current_exe()?.into(), BRIDGE_ARGUMENT.into(), socket.into()])
}

/// Copies bytes if this process was started as a bridge; returns the process's exit code.
pub(crate) fn bridge_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != BRIDGE_ARGUMENT {
        return None;
    }
    let carried = args.next().ok_or_else(|| io::Error::other("no socket given")).and_then(|socket| carry(&socket));
    match carried {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(error) => {
            let _ = writeln!(io::stderr(), "mcpreel: error: cannot reach the server: {error}");
            Some(ExitCode::from(4))
        }
    }
}

fn carry(socket: &OsString) -> io::Result<()> {
    let stream = UnixStream::connect(socket)?;
    let to_server = stream.try_clone()?;
    // The process ends when the server does, whether or not the client still writes.
    std::thread::Builder::new().name("client".into()).spawn(move || {
        let _ = copy(io::stdin(), &to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    })?;
    copy(&stream, io::stdout())
}

/// Copies to the end, each piece as it arrives.
fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut chunk = vec![0; 64 << 10];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(got) => to.write_all(&chunk[..got]).and_then(|()| to.flush())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The server closing its connection is a normal end for the bridge.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

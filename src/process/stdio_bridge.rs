//! A server of this program's that a client can start as a process: carries bytes between standard input and output and
//! the Unix socket at which the server is, and ends with either.
//!
//! Never: messages; whatever they mean is the business of both ends.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;

/// The first argument by which a plug is asked for.
const PLUG: &str = "__plug";

/// The command line by which a client starts the server at this socket.
///
/// # Errors
/// This program cannot be found.
pub fn plug(socket: &Path) -> io::Result<Vec<OsString>> {
    Ok(vec![std::env::current_exe()?.into(), PLUG.into(), socket.into()])
}

/// Carries bytes where this process was started as a plug; its exit code is then to be this process's.
pub fn carry_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != PLUG {
        return None;
    }
    let carried = args.next().ok_or_else(|| io::Error::other("no socket was named")).and_then(|socket| carry(&socket));
    match carried {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(error) => {
            let _ = writeln!(io::stderr(), "mcpreel: the server is not there: {error}");
            Some(ExitCode::from(4))
        }
    }
}

fn carry(socket: &OsString) -> io::Result<()> {
    let stream = UnixStream::connect(socket)?;
    let to_server = stream.try_clone()?;
    // The process ends where the server does, whether the client still writes or not.
    std::thread::Builder::new().name("client".into()).spawn(move || {
        let _ = copy(io::stdin(), &to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    })?;
    copy(&stream, io::stdout())
}

/// Copies to the end, each piece as it comes.
fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut chunk = vec![0; 64 << 10];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(got) => to.write_all(&chunk[..got]).and_then(|()| to.flush())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A server that has gone is no failure of the plug's.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

//! Control sockets from outside: creates them in their folder, finds live ones, sends requests, and opens a [`Link`]
//! into a live session.
//!
//! Whoever finds a socket whose process is gone removes it. Sockets are created and removed under a lock of the folder,
//! so that no process removes one that another has just created.
//!
//! The socket in the folder only names an abstract Unix socket, where callers talk to the session. The kernel can keep
//! handlers of subscriptions from connecting to abstract sockets
//! ([`Reach::Own`](crate::process::supervisor::ProcessReach::Own)); most kernels cannot keep a process of the same user
//! from a socket in a folder, or from a secret in a file.

use crate::files::private;
use crate::platform::abstract_sockets;
use crate::process::supervisor::is_supervised;
use crate::transport::link::{Incoming, Link, Served, Undelivered};
use crate::wire::{Envelope, MessageKind};
use rustix::fs::Mode;
use rustix::process::{getuid, umask};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

/// How long a live session may take to answer `info`.
const ASK_GRACE_PERIOD: Duration = Duration::from_secs(2);

/// The maximum length of a Unix socket's path, in bytes.
const MAX_PATH_BYTES: usize = 107;

/// How long the session waits for an answer; the caller decides when to stop and closes its connection.
const MAX_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Why a socket cannot be created.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    /// The folder is not the user's alone.
    #[error("{} is not private: {}", .0.display(), .1)]
    NotOurs(PathBuf, &'static str),
    /// The path is too long for a socket's address.
    #[error("{} is too long for a socket's path (at most {MAX_PATH_BYTES} bytes)", .0.display())]
    TooLong(PathBuf),
    /// The system refused.
    #[error("{}: {}", .0.display(), .1)]
    System(PathBuf, io::Error),
}

/// A listening socket, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct BoundSocket {
    /// The session's name.
    pub name: String,
    path: PathBuf,
}

impl Drop for BoundSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        abstract_sockets::clean_up();
    }
}

/// Creates a socket named after `wanted` in the folder, and the folder if necessary: `NAME.sock`, or `NAME-2.sock` and
/// so on if a live session has that name.
///
/// # Errors
/// The folder is not the user's alone, or the socket cannot be created.
pub(crate) fn bind(folder: &Path, wanted: &str) -> Result<(BoundSocket, UnixListener), SocketError> {
    private::create_folder(folder).map_err(|error| SocketError::System(folder.to_owned(), error))?;
    let _lock = lock(folder)?;
    for number in 1u32.. {
        let name = if number == 1 { wanted.to_owned() } else { format!("{wanted}-{number}") };
        let path = socket_path(folder, &name);
        if path.as_os_str().len() > MAX_PATH_BYTES {
            return Err(SocketError::TooLong(path));
        }
        let failed = |error| SocketError::System(path.clone(), error);
        if path.exists() && !remove_stale(&path) {
            continue;
        }
        let listener = UnixListener::bind(&path).map_err(failed)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        return Ok((BoundSocket { name, path }, listener));
    }
    unreachable_name(folder)
}

/// Creates a socket at this path, for its owner alone. A socket on which no process listens any more is replaced.
///
/// # Errors
/// The socket cannot be created.
pub(crate) fn bind_at(path: &Path) -> Result<(BoundSocket, UnixListener), SocketError> {
    if path.as_os_str().len() > MAX_PATH_BYTES {
        return Err(SocketError::TooLong(path.to_owned()));
    }
    let failed = |error| SocketError::System(path.to_owned(), error);
    // Other kinds of files are not removed.
    if std::fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket()) {
        remove_stale(path);
    }
    // A socket accepts connections as soon as it is bound, so its mode must be right from the start.
    let before = umask(Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(path);
    umask(before);
    let listener = listener.map_err(failed)?;
    let path = std::path::absolute(path).map_err(failed)?;
    Ok((BoundSocket { name: path.display().to_string(), path }, listener))
}

/// Reached after four billion sessions with one name.
fn unreachable_name(folder: &Path) -> Result<(BoundSocket, UnixListener), SocketError> {
    Err(SocketError::System(folder.to_owned(), io::Error::from(io::ErrorKind::AddrInUse)))
}

/// The path of a session's socket.
pub(crate) fn socket_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.sock"))
}

/// The sorted names of the live sessions; none if the folder does not exist. Removes stale sockets.
///
/// # Errors
/// The folder is not the user's alone, or cannot be read.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>, SocketError> {
    names_but(folder, remove_stale)
}

/// The same for a folder of another home, where nothing is removed.
///
/// # Errors
/// The folder is not the user's alone, or cannot be read.
pub(crate) fn names_elsewhere(folder: &Path) -> Result<Vec<String>, SocketError> {
    names_but(folder, |path| UnixStream::connect(path).is_err())
}

fn names_but(folder: &Path, is_gone: impl Fn(&Path) -> bool) -> Result<Vec<String>, SocketError> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let _lock = lock(folder)?;
    let entries = std::fs::read_dir(folder).map_err(|error| SocketError::System(folder.to_owned(), error))?;
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sock") && !is_gone(path))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    Ok(names)
}

/// Locks the folder, after checking that it is the user's own.
fn lock(folder: &Path) -> Result<File, SocketError> {
    let failed = |error| SocketError::System(folder.to_owned(), error);
    let not_ours = |why| Err(SocketError::NotOurs(folder.to_owned(), why));
    // Does not follow a link, which in a folder open to all users could lead anywhere.
    let about = std::fs::symlink_metadata(folder).map_err(failed)?;
    if !about.is_dir() {
        return not_ours("it is not a folder");
    }
    if about.uid() != getuid().as_raw() {
        return not_ours("it belongs to another user");
    }
    if about.mode() & 0o077 != 0 {
        return not_ours("other users can enter it (its mode must be 0700)");
    }
    let file = private::open_or_create(&folder.join("lock")).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

/// Removes a socket on which no process listens. Returns whether the path is free.
fn remove_stale(path: &Path) -> bool {
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path).is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(_) => false,
    }
}

/// The version of the control protocol.
pub(crate) const VERSION: u32 = 2;
/// The maximum length of a greeting, in bytes.
const MAX_GREETING_BYTES: u64 = 4096;

/// Creates the abstract socket of a session; returns its name and listener.
///
/// # Errors
///
/// The socket cannot be created.
pub(crate) fn bind_abstract() -> io::Result<(String, UnixListener)> {
    abstract_sockets::bind(&format!("mcpreel-{}", uuid::Uuid::new_v4().simple()))
}

/// Why a connected peer may not talk to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RejectedPeer {
    /// It is another user's process.
    User,
    /// It belongs to a handler of a subscription.
    Handler(i32),
    /// It is gone, so this cannot be determined.
    Gone,
}

/// Admits processes of the same user and of root, except for handlers of subscriptions.
///
/// # Errors
/// The peer is rejected.
pub(crate) fn admit(stream: &UnixStream) -> Result<(), RejectedPeer> {
    const ROOT: u32 = 0;
    match peer(stream) {
        Ok((uid, pid)) if uid == getuid().as_raw() || uid == ROOT => match is_supervised(pid) {
            Some(true) => Err(RejectedPeer::Handler(pid)),
            Some(false) => Ok(()),
            None => Err(RejectedPeer::Gone),
        },
        Ok(_) | Err(_) => Err(RejectedPeer::User),
    }
}

/// The user and process id of the peer; the process id is 0 in another PID namespace. Uses tokio because rustix cannot
/// represent such a process.
fn peer(stream: &UnixStream) -> io::Result<(u32, i32)> {
    let clone = stream.try_clone()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let peer = {
        let _inside = runtime.enter();
        clone.set_nonblocking(true)?;
        let peer = tokio::net::UnixStream::from_std(clone).and_then(|clone| clone.peer_cred());
        // The clone shares its flags with the stream.
        stream.set_nonblocking(false)?;
        peer?
    };
    // May be called within another runtime, which must not be blocked.
    runtime.shutdown_background();
    Ok((peer.uid(), peer.pid().unwrap_or_default()))
}

/// Connects to a session: its socket in the folder names the abstract socket, where the same process must answer.
///
/// # Errors
/// The session is gone or refuses the connection, or another process answers.
pub fn connect(socket: &Path) -> io::Result<UnixStream> {
    let public = UnixStream::connect(socket)?;
    public.set_read_timeout(Some(ASK_GRACE_PERIOD))?;
    let mut line = String::new();
    BufReader::new(&public).take(MAX_GREETING_BYTES).read_line(&mut line)?;
    let greeting: Value = serde_json::from_str(&line).unwrap_or_default();
    let Some(name) = greeting["abstract"].as_str() else {
        let why = greeting["failed"].as_str().unwrap_or("it does not name its abstract socket");
        return Err(io::Error::other(why));
    };
    let stream = abstract_sockets::connect(name).map_err(|error| {
        io::Error::other(match error.kind() {
            io::ErrorKind::PermissionDenied => {
                "this process may not connect to abstract Unix sockets of others, for example because it is a handler"
                    .to_owned()
            }
            io::ErrorKind::ConnectionRefused => {
                format!("its abstract socket @{name} does not exist here; is it in another network namespace?")
            }
            _ => format!("its abstract socket @{name}: {error}"),
        })
    })?;
    let (here, there) = (peer(&public)?, peer(&stream)?);
    if here != there || is_supervised(there.1) != Some(false) {
        return Err(io::Error::other("another process answers at the session's socket"));
    }
    Ok(stream)
}

/// Sends one request and waits for one answer.
///
/// # Errors
/// The session cannot be reached, or does not answer in time.
pub(crate) fn ask(socket: &Path, request: &Value, grace_period: Duration) -> io::Result<Value> {
    let mut answer = Value::Null;
    listen(socket, request, grace_period, |reported| {
        answer = reported;
        false
    })?;
    Ok(answer)
}

/// Sends one request and reads answers until `received` returns false. `grace_period` applies to each line.
///
/// # Errors
/// The session cannot be reached, or does not answer in time.
pub(crate) fn listen(
    socket: &Path,
    request: &Value,
    grace_period: Duration,
    mut received: impl FnMut(Value) -> bool,
) -> io::Result<()> {
    let mut stream = connect(socket)?;
    stream.set_read_timeout(Some(grace_period))?;
    writeln!(stream, "{request}")?;
    let mut lines = BufReader::new(stream).lines();
    loop {
        let line = lines.next().unwrap_or_else(|| Err(io::Error::other("the connection was closed")))?;
        if !received(serde_json::from_str(&line).map_err(io::Error::other)?) {
            return Ok(());
        }
    }
}

/// What a session reports about itself.
///
/// # Errors
/// The session cannot be reached, or does not answer in time.
pub(crate) fn info(socket: &Path) -> io::Result<Map<String, Value>> {
    match ask(socket, &json!({"op": "info"}), ASK_GRACE_PERIOD)?["info"].take() {
        Value::Object(info) => Ok(info),
        _ => Err(io::Error::other("its answer contains no session information")),
    }
}

/// Connects to a live session. Messages are sent to the side `toward` (`server` or `client`); answers to requests, and
/// notifications before them, are received. `in_stream` is the stream, or 0 for the only one. Must be called within a
/// tokio runtime.
///
/// # Errors
/// The session cannot be reached.
pub(crate) fn link(socket: &Path, toward: &'static str, in_stream: u32) -> io::Result<Link> {
    let stream = connect(socket)?;
    stream.set_nonblocking(true)?;
    let (reading, mut writing) = tokio::net::UnixStream::from_std(stream)?.into_split();
    let (link, Served { mut outgoing, incoming }) = Link::served();
    tokio::spawn(async move {
        while let Some(message) = outgoing.recv().await {
            let text = String::from_utf8_lossy(&message);
            let wait = MAX_WAIT.as_millis() as u64;
            let request = json!({
                "op": "send", "tag": tag(&message), "toward": toward, "stream": in_stream, "message": text,
                "wait_ms": wait,
            });
            if writing.write_all(format!("{request}\n").as_bytes()).await.is_err() {
                return;
            }
        }
        // The link is closed, so the connection is closed, and the session gives up open requests.
    });
    tokio::spawn(async move {
        let mut lines = tokio::io::BufReader::new(reading).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let reported: Value = serde_json::from_str(&line).unwrap_or_default();
            let said = reported["answer"].as_str().or_else(|| reported["before"].as_str());
            let came = match (said, reported["failed"].as_str(), reported["tag"].as_str()) {
                (Some(said), _, _) => Incoming::Message(said.as_bytes().to_vec()),
                (None, Some(why), Some(id)) => {
                    let (id, reason) = (id.as_bytes().to_vec(), why.to_owned());
                    Incoming::Undelivered(Undelivered { id, reason, ..Undelivered::default() })
                }
                (None, Some(why), None) => Incoming::Failed(why.to_owned()),
                (None, None, _) => continue,
            };
            if incoming.send(came).await.is_err() {
                return;
            }
        }
        let _ = incoming.send(Incoming::Closed).await;
    });
    Ok(link)
}

/// The tag of a message: a request's id as text, otherwise empty.
fn tag(message: &[u8]) -> String {
    let envelope = Envelope::scan(message);
    let id = envelope.id.filter(|_| envelope.kind == MessageKind::Request);
    id.map(|id| String::from_utf8_lossy(id.0).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::supervisor::NO_HANDLERS;

    #[test]
    fn names_are_unique_stable_and_free_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join("run");
        let (first, _listens) = bind(&run, "everything").expect("bound");
        let (second, _listens) = bind(&run, "everything").expect("bound");
        assert_eq!((first.name.as_str(), second.name.as_str()), ("everything", "everything-2"));
        assert_eq!(names(&run).expect("listed"), ["everything", "everything-2"]);
        let mode = |path: &Path| std::fs::metadata(path).expect("there").mode() & 0o777;
        assert_eq!((mode(&run), mode(&socket_path(&run, "everything"))), (0o700, 0o600));
        drop(first);
        assert_eq!(names(&run).expect("listed"), ["everything-2"]);
        assert_eq!(bind(&run, "everything").expect("bound").0.name, "everything");
    }

    #[test]
    fn a_socket_that_nobody_listens_on_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join("run");
        let (bound, listener) = bind(&run, "gone").expect("bound");
        drop(listener);
        std::mem::forget(bound);
        assert!(socket_path(&run, "gone").exists());
        assert!(names(&run).expect("listed").is_empty());
        assert!(!socket_path(&run, "gone").exists());
    }

    #[test]
    fn a_folder_that_is_not_ours_alone_and_a_path_too_long_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join("run");
        std::fs::create_dir(&run).expect("made");
        std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o755)).expect("set");
        assert!(matches!(bind(&run, "x"), Err(SocketError::NotOurs(..))));
        assert!(matches!(names(&run), Err(SocketError::NotOurs(..))));
        let linked = folder.path().join("linked");
        std::os::unix::fs::symlink(folder.path(), &linked).expect("linked");
        assert!(matches!(names(&linked), Err(SocketError::NotOurs(..))));
        let long = folder.path().join("x".repeat(100));
        assert!(matches!(bind(&long, "x"), Err(SocketError::TooLong(_))));
    }

    /// The result of connecting to a socket that sends this greeting.
    fn greeted(greeting: &Value) -> io::Result<UnixStream> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.sock");
        let public = UnixListener::bind(&path).expect("bound");
        let greeting = greeting.to_string();
        let greeter = std::thread::spawn(move || {
            let (mut stream, _) = public.accept().expect("accepted");
            writeln!(stream, "{greeting}").expect("written");
        });
        let connected = connect(&path);
        greeter.join().expect("greeted");
        connected
    }

    #[test]
    fn a_session_that_cannot_be_spoken_to_is_refused_with_the_reason() {
        let (name, listener) = bind_abstract().expect("bound");
        let stream = greeted(&json!({"version": VERSION, "abstract": name})).expect("connected");
        assert_eq!(admit(&stream), Ok(()));
        assert_eq!(admit(&listener.accept().expect("accepted").0), Ok(()));
        drop(listener);
        for (greeting, words) in [
            (json!({"version": VERSION, "abstract": name}), "network namespace"),
            (json!({"version": VERSION, "failed": NO_HANDLERS}), NO_HANDLERS),
            (json!({"tag": 1, "info": {}}), "does not name"),
            (json!({"abstract": "x".repeat(200)}), ""),
        ] {
            let error = greeted(&greeting).expect_err("not a session").to_string();
            assert!(error.contains(words), "{words}: {error}");
        }
    }

    #[tokio::test]
    async fn a_message_that_is_not_taken_fails_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.sock");
        let public = UnixListener::bind(&path).expect("bound");
        let (name, listener) = bind_abstract().expect("bound");
        let greeter = std::thread::spawn(move || {
            let (mut stream, _) = public.accept().expect("accepted");
            writeln!(stream, "{}", json!({"version": VERSION, "abstract": name})).expect("written");
        });
        let mut link = link(&path, "server", 0).expect("connected");
        greeter.join().expect("greeted");
        let (stream, _) = listener.accept().expect("accepted");
        stream.set_nonblocking(true).expect("set");
        let stream = tokio::net::UnixStream::from_std(stream).expect("a stream");
        let (reading, mut writing) = stream.into_split();
        let mut lines = tokio::io::BufReader::new(reading).lines();
        let mut tags = Vec::new();
        for message in [r#"{"id":"mcpreel-0123abcd-1","method":"m"}"#, r#"{"method":"n"}"#] {
            assert!(link.send(message.as_bytes().to_vec()).await);
            let line = lines.next_line().await.expect("read").expect("a request");
            tags.push(serde_json::from_str::<Value>(&line).expect("JSON")["tag"].clone());
        }
        for reported in [
            json!({"tag": tags[0], "failed": "full"}),
            json!({"tag": tags[1], "failed": "full"}),
            json!({"failed": "16 are connected"}),
        ] {
            writing.write_all(format!("{reported}\n").as_bytes()).await.expect("written");
        }
        let lost = |id: &[u8]| {
            Incoming::Undelivered(Undelivered { id: id.to_vec(), reason: "full".into(), ..Default::default() })
        };
        assert_eq!(link.receive().await, lost(br#""mcpreel-0123abcd-1""#));
        assert_eq!(link.receive().await, lost(b""));
        assert_eq!(link.receive().await, Incoming::Failed("16 are connected".into()));
    }
}

//! `record --url`: connects a client on stdin and stdout to a server that runs elsewhere.

use super::followers::Prepared;
use super::{RecordArgs, about};
use crate::cli::printer::note;
use crate::cli::{Context, Outcome, url_name};
use crate::error::{CommandError, ErrorKind};
use crate::record::recording::OnExisting;
use crate::record::stdio_to_url::{self, ServerEnd, SharedSession};
use crate::redact;
use crate::runtime;
use crate::runtime::server_link;
use crate::sessions::control::Session;
use crate::sessions::live;
use crate::trace::EventKind;
use crate::transport::Remote;
use crate::transport::local::stdio::{client_gone, input_ended};
use serde_json::json;
use std::os::fd::AsFd;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// Completes once the user is asked to log in and the client has closed its input: it does not wait for the login.
async fn left_during_login(remote: &Remote) {
    input_ended().await;
    match &remote.login {
        Some(login) => login.waiting().user_is_asked().await,
        None => std::future::pending().await,
    }
}

/// Records until either side ends.
///
/// # Errors
///
/// A side cannot be reached, or the reel cannot be written and the user requires it.
pub(super) fn run(args: &RecordArgs, remote: &Remote, context: &Context) -> Result<Outcome, CommandError> {
    args.keeping.check_free_output()?;
    let name = args.keeping.session_name(&url_name(&remote.url));
    let prepared = Prepared::new(args)?;
    let recording = args.keeping.start(&name, args.target.configured_name(context), OnExisting::by_stdin())?;
    let followers = prepared.start(args, &recording, context)?;
    let recorder = recording.recorder();
    let limit = args.target.limits.max_message;
    let carried = runtime::block_on_until_interrupted(async {
        let failed = |error: std::io::Error| CommandError::new(ErrorKind::Internal, error.to_string());
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        // The user may have to log in first, while nobody reads what the client sends.
        let attached = tokio::select! {
            attached = server_link::attach(remote, Some(recorder), None, context.notices()) => attached?,
            _ = terminate.recv() => return Ok(()),
            () = client_gone() => return Ok(()),
            () = left_during_login(remote) => {
                note("the client has closed its input before anybody logged in; `mcpreel login URL` logs in beforehand");
                return Ok(());
            }
        };
        let server_link::RemoteLink { link, exchanges, .. } = attached;
        let (orders, taken) = mpsc::channel(16);
        // Over HTTP, sessions are numbered, and a stdio client has the first one.
        let stream = u32::from(exchanges.is_some());
        let shared =
            Arc::new(SharedSession { queue: Arc::clone(recorder.queue()), stream, answers: Arc::default(), orders });
        let about = about(name, redact::redact_url(&remote.url), "stdio", recording.status());
        let _bound = live::open(about, Arc::clone(&shared) as Arc<dyn Session>, &shared.answers, note);
        // Not the locked stdout: a client that does not read would keep the process from exiting.
        let output = std::fs::File::from(std::io::stdout().as_fd().try_clone_to_owned().map_err(failed)?);
        let carried = tokio::select! {
            carried = stdio_to_url::run(link, (std::io::stdin(), limit), output, Some(&shared), taken, ServerEnd::WithTheLink) => carried,
            _ = terminate.recv() => Ok(()),
        };
        if let Some(exchanges) = exchanges {
            exchanges.finish();
        }
        match carried {
            // The client is gone, which ends the session normally.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                Err(CommandError::new(ErrorKind::Peer, error.to_string()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                Err(CommandError::new(ErrorKind::Timeout, error.to_string()))
            }
            other => other.map_err(failed),
        }
    });
    recorder.note(EventKind::StreamClosed, &json!({"by": "the tap ended"}));
    let (summary, end) = recording.finish();
    followers.finish();
    end.report(&summary, super::reports_end(context), note)?;
    carried.map(|()| Outcome::Clean)
}

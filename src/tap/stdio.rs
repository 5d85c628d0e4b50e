//! The tap on stdio: what a client starts in place of its server. It starts the server, relays both directions and
//! standard error, passes signals on, closes what the peers close, and ends as the server ended.

use super::queue::{Lane, Queue};
use super::recorder::{Recorder, Summary};
use super::relay::{Ended, pump};
use crate::trace::EventKind;
use crate::transport::child::{ServerCommand, SpawnError};
use crate::wire::Direction;
use rustix::process::{Pid, Signal};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::Origin;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How long output that a dead server's descendants hold open is waited for once the client has closed its end.
const ORPHAN_GRACE: Duration = Duration::from_millis(250);

/// How a tapped session ended.
#[derive(Debug)]
pub struct TapOutcome {
    /// How the server ended.
    pub status: ExitStatus,
    /// How recording went.
    pub summary: Summary,
}

/// Runs the tap to its end. `describe` is what the reel says about the server; it must hold no secrets.
pub fn run(
    command: &ServerCommand,
    recorder: Recorder,
    mut describe: serde_json::Map<String, serde_json::Value>,
) -> Result<TapOutcome, SpawnError> {
    // Signals are held from here on, so that none that comes early is lost on the tap alone.
    let signals = SignalsInfo::<WithOrigin>::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH])?;
    let mut child = command.prepare()?.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    describe.insert("pid".into(), child.id().into());
    recorder.note(EventKind::StreamOpened, &describe);
    pass_signals_on(signals, &child);
    let ended = start_lanes(&mut child, recorder.queue())?;
    let status = child.wait()?;
    wait_for_output(&ended);
    recorder.note(
        EventKind::StreamClosed,
        &json!({"exit_code": status.code(), "signal": status.signal(), "by": "server exit"}),
    );
    Ok(TapOutcome { status, summary: recorder.finish() })
}

/// Passes signals on to the server that were sent to the tap alone. What a terminal sends reaches both already.
fn pass_signals_on(mut signals: SignalsInfo<WithOrigin>, child: &Child) {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    std::thread::spawn(move || {
        for Origin { signal, process, .. } in signals.forever() {
            if process.is_some()
                && let Some(signal) = Signal::from_named_raw(signal)
            {
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
    });
}

/// Starts one relay thread a lane; each tells when it is done.
fn start_lanes(child: &mut Child, queue: &Arc<Queue>) -> io::Result<Receiver<Lane>> {
    let (done, ended) = channel();
    let missing = || io::Error::other("a pipe of the server is missing");
    let (stdin, stdout, stderr) = (
        child.stdin.take().ok_or_else(missing)?,
        child.stdout.take().ok_or_else(missing)?,
        child.stderr.take().ok_or_else(missing)?,
    );
    lane(Lane::Messages(Direction::ClientToServer), queue, &done, move |lane, queue| {
        let ended = pump(rustix::stdio::stdin(), stdin, lane, queue);
        if matches!(ended, Ended::SinkClosed { .. }) {
            // The client's next write must fail as it would without the tap.
            let _ = File::open("/dev/null").and_then(|null| Ok(rustix::stdio::dup2_stdin(null)?));
        }
        ended
    })?;
    lane(Lane::Messages(Direction::ServerToClient), queue, &done, move |lane, queue| {
        let ended = pump(stdout, rustix::stdio::stdout(), lane, queue);
        // The client must see the end of the output while the server may live on.
        let _ = File::options().write(true).open("/dev/null").and_then(|null| Ok(rustix::stdio::dup2_stdout(null)?));
        ended
    })?;
    lane(Lane::Stderr, queue, &done, move |lane, queue| pump(stderr, rustix::stdio::stderr(), lane, queue))?;
    Ok(ended)
}

fn lane(
    lane: Lane,
    queue: &Arc<Queue>,
    done: &Sender<Lane>,
    run: impl FnOnce(Lane, &Queue) -> Ended + Send + 'static,
) -> io::Result<()> {
    let (queue, done) = (Arc::clone(queue), done.clone());
    let name = match lane {
        Lane::Messages(direction) => direction.short(),
        Lane::Stderr => "stderr",
    };
    std::thread::Builder::new().name(name.into()).spawn(move || {
        if let Ended::SinkClosed { undelivered } = run(lane, &queue)
            && undelivered > 0
        {
            let mut payload = Vec::new();
            let told = json!({"what": "undelivered", "lane": lane_name(lane), "bytes": undelivered});
            if ciborium::into_writer(&told, &mut payload).is_ok() {
                queue.push_event(EventKind::Transport, &payload);
            }
        }
        let _ = done.send(lane);
    })?;
    Ok(())
}

fn lane_name(lane: Lane) -> &'static str {
    match lane {
        Lane::Messages(direction) => direction.short(),
        Lane::Stderr => "stderr",
    }
}

/// After the server's exit: waits until its output is relayed to the end. Where descendants hold it open, waits no
/// longer than the client does.
fn wait_for_output(ended: &Receiver<Lane>) {
    let mut open = vec![Lane::Messages(Direction::ServerToClient), Lane::Stderr];
    let mut client_gone = false;
    while !open.is_empty() {
        let next = if client_gone {
            ended.recv_timeout(ORPHAN_GRACE)
        } else {
            ended.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match next {
            Ok(lane) => {
                client_gone |= lane == Lane::Messages(Direction::ClientToServer);
                open.retain(|other| *other != lane);
            }
            Err(_) => return,
        }
    }
}

//! The server behind a mock, which answers what was not recorded. It is started with the first such request.

use crate::cli::client_session::{self, ClientOptions};
use crate::cli::printer::Printer;
use crate::cli::target::Target;
use crate::cli::{ColorChoice, Context};
use crate::error::CommandError;
use crate::host::client::Params;
use crate::process::threads;
use crate::runtime::mock::{Forward, MockInput};
use crate::runtime::{self, Connection};
use crate::wire::Envelope;
use parking_lot::Mutex;
use serde_json::json;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A question for the server: its ticket, the request, and where the answer goes.
type Question = (u64, Vec<u8>, Sender<MockInput>);
/// What the server was asked and answered.
type Asked = Vec<Exchange>;

/// A request and its response.
pub(super) struct Exchange {
    pub request: Vec<u8>,
    pub response: Vec<u8>,
    /// How long the server took.
    pub took: Duration,
}

/// The server behind a mock.
pub(super) struct Upstream {
    questions: Arc<Mutex<Option<Sender<Question>>>>,
    thread: JoinHandle<Asked>,
}

impl Upstream {
    /// Checks the target, and starts the thread that asks it.
    ///
    /// # Errors
    ///
    /// The target names no server.
    pub(super) fn start(target: &Target, context: &Context) -> Result<Self, CommandError> {
        target.resolve(context)?;
        let (sender, questions) = channel();
        let (target, verbose) = (target.clone(), context.verbose);
        let thread = threads::start("upstream", move || {
            let context = Context { printer: Printer::new(ColorChoice::Auto), verbose };
            ask_all(&target, &questions, &context)
        });
        let thread = thread.map_err(CommandError::output)?;
        Ok(Self { questions: Arc::new(Mutex::new(Some(sender))), thread })
    }

    /// Asks the server.
    pub(super) fn forward(&self) -> Forward {
        let questions = Arc::clone(&self.questions);
        Arc::new(move |ticket, request, back| {
            if let Some(questions) = &*questions.lock() {
                let _ = questions.send((ticket, request, back));
            }
        })
    }

    /// Ends the server. Returns what it was asked, and its answers.
    pub(super) fn finish(self) -> Asked {
        *self.questions.lock() = None;
        self.thread.join().unwrap_or_default()
    }
}

fn ask_all(target: &Target, questions: &Receiver<Question>, context: &Context) -> Asked {
    let mut asked = Vec::new();
    // Nothing is started before the first question.
    let Ok(mut question) = questions.recv() else { return asked };
    let outcome = runtime::block_on_to_the_end(async {
        let options = ClientOptions::forwarding();
        let refuse = |(ticket, _, back): Question, error: &CommandError| {
            let _ = back.send(MockInput::Forwarded(ticket, Err(error.message.clone())));
        };
        let opened = async {
            let (link, peer) = client_session::start(target, &options, context).await?;
            let (connection, _) = client_session::open(&peer, link, &options, json!({}), context).await?;
            Ok((connection, peer))
        };
        let (mut connection, peer) = match opened.await {
            Ok(opened) => opened,
            Err(error) => {
                refuse(question, &error);
                questions.iter().for_each(|question| refuse(question, &error));
                return Err(error);
            }
        };
        loop {
            let (ticket, request, back) = question;
            let began = connection.runner.now();
            let answer = ask(&mut connection, &request).await;
            let took = connection.runner.now().saturating_sub(began);
            if let Ok(response) = &answer {
                asked.push(Exchange { request, response: response.clone(), took });
            }
            let _ = back.send(MockInput::Forwarded(ticket, answer));
            match questions.recv() {
                Ok(next) => question = next,
                Err(_) => break,
            }
        }
        connection.runner.close().await;
        peer.end(context.notices()).await.map(drop)
    });
    if let Err(error) = outcome {
        context.printer.complain(&error);
    }
    asked
}

/// Sends a request with an id of this connection. Returns the response with the id of the request.
async fn ask(connection: &mut Connection, request: &[u8]) -> Result<Vec<u8>, String> {
    let envelope = Envelope::scan(request);
    let method = envelope.method.as_deref().unwrap_or_default();
    let params = envelope.params.map_or(Params::Absent, |params| Params::Raw(params.to_vec()));
    let answer = connection.request(method, params, |_| {}).await.map_err(|failure| failure.to_string())?;
    Ok(match envelope.id {
        Some(id) => crate::replay::with_id(&answer.message, id),
        None => answer.message,
    })
}

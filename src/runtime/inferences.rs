//! Inferences that servers ask for, beside the conversation: one after another, each on the chosen model.

use super::model::Model;
use crate::proposals::host::{Inference, Inferred};
use std::collections::VecDeque;
use tokio::sync::mpsc;

/// Something of an inference.
#[derive(Debug)]
pub enum Saying {
    /// A piece of what the model says.
    Piece(String),
    /// The end.
    End(Result<Inferred, String>),
}

/// The inferences that run and that wait.
pub struct Inferences {
    waiting: VecDeque<Inference>,
    running: bool,
    sender: mpsc::UnboundedSender<(u64, Saying)>,
    said: mpsc::UnboundedReceiver<(u64, Saying)>,
}

impl Inferences {
    /// None yet.
    pub fn new() -> Self {
        let (sender, said) = mpsc::unbounded_channel();
        Self { waiting: VecDeque::new(), running: false, sender, said }
    }

    /// Whether none runs.
    pub fn is_idle(&self) -> bool {
        !self.running
    }

    /// Takes one more; it begins when those before it are over.
    pub fn take(&mut self, inference: Inference, model: &Model) {
        self.waiting.push_back(inference);
        if !self.running {
            self.begin_next(model);
        }
    }

    /// Begins the next: to be called at each end.
    pub fn begin_next(&mut self, model: &Model) {
        let next = self.waiting.pop_front();
        self.running = next.is_some();
        let Some(inference) = next else { return };
        let (model, sender) = (model.clone(), self.sender.clone());
        tokio::spawn(async move {
            let token = inference.token;
            let say = |saying: Saying| {
                // Nobody listens any more: the conversation is over.
                let _ = sender.send((token, saying));
            };
            let piece = |piece: &str| say(Saying::Piece(piece.to_owned()));
            let outcome = model.infer(&inference, piece).await;
            say(Saying::End(outcome));
        });
    }

    /// The next thing that is said. Cancelling it loses nothing.
    pub async fn next(&mut self) -> (u64, Saying) {
        match self.said.recv().await {
            Some(said) => said,
            // It never ends: a sender is kept here.
            None => std::future::pending().await,
        }
    }
}

//! Inferences that servers request, which run one after another in addition to the conversation.

use super::model::Model;
use crate::proposals::host::{Inference, Inferred};
use std::collections::VecDeque;
use tokio::sync::mpsc;

/// Output of an inference.
#[derive(Debug)]
pub(crate) enum Saying {
    /// A piece of the model's answer.
    Piece(String),
    /// The end.
    End(Result<Inferred, String>),
}

/// The running and the waiting inferences.
pub(crate) struct Inferences {
    waiting: VecDeque<Inference>,
    running: bool,
    sender: mpsc::UnboundedSender<(u64, Saying)>,
    said: mpsc::UnboundedReceiver<(u64, Saying)>,
}

impl Inferences {
    /// No inferences.
    pub(crate) fn new() -> Self {
        let (sender, said) = mpsc::unbounded_channel();
        Self { waiting: VecDeque::new(), running: false, sender, said }
    }

    /// Whether no inference is running.
    pub(crate) fn is_idle(&self) -> bool {
        !self.running
    }

    /// Adds an inference, which begins when those before it have ended.
    pub(crate) fn take(&mut self, inference: Inference, model: &Model) {
        self.waiting.push_back(inference);
        if !self.running {
            self.begin_next(model);
        }
    }

    /// Begins the next inference. Must be called at the end of each.
    pub(crate) fn begin_next(&mut self, model: &Model) {
        let next = self.waiting.pop_front();
        self.running = next.is_some();
        let Some(inference) = next else { return };
        let (model, sender) = (model.clone(), self.sender.clone());
        tokio::spawn(async move {
            let token = inference.token;
            let say = |saying: Saying| {
                // There is no receiver after the end of the conversation.
                let _ = sender.send((token, saying));
            };
            let piece = |piece: &str| say(Saying::Piece(piece.to_owned()));
            let outcome = model.infer(&inference, piece).await;
            say(Saying::End(outcome));
        });
    }

    /// The next output. Cancelling this loses nothing.
    pub(crate) async fn next(&mut self) -> (u64, Saying) {
        match self.said.recv().await {
            Some(said) => said,
            // The channel never closes, because we keep a sender.
            None => std::future::pending().await,
        }
    }
}

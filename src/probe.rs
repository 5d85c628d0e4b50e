//! Tests how a client handles what the proposals let a server declare and send, sans-IO. It is fed the messages of the
//! client's sessions and the state of the client's process. It says which process to start and what to send, and at the
//! end what became of each declaration and each message.
//!
//! After each message, a ping shows whether the client is still alive. If it is not, the probe starts it again for the
//! remaining messages. A run in which only pings are sent, as many and as fast, shows whether the client would have
//! exited anyway. If the client exits before the first message, further runs show which declarations it cannot take, alone
//! or together.
//!
//! Never: tokio, sockets, files, clocks, printing; knowledge of a single proposal.

mod client_run;
mod plan;
mod report;
mod run;
mod search;

pub use plan::Plan;
pub(crate) use plan::{DeclarationPlace, Probe};
pub use report::ClientEnd;
pub(crate) use report::{Client, ClientFailure, Declared, ProbeReport, SentSample, TrialOutcome};
pub use run::{Output, ProbeRun, Settings};

#[cfg(test)]
mod tests;

//! How a foreign client takes what the proposals let a server declare and send, sans-IO: it is fed what passes in the
//! client's sessions and how the client's process does, and gives back whom to start, what to send, and in the end what
//! came of each declaration and each message.
//!
//! After each message a ping tells whether the client still lives. Where it does not, it is started again for the rest;
//! a client that ends by itself is told apart by a run in which nothing is sent.
//!
//! Never: tokio, sockets, files, clocks, printing; what a single proposal says.

mod client_run;
mod plan;
mod report;
mod run;

pub use plan::{DeclarationPlace, Form, Plan, Probe};
pub use report::{Client, ClientEnd, ClientFailure, Declared, ProbeReport, SentSample, TrialOutcome};
pub use run::{Order, ProbeRun, Settings};

#[cfg(test)]
mod tests;

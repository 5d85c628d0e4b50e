//! Serves a recording: answers a client's requests with what the recorded server answered, and sends what that server
//! sent by itself at the same moments.
//!
//! [`library`] is the index of the recording; messages are read when they are needed. [`session`] serves one client.
//! [`matching`] decides which recorded exchange a request repeats. [`faults`] breaks answers on purpose. [`Report`] says
//! what was asked for in vain, and what was never asked for.

mod faults;
pub(crate) mod library;
pub(crate) mod matching;
mod miss;
mod rekey;
mod report;
mod session;

pub use faults::Fault;
pub use library::{Library, LibraryBuilder, in_memory};
pub(crate) use library::{Payloads, copied};
pub use matching::Matching;
pub use report::Report;
pub use session::{MockSession, Output, Settings};

#[cfg(test)]
mod tests;

//! What Linux does and other Unix systems do not, or do in another way: one module per concern, each with a fallback.
//!
//! Everything else is the same on all Unix systems. `docs/design/platforms.md` says what the fallbacks lack. `build.rs`
//! sets `on_linux` on Linux, unless `MCPREEL_PORTABLE` is set, which builds the fallbacks on Linux, to test them.

pub(crate) mod abstract_sockets;
pub(crate) mod confinement;
pub(crate) mod descendants;
pub(crate) mod file_size_limit;
pub(crate) mod host_name;
pub(crate) mod ignored_signals;
pub(crate) mod open_file;
pub(crate) mod own_program;
pub(crate) mod parent_death;
pub(crate) mod process_handle;
pub(crate) mod process_table;
pub(crate) mod thread_priority;

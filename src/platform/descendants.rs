//! The processes below this one, also those whose parents have ended: this process is their subreaper, so they become its
//! own children, and a child that starts a session of its own cannot leave.
//!
//! Fallback: the process group of one child. What leaves this group is neither found nor ended.

use rustix::process::Pid;
use std::collections::BTreeSet;
use std::io;

#[cfg(on_linux)]
mod system {
    use super::{BTreeSet, Pid, io};
    use rustix::process::{Signal, getpid, kill_process, set_child_subreaper};
    use std::fs::File;
    use std::io::{Read, Seek};

    /// The system's list of this process's children (those of its only thread).
    pub(crate) struct Descendants(File);

    impl Descendants {
        pub(crate) fn adopt() -> io::Result<Self> {
            let children = File::open("/proc/thread-self/children")
                .map_err(|error| io::Error::other(format!("cannot read the list of child processes: {error}")))?;
            set_child_subreaper(Some(getpid()))?;
            Ok(Self(children))
        }

        pub(crate) fn kill(&self, child: Pid, others: &mut BTreeSet<i32>) -> io::Result<()> {
            let mut list = String::new();
            (&self.0).rewind()?;
            (&self.0).read_to_string(&mut list)?;
            for pid in list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
                if kill_process(pid, Signal::KILL).is_ok() && pid != child {
                    others.insert(pid.as_raw_pid());
                }
            }
            Ok(())
        }
    }
}

#[cfg(not(on_linux))]
mod system {
    use super::{BTreeSet, Pid, io};
    use rustix::io::Errno;
    use rustix::process::{Signal, kill_process_group};

    /// Only the child itself is known.
    pub(crate) struct Descendants(());

    impl Descendants {
        pub(crate) fn adopt() -> io::Result<Self> {
            Ok(Self(()))
        }

        pub(crate) fn kill(&self, child: Pid, _others: &mut BTreeSet<i32>) -> io::Result<()> {
            match kill_process_group(child, Signal::KILL) {
                // Some systems refuse if only processes that have ended are left in the group.
                Ok(()) | Err(Errno::SRCH | Errno::PERM) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }
    }
}

/// The processes below this one.
pub(crate) struct Descendants(system::Descendants);

impl Descendants {
    /// From now on, processes below this one whose parents end become its children.
    ///
    /// # Errors
    /// The system refuses, or does not list children.
    pub(crate) fn adopt() -> io::Result<Self> {
        system::Descendants::adopt().map(Self)
    }

    /// Kills all children; adds the ids of those other than `child`, the leader of a process group, to `others`. Opens no
    /// descriptors: any process of the user could take them away (prlimit), and then a process would survive.
    ///
    /// # Errors
    /// The list cannot be read.
    pub(crate) fn kill(&self, child: Pid, others: &mut BTreeSet<i32>) -> io::Result<()> {
        self.0.kill(child, others)
    }
}

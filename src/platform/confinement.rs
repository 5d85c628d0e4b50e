//! What a process may do to others: renounces privileges, hides from inspection, and keeps a command from processes that
//! are not its own (Landlock scopes, Linux 6.12).
//!
//! Fallback: nothing is renounced, hidden or kept away, and [`can_confine`] says so. A command can do whatever the user can.

#[cfg(on_linux)]
mod system {
    use landlock::{ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetError, Scope};
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    use rustix::thread::{
        CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities,
        set_capabilities_secure_bits, set_no_new_privs,
    };
    use std::io;

    fn scopes(level: CompatLevel) -> Result<Ruleset, RulesetError> {
        Ruleset::default().set_compatibility(level).scope(Scope::from_all(ABI::V6))
    }

    pub(super) fn can_confine() -> bool {
        scopes(CompatLevel::HardRequirement).and_then(Ruleset::create).is_ok()
    }

    pub(super) fn confine() -> io::Result<()> {
        // On a kernel without these scopes, nothing is restricted.
        let confined =
            || scopes(CompatLevel::BestEffort)?.handle_access(AccessFs::ResolveUnix)?.create()?.restrict_self();
        confined().map(|_| ()).map_err(io::Error::other)
    }

    pub(super) fn hide() -> io::Result<()> {
        Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
    }

    pub(super) fn renounce() {
        let none = CapabilitySet::empty();
        // A step that is refused had nothing to drop.
        let _ = set_no_new_privs(true);
        let _ = set_capabilities_secure_bits(CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED);
        let _ = clear_ambient_capability_set();
        let _ = set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none });
    }
}

#[cfg(not(on_linux))]
mod system {
    use std::io;

    pub(super) fn can_confine() -> bool {
        false
    }

    pub(super) fn confine() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn hide() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn renounce() {}
}

/// Whether this kernel can keep a command from reaching processes that are not its own (Landlock ABI 6).
pub fn can_confine() -> bool {
    system::can_confine()
}

/// Keeps this thread and everything it starts from processes that it did not start, as far as the kernel supports this.
///
/// # Errors
/// The kernel supports this, but refused.
pub(crate) fn confine() -> std::io::Result<()> {
    system::confine()
}

/// Prevents other processes of the same user from inspecting this process's environment and memory.
///
/// # Errors
/// The system refused.
pub(crate) fn hide() -> std::io::Result<()> {
    system::hide()
}

/// Drops all capabilities for good, even those of root, so that a command can do no more than any other process of the
/// user.
pub(crate) fn renounce() {
    system::renounce();
}

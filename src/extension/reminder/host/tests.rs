//! The queue: dedupe, lifetimes, budgets, compaction.

//! Tests of packs.

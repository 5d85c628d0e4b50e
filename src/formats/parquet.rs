//! Parquet, an export format for databases: a row for each message, with typed columns. One reel becomes a file, or a part of
//! a dataset: a folder with files for each day and server, which grows by the reels of many machines.
//!
//! The crate feature `parquet` contains it; without the feature, only its name is known.

#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod dataset;
#[cfg(feature = "parquet")]
mod identity;
#[cfg(feature = "parquet")]
mod row;
#[cfg(feature = "parquet")]
mod table;
#[cfg(feature = "parquet")]
mod writer;

#[cfg(feature = "parquet")]
pub(crate) use dataset::{Dataset, Files};
#[cfg(feature = "parquet")]
pub(crate) use table::{Settings, file};

/// Its name on the command line.
pub(crate) const NAME: &str = "parquet";
/// What it is, as a help line.
pub(crate) const ABOUT: &str = "A table for databases (Parquet), one message per row; of several reels, a dataset";

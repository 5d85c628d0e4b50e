//! A dataset: a folder for many recordings, with files for each day and server, named as Hive does it.

use super::columns::Source;
use super::table::{Facts, Settings, Table, Target};
use super::writer::TableWriter;
use crate::formats::Exporter;
use crate::formats::jsonl::rfc3339;
use crate::formats::messages::ByMessage;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// At most this many files of a recording are open at once.
const MAX_OPEN: usize = 64;
/// The maximum length of the server's name in a path.
const MAX_NAME_BYTES: usize = 64;

/// Where the files of a dataset are.
pub(crate) trait Files {
    /// A file that is being written.
    type File: Write;

    /// Begins the file at this path in the dataset.
    ///
    /// # Errors
    /// It cannot be created.
    fn begin(&mut self, path: &str) -> io::Result<Self::File>;

    /// Completes a file.
    ///
    /// # Errors
    /// It cannot be written.
    fn finish(&mut self, file: Self::File) -> io::Result<()>;
}

/// Writes recordings into a dataset.
pub(crate) struct Dataset;

impl Dataset {
    /// Makes an exporter for one recording.
    pub(crate) fn exporter<F: Files + 'static>(settings: &Settings, files: F) -> Box<dyn Exporter> {
        let target = Partitions { files, open: BTreeMap::new(), parts: BTreeMap::new() };
        Box::new(ByMessage::new(Table::new(settings, target)))
    }
}

/// A day and a server.
type Partition = (String, String);

/// The files of one recording.
struct Partitions<F: Files> {
    files: F,
    open: BTreeMap<Partition, (TableWriter, F::File)>,
    /// How many files there were of each partition.
    parts: BTreeMap<Partition, u32>,
}

impl<F: Files> Partitions<F> {
    /// Completes all open files.
    fn finish(&mut self) -> io::Result<()> {
        for (writer, mut file) in std::mem::take(&mut self.open).into_values() {
            writer.end(&mut file)?;
            self.files.finish(file)?;
        }
        Ok(())
    }
}

impl<F: Files> Target for Partitions<F> {
    fn rows(&mut self, rows: &[Source<'_>], facts: &Facts, _out: &mut dyn Write) -> io::Result<()> {
        let mut divided: BTreeMap<Partition, Vec<Source<'_>>> = BTreeMap::new();
        for row in rows {
            divided.entry(partition(row)).or_default().push(*row);
        }
        for (partition, rows) in divided {
            if self.open.len() >= MAX_OPEN && !self.open.contains_key(&partition) {
                self.finish()?;
            }
            let (writer, file) = match self.open.remove(&partition) {
                Some(open) => self.open.entry(partition).or_insert(open),
                None => {
                    let part = self.parts.entry(partition.clone()).or_default();
                    let (day, server) = &partition;
                    let path = format!("day={day}/server={server}/{}-{part}.parquet", facts.recording);
                    *part += 1;
                    let begun = (facts.begin()?, self.files.begin(&path)?);
                    self.open.entry(partition).or_insert(begun)
                }
            };
            writer.group(&rows, file)?;
        }
        Ok(())
    }

    fn end(&mut self, _facts: &Facts, _out: &mut dyn Write) -> io::Result<()> {
        self.finish()
    }
}

fn partition(row: &Source<'_>) -> Partition {
    let session = row.session;
    let name = session.server.as_ref().and_then(|server| server.name.as_ref());
    let name = name.or(session.server_key.as_ref()).or(row.recording.label.as_ref());
    let day = rfc3339(row.row.time).split('T').next().unwrap_or_default().to_owned();
    (day, safe(&String::from_utf8_lossy(name.map_or(&b""[..], |name| &name[..]))))
}

/// A name as a part of a path that every file system and object store takes, and no engine decodes.
fn safe(name: &str) -> String {
    let safe = |found: char| if found.is_ascii_alphanumeric() || "._-".contains(found) { found } else { '_' };
    let name: String = name.chars().take(MAX_NAME_BYTES).map(safe).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_servers_are_safe_in_paths() {
        for (name, expected) in [
            ("everything", "everything"),
            ("@acme/files server", "_acme_files_server"),
            ("../../etc/passwd", ".._.._etc_passwd"),
            ("a=b\0c\nd%2f", "a_b_c_d_2f"),
            ("größe", "gr__e"),
            ("", "unknown"),
        ] {
            assert_eq!(safe(name), expected);
        }
        assert_eq!(safe(&"x".repeat(300)).len(), MAX_NAME_BYTES);
    }
}

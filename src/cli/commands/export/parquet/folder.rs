//! The folder of a dataset.

use crate::files::output::{PRIVATE, Replacement};
use crate::formats::parquet::Files;
use crate::wire::text::counted;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{DirBuilder, File};
use std::io::{self, BufReader, BufWriter, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progressed {
    /// The number of events that were read, and of those that were written.
    pub read: u64,
    pub written: u64,
    pub is_damaged: bool,
}

impl Progressed {
    pub(super) fn add(&mut self, other: &Self) {
        self.read += other.read;
        self.written += other.written;
        self.is_damaged |= other.is_damaged;
    }
}

/// A dataset that is being written.
pub(super) struct Folder(Rc<RefCell<State>>);

struct State {
    root: PathBuf,
    /// The files of this run.
    files: BTreeSet<String>,
    /// How many of them were there already, with the same content.
    unchanged: u64,
    /// A file of this run that another recording would have replaced.
    repeated: Option<String>,
}

impl Folder {
    pub(super) fn at(root: &Path) -> Self {
        let root = root.to_owned();
        Self(Rc::new(RefCell::new(State { root, files: BTreeSet::new(), unchanged: 0, repeated: None })))
    }

    /// The same folder, for the exporter of one recording.
    pub(super) fn of_one(&self) -> Self {
        Self(Rc::clone(&self.0))
    }

    /// The file of another copy of the recording, if there was one.
    pub(super) fn repeated(&self) -> Option<String> {
        self.0.borrow_mut().repeated.take()
    }

    /// Says how many files there are.
    pub(super) fn report(&self) -> String {
        let State { files, unchanged, .. } = &*self.0.borrow();
        let files = counted(files.len() as u64, "file");
        if *unchanged == 0 { files } else { format!("{files}, {unchanged} unchanged") }
    }
}

impl Files for Folder {
    type File = BufWriter<Replacement>;

    fn begin(&mut self, path: &str) -> io::Result<Self::File> {
        let mut state = self.0.borrow_mut();
        if !state.files.insert(path.to_owned()) {
            state.repeated = Some(path.to_owned());
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let path = state.root.join(path);
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        Replacement::begin(&path, PRIVATE).map(BufWriter::new)
    }

    fn finish(&mut self, file: Self::File) -> io::Result<()> {
        let replacement = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        // A file that stays as it was keeps its time, so that it need not be uploaded again.
        if replacement.written().and_then(|written| is_same(written, replacement.target())).unwrap_or(false) {
            self.0.borrow_mut().unchanged += 1;
            return Ok(());
        }
        replacement.commit()
    }
}

/// Whether two files have the same content.
fn is_same(written: File, present: &Path) -> io::Result<bool> {
    let present = File::open(present)?;
    if written.metadata()?.len() != present.metadata()?.len() {
        return Ok(false);
    }
    let (mut written, mut present) = (BufReader::new(written).bytes(), BufReader::new(present).bytes());
    loop {
        match (written.next().transpose()?, present.next().transpose()?) {
            (None, None) => return Ok(true),
            (one, other) if one != other => return Ok(false),
            _ => {}
        }
    }
}

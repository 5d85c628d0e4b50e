//! Folders and files of mcpreel's own: their owner can use them, and nobody else, whatever the umask is.

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// The mode of a folder.
const FOLDER: u32 = 0o700;
/// What an owner needs to use a file.
const READ_AND_WRITE: u32 = 0o600;

/// Creates a folder and those above it, as far as they are missing. One that a umask made useless for its owner is mended.
///
/// # Errors
/// A folder cannot be created.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    create(path, |_| FOLDER)
}

/// Creates a folder that the user named, and those above it: who else may use them, the umask says, but their owner can.
///
/// # Errors
/// A folder cannot be created.
pub(crate) fn create_named_folder(path: &Path) -> io::Result<()> {
    create(path, |mode| mode & 0o7777 | FOLDER)
}

fn create(path: &Path, mode: impl Fn(u32) -> u32) -> io::Result<()> {
    let mut missing = Vec::new();
    for folder in path.ancestors().filter(|folder| !folder.as_os_str().is_empty()) {
        if folder.is_dir() {
            mend(folder);
            break;
        }
        missing.push(folder);
    }
    for folder in missing.into_iter().rev() {
        match DirBuilder::new().mode(mode(0o777)).create(folder) {
            Ok(()) => {
                let made = folder.metadata()?.mode();
                std::fs::set_permissions(folder, Permissions::from_mode(mode(made)))?;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Mends a folder that its owner can read or write but not enter, and others not at all: a umask made it like that.
/// Nobody means that; who locks a folder takes all rights away, or only the right to write.
fn mend(folder: &Path) {
    let is_useless = |mode: u32| mode & 0o177 == 0 && mode & READ_AND_WRITE != 0;
    if let Ok(about) = folder.metadata()
        && is_useless(about.mode())
    {
        // It may be another user's.
        let _ = std::fs::set_permissions(folder, Permissions::from_mode(FOLDER));
    }
}

/// Opens a file of mcpreel's own for writing, and creates it if it is missing. One that a umask made useless is mended.
///
/// # Errors
/// The file cannot be opened.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    let open = || File::options().write(true).create(true).truncate(false).open(path);
    let mended = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied => {
            std::fs::set_permissions(path, Permissions::from_mode(READ_AND_WRITE)).and_then(|()| open())
        }
        _ => Err(error),
    };
    open().or_else(mended).and_then(make_usable)
}

/// Lets the owner of a new file read and write it.
///
/// # Errors
/// The file's mode cannot be read or changed.
pub(crate) fn make_usable(file: File) -> io::Result<File> {
    let mode = file.metadata()?.mode() & 0o777;
    if mode & READ_AND_WRITE != READ_AND_WRITE {
        file.set_permissions(Permissions::from_mode(mode | READ_AND_WRITE))?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().expect("there").mode() & 0o777
    }

    #[test]
    fn a_folder_that_a_umask_made_useless_is_mended_and_others_are_not() {
        for (before, after) in [
            (0o200, 0o700),
            (0o400, 0o700),
            (0o600, 0o700),
            (0o000, 0o000),
            (0o500, 0o500),
            (0o755, 0o755),
            (0o660, 0o660),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let own = folder.path().join("own");
            std::fs::create_dir(&own).expect("a folder");
            std::fs::set_permissions(&own, Permissions::from_mode(before)).expect("its mode");
            mend(&own);
            assert_eq!(mode(&own), after, "{before:o}");
            std::fs::set_permissions(&own, Permissions::from_mode(0o700)).expect("its mode");
        }
    }

    #[test]
    fn a_file_that_a_umask_made_useless_is_mended() {
        let folder = tempfile::tempdir().expect("a folder");
        for before in [0o000, 0o400, 0o200, 0o600] {
            let path = folder.path().join("own");
            std::fs::write(&path, "x").expect("a file");
            std::fs::set_permissions(&path, Permissions::from_mode(before)).expect("its mode");
            open_or_create(&path).expect("usable");
            assert_eq!(std::fs::read(&path).expect("its content stays"), b"x");
            assert!(before != 0o400 && before != 0o200 || mode(&path) == 0o600, "{before:o}");
            std::fs::remove_file(&path).expect("removed");
        }
    }

    #[test]
    fn missing_folders_are_created_and_present_ones_stay_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("its mode");
        let deep = folder.path().join("a/b/c");
        create_folder(&deep).expect("created");
        create_folder(&deep).expect("there");
        let modes = [&deep, &folder.path().join("a"), folder.path()].map(mode);
        assert_eq!(modes, [0o700, 0o700, 0o755]);
        std::fs::write(folder.path().join("file"), "").expect("written");
        assert!(create_folder(&folder.path().join("file/a")).is_err());
    }

    #[test]
    fn a_file_that_its_owner_cannot_read_becomes_usable() {
        let folder = tempfile::tempdir().expect("a folder");
        for (before, after) in [(0o200, 0o600), (0o640, 0o640), (0o000, 0o600)] {
            let path = folder.path().join(format!("{before:o}"));
            let file = File::create(&path).expect("created");
            file.set_permissions(Permissions::from_mode(before)).expect("its mode");
            make_usable(file).expect("changed");
            assert_eq!(mode(&path), after);
        }
    }
}

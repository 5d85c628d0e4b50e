//! `wrap`: puts `mcpreel record` in front of servers in a client's configuration. Also contains what `unwrap` shares
//! with it.

use crate::cli::printer::note;
use crate::cli::{Context, Outcome};
use crate::config::clients::{is_shared, listed, unknown, usual_files};
use crate::config::entry::{Entry, read};
use crate::config::file::ConfigFile;
use crate::config::shown::without_secrets;
use crate::config::wrap::{EditError, Tap, may_rely_on_login, wrap, wrapped_words};
use crate::config::yaml::{Dialect, entry_text};
use crate::error::{CommandError, ErrorKind};
use crate::files::places::Places;
use crate::redact;
use crate::render::diff::{DiffStyle, unified};
use clap::Args;
use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};

/// Put `mcpreel record` in front of servers in an MCP client's configuration.
///
/// A server's command becomes `mcpreel record -- COMMAND`, and a URL becomes a command that connects to it, and logs in
/// if the entry has no credentials and the server requires OAuth. Nothing else in the file changes; `mcpreel unwrap`
/// undoes it. If MCPREEL_HOME is set, the command names that folder (`record --home`), because clients do not pass the
/// variable on. mcpreel shows the change before it writes it. Then restart the client, work as usual, and run
/// `mcpreel show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel wrap everything                          # asks first
  mcpreel wrap --all --config .mcp.json --dry-run  # only shows the change
  mcpreel wrap github --config ~/.codex/config.toml --yes
  mcpreel unwrap --all --config .mcp.json --yes

The usual places: from the current folder upwards .mcp.json, opencode.json, and mcp.json or settings.json in .cursor, .vscode, .gemini, \
.roo, .kiro, .zed and .github; then the user's files of Claude Code, Claude Desktop, Cursor, Windsurf, VS Code, Codex, Gemini CLI, Kiro, \
Copilot, Cline, Roo Code, Zed, opencode, Goose and Continue. For the last two, whose files are YAML, mcpreel prints what to change by hand.

Exit codes: 0 written, shown, or nothing to do; 2 no such server, several matches, or no terminal to ask on; 3 the file cannot \
be read or edited.")]
pub(crate) struct WrapArgs {
    #[command(flatten)]
    selection: Selection,
    /// The mcpreel program that the client will start (default: the path of this one; in a project's shared file
    /// `mcpreel`, found through PATH, so that the file contains no path of yours).
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
}

/// Which servers to edit, in which file, and how.
#[derive(Debug, Args)]
pub(super) struct Selection {
    /// The servers' names; may be omitted if there is only one.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// All servers in the file.
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// The client's configuration file (default: search the usual places).
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Write without asking.
    #[arg(short, long)]
    yes: bool,
    /// Show the change without writing it.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do not keep a copy of the old file (FILE.bak-TIME).
    #[arg(long)]
    no_backup: bool,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &WrapArgs, context: &Context) -> Result<Outcome, CommandError> {
    let (own, shared) = (program(args.bin.as_deref())?, shared_program(args.bin.as_deref()));
    let is_warned = Cell::new(args.bin.is_some());
    let home = home()?;
    let edit = |file: &ConfigFile, text: &str, entry: &Entry| {
        let is_shared = is_shared(&file.path, &|name| std::env::var_os(name));
        let program = if is_shared { shared.as_ref().map_err(Clone::clone)? } else { &own };
        let wrapped = wrap(text, file.format, entry, Tap { program, home: home.as_deref() })?;
        if wrapped.is_some() && is_shared && !is_warned.replace(true) {
            warn_of_path(&file.path, context);
            warn_of_home(&file.path, home.as_deref(), context);
        }
        Ok(wrapped)
    };
    let words = |entry: &Entry| wrapped_words(entry, Tap { program: &own, home: home.as_deref() });
    let advise = |entry: &Entry| note_login(entry, context);
    let edits = Edits { edit: &edit, words: &words, advise: &advise, done: "is already wrapped" };
    args.selection.edit(&edits, context)
}

/// The home that the client's servers record to, if it is not the usual one.
fn home() -> Result<Option<String>, CommandError> {
    let places = Places::here();
    let text = places.own().map(|home| {
        home.to_str().map(str::to_owned).ok_or_else(|| {
            let home = home.display();
            let why = format!("MCPREEL_HOME ({home}) cannot be written to a configuration, because it is not UTF-8");
            CommandError::usage(why).hint("choose another folder, or unset MCPREEL_HOME")
        })
    });
    text.transpose()
}

/// Reports that mcpreel logs in instead of the client, which cannot do so through a tap.
fn note_login(entry: &Entry, context: &Context) {
    if let Some((_, url)) = entry.url().filter(|_| may_rely_on_login(entry)) {
        context.printer.note(&format!(
            "{}: if the server requires a login, mcpreel logs in instead of the client (--login); do it once before you \
             start the client: mcpreel login {url}",
            entry.name
        ));
    }
}

/// Warns before `mcpreel` is written to a shared file although PATH does not contain it.
fn warn_of_path(file: &Path, context: &Context) {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&folders).any(|folder| folder.join("mcpreel").is_file()) {
        let file = file.display();
        context.printer.note(&format!(
            "{file} belongs to a project, so it will contain just `mcpreel`, which is not in your PATH"
        ));
    }
}

/// Warns before a folder of the user's own is written to a shared file.
fn warn_of_home(file: &Path, home: Option<&str>, context: &Context) {
    if let Some(home) = home {
        let file = file.display();
        context.printer.note(&format!(
            "{file} belongs to a project, and will contain your MCPREEL_HOME ({home}); unset it to keep the path out"
        ));
    }
}

/// The program for a configuration that others share, which must be one that everybody finds. A path in the user's
/// home folder would reveal who they are, and be wrong for everybody else.
fn shared_program(named: Option<&Path>) -> Result<String, EditError> {
    let Some(named) = named else { return Ok("mcpreel".to_owned()) };
    let program = program(Some(named)).map_err(|error| EditError::Program(error.message))?;
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    if home.is_some_and(|home| Path::new(&program).starts_with(home)) {
        let why = format!("{program} is in your home folder, but others share the file; use a program in PATH");
        return Err(EditError::Program(why));
    }
    Ok(program)
}

/// The program for the client. It is made absolute, because clients start servers in folders of their own.
fn program(named: Option<&Path>) -> Result<String, CommandError> {
    let failed =
        |error: io::Error| CommandError::new(ErrorKind::Internal, format!("cannot find the path of mcpreel: {error}"));
    let path = match named {
        Some(path) if path.components().count() == 1 => path.to_owned(),
        Some(path) => std::path::absolute(path).map_err(failed)?,
        None => std::env::current_exe().map_err(failed)?,
    };
    match path.into_os_string().into_string() {
        Ok(path) => Ok(path),
        Err(path) => Err(CommandError::usage(format!(
            "{} cannot be written to a configuration, because it is not UTF-8",
            path.display()
        ))
        .hint("use another path with --bin")),
    }
}

/// An edit of one entry: returns the new text, or `None` if there is nothing to do.
type Edit<'a> = &'a dyn Fn(&ConfigFile, &str, &Entry) -> Result<Option<String>, EditError>;

/// What is done to entries.
pub(super) struct Edits<'a> {
    /// Edits the text of a file.
    pub edit: Edit<'a>,
    /// The words of the entry's new command; `None` if there is nothing to do.
    pub words: &'a dyn Fn(&Entry) -> Option<Vec<String>>,
    /// Says what else to do about an entry that is changed.
    pub advise: &'a dyn Fn(&Entry),
    /// What to say about a server that needs no edit.
    pub done: &'a str,
}

impl Selection {
    /// Edits the selected servers: shows the change, asks, and writes.
    ///
    /// # Errors
    ///
    /// The servers cannot be found, a file cannot be read or edited, or there is no terminal to ask on.
    pub(super) fn edit(&self, edits: &Edits<'_>, context: &Context) -> Result<Outcome, CommandError> {
        let mut changes = Vec::new();
        for (file, names) in self.files(edits, context)? {
            if let Some(dialect) = file.dialect {
                self.edit_by_hand((&file, dialect), &names, edits, context)?;
                continue;
            }
            let text = self.edited(&file, &names, edits, context)?;
            if text != file.text {
                show(&file, &text, context)?;
                changes.push((file, text));
            }
        }
        if changes.is_empty() || self.dry_run {
            return Ok(Outcome::Clean);
        }
        if !self.yes && !context.printer.confirmed("write this change?", "written", "writes")? {
            context.printer.note("nothing was written");
            return Ok(Outcome::Clean);
        }
        let time = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
        for (file, text) in changes {
            let copy = file.replace(&text, (!self.no_backup).then_some(time.as_str()))?;
            let copy = copy.map(|copy| format!(" (backup: {})", copy.display())).unwrap_or_default();
            context.printer.note(&format!("wrote {}{copy}; restart the client", file.path.display()));
        }
        Ok(Outcome::Clean)
    }

    /// The files, each with the names of the servers to edit in it.
    fn files(&self, edits: &Edits<'_>, context: &Context) -> Result<Vec<(ConfigFile, Vec<String>)>, CommandError> {
        let files = match &self.config {
            Some(path) => vec![ConfigFile::read(path)?],
            None => usual_files(context.notices())?,
        };
        if self.names.is_empty() {
            return self.without_names(files, edits);
        }
        let mut names_by_file: Vec<Vec<String>> = vec![Vec::new(); files.len()];
        for name in &self.names {
            let has = |file: &ConfigFile| file.entries.iter().any(|entry| entry.name == *name);
            let places: Vec<usize> = (0..files.len()).filter(|at| has(&files[*at])).collect();
            match places.as_slice() {
                [] => return Err(unknown(name, &files)),
                [at] => names_by_file[*at].push(name.clone()),
                places => {
                    let places = places.iter().map(|at| files[*at].path.as_path());
                    return Err(several(&format!("{name:?} is in several configurations"), places));
                }
            }
        }
        Ok(files.into_iter().zip(names_by_file).filter(|(_, names)| !names.is_empty()).collect())
    }

    /// All servers of the only file, or of the only one that needs an edit; or the only server.
    fn without_names(
        &self,
        mut files: Vec<ConfigFile>,
        edits: &Edits<'_>,
    ) -> Result<Vec<(ConfigFile, Vec<String>)>, CommandError> {
        if let ([file], Some(_)) = (&files[..], &self.config)
            && file.entries.is_empty()
        {
            // The user named the file, and there is nothing to do in it.
            note(&format!("{} names no servers", file.path.display()));
            return Ok(Vec::new());
        }
        files.retain(|file| !file.entries.is_empty());
        let total: usize = files.iter().map(|file| file.entries.len()).sum();
        if total == 0 || !self.all && total > 1 {
            return Err(listed(CommandError::usage("which server? name it, or use --all"), &files));
        }
        let is_due = |file: &ConfigFile| file.entries.iter().any(|entry| (edits.words)(entry).is_some());
        if files.iter().any(is_due) {
            files.retain(is_due);
        }
        if files.len() > 1 {
            return Err(several("there are several configurations", files.iter().map(|file| file.path.as_path())));
        }
        let with_names = |file: ConfigFile| {
            let names = file.entries.iter().map(|entry| entry.name.clone()).collect();
            (file, names)
        };
        Ok(files.into_iter().map(with_names).collect())
    }

    /// Prints the new entries of a file that mcpreel does not edit.
    ///
    /// # Errors
    ///
    /// The user has to change something, and did not only ask what.
    fn edit_by_hand(
        &self,
        (file, dialect): (&ConfigFile, Dialect),
        names: &[String],
        edits: &Edits<'_>,
        context: &Context,
    ) -> Result<(), CommandError> {
        let mut is_changed = false;
        for entry in file.entries.iter().filter(|entry| names.contains(&entry.name)) {
            let Some(words) = (edits.words)(entry) else {
                note_done(entry, edits, file, context);
                continue;
            };
            (edits.advise)(entry);
            context.printer.text(&entry_text(dialect, &entry.name, &redact::redact_arguments(&words)))?;
            is_changed = true;
        }
        if !is_changed || self.dry_run {
            return Ok(());
        }
        let reported = format!("mcpreel does not edit YAML: change {} by hand, as shown above", file.path.display());
        let error = CommandError::new(ErrorKind::Input, reported)
            .hint("keep the entry's other members, then restart the client");
        Err(error.hint("where it says [redacted], keep your own value; give headers of a URL with -H 'NAME: VALUE'"))
    }

    /// The file's text with every server of these names edited, in each project that has one.
    fn edited(
        &self,
        file: &ConfigFile,
        names: &[String],
        edits: &Edits<'_>,
        context: &Context,
    ) -> Result<String, CommandError> {
        let mut text = file.text.clone();
        for wanted in file.entries.iter().filter(|entry| names.contains(&entry.name)) {
            let entries = read(&text, file.format).unwrap_or_default();
            let is_it = |entry: &&Entry| entry.name == wanted.name && entry.project == wanted.project;
            let Some(entry) = entries.iter().find(is_it) else { continue };
            match (edits.edit)(file, &text, entry) {
                Ok(Some(new)) => {
                    (edits.advise)(entry);
                    text = new;
                }
                Ok(None) => note_done(entry, edits, file, context),
                Err(error) => {
                    let reported = format!("{}: server {:?}: {error}", file.path.display(), entry.name);
                    if !self.all {
                        return Err(CommandError::new(ErrorKind::Input, reported));
                    }
                    context.printer.note(&format!("skipped: {reported}"));
                }
            }
        }
        Ok(text)
    }
}

fn note_done(entry: &Entry, edits: &Edits<'_>, file: &ConfigFile, context: &Context) {
    context.printer.note(&format!("{} {} in {}", entry.name, edits.done, file.path.display()));
}

fn several<'a>(what: &str, places: impl Iterator<Item = &'a Path>) -> CommandError {
    let error = CommandError::usage(format!("{what}; choose one with --config"));
    places.fold(error, |error, place| error.hint(format!("--config {}", place.display())))
}

/// Shows a change. Secrets in it or near it are replaced.
fn show(file: &ConfigFile, text: &str, context: &Context) -> Result<(), CommandError> {
    let shown = |text: &str| {
        without_secrets(text, file.format)
            .map_err(|error| CommandError::new(ErrorKind::Internal, format!("{}: {error}", file.path.display())))
    };
    let mut out = String::new();
    let name = file.path.display().to_string();
    unified(&shown(&file.text)?, &shown(text)?, &name, &DiffStyle::from(&context.printer.palette), &mut out);
    context.printer.text(&out)
}

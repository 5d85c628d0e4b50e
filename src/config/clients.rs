//! MCP clients' configurations: where they are, which servers they name, and how a server is found in them.
//!
//! Of this folder, only this file and `file` read files and the environment.

use super::entry::{Entry, homes};
use super::file::ConfigFile;
use crate::error::{CommandError, Notices};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Files of a project, below its folder: of Claude Code and Copilot, Cursor, VS Code, Gemini CLI, Roo Code, Kiro, Zed,
/// opencode, and Copilot.
const OF_PROJECTS: [&str; 10] = [
    ".mcp.json",
    ".cursor/mcp.json",
    ".vscode/mcp.json",
    ".gemini/settings.json",
    ".roo/mcp.json",
    ".kiro/settings/mcp.json",
    ".zed/settings.json",
    "opencode.json",
    "opencode.jsonc",
    ".github/mcp.json",
];
/// Files of a user, below the home folder: of Claude Code, Cursor, Windsurf, Codex, Gemini CLI, Kiro, Copilot, Cline and
/// Continue.
const OF_HOME: [&str; 9] = [
    ".claude.json",
    ".cursor/mcp.json",
    ".codeium/windsurf/mcp_config.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".kiro/settings/mcp.json",
    ".copilot/mcp-config.json",
    ".cline/data/settings/cline_mcp_settings.json",
    ".continue/config.yaml",
];
/// Files of a user, below the configuration folder: of Claude Desktop, VS Code, Cline, Roo Code, Zed, opencode and Goose.
const OF_CONFIG: [&str; 8] = [
    "Claude/claude_desktop_config.json",
    "Code/User/mcp.json",
    "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
    "zed/settings.json",
    "opencode/opencode.json",
    "opencode/opencode.jsonc",
    "goose/config.yaml",
];
/// Claude Desktop's file on macOS, below the home folder.
const OF_MAC: &str = "Library/Application Support/Claude/claude_desktop_config.json";

/// Where clients keep their configurations, whether the files exist or not, nearest first: from the current folder
/// upwards, then the user's own.
pub(crate) fn usual_places(current: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = current.ancestors().flat_map(|folder| below(folder, &OF_PROJECTS)).collect();
    places.extend(user_places(variable));
    let mut seen = Vec::new();
    places.retain(|place| {
        !seen.contains(place) && {
            seen.push(place.clone());
            true
        }
    });
    places
}

/// Where clients keep the configuration that the user has in every project.
fn user_places(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut places = Vec::new();
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = folder("HOME");
    if let Some(home) = &home {
        places.extend(below(home, &OF_HOME));
    }
    if let Some(config) = folder("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|home| home.join(".config"))) {
        places.extend(below(&config, &OF_CONFIG));
    }
    places.extend(home.map(|home| home.join(OF_MAC)));
    places
}

/// The names below the folder.
fn below(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| folder.join(name)).collect()
}

/// The folder of the project that a configuration belongs to, if its name shows that.
fn project_folder(path: &Path) -> Option<&Path> {
    let depth = |name: &&&str| path.ends_with(name).then(|| Path::new(name).components().count());
    let depth = OF_PROJECTS.iter().filter_map(|name| depth(&name)).max()?;
    path.ancestors().nth(depth)
}

/// The configurations that exist in the usual places. Files that cannot be read are reported and skipped.
///
/// # Errors
///
/// The current folder cannot be determined.
pub(crate) fn usual_files(notices: Notices) -> Result<Vec<ConfigFile>, CommandError> {
    let current = current_folder()?;
    let mut files = Vec::new();
    for path in usual_places(&current, &|name| std::env::var_os(name)).iter().filter(|path| path.is_file()) {
        match ConfigFile::read(path) {
            Ok(file) => files.push(file),
            Err(error) => (notices.warn)(&format!("skipped: {}", error.message)),
        }
    }
    Ok(files)
}

/// The current folder.
///
/// # Errors
///
/// The current folder cannot be determined; it may have been deleted.
pub(crate) fn current_folder() -> Result<PathBuf, CommandError> {
    std::env::current_dir().map_err(|error| CommandError::reading(Path::new("."), &error))
}

/// A server that was found in a configuration.
#[derive(Debug)]
pub(crate) struct Found {
    /// The file.
    pub path: PathBuf,
    /// The server's entry in it.
    pub entry: Entry,
}

/// Finds the server that `--config` and `--server` name. If there are several, the first file wins, and in it the
/// project that contains the current folder; the others are reported.
///
/// # Errors
///
/// There is no such server, or the options match several, or a file cannot be read.
pub(crate) fn find(config: Option<&Path>, name: Option<&str>, notices: Notices) -> Result<Found, CommandError> {
    let files = match config {
        Some(path) => vec![ConfigFile::read(path)?],
        None => usual_files(notices)?,
    };
    let mut found = match name {
        Some(name) => of_name(name, &files)?,
        None => vec![only_one(files)?],
    };
    let others: Vec<String> = found[1..].iter().map(Found::place).collect();
    let first = found.swap_remove(0);
    let (name, place) = (&first.entry.name, first.place());
    if !others.is_empty() {
        (notices.warn)(&format!("{name} is taken from {place}; it is also in {}", others.join(", ")));
    } else if notices.is_verbose {
        (notices.warn)(&format!("{name} is taken from {place}"));
    }
    if first.entry.is_disabled() {
        (notices.warn)(&format!("{name} is disabled in {place}; using it anyway"));
    }
    Ok(first)
}

/// Every server with this name, best match first.
fn of_name(name: &str, files: &[ConfigFile]) -> Result<Vec<Found>, CommandError> {
    let current = current_folder()?;
    let mut found = Vec::new();
    for file in files {
        let mut here: Vec<&Entry> = file.entries.iter().filter(|entry| entry.name == name).collect();
        here.sort_by_key(|entry| std::cmp::Reverse(nearness(entry.project.as_deref(), &current)));
        found.extend(here.into_iter().map(|entry| Found { path: file.path.clone(), entry: entry.clone() }));
    }
    if found.is_empty() { Err(unknown(name, files)) } else { Ok(found) }
}

/// The only server of the only file, which needs no name.
fn only_one(files: Vec<ConfigFile>) -> Result<Found, CommandError> {
    match files.as_slice() {
        [ConfigFile { path, entries, .. }] if entries.len() == 1 => {
            Ok(Found { path: path.clone(), entry: entries[0].clone() })
        }
        [file] if file.entries.is_empty() => {
            let error = CommandError::usage(format!("no servers found in {}", file.path.display()));
            Err(error.hint(not_understood(file)))
        }
        files => Err(listed(CommandError::usage("which server? name one with --server"), files)),
    }
}

/// Whether a configuration belongs to a project that others share: its name says so, or it is in a repository. The
/// user's own configurations are never shared.
pub(crate) fn is_shared(path: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let is_in_repository = || path.ancestors().skip(1).any(|folder| folder.join(".git").exists());
    !user_places(variable).iter().any(|own| own == path) && (project_folder(path).is_some() || is_in_repository())
}

/// What `${workspaceFolder}` and relative paths of an entry refer to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Workspace {
    /// The folder.
    pub folder: PathBuf,
    /// Whether it is a project's folder, in which a client starts its servers.
    pub is_project: bool,
}

impl Found {
    /// The folder of the entry: its project's; for the user's own configuration, the current one; else the file's.
    pub(crate) fn workspace(&self, current: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Workspace {
        if let Some(project) = &self.entry.project {
            return Workspace { folder: project.into(), is_project: true };
        }
        let is_users = user_places(variable).contains(&self.path);
        match project_folder(&self.path).filter(|_| !is_users) {
            Some(folder) => Workspace { folder: folder.to_owned(), is_project: true },
            None if is_users => Workspace { folder: current.to_owned(), is_project: false },
            None => Workspace { folder: self.path.parent().unwrap_or(current).to_owned(), is_project: false },
        }
    }

    /// The file and project, for display.
    pub(crate) fn place(&self) -> String {
        match &self.entry.project {
            Some(project) => format!("{} (project {project})", self.path.display()),
            None => self.path.display().to_string(),
        }
    }
}

/// How near an entry is to the current folder: entries of its own project are nearest, then entries of no project,
/// then those of other projects.
fn nearness(project: Option<&str>, current: &Path) -> usize {
    match project {
        Some(project) if current.starts_with(project) => 1 + Path::new(project).components().count(),
        Some(_) => 0,
        None => 1,
    }
}

/// An error for a name that no server has, with the servers that exist and the closest name.
pub(crate) fn unknown(name: &str, files: &[ConfigFile]) -> CommandError {
    let place = match files {
        [] => " in the usual places".to_owned(),
        [file] => format!(" in {}", file.path.display()),
        files => format!(" in {} configurations", files.len()),
    };
    let mut error = CommandError::usage(format!("no server named {name:?}{place}"));
    let names: Vec<&str> = files.iter().flat_map(|file| &file.entries).map(|entry| entry.name.as_str()).collect();
    if let Some(nearest) = similar::get_close_matches(name, &names, 1, 0.6).first() {
        error = error.hint(format!("did you mean {nearest:?}?"));
    }
    listed(error, files)
}

/// The error, with every known server as a hint.
pub(crate) fn listed(mut error: CommandError, files: &[ConfigFile]) -> CommandError {
    for file in files {
        for entry in &file.entries {
            let found = Found { path: file.path.clone(), entry: entry.clone() };
            error = error.hint(format!("{}: {}  in {}", entry.name, entry.describe(), found.place()));
        }
    }
    if files.iter().all(|file| file.entries.is_empty()) {
        error = error.hint("no servers found; name a client's configuration with --config FILE");
        error = files.iter().map(not_understood).fold(error, CommandError::hint);
        error = error.hint(searched());
    }
    error
}

/// The maximum number of members of a file that are named.
const MAX_NAMED: usize = 8;

/// Why a file that could be read contains no servers.
fn not_understood(file: &ConfigFile) -> String {
    let mut names: Vec<&str> = file.members.iter().take(MAX_NAMED).map(String::as_str).collect();
    if file.members.len() > MAX_NAMED {
        names.push("…");
    }
    let has = if names.is_empty() { "it is empty".to_owned() } else { format!("it has only {}", names.join(", ")) };
    format!("{}: servers are expected in {}, but {has}", file.path.display(), homes(file.format))
}

/// Where servers are searched if the user names no file.
fn searched() -> String {
    let current = current_folder().map(|folder| folder.display().to_string()).unwrap_or_default();
    let users: Vec<String> =
        user_places(&|name| std::env::var_os(name)).iter().map(|place| place.display().to_string()).collect();
    format!("searched in {current} and above: {}; and: {}", OF_PROJECTS.join(", "), users.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_place_comes_first_and_none_comes_twice() {
        let variable = |name: &str| (name == "HOME").then(|| OsString::from("/home/me"));
        let places = usual_places(Path::new("/home/me/p"), &variable);
        let places: Vec<&str> = places.iter().filter_map(|place| place.to_str()).collect();
        assert_eq!(places[..3], ["/home/me/p/.mcp.json", "/home/me/p/.cursor/mcp.json", "/home/me/p/.vscode/mcp.json"]);
        let order = [
            "/home/me/p/.github/mcp.json",
            "/home/me/.mcp.json",
            "/home/me/.cursor/mcp.json",
            "/home/me/.gemini/settings.json",
            "/home/.mcp.json",
            "/opencode.jsonc",
            "/home/me/.claude.json",
            "/home/me/.copilot/mcp-config.json",
            "/home/me/.config/Claude/claude_desktop_config.json",
            "/home/me/.config/zed/settings.json",
            "/home/me/.config/goose/config.yaml",
            "/home/me/Library/Application Support/Claude/claude_desktop_config.json",
        ];
        let found: Vec<&str> = places.iter().copied().filter(|place| order.contains(place)).collect();
        assert_eq!(found, order, "{places:?}");
        let variable = |name: &str| (name == "XDG_CONFIG_HOME").then(|| OsString::from("/x"));
        let places = usual_places(Path::new("/"), &variable);
        assert!(places.contains(&PathBuf::from("/x/zed/settings.json")) && places.len() == 18, "{places:?}");
    }

    #[test]
    fn an_entry_works_in_its_project() {
        let variable = |name: &str| (name == "HOME").then(|| OsString::from("/home/me"));
        for (path, project, folder, is_project) in [
            ("/p/.mcp.json", None, "/p", true),
            ("/p/.vscode/mcp.json", None, "/p", true),
            ("/p/x/mcp.json", None, "/p/x", false),
            ("/home/me/.cursor/mcp.json", None, "/now", false),
            ("/home/me/.claude.json", None, "/now", false),
            ("/home/me/.claude.json", Some("/q"), "/q", true),
        ] {
            let node = crate::config::tree::parse("{}", crate::config::tree::Format::Json).unwrap();
            let entry = Entry { name: "s".into(), project: project.map(str::to_owned), node };
            let found = Found { path: path.into(), entry }.workspace(Path::new("/now"), &variable);
            assert_eq!(found, Workspace { folder: folder.into(), is_project }, "{path}");
        }
    }

    #[test]
    fn a_projects_own_server_is_nearer() {
        let current = Path::new("/a/b/c");
        let order = [Some("/a/b"), Some("/a"), None, Some("/z")].map(|project| nearness(project, current));
        assert_eq!(order, [4, 3, 1, 0]);
    }
}

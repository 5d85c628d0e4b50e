//! What comes into the interface from outside, and what it wants from there.

use super::keys::Key;
use crate::session::Outcome;
use crate::session::filter::Filter;

/// What comes in.
#[derive(Debug)]
pub(crate) enum Input {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Pasted(String),
    /// The terminal has this many columns and rows.
    Resized(usize, usize),
    /// A reel was opened.
    Opened(Source),
    /// More of the reel was read.
    Scanned(Scanned),
    /// Lines of the list were formatted.
    Lines(Lines),
    /// A message was formatted.
    Detail(DetailText),
    /// A view was made.
    Page(PageText),
    /// A search ended.
    Found(Found),
    /// The sessions and reels that can be opened.
    Choices(Vec<Choice>),
    /// The user edited a request.
    Edited(Request),
    /// A note for the user.
    Note(String),
    /// Something failed.
    Failed(String),
}

/// What is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// Its name.
    pub title: String,
    /// Whether it may still grow.
    pub is_live: bool,
    /// Where requests can be sent; `None` if nowhere.
    pub sends_to: Option<String>,
    /// Whether it is a live session, in which messages can be fired.
    pub can_fire: bool,
    /// The filter for one of several streams; empty for all.
    pub filter: String,
}

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The number of the event.
    pub seq: u32,
    /// The brackets before its method, packed.
    pub brackets: u8,
    /// Whether something failed.
    pub failed: bool,
    /// What became of the request that it answers or ends.
    pub outcome: Option<Outcome>,
}

/// How far a reel was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Not to its end.
    #[default]
    Reading,
    /// To its present end; it may grow.
    Waiting,
    /// To its end.
    Ended,
}

/// A further part of the list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scanned {
    /// The number of the scan.
    pub scan: u64,
    /// The rows that the filter selects.
    pub rows: Vec<Row>,
    /// Requests with their responses.
    pub pairs: Vec<(u32, u32)>,
    /// The number of events that were read so far.
    pub read: u64,
    /// How far the reel was read.
    pub progress: Progress,
    /// What is wrong with the reel, if anything new was found.
    pub damage: Option<String>,
}

/// A line of the list that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WantedLine {
    /// The number of the event.
    pub seq: u32,
    /// The number of the event with the request that it answers.
    pub asked: Option<u32>,
    /// The brackets, packed.
    pub brackets: u8,
    /// What became of that request.
    pub outcome: Option<Outcome>,
}

/// Formatted lines of the list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    /// The layout for which they were wanted.
    pub layout: u64,
    /// The headings of the columns.
    pub headings: Option<String>,
    /// Lines with the numbers of their events.
    pub lines: Vec<(u32, String)>,
}

/// How the content of a message is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DetailForm {
    /// JSON with indentation; other events in words.
    #[default]
    Json,
    /// The same, with long strings as a whole.
    WholeJson,
    /// The bytes as text.
    Text,
    /// The bytes in hexadecimal.
    Hex,
}

/// The formatted content of a message.
#[derive(Clone, Debug, Default)]
pub(crate) struct DetailText {
    /// The number of its event.
    pub seq: u32,
    /// How it is shown.
    pub form: DetailForm,
    /// Its lines.
    pub lines: Vec<String>,
}

/// A view other than the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageKind {
    /// The sequence diagram.
    Sequence,
    /// The timeline.
    Timeline,
    /// Statistics.
    Statistics,
    /// Findings.
    Findings,
    /// What came of a request that was sent, or of `fire`.
    Sent,
    /// The keys.
    Help,
}

impl PageKind {
    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sequence => "sequence",
            Self::Timeline => "timeline",
            Self::Statistics => "statistics",
            Self::Findings => "findings",
            Self::Sent => "sent",
            Self::Help => "keys",
        }
    }
}

/// A line of a view, and the event that it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageLine {
    /// Its text, with colours.
    pub text: String,
    /// The number of its event.
    pub seq: Option<u64>,
}

/// A view that was made.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageText {
    /// The number of the job that made it.
    pub job: u64,
    /// Its lines.
    pub lines: Vec<PageLine>,
}

/// What a search found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The number of the job.
    pub job: u64,
    /// The number of the event.
    pub seq: Option<u64>,
    /// Whether the search continued at the other end.
    pub wrapped: bool,
}

/// A session or reel that can be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Its line in the picker.
    pub line: String,
    /// What opens it; `None` for headings.
    pub target: Option<Target>,
}

/// What can be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A live session: what `--session` takes.
    Session(String),
    /// A file.
    Reel(std::path::PathBuf),
}

/// A request or notification to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The method.
    pub method: String,
    /// The JSON text of the parameters; empty if there are none.
    pub params: String,
    /// Whether it is a notification.
    pub is_notification: bool,
}

/// What is wanted from outside.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// End the program.
    Quit,
    /// Stop the program until the user continues it.
    Suspend,
    /// Open a session or reel.
    Open(Target),
    /// List the sessions and reels that can be opened.
    ListChoices {
        /// The number of columns.
        width: usize,
    },
    /// Read the reel from its beginning.
    Scan {
        /// The number of the scan; an earlier one ends.
        scan: u64,
        /// Which events are wanted.
        filter: Filter,
    },
    /// Format lines of the list.
    Lines {
        /// The number of the layout.
        layout: u64,
        /// The number of columns.
        width: usize,
        /// Which lines.
        wanted: Vec<WantedLine>,
    },
    /// Format a message.
    Detail {
        /// The line of the event.
        line: WantedLine,
        /// How to show it.
        form: DetailForm,
        /// The number of columns.
        width: usize,
    },
    /// Make a view. Earlier jobs end.
    Page {
        /// The number of the job.
        job: u64,
        /// Which view.
        kind: PageKind,
        /// The number of columns.
        width: usize,
        /// Which events it shows.
        filter: Filter,
    },
    /// Search for a text. Earlier jobs end.
    Search {
        /// The number of the job.
        job: u64,
        /// The text.
        needle: String,
        /// The number of the event where the search begins; it is the last that is searched.
        from: u64,
        /// Whether later events are searched first.
        forward: bool,
        /// Which events are searched.
        filter: Filter,
    },
    /// End the present job.
    Stop,
    /// Copy the bytes of a message to the clipboard.
    CopyMessage(u32),
    /// Copy a text to the clipboard.
    CopyText(String),
    /// Let the user edit a request.
    Edit(u32),
    /// Send a request. Earlier jobs end.
    Send {
        /// The number of the job.
        job: u64,
        /// The request.
        request: Request,
    },
    /// Run `fire` in the live session. Earlier jobs end.
    Fire {
        /// The number of the job.
        job: u64,
        /// The words after `mcpreel fire`.
        words: String,
    },
}

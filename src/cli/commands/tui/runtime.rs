//! Runs the interface: reads keys, draws, and does in threads what the interface wants.

use super::choices;
use super::fetch::Fetcher;
use super::keyboard::Keyboard;
use super::pages::{Paper, Search};
use super::reel::Reel;
use super::scan::Scan;
use super::send::{self, Recipient};
use super::terminal::{self, Screen};
use crate::cli::packs::PackOptions;
use crate::error::{CommandError, ErrorKind};
use crate::proposals::Registry;
use crate::render::line::bytes;
use crate::render::style::Palette;
use crate::session::filter::Filter;
use crate::sessions::live;
use crate::tui::app::App;
use crate::tui::draw::draw;
use crate::tui::effect::{
    DetailForm, Effect, Input, Lines, PageKind, PageLine, PageText, Request, Source, Target, WantedLine,
};
use crate::tui::keys::Key;
use crate::wire::Direction;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

/// The time between two frames.
const FRAME: Duration = Duration::from_millis(20);
/// How long to wait for keys while something is going on, and while nothing is.
const BUSY: Duration = Duration::from_millis(4);
const IDLE: Duration = Duration::from_millis(40);
/// How long something is going on after the last input.
const ACTIVE: Duration = Duration::from_millis(300);
/// At most this many inputs of threads wait. The threads wait, too, while there are more.
const WAITING: usize = 32;
/// Terminals take no longer texts into the clipboard, in bytes.
const MAX_COPY: usize = 74_000;

/// What does not change while the interface runs.
pub(super) struct Settings {
    pub registry: &'static Registry,
    pub palette: Palette,
    pub packs: PackOptions,
    /// Where requests of a reel are sent.
    pub server: Option<Recipient>,
}

/// What threads report.
enum Report {
    /// An input of the interface.
    Input(Input),
    /// The session of this socket continues in another reel.
    Continues(Target),
    /// A message to copy.
    Copy(Vec<u8>),
    /// A request to edit.
    Edit(Request),
}

/// What is read of single events.
enum Wanted {
    Lines(u64, usize, Vec<WantedLine>),
    Detail(WantedLine, DetailForm, usize),
    Copy(u32),
    Edit(u32),
}

/// The number of the work that is wanted at present. Threads with other numbers end.
#[derive(Clone, Default)]
struct Turn(Arc<AtomicU64>);

impl Turn {
    fn begin(&self, number: u64) -> impl Fn() -> bool + use<> {
        self.0.store(number, Ordering::Release);
        let turn = Arc::clone(&self.0);
        move || turn.load(Ordering::Acquire) == number
    }

    fn end(&self) {
        self.0.store(0, Ordering::Release);
    }
}

/// The interface with its terminal and its threads.
pub(super) struct Runtime {
    settings: Arc<Settings>,
    app: App,
    screen: Screen,
    keyboard: Keyboard,
    reports: SyncSender<Report>,
    incoming: Receiver<Report>,
    reel: Option<Arc<Reel>>,
    fetch: Option<Sender<Wanted>>,
    recipient: Option<Recipient>,
    scan: Turn,
    job: Turn,
}

impl Runtime {
    /// Shows the interface until the user leaves it.
    ///
    /// # Errors
    ///
    /// There is no terminal, or what should be opened cannot be.
    pub(super) fn run(settings: Settings, opens: Option<Target>, filter: &str) -> Result<(), CommandError> {
        let ended = end_by_signals()?;
        let screen = Screen::take()?;
        let (reports, incoming) = sync_channel(WAITING);
        let size = size(&screen);
        let app = App::new(settings.registry, size, opens, filter);
        let settings = Arc::new(settings);
        let (scan, job) = (Turn::default(), Turn::default());
        let keyboard = Keyboard::begin();
        let mut runtime = Self {
            settings,
            app,
            screen,
            keyboard,
            reports,
            incoming,
            reel: None,
            fetch: None,
            recipient: None,
            scan,
            job,
        };
        runtime.turn(&ended)
    }

    /// Takes inputs, draws and does what is wanted, until the end.
    fn turn(&mut self, ended: &AtomicBool) -> Result<(), CommandError> {
        let (mut drawn, mut active, mut is_stale) = (None::<Instant>, Instant::now(), true);
        while !ended.load(Ordering::Acquire) {
            if terminal::has_panicked() {
                return Err(CommandError::new(
                    ErrorKind::Internal,
                    "the interface failed; the message above says where",
                ));
            }
            for effect in self.app.effects() {
                if matches!(effect, Effect::Quit) {
                    return Ok(());
                }
                self.perform(effect)?;
            }
            let rest = drawn.map_or(Duration::ZERO, |drawn| FRAME.saturating_sub(drawn.elapsed()));
            if is_stale && rest.is_zero() {
                self.draw()?;
                (drawn, is_stale) = (Some(Instant::now()), false);
            }
            let pause = if active.elapsed() < ACTIVE { BUSY } else { IDLE };
            if !self.screen.wait(pause).map_err(gone)? {
                return Ok(());
            }
            if self.keys()? | self.reports()? {
                (active, is_stale) = (Instant::now(), true);
            }
        }
        Ok(())
    }

    fn draw(&mut self) -> Result<(), CommandError> {
        let (app, palette) = (&self.app, &self.settings.palette);
        self.screen.terminal.draw(|frame| draw(app, palette, frame)).map(|_| ()).map_err(gone)
    }

    /// Takes what the user typed. Returns whether there was anything.
    fn keys(&mut self) -> Result<bool, CommandError> {
        let mut is_any = false;
        for event in self.keyboard.typed().map_err(gone)? {
            let input = match event {
                Event::Key(key) if key.kind != KeyEventKind::Release => key_of(key).map(Input::Key),
                Event::Paste(text) => Some(Input::Pasted(text)),
                Event::Resize(columns, rows) => Some(Input::Resized(columns.into(), rows.into())),
                _ => None,
            };
            is_any |= input.is_some();
            input.into_iter().for_each(|input| self.app.take(input));
        }
        Ok(is_any)
    }

    /// Takes what threads report. Returns whether there was anything.
    fn reports(&mut self) -> Result<bool, CommandError> {
        let mut is_any = false;
        for _ in 0..WAITING {
            let Ok(report) = self.incoming.try_recv() else { break };
            is_any = true;
            match report {
                Report::Input(input) => self.app.take(input),
                Report::Continues(target) => {
                    self.open(target)?;
                    self.app.take(Input::Note("the recording continues in another reel".to_owned()));
                }
                Report::Copy(bytes) => self.copy(&bytes),
                Report::Edit(request) => self.edit(request)?,
            }
        }
        Ok(is_any)
    }

    fn perform(&mut self, effect: Effect) -> Result<(), CommandError> {
        match effect {
            Effect::Quit => {}
            Effect::Suspend => self.suspend()?,
            Effect::Open(target) => self.open(target)?,
            Effect::ListChoices { width } => self.list_choices(width),
            Effect::Scan { scan, filter } => self.start_scan(scan, filter),
            Effect::Lines { layout, width, wanted } => self.fetch(Wanted::Lines(layout, width, wanted)),
            Effect::Detail { line, form, width } => self.fetch(Wanted::Detail(line, form, width)),
            Effect::CopyMessage(seq) => self.fetch(Wanted::Copy(seq)),
            Effect::Edit(seq) => self.fetch(Wanted::Edit(seq)),
            Effect::CopyText(text) => self.copy(text.as_bytes()),
            Effect::Page { job, kind, width, filter } => self.make_page(job, kind, width, filter),
            Effect::Search { job, needle, from, forward, filter } => match Search::new(job, &needle, from, forward) {
                Ok(search) => self.search(search, filter),
                Err(error) => self.app.take(Input::Failed(error.message)),
            },
            Effect::Stop => self.job.end(),
            Effect::Send { job, request } => {
                self.run_page(job, move |recipient, wanted| send::call(&request, recipient, wanted));
            }
            Effect::Fire { job, words } => {
                self.run_page(job, move |recipient, wanted| send::fire(&words, recipient, wanted));
            }
        }
        Ok(())
    }

    /// Opens a session or reel. If nothing is open, a failure ends the interface.
    fn open(&mut self, target: Target) -> Result<(), CommandError> {
        match self.opened(&target) {
            Ok(source) => self.app.take(Input::Opened(source)),
            Err(error) if self.reel.is_none() && self.app.source.is_none() && !self.app.picker.is_ready() => {
                return Err(error);
            }
            Err(error) => self.app.take(Input::Failed(error.message)),
        }
        Ok(())
    }

    fn opened(&mut self, target: &Target) -> Result<Source, CommandError> {
        let live = match target {
            Target::Session(socket) => Some(live::find(socket)?),
            Target::Reel(_) => None,
        };
        let path = match (&live, target) {
            (Some(live), _) => live.reel()?,
            (None, Target::Reel(path)) => path.clone(),
            (None, Target::Session(name)) => return Err(CommandError::usage(format!("no live session {name}"))),
        };
        let title = live.as_ref().map_or_else(|| title(&path), |live| live.name.clone());
        self.recipient = match &live {
            Some(live) => Some(Recipient::Session(live.socket.display().to_string(), live.name.clone())),
            None => self.settings.server.clone(),
        };
        let source = Source {
            title,
            is_live: live.is_some() || crate::files::reels::is_being_written(&path),
            sends_to: self.recipient.as_ref().map(Recipient::name),
            can_fire: live.is_some(),
            filter: crate::cli::commands::show::of_stream(String::new(), live.as_ref()),
        };
        let reel = Arc::new(Reel { path, live, registry: self.settings.registry, palette: self.settings.palette });
        reel.reader()?;
        self.job.end();
        self.fetch = Some(self.start_fetching(Arc::clone(&reel)));
        self.reel = Some(reel);
        Ok(source)
    }

    fn list_choices(&self, width: usize) {
        let reports = self.reports.clone();
        std::thread::spawn(move || {
            let listed = choices::choices(width).map_or_else(|error| Input::Failed(error.message), Input::Choices);
            let _ = reports.send(Report::Input(listed));
        });
    }

    fn start_scan(&self, scan: u64, filter: Filter) {
        let Some(reel) = self.reel.clone() else { return };
        let (reports, wanted) = (self.reports.clone(), self.scan.begin(scan));
        std::thread::spawn(move || {
            let pass = |scanned| reports.send(Report::Input(Input::Scanned(scanned))).is_ok();
            let ended = Scan::new(&reel, filter, scan).run(pass, &wanted);
            let report = match (ended, &reel.live) {
                (Err(error), _) => Report::Input(Input::Failed(error.message)),
                (Ok(Some(_)), Some(live)) => Report::Continues(Target::Session(live.socket.display().to_string())),
                (Ok(_), _) => return,
            };
            if wanted() {
                let _ = reports.send(report);
            }
        });
    }

    fn start_fetching(&self, reel: Arc<Reel>) -> Sender<Wanted> {
        let (orders, taken) = channel();
        let reports = self.reports.clone();
        std::thread::spawn(move || {
            let mut fetcher = match Fetcher::new(&reel) {
                Ok(fetcher) => fetcher,
                Err(error) => return drop(reports.send(Report::Input(Input::Failed(error.message)))),
            };
            for wanted in taken {
                let report = fetched(&mut fetcher, wanted)
                    .unwrap_or_else(|error| Report::Input(Input::Failed(reel.unreadable(&error).message)));
                if reports.send(report).is_err() {
                    return;
                }
            }
        });
        orders
    }

    fn fetch(&self, wanted: Wanted) {
        if let Some(orders) = &self.fetch {
            // The thread ends only with the interface, or after it has reported why.
            let _ = orders.send(wanted);
        }
    }

    /// Runs something that makes a page.
    fn page(
        &self,
        job: u64,
        make: impl FnOnce(&dyn Fn() -> bool) -> Result<Vec<PageLine>, CommandError> + Send + 'static,
    ) {
        let (reports, wanted) = (self.reports.clone(), self.job.begin(job));
        std::thread::spawn(move || {
            let made = make(&wanted);
            if !wanted() {
                return;
            }
            let lines = made.unwrap_or_else(|error| {
                let all = std::iter::once(error.message).chain(error.hints);
                all.flat_map(|text| super::pages::lines(&text, |_| None)).collect()
            });
            let _ = reports.send(Report::Input(Input::Page(PageText { job, lines })));
        });
    }

    fn make_page(&self, job: u64, kind: PageKind, width: usize, filter: Filter) {
        let Some(reel) = self.reel.clone() else { return };
        let settings = Arc::clone(&self.settings);
        self.page(job, move |wanted| Paper { reel: &reel, packs: &settings.packs, filter, width }.page(kind, wanted));
    }

    fn run_page(
        &self,
        job: u64,
        run: impl FnOnce(&Recipient, &dyn Fn() -> bool) -> Result<Vec<PageLine>, CommandError> + Send + 'static,
    ) {
        let Some(recipient) = self.recipient.clone() else { return };
        self.page(job, move |wanted| run(&recipient, wanted));
    }

    fn search(&self, search: Search, filter: Filter) {
        let Some(reel) = self.reel.clone() else { return };
        let (reports, wanted) = (self.reports.clone(), self.job.begin(search.job));
        std::thread::spawn(move || {
            let found = search.run(&reel, &filter, &wanted);
            let input = found.map_or_else(|error| Input::Failed(error.message), Input::Found);
            if wanted() {
                let _ = reports.send(Report::Input(input));
            }
        });
    }

    fn copy(&mut self, text: &[u8]) {
        let size = bytes(text.len() as u64);
        if text.len() > MAX_COPY {
            let hint = "`mcpreel show --seq NUMBER -n 1 --raw` prints it";
            return self.app.take(Input::Failed(format!("{size} are too much for the clipboard; {hint}")));
        }
        self.app.take(match self.screen.copy(text) {
            Ok(()) => Input::Note(format!("sent {size} to the terminal for its clipboard (OSC 52)")),
            Err(error) => Input::Failed(format!("cannot copy: {error}")),
        });
    }

    fn edit(&mut self, request: Request) -> Result<(), CommandError> {
        self.screen.hide();
        let edited = send::edited(request);
        self.show_again()?;
        self.app.take(match edited {
            Ok(Some(request)) => Input::Edited(request),
            Ok(None) => Input::Note("the editor failed or the file is empty: nothing was sent".to_owned()),
            Err(error) => Input::Failed(error.message),
        });
        Ok(())
    }

    /// Shows the interface after another program had the terminal, whose size may have changed.
    fn show_again(&mut self) -> Result<(), CommandError> {
        self.screen.show().map_err(gone)?;
        let (columns, rows) = size(&self.screen);
        self.app.take(Input::Resized(columns, rows));
        Ok(())
    }

    fn suspend(&mut self) -> Result<(), CommandError> {
        self.screen.hide();
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
        self.show_again()?;
        Ok(())
    }
}

/// Reads what is wanted of single events.
fn fetched(fetcher: &mut Fetcher<'_>, wanted: Wanted) -> io::Result<Report> {
    Ok(Report::Input(match wanted {
        Wanted::Lines(layout, width, wanted) => match fetcher.lines(layout, width, &wanted) {
            Ok(lines) => Input::Lines(lines),
            Err(error) => {
                let line = |line: WantedLine| (line.seq, format!("{:>5} cannot be read: {error}", line.seq));
                Input::Lines(Lines { layout, headings: None, lines: wanted.into_iter().map(line).collect() })
            }
        },
        Wanted::Detail(line, form, width) => Input::Detail(fetcher.detail(line, form, width)?),
        Wanted::Copy(seq) => {
            return Ok(Report::Copy(fetcher.message(seq, |_, body| body.to_vec())?.unwrap_or_default()));
        }
        Wanted::Edit(seq) => {
            let request =
                fetcher.message(seq, |direction, body| send::request(direction == Direction::ClientToServer, body))?;
            match request.flatten() {
                Some(request) => return Ok(Report::Edit(request)),
                None => Input::Failed(
                    "only requests and notifications of the client can be sent again, except for its handshake"
                        .to_owned(),
                ),
            }
        }
    }))
}

fn title(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn size(screen: &Screen) -> (usize, usize) {
    screen.terminal.size().map_or((80, 24), |size| (size.width.into(), size.height.into()))
}

fn gone(error: io::Error) -> CommandError {
    CommandError::new(ErrorKind::Internal, format!("the terminal cannot be used any more: {error}"))
}

/// Ends the interface on signals, so that it restores the terminal.
fn end_by_signals() -> Result<Arc<AtomicBool>, CommandError> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let ended = Arc::<AtomicBool>::default();
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&ended))
            .map_err(|error| CommandError::new(ErrorKind::Internal, error.to_string()))?;
    }
    Ok(ended)
}

fn key_of(key: KeyEvent) -> Option<Key> {
    Some(match key.code {
        KeyCode::Char(letter) if key.modifiers.contains(KeyModifiers::CONTROL) => {
            Key::Control(letter.to_ascii_lowercase())
        }
        KeyCode::Char(letter) if !key.modifiers.contains(KeyModifiers::ALT) => Key::Char(letter),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}

//! The course of a probe: which run is next, and what is sent in it.

mod conclusions;

use super::client_run::{ClientKnowledge, ClientRun, Purpose, RunEvent, Step};
use super::plan::{Form, Plan};
use super::report::{ClientEnd, ClientFailure, Declared, ProbeReport, SentSample, TrialOutcome, blank, stock_sdks};
use super::search::Search;
use crate::proposals;
use crate::proposals::server::Declaration;
use crate::server::Fired;
use crate::wire::Direction;
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// How long to wait for further notices once a client is exiting.
const LEAVING: Duration = Duration::from_millis(700);
/// How much longer a quiet run, or one that tests declarations, lasts than the run in which the client ended.
const MARGIN: Duration = Duration::from_millis(500);
/// How many times longer than other responses a client may take for the ping after a message: a client with a single
/// thread may still be busy with the message.
const PATIENCE: u32 = 10;

/// The limits of a probe.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Timeout of a response, and of a ping.
    pub wait: Duration,
    /// How long to wait after a notification.
    pub settle: Duration,
    /// Timeout from the client's start to its handshake.
    pub connect: Duration,
    /// Maximum number of restarts of the client.
    pub restarts: usize,
}

/// What the probe wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Start the client, with a server that makes these declarations, and the names of the proposals to enable.
    Start(Vec<Declaration>, BTreeSet<String>),
    /// Let the server of this session send something.
    Send(u32, Fired),
    /// Stop the client and wait until it has exited.
    Finish,
    /// The probe is over.
    Over,
}

/// The outcome of a quiet run.
#[derive(Clone, Debug, PartialEq)]
enum Quiet {
    /// The client was still running after this many pings and this long.
    Stays(usize, Duration),
    /// It exited by itself after this many pings and this long; how, if that is known.
    Ends(usize, Duration, Option<ClientEnd>),
}

/// A client that exited after a message, and the message.
#[derive(Clone, Debug)]
struct Candidate {
    probe: usize,
    /// How it ended, if that is known.
    end: Option<ClientEnd>,
    age: Duration,
    /// How many messages and pings were sent until then.
    sent: usize,
}

/// A probe in progress.
pub struct ProbeRun {
    plan: Plan,
    settings: Settings,
    known: ClientKnowledge,
    places: Vec<Option<TrialOutcome>>,
    outcomes: Vec<Option<TrialOutcome>>,
    /// Messages still to send.
    todo: VecDeque<usize>,
    /// Messages during which a client that may exit by itself has ended before, once.
    tried: BTreeSet<usize>,
    quiet: Option<Quiet>,
    candidate: Option<Candidate>,
    /// Whether the client was alive with all declarations that are left.
    is_sound: bool,
    /// Whether each declaration was tested alone.
    tested_alone: bool,
    /// The search for declarations that break the client only together.
    search: Option<Search>,
    /// The declarations that break the client only together.
    groups: Vec<Vec<usize>>,
    /// How long the client lived with declarations that it could not take.
    early: Duration,
    /// Runs to do before the next messages.
    runs: VecDeque<Purpose>,
    run: Option<ClientRun>,
    starts: usize,
    /// How often the client was started for anything but tests of declarations.
    sendings: usize,
    newest: u32,
    /// How often the client ended before anything could be sent.
    idle: usize,
    /// Whether a handshake was ever completed.
    was_ready: bool,
    failure: Option<ClientFailure>,
}

impl ProbeRun {
    /// A probe that has not begun.
    pub fn new(plan: Plan, settings: Settings) -> Self {
        let (places, outcomes) = blank(&plan);
        Self {
            todo: (0..plan.probes.len()).collect(),
            plan,
            settings,
            known: ClientKnowledge::default(),
            places,
            outcomes,
            tried: BTreeSet::new(),
            quiet: None,
            candidate: None,
            is_sound: false,
            tested_alone: false,
            search: None,
            groups: Vec::new(),
            early: Duration::ZERO,
            runs: VecDeque::new(),
            run: None,
            starts: 0,
            sendings: 0,
            newest: 0,
            idle: 0,
            was_ready: false,
            failure: None,
        }
    }

    /// Begins.
    pub fn begin(&mut self, now: Duration) -> Vec<Output> {
        self.go_on(now)
    }

    /// A session's handshake is complete, so its server can send.
    pub fn ready(&mut self, now: Duration, stream: u32) -> Vec<Output> {
        self.newest = self.newest.max(stream);
        let wait = self.settings.wait;
        let Some(run) = self.run.as_mut().filter(|run| run.step == Step::Starting && stream > run.after) else {
            return Vec::new();
        };
        self.was_ready = true;
        (run.stream, run.ready, run.step, run.due) = (Some(stream), now, Step::Baseline, now + wait);
        run.sent += 1;
        vec![Output::Send(stream, ping())]
    }

    /// A message passed in a session.
    pub fn pass(&mut self, now: Duration, stream: u32, direction: Direction, bytes: &[u8]) -> Vec<Output> {
        self.newest = self.newest.max(stream);
        let Some(run) = self.run.as_mut().filter(|run| stream > run.after) else { return Vec::new() };
        let news = run.read(stream, direction, bytes, &mut self.known);
        news.into_iter().flat_map(|news| self.receive(now, news)).collect()
    }

    /// A session was closed.
    pub fn closed(&mut self, now: Duration, stream: u32) -> Vec<Output> {
        self.newest = self.newest.max(stream);
        let Some(run) = self.run.as_mut().filter(|run| run.stream == Some(stream)) else { return Vec::new() };
        run.is_closed = true;
        self.leave(now)
    }

    /// The client's process ended.
    pub fn ended(&mut self, now: Duration, end: ClientEnd) -> Vec<Output> {
        let Some(run) = &mut self.run else { return Vec::new() };
        run.end = Some(end);
        // Without a session, there is nothing else to wait for.
        run.is_closed |= run.stream.is_none();
        self.leave(now)
    }

    /// When to call [`Self::wake`] at the latest.
    pub fn next_timeout(&self) -> Option<Duration> {
        self.run.as_ref().map(|run| run.due)
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Duration) -> Vec<Output> {
        let mut outputs = self.end_step(now);
        // The client may have rested long enough already.
        if self.run.as_ref().is_some_and(|run| run.step == Step::Resting) {
            outputs.extend(self.end_step(now));
        }
        outputs
    }

    /// Ends the current step if it is due.
    fn end_step(&mut self, now: Duration) -> Vec<Output> {
        let Some(run) = self.run.as_mut().filter(|run| run.due <= now) else { return Vec::new() };
        match run.step {
            Step::Starting => self.conclude(now),
            Step::Baseline => self.proceed(now),
            Step::Answering(probe) => {
                self.outcomes[probe] = Some(TrialOutcome::Ignored);
                self.check(now, probe)
            }
            Step::Settling(probe) => {
                self.outcomes[probe].get_or_insert(TrialOutcome::Taken);
                self.check(now, probe)
            }
            Step::Pinging(probe) => {
                self.outcomes[probe] = Some(TrialOutcome::Broke(ClientEnd { silent: true, ..ClientEnd::default() }));
                self.finish(now)
            }
            Step::Resting => self.rested(now),
            Step::Leaving(_) => self.conclude(now),
        }
    }

    /// The report, once the probe is over.
    ///
    /// # Errors
    ///
    /// The client could not be probed.
    pub fn probe_report(&self) -> Result<ProbeReport, ClientFailure> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let untried = |outcome: &Option<TrialOutcome>| {
            let why = || "the probe ended before it could be tried".to_owned();
            outcome.clone().unwrap_or_else(|| TrialOutcome::Untried { why: why() })
        };
        let declared = |(index, (place, outcome)): (usize, (&super::DeclarationPlace, _))| Declared {
            proposal: place.proposal,
            place: place.name(),
            stock_sdks: stock_sdks(place.path),
            client_place: self.known.place(place.proposal),
            used: self.known.used(place.proposal),
            only_with: self.only_with(index),
            outcome: untried(outcome),
        };
        let sent = |(probe, outcome): (&super::Probe, &Option<TrialOutcome>)| SentSample {
            proposal: probe.proposal,
            method: probe.method.clone(),
            form: probe.form,
            outcome: untried(outcome),
        };
        Ok(ProbeReport {
            client: self.known.client.clone(),
            starts: self.starts,
            declarations: self.plan.places.iter().zip(&self.places).enumerate().map(declared).collect(),
            messages: self.plan.probes.iter().zip(&self.outcomes).map(sent).collect(),
        })
    }

    fn receive(&mut self, now: Duration, news: RunEvent) -> Vec<Output> {
        let Some(run) = &self.run else { return Vec::new() };
        match (run.step, news) {
            (Step::Baseline, RunEvent::Pong) => {
                self.known.client.answers_ping = true;
                self.proceed(now)
            }
            (Step::Pinging(_), RunEvent::Pong) => self.proceed(now),
            (step, RunEvent::Answer(probe, is_error, content)) => {
                let is_late = step != Step::Answering(probe);
                self.outcomes[probe] = Some(self.judged(probe, is_error, &content, is_late));
                if is_late { Vec::new() } else { self.check(now, probe) }
            }
            (Step::Settling(probe), RunEvent::Objection(error)) => {
                let message = error["message"].as_str().unwrap_or_default().to_owned();
                let code = error["code"].as_i64().unwrap_or_default();
                self.outcomes[probe] = Some(TrialOutcome::Objected { code, message });
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn judged(&self, probe: usize, is_error: bool, content: &Value, late: bool) -> TrialOutcome {
        let probe = &self.plan.probes[probe];
        if is_error {
            let code = content["code"].as_i64().unwrap_or_default();
            let message = content["message"].as_str().unwrap_or_default().to_owned();
            return TrialOutcome::Refused { code, means: proposals::error_name(&probe.method, code), message, late };
        }
        let deviations = match probe.proposal {
            Some(_) => proposals::deviations(&probe.method, false, content),
            None => vec!["the client answered a method that does not exist".to_owned()],
        };
        TrialOutcome::Answered { deviations, late }
    }

    /// Checks that the client is alive, if it answers ping.
    fn check(&mut self, now: Duration, probe: usize) -> Vec<Output> {
        let (asks, wait) = (self.known.client.answers_ping, self.settings.wait);
        let Some(run) = self.run.as_mut() else { return Vec::new() };
        run.step = Step::Pinging(probe);
        match run.stream {
            Some(stream) if asks => {
                run.due = now + wait.saturating_mul(PATIENCE);
                run.sent += 1;
                vec![Output::Send(stream, ping())]
            }
            _ => self.proceed(now),
        }
    }

    /// The client is alive: continues with the next step.
    fn proceed(&mut self, now: Duration) -> Vec<Output> {
        let settings = self.settings;
        let Some(run) = self.run.as_mut() else { return Vec::new() };
        if let Step::Pinging(probe) = run.step {
            self.todo.retain(|it| *it != probe);
        }
        match &run.purpose {
            Purpose::Quiet(pings, limit) => {
                let (sent, pings) = (u32::try_from(run.sent), u32::try_from(*pings));
                let due = limit.mul_f64(f64::from(sent.unwrap_or(u32::MAX)) / f64::from(pings.unwrap_or(u32::MAX)));
                (run.step, run.due) = (Step::Resting, run.ready + due.min(*limit));
                return Vec::new();
            }
            Purpose::Declaring(_) => {
                (run.step, run.due) = (Step::Resting, run.ready.max(now) + self.early);
                return Vec::new();
            }
            Purpose::Probing => {}
        }
        self.is_sound = true;
        for place in self.places.iter_mut().filter(|place| place.is_none()) {
            *place = Some(TrialOutcome::Taken);
        }
        let (Some(&next), Some(stream)) = (self.todo.front(), run.stream) else { return self.finish(now) };
        let probe = &self.plan.probes[next];
        (run.step, run.due) = match probe.form {
            Form::Request => (Step::Answering(next), now + settings.wait),
            Form::Notification => (Step::Settling(next), now + settings.settle),
        };
        run.method.clone_from(&probe.method);
        run.sent += 1;
        vec![Output::Send(stream, probe.fired())]
    }

    /// The client is exiting: waits for further notices.
    fn leave(&mut self, now: Duration) -> Vec<Output> {
        let Some(run) = &mut self.run else { return Vec::new() };
        let probe = match run.step {
            Step::Answering(probe) | Step::Settling(probe) | Step::Pinging(probe) => Some(probe),
            Step::Leaving(probe) => probe,
            Step::Starting | Step::Baseline | Step::Resting => None,
        };
        let is_first = !matches!(run.step, Step::Leaving(_));
        if run.is_closed && run.end.is_some() {
            run.step = Step::Leaving(probe);
            return self.conclude(now);
        }
        if is_first {
            (run.step, run.due) = (Step::Leaving(probe), now + LEAVING);
        }
        Vec::new()
    }

    /// The places that break the client only together with this one.
    fn only_with(&self, place: usize) -> Vec<String> {
        let group = self.groups.iter().find(|group| group.contains(&place));
        let others = group.into_iter().flatten().filter(|other| **other != place);
        others.filter_map(|other| self.plan.places.get(*other)).map(super::DeclarationPlace::name).collect()
    }

    fn is_broken(&self, place: usize) -> bool {
        self.places[place].as_ref().is_some_and(TrialOutcome::is_broken)
    }

    /// A rest is over: sends the next ping of a quiet run, or concludes the run.
    fn rested(&mut self, now: Duration) -> Vec<Output> {
        let (wait, asks) = (self.settings.wait, self.known.client.answers_ping);
        let Some(run) = self.run.as_mut() else { return Vec::new() };
        match run.purpose.clone() {
            Purpose::Quiet(pings, _) if asks && run.sent < pings => {
                let Some(stream) = run.stream else { return Vec::new() };
                (run.step, run.due, run.sent) = (Step::Baseline, now + wait, run.sent + 1);
                return vec![Output::Send(stream, ping())];
            }
            Purpose::Quiet(_, limit) if now < run.ready + limit => {
                run.due = run.ready + limit;
                return Vec::new();
            }
            Purpose::Quiet(pings, limit) => self.quiet = Some(Quiet::Stays(pings, limit)),
            Purpose::Declaring(places) => self.declared(&places, None),
            Purpose::Probing => {}
        }
        self.finish(now)
    }

    /// Stops the client, then begins the next run if there is something left to find out.
    fn finish(&mut self, now: Duration) -> Vec<Output> {
        self.run = None;
        let mut orders = vec![Output::Finish];
        orders.extend(self.go_on(now));
        orders
    }

    fn go_on(&mut self, now: Duration) -> Vec<Output> {
        self.weigh();
        self.todo.retain(|probe| self.outcomes[*probe].is_none());
        let is_spent = self.sendings > self.settings.restarts;
        let purpose = match self.runs.pop_front().or_else(|| self.search_on()) {
            Some(purpose) => Some(purpose),
            None if self.todo.is_empty() && self.starts > 0 => None,
            None => Some(Purpose::Probing),
        };
        let why = match purpose {
            Some(_) if self.failure.is_some() => None,
            Some(Purpose::Probing) if self.idle > 1 => Some("the client exits before anything can be sent"),
            Some(Purpose::Probing | Purpose::Quiet(..)) if is_spent => Some("the client was started too often"),
            Some(purpose) => return vec![self.start(now, purpose)],
            None => None,
        };
        if let Some(why) = why {
            let rest = self.outcomes.iter_mut().chain(&mut self.places).filter(|outcome| outcome.is_none());
            rest.for_each(|outcome| *outcome = Some(TrialOutcome::Untried { why: why.to_owned() }));
        }
        vec![Output::Over]
    }

    fn start(&mut self, now: Duration, purpose: Purpose) -> Output {
        self.starts += 1;
        self.sendings += usize::from(!matches!(purpose, Purpose::Declaring(_)));
        let places: Vec<usize> = match &purpose {
            Purpose::Declaring(places) => places.clone(),
            Purpose::Probing | Purpose::Quiet(..) => {
                (0..self.places.len()).filter(|place| !self.is_broken(*place)).collect()
            }
        };
        // A proposal is enabled if all of its places are declared, because it makes some declarations itself.
        let all = |proposal: &str| {
            let mut its = self.plan.places.iter().enumerate().filter(|(_, place)| place.proposal == proposal);
            its.all(|(index, _)| places.contains(&index))
        };
        let proposals = self.plan.places.iter().map(|place| place.proposal).filter(|proposal| all(proposal));
        let proposals = proposals.map(str::to_owned).collect();
        let declared = places.iter().map(|place| self.plan.places[*place].declaration()).collect();
        self.run = Some(ClientRun::new(purpose, now + self.settings.connect, self.newest));
        Output::Start(declared, proposals)
    }
}

fn ping() -> Fired {
    Fired::new(Form::Request.name(), json!({"method": "ping"}))
}

//! Asks the user of a terminal for consent, once per server, and remembers the answers.

use super::Talk;
use crate::cli::printer::note;
use crate::error::CommandError;
use crate::files::consents::Consents;
use crate::host::engine::{HostConfig, Order};
use crate::proposals::host::{CONSENT, ConsentQuestion, HostEvent};
use crate::runtime::host_servers::NamedServer;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The questions to the user, and the answers.
pub(in super::super) struct Consent {
    remembered: Consents,
    /// The servers' commands and URLs, by their names.
    places: BTreeMap<String, String>,
    /// The proposals and servers that the policy leaves to the user.
    open: BTreeSet<(&'static str, String)>,
    /// What the user has not answered yet.
    questions: VecDeque<ConsentQuestion>,
}

/// What a line says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Yes,
    No,
}

impl Reply {
    fn of(line: &str) -> Option<Self> {
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => Some(Self::Yes),
            "n" | "no" => Some(Self::No),
            _ => None,
        }
    }
}

impl Consent {
    /// Adds the remembered answers to the policies that leave the answer to the user.
    ///
    /// # Errors
    ///
    /// The answers cannot be read.
    pub(in super::super) fn of(config: &mut HostConfig, named: &[NamedServer]) -> Result<Self, CommandError> {
        let remembered = Consents::here()?;
        let places = named.iter().map(|one| (one.name.clone(), one.place.words())).collect();
        let mut consent = Self { remembered, places, open: BTreeSet::new(), questions: VecDeque::new() };
        let proposals: Vec<&'static str> = config.policies.proposals_with(CONSENT).collect();
        for proposal in proposals {
            for NamedServer { name, place, .. } in named.iter().filter(|one| !one.is_own) {
                if config.policies.of(proposal, name).word(CONSENT) != "ask" {
                    continue;
                }
                consent.open.insert((proposal, name.clone()));
                let found = consent
                    .remembered
                    .find(proposal, &place.words())
                    .map_err(|error| error.hint("delete the file, and the host asks again"))?;
                if let Some(granted) = found {
                    let option = format!("{proposal}.{CONSENT}");
                    let set = config.policies.set(Some(name), &option, &Value::from(granted));
                    set.map_err(|error| CommandError::usage(error.to_string()))?;
                }
            }
        }
        Ok(consent)
    }

    /// Remembers what the user has granted or withdrawn.
    fn remember(&self, proposal: &'static str, server: &str, granted: bool) {
        if !self.open.contains(&(proposal, server.to_owned())) {
            return;
        }
        let Some(place) = self.places.get(server) else { return };
        if let Err(error) = self.remembered.remember(proposal, place, granted) {
            note(&format!("the answer is not remembered: {}: {error}", self.remembered.path().display()));
        }
    }
}

impl Talk<'_> {
    /// Whether a question is open, so that no turn may begin.
    pub(super) fn awaits_consent(&self) -> bool {
        self.lines.is_some() && self.consent.as_ref().is_some_and(|consent| !consent.questions.is_empty())
    }

    /// Asks the user; in a script, nobody is asked.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn ask_consent(&mut self, question: ConsentQuestion) -> Result<(), CommandError> {
        let Some(consent) = &mut self.consent else { return Ok(()) };
        consent.questions.push_back(question);
        if consent.questions.len() == 1 { self.show_question() } else { Ok(()) }
    }

    fn show_question(&self) -> Result<(), CommandError> {
        let Some((consent, question)) = self.consent.as_ref().and_then(|one| Some((one, one.questions.front()?)))
        else {
            return Ok(());
        };
        let server = self.name(question.server);
        let place = consent.places.get(server).map_or("", String::as_str);
        let path = consent.remembered.path().display();
        if self.is_human() {
            self.note(&format!("{} ({place})", question.text));
            self.note(&format!("answer y or n; the answer is remembered in {path}"));
            return Ok(());
        }
        self.print_json(&json!({"event": "consent", "proposal": question.proposal, "server": server,
            "place": place, "text": question.text}))
    }

    /// The conversation ends, so open questions stay open.
    pub(super) fn ask_no_more(&mut self) {
        if let Some(consent) = &mut self.consent {
            consent.questions.clear();
        }
    }

    /// Takes a line as the answer to the open question. Returns whether it was one. Other lines wait.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn answer_consent(&mut self, line: &str) -> Result<bool, CommandError> {
        if !self.awaits_consent() {
            return Ok(false);
        }
        let Some(reply) = Reply::of(line) else {
            if !line.trim_start().starts_with('/') {
                self.show_question()?;
            }
            return Ok(false);
        };
        let Some(question) = self.consent.as_mut().and_then(|consent| consent.questions.pop_front()) else {
            return Ok(false);
        };
        let (server, proposal) = (self.name(question.server).to_owned(), Some(question.proposal.to_owned()));
        self.runner.order(Order::Allow { server, proposal, is_allowed: reply == Reply::Yes });
        self.show_question()?;
        Ok(true)
    }

    /// Remembers what the user has granted or withdrawn, however that was said.
    pub(super) fn remember_consent(&mut self, event: &HostEvent) {
        let granted = match event.what {
            "allowed" => true,
            "revoked" => false,
            _ => return,
        };
        let Some((consent, server)) = self.consent.as_mut().zip(event.server) else { return };
        consent.questions.retain(|question| (question.proposal, question.server) != (event.proposal, server));
        if let Some(view) = self.runner.host.servers().get(server.0) {
            consent.remember(event.proposal, &view.name, granted);
        }
    }
}

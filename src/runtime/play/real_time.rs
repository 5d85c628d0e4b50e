//! Real time: the host with servers of any kind. Only connections to built-in servers accept orders to send something.

use super::{Flow, Stage, StageEvent, play};
use crate::error::{CommandError, Notices};
use crate::host::engine::{Host, HostConfig, ModelReply, Order};
use crate::host::prompt::Prompt;
use crate::proposals::host::ServerId;
use crate::record::recorder::Recorder;
use crate::runtime::host::{Delivery, HostNotice, HostRunner, Message};
use crate::runtime::host_servers::{HostServers, NamedServer};
use crate::runtime::model::Model;
use crate::scenario::{Observation, Player, Report};
use crate::server::Fired;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc;

/// What to play, and with what.
pub(crate) struct RealTimePlay<'a> {
    /// The scenario's player, before its first step.
    pub player: Player,
    /// The host's configuration.
    pub config: HostConfig,
    /// Its servers.
    pub servers: &'a [NamedServer],
    /// Its model, for prompts without a reply in the scenario.
    pub model: Model,
    /// Records the session.
    pub recorder: &'a Recorder,
}

impl RealTimePlay<'_> {
    /// Plays to the end. `observe` receives everything that happens.
    ///
    /// # Errors
    ///
    /// A server cannot be reached, or `observe` fails.
    pub(crate) async fn run(
        self,
        observe: impl FnMut(Duration, &Observation<'_>) -> Result<(), CommandError>,
        notices: Notices,
    ) -> Result<Report, CommandError> {
        let Self { player, config, servers, model, recorder } = self;
        let mut servers = HostServers::gather(servers, recorder, notices).await?;
        let links = std::mem::take(&mut servers.links);
        let queue = std::sync::Arc::clone(recorder.queue());
        let runner = HostRunner::start(Host::new(config), links, model, Delivery::ByUser, queue);
        let orders = std::mem::take(&mut servers.orders);
        let (stage, report) = play(player, RealTime { runner, orders, not_fired: VecDeque::new() }, observe).await;
        stage.runner.close().await;
        drop(stage.orders);
        servers.end(recorder).await;
        report
    }
}

struct RealTime {
    runner: HostRunner,
    /// For built-in servers, where to send orders.
    orders: Vec<Option<mpsc::UnboundedSender<Fired>>>,
    not_fired: VecDeque<&'static str>,
}

impl Stage for RealTime {
    type Error = CommandError;

    fn now(&self) -> Duration {
        self.runner.now()
    }

    fn event(&mut self) -> Option<StageEvent> {
        if let Some(why) = self.not_fired.pop_front() {
            return Some(StageEvent::NotFired(why.to_owned()));
        }
        loop {
            match self.runner.reported()? {
                HostNotice::Sent(message) => return Some(StageEvent::Sent(message)),
                HostNotice::Host(output) => return Some(StageEvent::Host(output)),
                HostNotice::Stderr(..) | HostNotice::Piece(_) | HostNotice::Replied(_) | HostNotice::Inferred => {}
            }
        }
    }

    fn is_open(&self, server: ServerId) -> bool {
        self.runner.is_open(server)
    }

    fn deliver(&mut self, message: Message) -> Flow<CommandError> {
        self.runner.deliver(message);
        Ok(())
    }

    fn order(&mut self, order: Order) -> Flow<CommandError> {
        self.runner.order(order);
        Ok(())
    }

    fn fire(&mut self, server: ServerId, fired: Fired) {
        let orders = self.orders.get(server.0).and_then(Option::as_ref);
        if orders.is_none_or(|orders| orders.send(fired).is_err()) {
            self.not_fired.push_back("the server is not a built-in one, or its connection was closed");
        }
    }

    fn reply(&mut self, prompt: Prompt, reply: Option<ModelReply>) {
        match reply {
            Some(reply) => self.runner.reply(Ok(reply)),
            None => self.runner.ask(prompt),
        }
    }

    async fn cut(&mut self, server: ServerId, _: Option<&str>) -> Flow<CommandError> {
        self.runner.disconnect(server);
        Ok(())
    }

    async fn wait(&mut self, until: Option<Duration>, arrival: Option<Duration>) -> Flow<CommandError> {
        self.runner.wait(until.into_iter().chain(arrival).min()).await;
        Ok(())
    }
}

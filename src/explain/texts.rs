//! What each method and each capability of a proposal is, in a sentence. All other data about them is in `protocol` and
//! `proposals`.

/// A method and what it does.
pub(super) const METHODS: &[(&str, &str)] = &[
    ("completion/complete", "Asks for completions of an argument while the user types it."),
    ("elicitation/create", "Asks the user a question, by a form or by a URL that the user opens."),
    ("initialize", "Begins a session: both sides agree on a revision and declare their capabilities."),
    ("logging/setLevel", "Sets the least severe log messages that the server sends."),
    ("ping", "Asks whether the other side still responds."),
    ("prompts/get", "Gets a prompt, with its arguments filled in."),
    ("prompts/list", "Lists the prompts that the server offers."),
    ("resources/list", "Lists the resources that the server offers."),
    ("resources/read", "Reads a resource."),
    ("resources/subscribe", "Asks for a notification whenever a resource changes."),
    ("resources/templates/list", "Lists the URI templates of resources."),
    ("resources/unsubscribe", "Ends a subscription to a resource."),
    ("roots/list", "Asks the client which folders and files the server may work on."),
    ("sampling/createMessage", "Asks the client to have its model write a message."),
    ("server/discover", "Asks which revisions and capabilities the server supports."),
    ("subscriptions/listen", "Opens a stream on which the server sends the notifications that the client chooses."),
    ("tasks/cancel", "Cancels a task."),
    ("tasks/get", "Asks for the state of a task."),
    ("tasks/list", "Lists the tasks of the other side."),
    ("tasks/result", "Waits for a task to end, and gets its result."),
    ("tools/call", "Calls a tool."),
    ("tools/list", "Lists the tools that the server offers, with the schemas of their arguments."),
    ("notifications/cancelled", "Says that the result of a request is no longer wanted."),
    ("notifications/elicitation/complete", "Says that the user has finished at the URL of an elicitation."),
    ("notifications/initialized", "Ends the handshake: the client is ready."),
    ("notifications/message", "Carries a log message."),
    ("notifications/progress", "Says how far a request has come that carried a progress token."),
    ("notifications/prompts/list_changed", "Says that the list of prompts has changed."),
    ("notifications/resources/list_changed", "Says that the list of resources has changed."),
    ("notifications/resources/updated", "Says that a resource has changed that the client subscribed to."),
    ("notifications/roots/list_changed", "Says that the client's roots have changed."),
    ("notifications/subscriptions/acknowledged", "Says which of the chosen notifications the server will send."),
    ("notifications/tasks/status", "Says that the state of a task has changed."),
    ("notifications/tools/list_changed", "Says that the list of tools has changed."),
    ("conversation/userMessage", "Tells a subscribed server what the user wrote, before the model sees it."),
    ("conversation/context", "Gives the host context for a user's message, if the message was a notification."),
    ("notifications/reminder", "Gives the host text for the model's next turn, without beginning a turn."),
    ("push/event", "Tells the host about an event, which may begin a turn of the model."),
    ("context/beforeInference", "Asks the server for context before the host asks its model."),
    ("context/afterInference", "Tells the server what the model answered; a blocking hook may change it."),
    ("inference/request", "Asks the host to have its model answer, with or without streaming."),
    ("inference/chunk", "Carries a part of an answer that the server asked to be streamed."),
    ("model/info", "Asks the host which model it uses."),
    ("featureSets/update", "Tells the server which of its feature sets are enabled, and their scopes."),
    ("featureSets/changed", "Tells the host that the server's feature sets have changed."),
    ("scope/elevate", "Asks the user to allow something beyond the scopes of a feature set."),
    ("state/rollback", "Returns the state of a feature set to a checkpoint."),
    ("channels/register", "Offers the host channels that messages come from and go to."),
    ("channels/changed", "Says which channels were added, removed or changed."),
    ("channels/list", "Lists the channels that are registered or open."),
    ("channels/open", "Opens a channel."),
    ("channels/close", "Closes a channel."),
    ("channels/outgoing/chunk", "Carries a part of a message to a channel while the model writes it."),
    ("channels/outgoing/complete", "Carries the complete message to a channel."),
    ("channels/publish", "Publishes a message to a channel."),
    ("channels/incoming", "Gives the host messages that arrived on a channel."),
    ("events/event", "Carries one event of a subscription."),
    ("events/batch", "Carries several events of a subscription at once."),
    ("events/subscription_expired", "Says that a subscription has ended."),
];

/// What a proposal lets servers do, by its name.
pub(super) const PROPOSALS: &[(&str, &str)] = &[
    ("conversation", "The server wants to see the user's messages, and may add context to them."),
    ("reminder", "The server sends reminders."),
    ("mcpl", "The side speaks MCPL: feature sets, pushed events, hooks around inference, channels."),
    ("hooks", "The server declares tools for the host to call at events of the agent."),
    ("mcpe", "The server has subscriptions to events, which the model manages by tools."),
];

/// Looks a name up in one of these tables.
pub(super) fn text(table: &[(&str, &'static str)], name: &str) -> &'static str {
    table.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposals::REGISTRY;
    use crate::protocol::methods;
    use std::collections::BTreeSet;

    #[test]
    fn each_method_and_each_proposal_has_one_text() {
        let known: Vec<&str> = methods::CORE
            .iter()
            .chain(REGISTRY.iter().flat_map(|proposal| proposal.descriptor().methods))
            .map(|spec| spec.name)
            .collect();
        let described: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
        assert_eq!(described.iter().collect::<BTreeSet<_>>(), known.iter().collect::<BTreeSet<_>>());
        assert_eq!(described.len(), known.len());
        let proposals: Vec<&str> = REGISTRY.iter().map(|proposal| proposal.descriptor().name).collect();
        assert_eq!(PROPOSALS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), proposals);
        assert!(METHODS.iter().chain(PROPOSALS).all(|(_, text)| text.ends_with('.')));
    }
}

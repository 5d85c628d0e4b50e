//! What each method of MCP is, in a sentence. The proposals' methods have theirs in `proposals`.

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
];

/// Looks a name up in such a table.
pub(super) fn text(table: &[(&str, &'static str)], name: &str) -> &'static str {
    table.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposals::Registry;
    use crate::protocol::{MethodSpec, methods};
    use std::collections::BTreeSet;

    #[test]
    fn each_method_has_one_text() {
        let described = |methods: &[MethodSpec], texts: &[(&str, &str)]| {
            let known: BTreeSet<&str> = methods.iter().map(|spec| spec.name).collect();
            assert_eq!(texts.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>(), known);
            assert_eq!(texts.len(), methods.len());
            assert!(texts.iter().all(|(_, text)| text.ends_with('.')));
        };
        described(methods::CORE, METHODS);
        for descriptor in Registry::built_in().iter().map(|proposal| proposal.descriptor()) {
            described(descriptor.methods, descriptor.texts);
            assert!(descriptor.about.ends_with('.'));
        }
    }
}

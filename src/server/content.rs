//! Resources (memories and notes) and prompts.

use crate::proposals::server::memory::Memories;
use crate::proposals::server::notes::Notes;
use crate::proposals::server::{MEMORIES, NOTES, Store};
use serde_json::{Value, json};

/// The URI template of a memory.
pub(super) const MEMORY: &str = "mcpreel://memory/{id}";

/// The prompt that asks a question with what is remembered about it.
pub(super) const RECALL: &str = "recall";
/// The prompt that reviews the notes.
pub(super) const REVIEW_NOTES: &str = "review_notes";

/// The resources of `resources/list`, with or without the memory.
pub(super) fn resources(memory: bool) -> Vec<Value> {
    let memories = json!({"uri": MEMORIES, "name": "memories", "description": "Everything that is remembered",
        "mimeType": "application/json"});
    let notes = json!({"uri": NOTES, "name": "notes", "description": "The notes, one per line",
        "mimeType": "text/plain"});
    Some(memories).filter(|_| memory).into_iter().chain([notes]).collect()
}

/// The templates of `resources/templates/list`.
pub(super) fn templates(memory: bool) -> Vec<Value> {
    let one = json!({"uriTemplate": MEMORY, "name": "memory", "description": "One memory", "mimeType": "text/plain"});
    Some(one).filter(|_| memory).into_iter().collect()
}

/// A resource's contents; `None` if it does not exist.
pub(super) fn contents(uri: &str, Store { memories, notes }: &Store, memory: bool) -> Option<Value> {
    let (kind, text) = match uri {
        MEMORIES if memory => {
            let all: Vec<Value> = memories
                .all()
                .map(|memory| json!({"id": memory.id, "content": memory.content, "source": memory.source}))
                .collect();
            ("application/json", Value::from(all).to_string())
        }
        NOTES => ("text/plain", notes.texts().join("\n")),
        _ => {
            let id = uri.strip_prefix(MEMORY.trim_end_matches("{id}"))?;
            ("text/plain", memories.all().find(|memory| memory.id == id)?.content.clone())
        }
    };
    Some(json!({"uri": uri, "mimeType": kind, "text": text}))
}

/// The prompts of `prompts/list`.
pub(super) fn prompts(memory: bool) -> Vec<Value> {
    let recall = json!({"name": RECALL, "description": "Ask about a topic, with what is remembered about it",
        "arguments": [{"name": "topic", "description": "The topic", "required": true}]});
    let review = json!({"name": REVIEW_NOTES, "description": "Review the notes"});
    Some(recall).filter(|_| memory).into_iter().chain([review]).collect()
}

/// The prompt [`RECALL`].
pub(super) fn recall(topic: &str, memories: &Memories) -> Value {
    let hits = memories.search(topic, 5);
    let lines: Vec<&str> = hits.iter().map(|hit| hit.memory.content.as_str()).collect();
    let known = if lines.is_empty() { "nothing".to_owned() } else { format!("\n- {}", lines.join("\n- ")) };
    user(&format!("Remembered about {topic}: {known}"), &format!("What do we know about {topic}?"))
}

/// The prompt [`REVIEW_NOTES`].
pub(super) fn review(notes: &Notes) -> Value {
    user(&format!("Notes so far:\n{}", notes.texts().join("\n")), "Which of these notes still matter?")
}

fn user(first: &str, second: &str) -> Value {
    let say = |text: &str| json!({"role": "user", "content": {"type": "text", "text": text}});
    json!({"messages": [say(first), say(second)]})
}

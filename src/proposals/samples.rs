//! Samples: an example of everything that a proposal lets a server declare and send, to test clients with.

use serde::Deserialize;
use serde_json::Value;

/// A proposal's samples, from its `samples.json`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Samples {
    /// A server's declaration, valid at each of the proposal's places.
    #[serde(default)]
    pub capability: Option<Value>,
    /// A server's messages, in a sensible order.
    #[serde(default)]
    pub messages: Vec<Sample>,
}

/// A sample message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Sample {
    /// The method: the proposal's, or one of MCP's that carries content of the proposal.
    pub method: String,
    /// The params.
    pub params: Value,
}

impl Samples {
    /// Reads a proposal's samples. The result is empty if the text is invalid, which a test detects.
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crate::proposals::{REGISTRY, Side};
    use crate::protocol::Sender;

    #[test]
    fn each_proposal_has_one_of_all_that_a_server_may_say_and_they_fit() {
        for proposal in REGISTRY {
            let (descriptor, samples) = (proposal.descriptor(), proposal.samples());
            if descriptor.places.iter().any(|place| place.side == Side::Server) {
                let declared = samples.capability.expect("a declaration");
                assert_eq!(descriptor.schemas.check("capability:server", &declared), Some(vec![]));
                let ours = descriptor.places.iter().filter(|place| place.side == Side::Server);
                assert!(ours.into_iter().all(|place| place.shape.fits(&declared)), "{}", descriptor.name);
            }
            for spec in descriptor.methods.iter().filter(|spec| spec.sender != Sender::Client) {
                assert!(samples.messages.iter().any(|it| it.method == spec.name), "no sample of {}", spec.name);
            }
            for sample in &samples.messages {
                let violations = descriptor.schemas.check(&format!("{}:params", sample.method), &sample.params);
                let spec = crate::proposals::method_spec(&sample.method).expect("a known method");
                assert_ne!(spec.sender, Sender::Client, "{}", sample.method);
                let is_own = descriptor.methods.iter().any(|own| own.name == spec.name);
                assert_eq!(violations, is_own.then(Vec::new), "{}", sample.method);
            }
        }
    }
}

//! The room in a host: limits, trust, and the order in which texts are injected.

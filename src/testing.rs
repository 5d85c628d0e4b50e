//! What integration tests, examples and fuzz targets use of the crate. It is not an API: mcpreel is a program.
//!
//! Everything else is `pub(crate)`, so that the compiler finds dead code.

pub mod check {
    pub use crate::check::Checked;
    pub mod baseline {
        pub use crate::check::baseline::Baseline;
    }
    pub mod settings {
        pub use crate::check::settings::ValidateSection;
    }
}

pub mod cli {
    pub use crate::cli::{Checks, with_screen};
}

pub mod config {
    pub mod entry {
        pub use crate::config::entry::{Overrides, read};
    }
    pub mod expand {
        pub use crate::config::expand::{Names, env_file};
    }
    pub mod project {
        pub use crate::config::project::ProjectFile;
    }
    pub mod shown {
        pub use crate::config::shown::without_secrets;
    }
    pub mod tree {
        pub use crate::config::tree::{Format, Node, parse};
    }
    pub mod wrap {
        pub use crate::config::wrap::{Tap, is_wrapped, unwrap, wrap};
    }
    pub mod yaml {
        pub use crate::config::yaml::to_json;
    }
}

pub mod diff {
    pub use crate::diff::{Collector, Options, Recording, Report, compare};
    pub mod surface {
        pub use crate::diff::surface::{
            Effect, Extractor, List, ListKind, Surface, SurfaceChange, SurfaceReport, compare,
        };
        pub mod rules {
            pub use crate::diff::surface::rules::SurfaceRule;
        }
    }
}

pub mod formats {
    pub use crate::formats::import::{Importer, open_as};
    pub use crate::formats::{Content, EXPORT, ExportFormat, ExportOptions, Exporter};
    pub mod jsonl {
        pub use crate::formats::jsonl::{Reader, write_event, write_header};
    }
}

pub mod host {
    pub mod client {
        pub use crate::host::client::{ClientConfig, EraChoice};
    }
    pub mod engine {
        pub use crate::host::engine::{Host, HostConfig, ModelReply, Order, Output, ServerConfig, ToolCall, policies};
    }
    pub mod prompt {
        pub use crate::host::prompt::Layout;
    }
}

pub mod oauth {
    pub use crate::oauth::{
        Answer, AuthorizationRequest, Challenge, Exchanges, Grant, HttpRequest, HttpResponse, Identity, OAuthError,
        ResponseFuture, Secrets, Unreachable, discover,
    };
    pub mod client {
        pub use crate::oauth::client::client;
    }
}

pub mod pack {
    pub use crate::pack::{Pack, schema};
}

pub mod overlay {
    pub use crate::overlay::{Output, Overlay, Plan, Setting, schema};
}

pub mod page {
    pub use crate::page::{SessionPage, Summary};
}

pub mod probe {
    pub use crate::probe::{ClientEnd, Output, Plan, ProbeRun, Settings};
}

pub mod platform {
    pub mod confinement {
        pub use crate::platform::confinement::can_confine;
    }
}

pub mod proposals {
    pub use crate::proposals::{REGISTRY, Registry, Severity};
    pub mod hooks {
        pub mod engine {
            pub use crate::proposals::hooks::engine::{Declarations, Event, EventKind, Filling, select};
        }
    }
    pub mod host {
        pub use crate::proposals::host::{Agent, Inferred, ServerId};
    }
    pub mod mcpe {
        pub mod cron {
            pub use crate::proposals::mcpe::cron::Schedule;
        }
        pub mod patterns {
            pub use crate::proposals::mcpe::patterns::{covers, is_odd, is_wildcard, matches, might_match};
        }
    }
}

pub mod protocol {
    pub mod http {
        pub use crate::protocol::http::{ToolMarks, modern_headers, modern_version};
    }
}

pub mod record {
    pub mod answer_filter {
        pub use crate::record::answer_filter::{AnswerFilter, StreamPiece};
    }
    pub mod http {
        pub mod body {
            pub use crate::record::http::body::{BodyPiece, Reading};
        }
        pub mod boundary {
            pub use crate::record::http::boundary::{Events, Frames, MessageSplitter};
        }
    }
}

pub mod redact {
    pub use crate::redact::detectors::{DETECTORS, sample};
    pub use crate::redact::{Finder, Settings, redact_arguments, redact_header};
}

pub mod replay {
    pub mod mock {
        pub use crate::replay::mock::{
            Fault, Library, LibraryBuilder, Matching, MockSession, Output, Report, Settings, in_memory,
        };
    }
    pub use crate::replay::{Answers, Conversation, Conversations, Output, Plan, ReplayEngine, Selection, Settings};
}

pub mod render {
    pub use crate::render::scenario;
    pub mod line {
        pub use crate::render::line::visible_text;
    }
    pub mod output_buffer {
        pub use crate::render::output_buffer::OutputBuffer;
    }
    pub mod pretty {
        pub use crate::render::pretty::{Layout, pretty};
    }
    pub mod style {
        pub use crate::render::style::Palette;
    }
    pub mod text {
        pub use crate::render::text::visible;
    }
}

pub mod runtime {
    pub mod collector {
        pub use crate::runtime::collector::{Accepted, Signal};
    }
    pub mod simulate {
        pub use crate::runtime::play::virtual_time::{SimulationContext, simulate};
    }
}

pub mod scenario {
    pub use crate::scenario::{Observation, Player, Report, Scenario, schema};
}

pub mod server {
    pub use crate::server::{Catalogue, Config, Output, Server, Task};
}

pub mod session {
    pub mod audit {
        pub use crate::session::audit::Audit;
    }
    pub mod checkpoint_tree {
        pub use crate::session::checkpoint_tree::CheckpointTrees;
    }
    pub mod filter {
        pub use crate::session::filter::Filter;
    }
}

pub mod sessions {
    pub mod answers {
        pub use crate::sessions::answers::Answers;
    }
    pub mod control {
        pub use crate::sessions::control::{Control, FireReportCallback, InjectionProgress, Session};
    }
    pub mod injection {
        pub use crate::sessions::injection::{is_ours, may_be_answer, request_id};
    }
    pub mod sockets {
        pub use crate::sessions::sockets::connect;
    }
}

pub mod share {
    pub use crate::share::{Learner, Redactor};
}

pub mod trace {
    pub use crate::trace::{
        Event, EventHeader, EventKind, FileHeader, Flags, FormatError, Index, Item, NewEvent, ReelReader, ReelWriter,
        WriterOptions,
    };
    pub mod format {
        pub use crate::trace::format::{PAYLOAD_STORED, STARTS_GROUP, SegmentHeader, SegmentKind};
    }
    pub mod rebuild {
        pub use crate::trace::rebuild::build_index;
    }
    pub mod writer {
        pub use crate::trace::writer::footer_bytes;
    }
}

pub mod transport {
    pub use crate::transport::{Incoming, Observers, Remote};
    pub mod coding {
        pub use crate::transport::coding::Decoder;
    }
    pub mod client {
        pub mod error_response {
            pub use crate::transport::client::error_response::in_words;
        }
        pub mod http {
            pub use crate::transport::client::http::{ClientConnection, ExchangeEvent, ExchangeObserver};
        }
    }
    pub mod listen {
        pub mod heads {
            pub use crate::transport::listen::heads::Heads;
        }
        pub mod origin_check {
            pub use crate::transport::listen::origin_check::Access;
        }
    }
}

pub mod tui {
    pub mod ansi {
        pub use crate::tui::ansi::{plain, styled, wrapped};
    }
    pub mod effect {
        pub use crate::tui::effect::PageLine;
    }
    pub mod keys {
        pub use crate::tui::keys::Motion;
    }
    pub mod text {
        pub use crate::tui::text::Text;
    }
}

pub mod validate {
    pub use crate::validate::{Report, Reporter};
}

pub mod wire {
    pub use crate::wire::{Direction, Envelope, Frame, Framing, LineFramer, MessageKind, json, pointer};
    pub mod sse {
        pub use crate::wire::sse::{SseEvent, SseFramer};
    }
}

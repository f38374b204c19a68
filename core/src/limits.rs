//! Every bound of the core in one place, with its default and its reason.
//!
//! Floor 0. A bound that is reached is a typed failure of the one server, call or message that
//! reached it (L10).

use serde::{Deserialize, Serialize};

/// The bounds. Sizes in bytes, times in milliseconds, counts as counts.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Limits {
    /// The longest message accepted from a server. Default 64 MiB: results of 50 MB are seen in
    /// the field, and a server that never ends its line must not eat the machine.
    pub message_bytes: usize,
    /// How deep a message may nest. Default 128, as deep as `serde_json` reads; more means that.
    pub nesting: usize,
    /// How much of a server's standard error is kept. Default 64 KiB, the end of it.
    pub stderr_tail_bytes: usize,
    /// How long a server that closed one of its pipes before it was ready may take to end, which
    /// says better why it failed than that it did so; in milliseconds. Default 100 ms.
    pub pipe_end_ms: u64,
    /// How many pages one list may have (G37). Default 1,000.
    pub pages: usize,
    /// How many tools one server may offer. Default 10,000.
    pub tools_per_server: usize,
    /// How many resources, and as many templates of resources, one server may offer. Default
    /// 10,000.
    pub resources_per_server: usize,
    /// How many prompts one server may offer. Default 10,000.
    pub prompts_per_server: usize,
    /// How many resources of one server are subscribed to at once, the first ones of its list.
    /// Default 1,000.
    pub subscriptions_per_server: usize,
    /// How many requests to subscribe or unsubscribe may be under way on one connection.
    /// Default 16.
    pub subscribing_at_once: usize,
    /// How many calls may be open at once, over all servers. Default 4,096.
    pub open_calls: usize,
    /// How many operations may be open at once, starts among them: each is looked at
    /// whenever something happened. Default 1,024.
    pub open_ops: usize,
    /// How many things one server may ask the host at once; what it asks beyond is refused.
    /// Default 16.
    pub inquiries_per_server: usize,
    /// How often in a row a server may want to be told something before it answers a call
    /// (C-MRTR-08). Default 10.
    pub rounds: u32,
    /// How many problems are kept for the status; later ones are counted. Default 1,000.
    pub problems: usize,
    /// How large one configuration file may be. Default 16 MiB.
    pub config_bytes: usize,
    /// How many entries of one folder of configuration files are looked at, the first ones by
    /// name. Default 1,000.
    pub folder_entries: usize,
    /// How long a command may take that is run for its output, in milliseconds. Default 10 s.
    pub shell_ms: u64,
    /// How many servers may be defined at once. Default 20,000.
    pub servers: usize,
    /// How long a tool cache entry is valid, in milliseconds. Default 30 days; with 0 there is no
    /// cache, and nothing is read from one or written to it.
    pub cache_ms: u64,
    /// How long a server may take to answer `server/discover` before it is asked to `initialize`
    /// instead, in milliseconds; package runners download first. Cheap to get wrong, as a later
    /// answer still counts (C-VER-20). Default 10 s; half of what its start may take, if that is
    /// less, so that there is time for the other question.
    pub probe_ms: u64,
    /// How long a connection for one HTTP exchange may take to be made, in milliseconds, if that
    /// is less than the server has to start. Default 10 s.
    pub http_connect_ms: u64,
    /// How long a server may take to begin its answer to what needs no answer of the protocol:
    /// notifications, and our answers; in milliseconds. A request has a limit of its own.
    /// Default 30 s.
    pub http_head_ms: u64,
    /// How long nothing may come in the middle of an answer that is no stream of events, in
    /// milliseconds. Default 30 s.
    pub http_idle_ms: u64,
    /// How long a server of the transport of 2024-11-05 may take to say where messages go, if
    /// that transport is tried because the newer one failed; in milliseconds. Default 10 s.
    pub http_endpoint_ms: u64,
    /// How often one request is sent on to another place of its server. Default 5.
    pub http_redirects: usize,
    /// How often what may be asked again is asked again in a row, before it has failed.
    /// Default 5.
    pub http_repeats: u32,
    /// How much of an answer that is a refusal is read. Default 64 KiB.
    pub http_refusal_bytes: usize,
    /// How many messages that need no answer may be on their way to one server before what it asks
    /// is left unanswered that we could answer at once: it asks faster than it takes the answers.
    /// Default 64.
    pub http_asides: usize,
    /// How many streams of one server may stay open after the answer that they were for. Default
    /// 8; of more the oldest is closed.
    pub http_lingering: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 64 * 1024 * 1024,
            nesting: 128,
            stderr_tail_bytes: 64 * 1024,
            pipe_end_ms: 100,
            pages: 1_000,
            tools_per_server: 10_000,
            resources_per_server: 10_000,
            prompts_per_server: 10_000,
            subscriptions_per_server: 1_000,
            subscribing_at_once: 16,
            open_calls: 4_096,
            open_ops: 1_024,
            inquiries_per_server: 16,
            rounds: 10,
            problems: 1_000,
            config_bytes: 16 * 1024 * 1024,
            folder_entries: 1_000,
            shell_ms: 10_000,
            servers: 20_000,
            cache_ms: 30 * 24 * 60 * 60 * 1_000,
            probe_ms: 10_000,
            http_connect_ms: 10_000,
            http_head_ms: 30_000,
            http_idle_ms: 30_000,
            http_endpoint_ms: 10_000,
            http_redirects: 5,
            http_repeats: 5,
            http_refusal_bytes: 64 * 1024,
            http_asides: 64,
            http_lingering: 8,
        }
    }
}

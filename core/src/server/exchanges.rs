//! What a server does with what becomes of its exchanges over HTTP.
//!
//! Floor 3.

use alloc::vec::Vec;

use crate::command::{Command, Remote};
use crate::error::ExchangeError;
use crate::id::ExchangeId;
use crate::input::HttpHead;
use crate::outbox::Outbox;
use crate::time::Timestamp;

use super::channel::Step;
use super::{Phase, Server, Signal};

impl Server {
    /// Tells the driver where the server is, once that is known.
    pub fn connect(&mut self, remote: Remote, out: &mut Outbox) {
        if let Phase::Resolving { deadline } = self.phase {
            out.command(Command::Connect { conn: self.conn, server: self.name.clone(), remote });
            self.enter(Phase::Opening { deadline });
        }
    }

    /// The server began to answer an exchange.
    pub fn handle_head(
        &mut self,
        now: Timestamp,
        exchange: ExchangeId,
        head: &HttpHead,
        out: &mut Outbox,
    ) -> Vec<Signal> {
        let mut signals = Vec::new();
        self.said_goodbye(now, exchange, out);
        if self.stage().is_some() {
            let mut step = Step { now, setting: &self.setting, out };
            for heard in self.session.handle_head(exchange, head, &mut step) {
                self.hear(now, heard, &mut signals, out);
            }
        }
        signals
    }

    /// A part of an answer came. Takes from `bytes` what came before the hub has to act, and is
    /// given the rest then: however an answer is cut, the same follows from it (G44).
    pub fn handle_body(
        &mut self,
        now: Timestamp,
        exchange: ExchangeId,
        bytes: &mut &[u8],
        out: &mut Outbox,
    ) -> Vec<Signal> {
        self.hear_bytes(now, bytes, out, |session, bytes, step| {
            session.handle_body(exchange, bytes, step)
        })
    }

    /// An exchange is over.
    pub fn handle_exchange_ended(
        &mut self,
        now: Timestamp,
        exchange: ExchangeId,
        end: Result<(), ExchangeError>,
        out: &mut Outbox,
    ) -> Vec<Signal> {
        let mut signals = Vec::new();
        self.said_goodbye(now, exchange, out);
        if self.stage().is_some() {
            let mut step = Step { now, setting: &self.setting, out };
            for heard in self.session.handle_ended(exchange, end, &mut step) {
                self.hear(now, heard, &mut signals, out);
            }
        }
        signals
    }

    /// Lets time pass for the exchanges; whether anything was due.
    pub(super) fn fire_exchanges(
        &mut self,
        now: Timestamp,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) -> bool {
        let due = self.session.deadline().is_some_and(|deadline| deadline.at <= now);
        if !due || self.stage().is_none() {
            return false;
        }
        let mut step = Step { now, setting: &self.setting, out };
        for heard in self.session.fire(&mut step) {
            self.hear(now, heard, signals, out);
        }
        true
    }

    /// Whatever the server answers to the end of its session, that was all (C-LHTTP-05).
    fn said_goodbye(&mut self, now: Timestamp, exchange: ExchangeId, out: &mut Outbox) {
        if let Phase::Stopping { stop, .. } = &mut self.phase
            && self.session.is_goodbye(exchange)
        {
            stop.said_goodbye(self.conn, now, &self.setting.ladder, out);
        }
    }
}

//! Exchanges over HTTP: each has a number of its own, is broken off at most once and only while
//! it is under way, and a session is ended at most once (G48).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use tidegate_core::command::{Command, Method};
use tidegate_core::held::Held;
use tidegate_core::id::{ConnId, ExchangeId};
use tidegate_core::input::{Fact, Input};

use super::{Breach, Law, Seen};

#[derive(Clone, Debug, Default)]
pub(super) struct Exchanges {
    conns: Held<BTreeMap<ConnId, Conn>>,
}

#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Conn {
    /// In any order: what has to wait has its number already.
    used: BTreeSet<ExchangeId>,
    open: BTreeSet<ExchangeId>,
    goodbye: bool,
}

impl Exchanges {
    pub(super) fn check(&mut self, seen: &Seen<'_>) -> Result<(), Breach> {
        match seen.input {
            Some(Input::Io(Fact::ExchangeEnded { conn, exchange, .. })) => {
                if let Some(own) = self.conns.get_mut(conn) {
                    own.open.remove(exchange);
                }
            }
            Some(Input::Io(Fact::Closed { conn, .. } | Fact::OpenFailed { conn, .. })) => {
                self.conns.remove(conn);
            }
            Some(_) | None => {}
        }
        for command in seen.commands {
            match command {
                Command::Connect { conn, .. } => {
                    self.conns.insert(*conn, Conn::default());
                }
                Command::Exchange { conn, exchange, request } => {
                    let Some(own) = self.conns.get_mut(conn) else { continue };
                    Law::Orders.demands(own.used.insert(*exchange), || {
                        format!("{conn} had an exchange {exchange} before")
                    })?;
                    Law::Orders.demands(!own.goodbye, || {
                        format!("{conn} said goodbye and goes on with {exchange} (G48)")
                    })?;
                    own.goodbye = request.method == Method::Delete;
                    own.open.insert(*exchange);
                }
                Command::Abort { conn, exchange } => {
                    let Some(own) = self.conns.get_mut(conn) else { continue };
                    // What ended in this very step may have been broken off before it was told.
                    let open = own.open.remove(exchange) || seen.fired;
                    Law::Orders.demands(open, || {
                        format!("{exchange} of {conn} is broken off and is not under way")
                    })?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Exchanges are told apart by their order alone.
    pub(super) fn digest(&self, state: &mut impl Hasher) {
        for conn in self.conns.values() {
            (conn.open.len(), conn.goodbye).hash(state);
        }
    }
}

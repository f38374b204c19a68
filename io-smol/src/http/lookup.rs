//! From the name of a host to its addresses, off the loop, and once for all who ask at a time.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;

use tidegate_core::id::{ConnId, ExchangeId};
use url::Host;

use super::tls::Tls;
use crate::inbox::{Inbox, Message};

/// How many addresses of one name are tried.
const ADDRESSES_MAX: usize = 16;

/// One exchange of one attempt.
pub(super) type Key = (ConnId, ExchangeId);

/// What is looked up.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Place {
    pub(crate) host: Host<String>,
    pub(crate) port: u16,
    /// Whether certificates are needed there: those are read together with the name.
    pub(crate) secure: bool,
}

/// All that is being looked up, and who waits for it.
#[derive(Debug)]
pub(super) struct Lookups {
    waiting: BTreeMap<Place, Vec<Key>>,
    tls: Arc<Tls>,
    inbox: Arc<Inbox>,
}

impl Lookups {
    pub(super) fn new(tls: Arc<Tls>, inbox: Arc<Inbox>) -> Self {
        Self { waiting: BTreeMap::new(), tls, inbox }
    }

    /// The addresses, if nobody needs to be asked; otherwise [`Message::LookedUp`] follows.
    pub(super) fn look(&mut self, place: &Place, key: Key) -> Option<Vec<SocketAddr>> {
        if !place.secure || self.tls.is_loaded() {
            let known = place.known();
            if known.is_some() {
                return known;
            }
        }
        let waiting = self.waiting.entry(place.clone()).or_default();
        waiting.push(key);
        if waiting.len() == 1 {
            let (place, tls, inbox) =
                (place.clone(), Arc::clone(&self.tls), Arc::clone(&self.inbox));
            let look = move || {
                if place.secure {
                    tls.load();
                }
                let found = place.addresses();
                inbox.report(Message::LookedUp(place, found));
            };
            blocking::unblock(look).detach();
        }
        None
    }

    /// Who waits for a place that was looked up. Some may be gone.
    pub(super) fn looked_up(&mut self, place: &Place) -> Vec<Key> {
        self.waiting.remove(place).unwrap_or_default()
    }
}

impl Place {
    /// The addresses that are in the name itself. `localhost` is both loopbacks wherever it is
    /// written down (RFC 6761): servers listen at either.
    fn known(&self) -> Option<Vec<SocketAddr>> {
        let at = |address: std::net::IpAddr| SocketAddr::new(address, self.port);
        match &self.host {
            Host::Ipv4(address) => Some(vec![at((*address).into())]),
            Host::Ipv6(address) => Some(vec![at((*address).into())]),
            Host::Domain(name) => {
                let name = name.trim_end_matches('.');
                let local = name == "localhost" || name.ends_with(".localhost");
                let both = || vec![at(Ipv4Addr::LOCALHOST.into()), at(Ipv6Addr::LOCALHOST.into())];
                local.then(both)
            }
        }
    }

    /// May block for as long as the system wants.
    fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        if let Some(known) = self.known() {
            return Ok(known);
        }
        let found = (self.host.to_string(), self.port).to_socket_addrs()?;
        Ok(by_turns(found.collect()))
    }
}

/// The two families by turns (RFC 8305): one of them may lead nowhere.
fn by_turns(found: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v4 = found.first().is_some_and(SocketAddr::is_ipv4);
    let (first, other): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|address| address.is_ipv4() == first_is_v4);
    let mut other = other.into_iter();
    let mut all: Vec<SocketAddr> =
        first.into_iter().flat_map(|address| [Some(address), other.next()]).flatten().collect();
    all.extend(other);
    all.truncate(ADDRESSES_MAX);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_families_of_a_name_come_by_turns() {
        let addresses = |list: &[&str]| -> Vec<SocketAddr> {
            list.iter().map(|it| it.parse().unwrap()).collect()
        };
        let found = addresses(&["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1"]);
        let wanted = addresses(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"]);
        assert_eq!(by_turns(found), wanted);
        let found = addresses(&["1.1.1.1:1", "[::1]:1", "[::2]:1"]);
        assert_eq!(by_turns(found.clone()), found);
    }

    #[test]
    fn localhost_is_both_loopbacks_and_an_address_is_itself() {
        let known = |host: &str| {
            let place = Place { host: Host::parse(host).unwrap(), port: 7, secure: false };
            let known = place.known().unwrap_or_default();
            known.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(known("LocalHost"), ["127.0.0.1:7", "[::1]:7"]);
        assert_eq!(known("a.localhost."), ["127.0.0.1:7", "[::1]:7"]);
        assert_eq!(known("[::1]"), ["[::1]:7"]);
        assert!(known("notlocalhost").is_empty());
    }
}

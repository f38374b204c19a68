//! How remote servers are reached: what the environment says of proxies, and whom to trust.
//!
//! Read once, in one place, for every server (F-076).

use std::env;
use std::path::PathBuf;

use super::proxy::Proxies;

/// The variable with the file of further certificates.
const CA_FILE: &str = "TIDEGATE_CA_FILE";

/// How remote servers are reached.
#[derive(Clone, Debug, Default)]
pub struct Network {
    pub(crate) proxies: Proxies,
    pub(crate) ca_file: Option<PathBuf>,
}

impl Network {
    /// Without any proxy, trusting what the machine trusts.
    #[must_use]
    pub fn direct() -> Self {
        Self::default()
    }

    /// As the environment of this process says: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and
    /// `NO_PROXY`, each in lower case too, which goes first. What is on this machine is asked
    /// directly, whatever they say: `localhost` and the addresses that lead back.
    ///
    /// Whom to trust is said by `SSL_CERT_FILE` and `SSL_CERT_DIR`, which take the place of the
    /// machine's own certificates, and by `TIDEGATE_CA_FILE`, whose certificates are trusted too.
    #[must_use]
    pub fn of_process() -> Self {
        Self::of(|name| env::var(name).ok())
    }

    /// As the variables say that `find` finds: those of [`of_process`](Self::of_process) but
    /// for the two that take the place of the machine's own certificates.
    pub fn of(find: impl Fn(&str) -> Option<String>) -> Self {
        let ca_file = find(CA_FILE).filter(|file| !file.is_empty()).map(PathBuf::from);
        Self { proxies: Proxies::of(find), ca_file }
    }

    /// With what is on this machine asked through the proxies as well, as who looks at what is
    /// said wants it; `NO_PROXY` may still except it.
    #[must_use]
    pub fn with_loopback_proxied(mut self) -> Self {
        self.proxies.everywhere();
        self
    }

    /// Trusting those whose certificates are in this file (PEM), beside those of the machine.
    #[must_use]
    pub fn with_ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.ca_file = Some(file.into());
        self
    }
}

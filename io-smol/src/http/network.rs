//! How remote servers are reached: what the environment says of proxies, and whom to trust.
//!
//! Read once, in one place, for every server (F-076).

use std::env;
use std::path::PathBuf;

use super::proxy::Proxies;

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
    /// `NO_PROXY`, each in lower case too, which goes first. Loopback is nothing special: it
    /// belongs into `NO_PROXY`.
    ///
    /// Whom to trust is said by `SSL_CERT_FILE` and `SSL_CERT_DIR`, which take the place of the
    /// machine's own certificates.
    #[must_use]
    pub fn of_process() -> Self {
        Self::of(|name| env::var(name).ok())
    }

    /// As the variables say that `find` finds: those of [`of_process`](Self::of_process) but
    /// for the two that say whom to trust.
    pub fn of(find: impl Fn(&str) -> Option<String>) -> Self {
        Self { proxies: Proxies::of(find), ca_file: None }
    }

    /// Trusting those whose certificates are in this file (PEM), too.
    #[must_use]
    pub fn with_ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.ca_file = Some(file.into());
        self
    }
}

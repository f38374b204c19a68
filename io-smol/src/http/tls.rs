//! Whom encrypted connections trust: the machine's certificates, and those of one more file.
//!
//! Reading them takes tens of milliseconds, so it is done once, when a server asks for it, and
//! off the loop.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore};
use url::Host;

/// What every encrypted connection is made with.
#[derive(Debug)]
pub(crate) struct Tls {
    ca_file: Option<PathBuf>,
    config: OnceLock<Result<Arc<ClientConfig>, String>>,
    /// What of the machine's certificates could not be read.
    unread: OnceLock<String>,
}

impl Tls {
    /// Trusts what the machine does, or what `SSL_CERT_FILE` and `SSL_CERT_DIR` name in its
    /// place, and the certificates in this file as well.
    pub(crate) fn new(ca_file: Option<PathBuf>) -> Self {
        Self { ca_file, config: OnceLock::new(), unread: OnceLock::new() }
    }

    /// Whether nothing has to be read any more.
    pub(crate) fn is_loaded(&self) -> bool {
        self.config.get().is_some()
    }

    /// Reads what is trusted. May block.
    pub(crate) fn load(&self) {
        self.config.get_or_init(|| self.config());
    }

    /// A connection to a host, nothing of which is sent yet.
    pub(crate) fn connection(&self, host: &Host<String>) -> Result<ClientConnection, String> {
        let config = self.config.get_or_init(|| self.config()).clone()?;
        let name = match host {
            Host::Domain(name) => {
                ServerName::try_from(name.clone()).map_err(|_| "the name is none of a host")?
            }
            Host::Ipv4(address) => ServerName::IpAddress((*address).into()),
            Host::Ipv6(address) => ServerName::IpAddress((*address).into()),
        };
        ClientConnection::new(config, name).map_err(|error| error.to_string())
    }

    /// Why there is no connection, with what may be behind it.
    pub(crate) fn explained(&self, message: String) -> String {
        match self.unread.get() {
            Some(unread) => format!("{message}; also, {unread}"),
            None => message,
        }
    }

    fn config(&self) -> Result<Arc<ClientConfig>, String> {
        let mut roots = RootCertStore::empty();
        let native = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(native.certs);
        if let Some(error) = native.errors.first() {
            self.unread.get_or_init(|| error.to_string());
        }
        if let Some(file) = &self.ca_file {
            let shown = file.display();
            let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
            let certificates: Vec<_> = read.map_err(|error| format!("{shown}: {error}"))?;
            if roots.add_parsable_certificates(certificates).0 == 0 {
                return Err(format!("{shown}: there is no certificate in it"));
            }
        }
        if roots.is_empty() {
            return Err("no trusted certificates were found; set SSL_CERT_FILE".into());
        }
        // Named, because two providers in one build leave none that is the default.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

/// What went wrong, with what helps.
pub(crate) fn told(error: &rustls::Error) -> String {
    let unknown = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
    if *error == unknown {
        "nobody trusted signed its certificate; those of a private authority belong into a file for \
         --ca-file or TIDEGATE_CA_FILE"
            .into()
    } else {
        error.to_string()
    }
}

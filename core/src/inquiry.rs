//! What servers may ask of the host, and what becomes of it.
//!
//! Floor 0. A server's question is an [`Inquiry`]; it is told to the host as
//! [`Event::Inquired`](crate::event::Event::Inquired) and ends in exactly one of two ways: the host
//! answers with [`Request::Reply`](crate::input::Request::Reply), or
//! [`Event::InquiryEnded`](crate::event::Event::InquiryEnded) says why nobody needs an answer any
//! more. Only what the host serves ([`Services`]) is declared to servers and can be asked (G49).

use alloc::collections::BTreeSet;
use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::bytes::Json;

/// One thing that a host can do for servers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Service {
    /// It asks its model (`sampling/createMessage`).
    Sampling,
    /// It asks its model with tools to choose from; brings [`Sampling`](Self::Sampling) along.
    SamplingTools,
    /// It asks its model with what was said so far; brings [`Sampling`](Self::Sampling) along.
    SamplingContext,
    /// It has a person fill in a form (`elicitation/create`).
    ElicitationForm,
    /// It has a person visit an address (`elicitation/create`).
    ElicitationUrl,
}

/// What a host does for servers. Nothing, unless it says so.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Services(BTreeSet<Service>);

impl Services {
    /// Whether this is done.
    #[must_use]
    pub fn has(&self, service: Service) -> bool {
        self.0.contains(&service)
            || service == Service::Sampling
                && [Service::SamplingTools, Service::SamplingContext].iter().any(|it| self.has(*it))
    }

    /// Whether nothing is done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Service> for Services {
    fn from_iter<I: IntoIterator<Item = Service>>(services: I) -> Self {
        Self(services.into_iter().collect())
    }
}

/// What a server asks the host. All of it is untrusted.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Inquiry {
    /// To ask its model; the parameters of `sampling/createMessage` as received. The reply is a
    /// `CreateMessageResult`.
    Sampling(Json),
    /// To have a person fill in a form, or visit an address.
    Elicitation {
        /// Which of the two.
        mode: Mode,
        /// The parameters of `elicitation/create` as received. The reply is an `ElicitResult`.
        params: Json,
    },
}

/// How a person is asked.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// By a form: the parameters have a `requestedSchema`.
    Form,
    /// By an address: the parameters have a `url`, to be opened with the person's consent only.
    Url,
}

impl Inquiry {
    /// What the host has to do to answer it.
    #[must_use]
    pub const fn service(&self) -> Service {
        match self {
            Self::Sampling(_) => Service::Sampling,
            Self::Elicitation { mode: Mode::Form, .. } => Service::ElicitationForm,
            Self::Elicitation { mode: Mode::Url, .. } => Service::ElicitationUrl,
        }
    }
}

impl fmt::Display for Inquiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sampling(_) => "sampling",
            Self::Elicitation { mode: Mode::Form, .. } => "a form",
            Self::Elicitation { mode: Mode::Url, .. } => "an address",
        })
    }
}

/// What a host answers.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The result, a JSON object: a `CreateMessageResult` or an `ElicitResult`. What a person said
    /// to a server is for that server alone: a recorded run does not have it.
    Done(#[serde(with = "crate::bytes::unread")] Json),
    /// It does not do it.
    Refused(Refusal),
}

/// Why a host does not do what a server asks.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// A person said no.
    Declined,
    /// It could not be done.
    Failed {
        /// Why, in one line; told to the server.
        message: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declined => f.write_str("declined"),
            Self::Failed { message } => write!(f, "failed: {message}"),
        }
    }
}

/// Why an inquiry ended without an answer of the host's.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Unneeded {
    /// The server took it back.
    Withdrawn,
    /// The call in the course of which it was asked is over.
    CallOver,
    /// The server can no longer hear an answer.
    ServerGone,
}

impl fmt::Display for Unneeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Withdrawn => "taken back",
            Self::CallOver => "its call is over",
            Self::ServerGone => "its server is gone",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_samples_with_more_samples() {
        let with = |service| Services::from_iter([service]);
        for service in [Service::Sampling, Service::SamplingTools, Service::SamplingContext] {
            assert!(with(service).has(Service::Sampling) && with(service).has(service));
        }
        assert!(!with(Service::Sampling).has(Service::SamplingTools));
        assert!(!with(Service::ElicitationForm).has(Service::Sampling));
        assert!(!with(Service::ElicitationForm).has(Service::ElicitationUrl));
        assert!(Services::default().is_empty());
    }
}

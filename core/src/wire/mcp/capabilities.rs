//! What we declare to servers, by revision: only what is served (C-LIFE-06, C-ELIC-01).
//!
//! Floor 1. May import floor 0.

use alloc::string::String;

use crate::inquiry::{Service, Services};
use crate::wire::dialect::Revision;

/// The client capabilities that are declared to a server of this revision, as a JSON object. Roots
/// are always there, and do not change.
#[must_use]
pub fn capabilities(revision: Revision, services: &Services) -> String {
    let mut out = String::from("{\"roots\":");
    out.push_str(match revision {
        Revision::V2024_11_05
        | Revision::V2025_03_26
        | Revision::V2025_06_18
        | Revision::V2025_11_25 => "{\"listChanged\":false}",
        Revision::V2026_07_28 => "{}",
    });
    let declared = |service| declares(revision, services, service);
    if declared(Service::Sampling) {
        let parts = [("context", Service::SamplingContext), ("tools", Service::SamplingTools)];
        push(&mut out, "sampling", &parts.map(|(name, part)| declared(part).then_some(name)));
    }
    if declared(Service::ElicitationForm) || declared(Service::ElicitationUrl) {
        let parts = [("form", Service::ElicitationForm), ("url", Service::ElicitationUrl)];
        // Before there was more than one mode, there was nothing to say of it.
        let told = |part| declared(part) && revision >= Revision::V2025_11_25;
        push(&mut out, "elicitation", &parts.map(|(name, part)| told(part).then_some(name)));
    }
    out.push('}');
    out
}

/// Whether a server of this revision is told that the host does this.
#[must_use]
pub fn declares(revision: Revision, services: &Services, service: Service) -> bool {
    let since = match service {
        Service::Sampling => Revision::V2024_11_05,
        Service::ElicitationForm => Revision::V2025_06_18,
        Service::SamplingTools | Service::SamplingContext | Service::ElicitationUrl => {
            Revision::V2025_11_25
        }
    };
    services.has(service) && revision >= since
}

/// A member whose value is an object with these members, each an empty object.
fn push(out: &mut String, name: &str, parts: &[Option<&str>]) {
    out.push_str(",\"");
    out.push_str(name);
    out.push_str("\":{");
    for (at, part) in parts.iter().flatten().enumerate() {
        out.push_str(if at == 0 { "\"" } else { ",\"" });
        out.push_str(part);
        out.push_str("\":{}");
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared<const N: usize>(revision: Revision, services: [Service; N]) -> String {
        capabilities(revision, &Services::from_iter(services))
    }

    /// C-LIFE-06: nothing is declared that nobody serves.
    #[test]
    fn a_host_that_serves_nothing_has_roots_and_no_more() {
        for revision in [Revision::V2024_11_05, Revision::V2025_06_18, Revision::V2025_11_25] {
            assert_eq!(declared(revision, []), r#"{"roots":{"listChanged":false}}"#);
        }
    }

    /// C-LIFE-06, C-ELIC-01.
    #[test]
    fn each_revision_is_told_what_it_knows() {
        let all = [
            Service::SamplingTools,
            Service::SamplingContext,
            Service::ElicitationForm,
            Service::ElicitationUrl,
        ];
        let roots = r#"{"roots":{"listChanged":false}"#;
        for (revision, rest) in [
            (Revision::V2024_11_05, r#","sampling":{}}"#),
            (Revision::V2025_03_26, r#","sampling":{}}"#),
            (Revision::V2025_06_18, r#","sampling":{},"elicitation":{}}"#),
            (
                Revision::V2025_11_25,
                r#","sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}}}"#,
            ),
        ] {
            assert_eq!(declared(revision, all), alloc::format!("{roots}{rest}"));
        }
    }

    #[test]
    fn only_the_parts_that_are_served_are_declared() {
        let roots = r#"{"roots":{"listChanged":false}"#;
        for (services, rest) in [
            (Services::from_iter([Service::Sampling]), r#","sampling":{}}"#),
            (Services::from_iter([Service::SamplingTools]), r#","sampling":{"tools":{}}}"#),
            (Services::from_iter([Service::ElicitationForm]), r#","elicitation":{"form":{}}}"#),
            (Services::from_iter([Service::ElicitationUrl]), r#","elicitation":{"url":{}}}"#),
        ] {
            let told = capabilities(Revision::V2025_11_25, &services);
            assert_eq!(told, alloc::format!("{roots}{rest}"));
        }
        // An empty object would mean forms.
        let only_url = declared(Revision::V2025_06_18, [Service::ElicitationUrl]);
        assert_eq!(only_url, alloc::format!("{roots}}}"));
    }
}

//! The planted bugs, each with the law that is meant for it.

#[path = "bugs/driver.rs"]
mod driver;
#[path = "bugs/host.rs"]
mod host;
#[path = "bugs/inquiries.rs"]
mod inquiries;
#[path = "bugs/starts.rs"]
mod starts;

use tidegate_sim::laws::Law;

use crate::mutant::Plant;

/// A planted bug.
pub(crate) struct Bug {
    /// What the machine does with it.
    pub(crate) name: &'static str,
    /// The law that must catch it, and none before it.
    pub(crate) law: Law,
    pub(crate) plants: &'static [Plant],
}

const fn bug(name: &'static str, law: Law, plants: &'static [Plant]) -> Bug {
    Bug { name, law, plants }
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Bug> {
    driver::BUGS.iter().chain(host::BUGS).chain(inquiries::BUGS).chain(starts::BUGS)
}

//! Events: whole, in order, and telling what the documents say.
//!
//! Keeps the run of events of one subject at a time.

use abasto_domain::order_state::Status;

use super::document::Documents;
use super::report::{Code, Location, Report};
use crate::event::Event;
use crate::record::{DocumentKey, Kind};

/// The name of an order's first event.
/// The events that tell of a payment which moved the order on.
const PAID: [&str; 2] = ["abasto.order.paid", "abasto.order.paid_late"];
const ORDER_CREATED: &str = "abasto.order.created";

/// The events of the business.
#[derive(Debug, Default)]
pub(super) struct History {
    run: Option<Run>,
}

/// The events of one subject so far.
#[derive(Debug)]
struct Run {
    subject: DocumentKey,
    last: i64,
    /// The state that the events of an order have come to.
    state: Option<String>,
}

impl History {
    pub(super) fn take(&mut self, event: &Event, documents: &mut Documents, report: &mut Report) {
        let current = self.run.take_if(|run| run.subject == event.subject);
        let mut run = match current {
            Some(run) => run,
            None => {
                self.close(documents, report);
                Run {
                    subject: event.subject,
                    last: 0,
                    state: None,
                }
            }
        };
        run.add(event, report);
        self.run = Some(run);
    }

    /// Ends the run of one subject: all its events were seen.
    pub(super) fn close(&mut self, documents: &mut Documents, report: &mut Report) {
        let Some(run) = self.run.take() else { return };
        let location = || Location::document(run.subject, "history");
        let known = documents.get_mut(run.subject);
        report.check(Code::EventWithoutDocument, known.is_some(), || {
            (
                location(),
                "the document".to_owned(),
                "only its events".to_owned(),
            )
        });
        let Some(known) = known else { return };
        known.has_events = true;
        report.check(Code::EventCount, run.last == known.version, || {
            let expected = format!("{} events, one per version", known.version);
            (location(), expected, format!("{} events", run.last))
        });
        let Some(status) = known.status else { return };
        let told = run.state.as_deref() == Some(status.name());
        report.check(Code::EventHistory, told, || {
            let found = run.state.unwrap_or_else(|| "no state".to_owned());
            let expected = format!("a history that ends in {}", status.name());
            (Location::document(run.subject, "history"), expected, found)
        });
    }
}

impl Run {
    fn add(&mut self, event: &Event, report: &mut Report) {
        let next = self.last + 1;
        let location = || Location::document(event.subject, &format!("event {}", event.sequence));
        report.check(Code::EventGap, event.sequence == next, || {
            (
                location(),
                format!("event {next}"),
                format!("event {}", event.sequence),
            )
        });
        self.last = event.sequence;
        if event.subject.kind != Kind::Order {
            return;
        }
        let first = event.sequence == 1;
        report.check(
            Code::EventHistory,
            (event.name == ORDER_CREATED) == first,
            || {
                let expected = "the first event, and only it, to tell of the creation".to_owned();
                (location(), expected, event.name.clone())
            },
        );
        let state = |field: &str| event.data.get(field).and_then(|state| state.as_str());
        let follows = state("from") == self.state.as_deref();
        let allowed = match (state("from").map(status), state("to").map(status)) {
            (None, Some(Some(to))) => matches!(to, Status::PendingPayment | Status::Pending),
            (Some(Some(from)), Some(Some(to))) if PAID.contains(&event.name.as_str()) => {
                from.when_paid().contains(&to)
            }
            (Some(Some(from)), Some(Some(to))) => from == to || from.allowed().contains(&to),
            _ => false,
        };
        report.check(Code::EventHistory, follows && allowed, || {
            let words = |state: Option<&str>| state.unwrap_or("nothing").to_owned();
            let expected = format!("a step from {}", words(self.state.as_deref()));
            let found = format!("from {} to {}", words(state("from")), words(state("to")));
            (location(), expected, found)
        });
        self.state = state("to").map(str::to_owned);
    }
}

fn status(name: &str) -> Option<Status> {
    Status::ALL.into_iter().find(|status| status.name() == name)
}

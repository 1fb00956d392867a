//! What a proxy does to which frame.
//!
//! Owns the rules and their counting. Must not know sockets.

use std::time::Duration;

/// The direction of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From a client to the server.
    Request,
    /// From the server to a client.
    Reply,
}

/// What happens to a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is not delivered, and both ends see the connection close.
    Drop,
    /// It is not delivered, nor is anything after it on this way; the connection stays open.
    BlackHole,
    /// It is delivered late, and everything after it on this way as well.
    Delay(Duration),
    /// Its first bytes are delivered, then its receiver sees a reset and its sender a close.
    ResetAfter {
        /// How many bytes, header included.
        bytes: usize,
    },
    /// It is delivered in two parts with a pause between.
    Halves(Duration),
}

/// A fault, the command that it strikes, and which occurrences of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    command: String,
    way: Way,
    fault: Fault,
    skip: u32,
    times: u32,
    seen: u32,
}

impl Rule {
    /// Strikes the next request with this command.
    #[must_use]
    pub fn request(command: &str, fault: Fault) -> Self {
        Self {
            command: command.to_owned(),
            way: Way::Request,
            fault,
            skip: 0,
            times: 1,
            seen: 0,
        }
    }

    /// Strikes the reply to the next request with this command.
    #[must_use]
    pub fn reply(command: &str, fault: Fault) -> Self {
        Self {
            way: Way::Reply,
            ..Self::request(command, fault)
        }
    }

    /// Lets the first `count` occurrences pass.
    #[must_use]
    pub fn skip(self, count: u32) -> Self {
        Self {
            skip: count,
            ..self
        }
    }

    /// Strikes `count` occurrences in place of one.
    #[must_use]
    pub fn times(self, count: u32) -> Self {
        Self {
            times: count,
            ..self
        }
    }

    /// How many frames it has struck.
    pub(super) fn fired(&self) -> u32 {
        self.seen.saturating_sub(self.skip).min(self.times)
    }

    /// Counts the frame if it is one of this rule's; the fault if it is to be struck.
    pub(super) fn meet(&mut self, way: Way, command: &str) -> Option<Fault> {
        if way != self.way || command != self.command {
            return None;
        }
        let before = self.fired();
        self.seen = self.seen.saturating_add(1);
        (self.fired() > before).then_some(self.fault)
    }
}

#[cfg(test)]
mod tests {
    //! Occurrences are counted from the rule's own beginning.

    use super::*;

    #[test]
    fn strikes_exactly_the_chosen_occurrences() {
        let mut rule = Rule::reply("commitTransaction", Fault::Drop)
            .skip(1)
            .times(2);
        let mut struck = |way, command| rule.meet(way, command).is_some();
        assert!(!struck(Way::Request, "commitTransaction"));
        assert!(!struck(Way::Reply, "insert"));
        let replies = [(); 5].map(|()| struck(Way::Reply, "commitTransaction"));
        assert_eq!(replies, [false, true, true, false, false]);
        assert_eq!(rule.fired(), 2);
    }
}

//! The specification once more, independent of the implementation.
//!
//! A place is what it knows: which dots were created and which removed. What an operation makes
//! is a function of the operation and of what its author knew. No context, no join, no codec.

use abasto_cart::{Dot, Hlc};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) type Lives = BTreeSet<Dot>;

/// One edit, with lines, names and values as small numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    Add(u8, u32),
    Set(u8, u32),
    Step(u8, i32),
    Remove(u8),
    Clear,
    Note(u8, u8, u8),
    Coupon(u8),
    NoCoupon(u8),
    Field(u8, u8),
    /// A region folds a line into one set.
    Collapse(u8),
}

/// What a dot created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    Add(u8, i64, Lives),
    Set(u8, i64, Hlc, Lives),
    Step(u8, i64, Lives),
    Note(u8, u8, u8, Hlc, Lives),
    Coupon(u8),
    Field(u8, u8, Hlc),
}

/// What one place knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) created: BTreeMap<Dot, Fact>,
    pub(crate) removed: BTreeSet<Dot>,
}

/// What an edit does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effect {
    pub(crate) created: Option<Fact>,
    pub(crate) removed: BTreeSet<Dot>,
}

/// A line as people see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) quantity: i64,
    pub(crate) raw: i64,
    pub(crate) sets: usize,
    /// Values by name, the one that counts first.
    pub(crate) notes: BTreeMap<u8, Vec<u8>>,
}

/// A cart as people see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) lines: BTreeMap<u8, Shown>,
    pub(crate) coupons: BTreeSet<u8>,
    pub(crate) fields: BTreeMap<u8, Vec<u8>>,
}

impl Fact {
    fn line(&self) -> Option<u8> {
        match self {
            Fact::Add(line, ..)
            | Fact::Set(line, ..)
            | Fact::Step(line, ..)
            | Fact::Note(line, ..) => Some(*line),
            Fact::Coupon(_) | Fact::Field(..) => None,
        }
    }
}

impl Known {
    pub(crate) fn take(&mut self, other: &Known) {
        self.created.extend(other.created.clone());
        self.removed.extend(&other.removed);
    }

    pub(crate) fn live(&self) -> BTreeMap<Dot, &Fact> {
        self.created
            .iter()
            .filter(|(dot, _)| !self.removed.contains(dot))
            .map(|(dot, fact)| (*dot, fact))
            .collect()
    }

    fn dots(&self, of: impl Fn(&Fact) -> bool) -> BTreeSet<Dot> {
        self.live()
            .into_iter()
            .filter(|(_, fact)| of(fact))
            .map(|(dot, _)| dot)
            .collect()
    }

    /// The winning set, the lives present, and the sum, of one line.
    fn weigh(&self, line: u8) -> (Lives, i64, usize) {
        let live = self.live();
        let mut sets: Vec<(Hlc, Dot, i64, &Lives)> = Vec::new();
        let (mut lives, mut raw) = (Lives::new(), 0);
        for (dot, fact) in &live {
            match fact {
                Fact::Add(l, n, of) if *l == line => {
                    raw += n;
                    lives.extend(of);
                }
                Fact::Set(l, n, hlc, of) if *l == line => sets.push((*hlc, *dot, *n, of)),
                _ => {}
            }
        }
        if let Some((_, _, n, of)) = sets.iter().max() {
            raw += n;
            lives.extend(*of);
        }
        for fact in live.values() {
            if let Fact::Step(l, n, of) = fact
                && *l == line
                && !of.is_disjoint(&lives)
            {
                raw += n;
            }
        }
        (lives, raw, sets.len())
    }

    fn shown(&self, line: u8, cap: i64) -> Option<Shown> {
        let (lives, raw, sets) = self.weigh(line);
        if lives.is_empty() || raw <= 0 {
            return None;
        }
        let live = self.live();
        let notes = live.iter().filter_map(|(dot, fact)| match fact {
            Fact::Note(l, name, value, hlc, of) if *l == line && !of.is_disjoint(&lives) => {
                Some((*name, (*hlc, *dot), *value))
            }
            _ => None,
        });
        Some(Shown {
            quantity: raw.min(cap),
            raw,
            sets,
            notes: latest_first(notes),
        })
    }

    pub(crate) fn picture(&self, cap: i64) -> Picture {
        let live = self.live();
        let lines: BTreeSet<u8> = live.values().filter_map(|fact| fact.line()).collect();
        let fields = live.iter().filter_map(|(dot, fact)| match fact {
            Fact::Field(name, value, hlc) => Some((*name, (*hlc, *dot), *value)),
            _ => None,
        });
        let coupons = live.values().filter_map(|fact| match fact {
            Fact::Coupon(code) => Some(*code),
            _ => None,
        });
        Picture {
            lines: lines
                .into_iter()
                .filter_map(|line| Some((line, self.shown(line, cap)?)))
                .collect(),
            coupons: coupons.collect(),
            fields: latest_first(fields),
        }
    }

    /// What the edit does when its author knows this; `None` when it is refused.
    pub(crate) fn effect(&self, edit: Edit, dot: Dot, hlc: Hlc, cap: i64) -> Option<Effect> {
        let of_line = |line: u8| self.dots(|fact| fact.line() == Some(line));
        let quantity_of = |line: u8| {
            self.dots(|fact| fact.line() == Some(line) && !matches!(fact, Fact::Note(..)))
        };
        // Entries on a visible line belong to the lives seen, on an absent one they begin a life.
        let lives = |line: u8| match self.shown(line, cap) {
            Some(_) => self.weigh(line).0,
            None => Lives::from([dot]),
        };
        let make = |fact, removed| {
            Some(Effect {
                created: Some(fact),
                removed,
            })
        };
        match edit {
            Edit::Add(line, n) => {
                let clean = if self.shown(line, cap).is_some() {
                    BTreeSet::new()
                } else {
                    of_line(line)
                };
                make(Fact::Add(line, n.into(), lives(line)), clean)
            }
            Edit::Set(line, 0) => self.effect(Edit::Remove(line), dot, hlc, cap),
            Edit::Set(line, n) => {
                let old = if self.shown(line, cap).is_some() {
                    quantity_of(line)
                } else {
                    of_line(line)
                };
                make(Fact::Set(line, n.into(), hlc, lives(line)), old)
            }
            Edit::Step(line, by) => {
                let shown = self.shown(line, cap)?;
                if shown.raw == shown.quantity {
                    return make(Fact::Step(line, by.into(), lives(line)), BTreeSet::new());
                }
                let target = u32::try_from(shown.quantity + i64::from(by)).unwrap_or(0);
                self.effect(Edit::Set(line, target), dot, hlc, cap)
            }
            Edit::Remove(line) => self.remove(of_line(line), dot),
            Edit::Clear => self.remove(self.dots(|fact| fact.line().is_some()), dot),
            Edit::Note(line, name, value) => {
                self.shown(line, cap)?;
                let same =
                    |fact: &Fact| matches!(fact, Fact::Note(l, n, ..) if (*l, *n) == (line, name));
                make(
                    Fact::Note(line, name, value, hlc, lives(line)),
                    self.dots(same),
                )
            }
            Edit::Coupon(code) => make(
                Fact::Coupon(code),
                self.dots(|fact| *fact == Fact::Coupon(code)),
            ),
            Edit::NoCoupon(code) => self.remove(self.dots(|fact| *fact == Fact::Coupon(code)), dot),
            Edit::Field(name, value) => {
                let same = |fact: &Fact| matches!(fact, Fact::Field(n, ..) if *n == name);
                make(Fact::Field(name, value, hlc), self.dots(same))
            }
            Edit::Collapse(line) => {
                let shown = self.shown(line, cap)?;
                make(
                    Fact::Set(line, shown.raw, Hlc::ZERO, lives(line)),
                    quantity_of(line),
                )
            }
        }
    }

    fn remove(&self, mut dots: BTreeSet<Dot>, own: Dot) -> Option<Effect> {
        dots.insert(own);
        Some(Effect {
            created: None,
            removed: dots,
        })
    }
}

fn latest_first(values: impl Iterator<Item = (u8, (Hlc, Dot), u8)>) -> BTreeMap<u8, Vec<u8>> {
    let mut sorted: Vec<_> = values.collect();
    sorted.sort_by_key(|(name, stamp, _)| (*name, std::cmp::Reverse(*stamp)));
    let mut by_name: BTreeMap<u8, Vec<u8>> = BTreeMap::new();
    for (name, _, value) in sorted {
        by_name.entry(name).or_default().push(value);
    }
    by_name
}

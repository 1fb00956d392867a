//! Repeatable chance: everything random in a test comes from one seed that a failure prints.
//!
//! Owns the generator (SplitMix64). Must not be used for secrets.

/// A seeded source of numbers; the same seed rolls the same numbers for ever.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Starts from a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from 0 up to, not including, `sides`; 0 when there are none.
    pub const fn roll(&mut self, sides: u64) -> u64 {
        match self.bits().checked_rem(sides) {
            Some(rolled) => rolled,
            None => 0,
        }
    }

    /// True in so many of a thousand cases.
    pub const fn chance(&mut self, per_mille: u64) -> bool {
        self.roll(1000) < per_mille
    }

    /// A number between both ends, both included.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        let sides = most.abs_diff(least).saturating_add(1);
        least.saturating_add_unsigned(self.roll(sides))
    }

    /// One of the choices; `None` when there are none.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        let sides = u64::try_from(choices.len()).unwrap_or(u64::MAX);
        choices.get(usize::try_from(self.roll(sides)).unwrap_or(0))
    }
}

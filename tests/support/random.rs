//! A small deterministic generator of numbers (xorshift64*), so that a printed seed repeats a run.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed ^ 0x9e37_79b9_7f4a_7c15 | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).expect("31 bits fit") % bound
    }

    pub fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

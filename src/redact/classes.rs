//! Counts the characters of a text by class, so that patterns need not run that cannot match.

/// How many characters of each class there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Classes {
    /// Upper-case letters of ASCII.
    pub upper: u64,
    /// Lower-case letters of ASCII.
    pub lower: u64,
    /// Digits.
    pub digits: u64,
    /// Dots.
    pub dots: u64,
}

/// Sums of this many bytes fit into the 16 bits that each class has in [`CLASS`].
const CHUNK: usize = u16::MAX as usize;

/// What a byte adds to the sum: one in the 16 bits of its class.
static CLASS: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'A'..=b'Z' => 1,
            b'a'..=b'z' => 1 << 16,
            b'0'..=b'9' => 1 << 32,
            b'.' => 1 << 48,
            _ => 0,
        };
        byte += 1;
    }
    table
};

impl Classes {
    /// No character of any class.
    pub(crate) const NONE: Self = Self { upper: 0, lower: 0, digits: 0, dots: 0 };

    /// Counts the characters of a text.
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut sum = Self::NONE;
        for chunk in text.chunks(CHUNK) {
            let mut counts = 0;
            for byte in chunk {
                counts += CLASS[usize::from(*byte)];
            }
            let class = |number: u32| counts >> (16 * number) & 0xffff;
            sum.upper += class(0);
            sum.lower += class(1);
            sum.digits += class(2);
            sum.dots += class(3);
        }
        sum
    }

    /// Returns whether there are at least as many characters of each class.
    pub(crate) fn has(&self, least: &Self) -> bool {
        self.upper >= least.upper && self.lower >= least.lower && self.digits >= least.digits && self.dots >= least.dots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_by_class_in_texts_of_any_length() {
        let classes = Classes::of(b"Ab.c1-2..\xff");
        assert_eq!(classes, Classes { upper: 1, lower: 2, digits: 2, dots: 3 });
        assert!(classes.has(&Classes::NONE) && classes.has(&classes));
        assert!(!classes.has(&Classes { upper: 2, ..Classes::NONE }));
        let long = Classes::of(&b"aa1".repeat(CHUNK));
        assert_eq!((long.lower, long.digits, long.upper), (2 * CHUNK as u64, CHUNK as u64, 0));
    }
}

//! A digest of configurations that is the same on every target: FNV-1a, 64 bit.

use super::convert::u64_to_usize;

/// Builds a 64-bit FNV-1a digest from bytes and numbers. Not for security: for names and random streams.
#[derive(Clone, Copy, Debug)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Adds bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self
    }

    /// Adds text with its length, so that ("ab","c") differs from ("a","bc").
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.number(text.len() as u64).bytes(text.as_bytes())
    }

    /// Adds a number, little endian.
    #[must_use]
    pub fn number(self, n: u64) -> Self {
        self.bytes(&n.to_le_bytes())
    }

    /// The digest so far, mixed once more so that short inputs differ in all bits.
    pub fn finish(self) -> u64 {
        let mut x = self.0;
        x ^= x >> 33;
        x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
        x ^= x >> 33;
        x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        x ^ (x >> 33)
    }

    /// Eight characters of `[a-z0-9]`, the alphabet of NeuronPerf's artifact names.
    pub fn name8(self) -> String {
        const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let mut x = self.finish();
        (0..8)
            .map(|_| {
                let c = ALPHABET[u64_to_usize(x % 36)];
                x /= 36;
                char::from(c)
            })
            .collect()
    }
}

/// The digest of one text.
pub fn digest64(text: &str) -> u64 {
    Digest::default().text(text).finish()
}

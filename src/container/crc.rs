//! CRC-32 of gzip and zip (RFC 1952, section 8).

/// A checksum that grows with its text.
#[derive(Clone, Debug, Default)]
pub struct Crc(imp::State);

impl Crc {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        imp::update(&mut self.0, bytes);
    }

    /// The checksum so far.
    pub fn value(&self) -> u32 {
        imp::value(&self.0)
    }

    /// The checksum of a text.
    pub fn of(bytes: &[u8]) -> u32 {
        let mut crc = Self::default();
        crc.update(bytes);
        crc.value()
    }
}

/// Processors have instructions for it.
#[cfg(not(target_arch = "wasm32"))]
mod imp {
    pub type State = crc32fast::Hasher;

    pub fn update(state: &mut State, bytes: &[u8]) {
        state.update(bytes);
    }

    pub fn value(state: &State) -> u32 {
        state.clone().finalize()
    }
}

/// In wasm it reads tables. They are made at the first use: 16 KB that do not compress would be a fiftieth of each program of the page.
#[cfg(target_arch = "wasm32")]
use tables as imp;

#[cfg(any(target_arch = "wasm32", test))]
mod tables {
    use std::sync::OnceLock;

    /// Bytes of a step.
    const STEP: usize = 16;
    /// The polynomial, its lowest bit first.
    const POLYNOMIAL: u32 = 0xedb8_8320;

    /// For each distance to the end of a step, what a byte there changes.
    type Tables = [[u32; 256]; STEP];
    pub type State = u32;

    fn tables() -> &'static Tables {
        static TABLES: OnceLock<Box<Tables>> = OnceLock::new();
        TABLES.get_or_init(|| {
            let mut tables = Box::new([[0; 256]; STEP]);
            for (byte, entry) in (0..).zip(&mut tables[0]) {
                *entry = (0..8).fold(byte, |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 });
            }
            for distance in 1..STEP {
                for byte in 0..256 {
                    let before = tables[distance - 1][byte];
                    tables[distance][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
                }
            }
            tables
        })
    }

    pub fn update(state: &mut State, bytes: &[u8]) {
        let tables = tables();
        let mut crc = !*state;
        let (steps, rest) = bytes.as_chunks::<STEP>();
        for step in steps {
            let mut next = 0;
            for (at, byte) in step.iter().enumerate() {
                let before = if at < 4 { crc.to_le_bytes()[at] } else { 0 };
                next ^= tables[STEP - 1 - at][usize::from(byte ^ before)];
            }
            crc = next;
        }
        for byte in rest {
            crc = crc >> 8 ^ tables[0][usize::from(crc.to_le_bytes()[0] ^ byte)];
        }
        *state = !crc;
    }

    pub fn value(state: &State) -> u32 {
        *state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_agree_with_the_processor() {
        let bytes: Vec<u8> = (0..1000u32).map(|i| (i * i % 251) as u8).collect();
        for from in 0..20 {
            for to in [from, from + 1, from + 15, from + 16, from + 47, 1000] {
                let mut state = tables::State::default();
                let (first, second) = bytes[from..to].split_at((to - from) / 3);
                tables::update(&mut state, first);
                tables::update(&mut state, second);
                assert_eq!(tables::value(&state), Crc::of(&bytes[from..to]), "{from}..{to}");
            }
        }
        assert_eq!(Crc::of(b"123456789"), 0xcbf4_3926);
    }
}

//! The checksum of gzip and zip (CRC-32, polynomial 0xEDB88320, RFC 1952 section 8), eight bytes at a time.

const TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0u32; 256]; 8];
    let mut i = 0u32;
    while i < 256 {
        let mut crc = i;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        tables[0][i as usize] = crc;
        i += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut i = 0;
        while i < 256 {
            let before = tables[k - 1][i];
            tables[k][i] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            i += 1;
        }
        k += 1;
    }
    tables
}

/// The checksum of the bytes that `crc` covers, followed by `bytes`; start with 0.
pub(super) fn crc32(crc: u32, bytes: &[u8]) -> u32 {
    let mut crc = !crc;
    let (words, tail) = bytes.as_chunks::<8>();
    for word in words {
        let x = u64::from_le_bytes(*word) ^ u64::from(crc);
        crc = 0;
        for (i, byte) in x.to_le_bytes().into_iter().enumerate() {
            crc ^= TABLES[7 - i][usize::from(byte)];
        }
    }
    for &byte in tail {
        crc = (crc >> 8) ^ TABLES[0][((crc ^ u32::from(byte)) & 0xff) as usize];
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn the_check_value_of_the_standard() {
        assert_eq!(crc32(0, b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(crc32(0, b"1234"), b"56789"), 0xcbf4_3926);
        assert_eq!(crc32(0, &[0; 32]), 0x190a_55ad);
    }
}

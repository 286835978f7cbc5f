//! User names as input of the key derivation.

/// The final sigma, the only letter that Windows maps to an upper-case letter which another letter
/// also maps to.
const FINAL_SIGMA: char = 'ς';

/// Returns a name in upper case as in Windows: UpperCase of NTOWFv2 (MS-NLMP, section 3.3.2) is
/// RtlUpcaseUnicodeString, which maps one UTF-16 code unit to another. Letters whose upper case is
/// several letters (ß), or also the upper case of another letter (ı, ſ, µ), stay as they are.
pub fn upcased(name: &str) -> String {
    name.chars().map(capital).collect()
}

fn capital(letter: char) -> char {
    let is_unit = |c: char| c.len_utf16() == 1;
    let mut capitals = letter.to_uppercase();
    let (Some(capital), None) = (capitals.next(), capitals.next()) else {
        return letter;
    };
    // Georgian and Cherokee have had both cases since Unicode 8 and 11, which the table of Windows
    // does not contain.
    if matches!(letter, 'ა'..='ჿ' | 'ᏸ'..='ᏽ' | 'ꭰ'..='ꮿ') {
        return letter;
    }
    let is_its_own = capital.to_lowercase().eq([letter]) || letter == FINAL_SIGMA;
    if is_its_own && is_unit(letter) && is_unit(capital) {
        capital
    } else {
        letter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_upcased_one_to_one() {
        for (name, expected) in [
            ("anna", "ANNA"),
            ("Müller-é.ÿ", "MÜLLER-É.Ÿ"),
            ("straße", "STRAßE"),
            ("ŉx", "ŉX"),
            ("ıstanbul", "ıSTANBUL"),
            ("ſ µ ǰ", "ſ µ ǰ"),
            ("οδυσσεύς", "ΟΔΥΣΣΕΎΣ"),
            ("жук", "ЖУК"),
            ("გიორგი", "გიორგი"),
            ("ꭰꮿᏸ", "ꭰꮿᏸ"),
            // Two UTF-16 code units: Windows does not treat them as letters.
            ("𐐨", "𐐨"),
        ] {
            assert_eq!(upcased(name), expected);
        }
    }
}

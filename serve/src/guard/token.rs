//! The token: compared in constant time, never shown, and protected against guessing.

use super::refused::Refused;
use crate::runs::watcher::locked;
use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The minimum and maximum length of a token.
const LENGTH: std::ops::RangeInclusive<usize> = 16..=256;
/// The number of wrong tokens in a time span after which no token is accepted.
const WRONG_MAX: u32 = 20;
const SPAN: Duration = Duration::from_mins(1);
/// The maximum number of addresses whose wrong tokens are counted.
const ADDRESSES_MAX: usize = 4096;

/// The token of a server.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// Creates a token of 16 to 256 visible ASCII characters.
    ///
    /// # Errors
    ///
    /// A sentence that states the error.
    pub fn new(text: &str) -> Result<Token, String> {
        if !LENGTH.contains(&text.len()) || !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(format!(
                "the token must have {} to {} visible ASCII characters without blanks",
                LENGTH.start(),
                LENGTH.end()
            ));
        }
        Ok(Token(text.to_owned()))
    }

    /// Returns true if a text is the token. The time depends only on the length of the text.
    fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let mut differences = u8::from(own.len() != given.len());
        for (at, byte) in given.iter().enumerate() {
            differences |= black_box(byte ^ own[at % own.len()]);
        }
        black_box(differences) == 0
    }

    /// The token as stored in the cookie, without characters that have a meaning there.
    pub(crate) fn cookie(&self) -> String {
        hex(&self.0)
    }
}

fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        _ = write!(out, "{byte:02x}");
        out
    })
}

/// Counts the wrong tokens of each address, so that a client that guesses blocks only itself.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<HashMap<IpAddr, Wrong>>);

/// The wrong tokens since a time.
#[derive(Clone, Copy, Debug)]
struct Wrong {
    since: Instant,
    count: u32,
}

impl Attempts {
    /// Verifies that a text from an address is the token.
    ///
    /// # Errors
    ///
    /// If it is not, or if too many were wrong recently.
    pub(crate) fn check(&self, from: IpAddr, token: &Token, given: &str) -> Result<(), Refused> {
        self.judge(from, || token.is(given))
    }

    /// Verifies that the value of a cookie is that of the token.
    ///
    /// # Errors
    ///
    /// The same as those of [`check`](Attempts::check).
    pub(crate) fn check_cookie(&self, from: IpAddr, token: &Token, given: &str) -> Result<(), Refused> {
        self.judge(from, || Token(token.cookie()).is(given))
    }

    fn judge(&self, from: IpAddr, is: impl FnOnce() -> bool) -> Result<(), Refused> {
        let mut all = locked(&self.0);
        if all.len() >= ADDRESSES_MAX {
            all.retain(|_, wrong| wrong.since.elapsed() < SPAN);
        }
        // Above the limit, all further addresses are counted together.
        let is_known = all.contains_key(&from) || all.len() < ADDRESSES_MAX;
        let from = if is_known { from } else { IpAddr::V4(Ipv4Addr::UNSPECIFIED) };
        let wrong = all.get(&from).copied().filter(|wrong| wrong.since.elapsed() < SPAN);
        let wrong = wrong.unwrap_or(Wrong { since: Instant::now(), count: 0 });
        if wrong.count >= WRONG_MAX {
            return Err(Refused::Later);
        }
        if is() {
            return Ok(());
        }
        all.insert(from, Wrong { count: wrong.count + 1, ..wrong });
        Err(Refused::NoToken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "correct-horse-battery";

    #[test]
    fn only_the_token_is_the_token() {
        let token = Token::new(TEXT).unwrap();
        assert!(token.is(TEXT));
        for wrong in ["", "c", "correct-horse-batterx", "correct-horse-battery-", &TEXT.repeat(2)] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert!(!format!("{token:?}").contains("horse"));
    }

    #[test]
    fn short_tokens_and_blanks_are_rejected() {
        for wrong in [
            "",
            "short",
            "with a blank inside",
            "with\na line at its end",
            &"x".repeat(257),
            "\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}",
        ] {
            assert!(Token::new(wrong).unwrap_err().contains("16 to 256"), "{wrong}");
        }
    }

    #[test]
    fn guessing_is_limited() {
        let (token, attempts) = (Token::new(TEXT).unwrap(), Attempts::default());
        let guesser = IpAddr::from([10, 0, 0, 1]);
        for _ in 0..WRONG_MAX {
            assert_eq!(attempts.check(guesser, &token, "wrong"), Err(Refused::NoToken));
        }
        let last = attempts.check(guesser, &token, TEXT);
        assert_eq!(last, Err(Refused::Later), "the right token is rejected, too");
        assert_eq!(
            attempts.check(IpAddr::from([10, 0, 0, 2]), &token, TEXT),
            Ok(()),
            "other addresses are not blocked"
        );
    }

    #[test]
    fn addresses_are_counted_up_to_a_limit() {
        let (token, attempts) = (Token::new(TEXT).unwrap(), Attempts::default());
        for at in 1..u32::try_from(2 * ADDRESSES_MAX).unwrap() {
            _ = attempts.check(Ipv4Addr::from(at).into(), &token, "wrong");
        }
        assert!(locked(&attempts.0).len() <= ADDRESSES_MAX + 1);
        let known = Ipv4Addr::from(1).into();
        assert_eq!(attempts.check(known, &token, TEXT), Ok(()), "one wrong token does not block an address");
        let stranger = IpAddr::from([200, 0, 0, 1]);
        assert_eq!(attempts.check(stranger, &token, TEXT), Err(Refused::Later));
    }
}

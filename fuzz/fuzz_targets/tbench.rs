#![no_main]

//! However a stream of requests is cut, and whatever of it is thrown away unseen, the
//! same exchanges come out, within the bounds, and the same error.

use filestone_wire::tbench::{LengthError, MESSAGE_MAX, Requests, TbenchExchange};
use libfuzzer_sys::fuzz_target;

/// The exchanges of a stream, whether it broke, and whether it ended between two of them.
type Found = (Vec<TbenchExchange>, Option<LengthError>, bool);

/// As the server does: pieces are looked at, and padding that is missing after them is
/// thrown away if it is at least `discard_from` bytes.
fn exchanges(mut stream: &[u8], step: usize, discard_from: usize) -> Found {
    let mut requests = Requests::new();
    let mut found = Vec::new();
    while !stream.is_empty() {
        let (mut piece, rest) = stream.split_at(step.min(stream.len()));
        stream = rest;
        loop {
            match requests.next(&mut piece) {
                Ok(Some(exchange)) => found.push(exchange),
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(requests.next(&mut &[0; 8][..]), Err(error));
                    return (found, Some(error), false);
                }
            }
        }
        assert!(piece.is_empty());
        let missing = requests.missing() as usize;
        if missing >= discard_from {
            let len = missing.min(stream.len());
            stream = &stream[len..];
            found.extend(requests.discard(len as u32));
        }
    }
    (found, None, requests.is_at_boundary())
}

fuzz_target!(|input: &[u8]| {
    let [step, discard_from, stream @ ..] = input else {
        return;
    };
    let whole = exchanges(stream, stream.len().max(1), usize::MAX);
    for exchange in &whole.0 {
        assert!((8..=MESSAGE_MAX).contains(&exchange.request_len()));
        assert!((4..=MESSAGE_MAX).contains(&exchange.reply_len()));
        assert_eq!(
            TbenchExchange::from_bytes(exchange.to_bytes()),
            Ok(*exchange)
        );
    }
    let discard_from = usize::from(*discard_from).max(1);
    assert_eq!(
        exchanges(stream, usize::from(*step).max(1), discard_from),
        whole
    );
});

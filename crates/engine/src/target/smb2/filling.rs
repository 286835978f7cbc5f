//! Files that a run writes before it begins.

use super::connection::{Connection, Unmet};
use filestone_model::client::smb2::Opening;
use filestone_model::output::Stretch;

impl Connection {
    /// Makes a file, and writes the pattern from its beginning to its end, so that it has its length
    /// only if it has its data. At most `transfer` bytes go out at a time, and no more than the server
    /// grants credits for. `tell` learns how far it is.
    pub fn fill(
        &mut self,
        opening: &Opening<'_>,
        len: u64,
        transfer: u32,
        mut tell: impl FnMut(u64),
    ) -> Result<(), Unmet> {
        let open = self.call(async |link| link.open(opening).await)?.file_id;
        let mut at = 0;
        while at < len {
            let left = u32::try_from(len - at).unwrap_or(u32::MAX);
            let len = left.min(transfer).min(self.session().affordable());
            let data = Stretch { at, len };
            let taken = self.call(async |link| link.write(open, at, data, false).await);
            match taken {
                Ok(taken) => at += u64::from(taken),
                Err(Unmet::Answered(status)) => {
                    // Why it could not be written is worth more than how it was closed.
                    match self.call(async |link| link.close(open).await) {
                        Ok(()) | Err(Unmet::Answered(_)) => {}
                        Err(lost) => return Err(lost),
                    }
                    return Err(Unmet::Answered(status));
                }
                Err(lost) => return Err(lost),
            }
            tell(at);
        }
        self.call(async |link| {
            let flushed = match len {
                0 => Ok(()),
                _ => link.flush(open).await,
            };
            let closed = link.close(open).await;
            flushed.and(closed)
        })
    }
}

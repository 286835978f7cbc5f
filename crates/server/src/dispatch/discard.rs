//! `--discard`: WRITE without storing the data.
//!
//! A WRITE is processed from the header of its record; the data need not be received into memory.
//! Its effects are unchanged, except that no data are stored.

use filestone_wire::nfs3::write::{Args, StableHow};
use filestone_wire::nfs3::{FileHandle, Procedure};
use filestone_wire::rpc::CallHeader;
use filestone_wire::xdr::{Decode, DecodeError, Reader, Writer};

use super::Service;
use crate::tree::Identity;

impl Service {
    /// WRITE in a tree that discards data: checks everything except the data.
    pub(super) fn write_discarding(
        &self,
        mut reader: Reader<'_>,
        by: Identity<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), DecodeError> {
        let (arguments, data_len) = decode_head(&mut reader)?;
        // The tree uses only the count, so an empty slice stands for the data.
        let data: Option<&[u8]> = (arguments.count == data_len).then_some(&[]);
        self.write_data(&arguments, data, by, out);
        Ok(())
    }

    /// Returns the number of bytes of a record that suffice to serve it, if already determined: the
    /// header of a WRITE whose data are discarded.
    pub fn sufficient_len(&self, call: &[u8]) -> Option<usize> {
        if !self.conduct.discard || Self::procedure_of(call) != Some(Procedure::Write) {
            return None;
        }
        let mut reader = Reader::new(call);
        CallHeader::decode(&mut reader).ok()?;
        decode_head(&mut reader).ok()?;
        Some(reader.position())
    }
}

/// Decodes `WRITE3args` up to the length of the data.
fn decode_head<'c>(reader: &mut Reader<'c>) -> Result<(Args<'c>, u32), DecodeError> {
    let arguments = Args {
        file: FileHandle::decode(reader)?,
        offset: reader.u64()?,
        count: reader.u32()?,
        stable: StableHow::decode(reader)?,
        data: &[],
    };
    Ok((arguments, reader.u32()?))
}

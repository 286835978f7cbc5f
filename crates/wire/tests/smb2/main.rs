//! SMB2: frames of real clients and servers; each of them, and each structure in a buffer, cut at
//! every byte and with every word replaced.

mod again;
mod hostile;
mod information;
mod real_peers;
mod tokens;
mod tshark;

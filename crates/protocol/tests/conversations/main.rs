//! An NFSv3 client talked to in virtual time: every byte that it sends, and
//! every way in which a server may answer, or not.

#[allow(dead_code)]
#[path = "../../../wire/tests/messages/again.rs"]
mod again;
#[allow(dead_code)]
#[path = "../../../wire/tests/messages/list/mod.rs"]
mod list;

mod calls;
mod connections;
mod discarding;
mod replies;
mod streams;
mod talk;
mod timeouts;

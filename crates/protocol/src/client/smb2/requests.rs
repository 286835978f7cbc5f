//! The requests of SMB2 as functions: arguments in, the results that a client needs out.
//!
//! A request on a path and not on an open file is a compound: CREATE, the request, CLOSE.

mod create_params;

pub use create_params::{
    ALL_OF_FILE, ATTRIBUTES, CreateParams, CreateResult, DELETING, LISTING, READING, WRITING,
};

use super::link::{
    CompoundBuilder, CompoundResponses, DecodeResult, SmbCallHandle, SmbReplyError, is, one,
};
use crate::client::call_slot::{ActionError, ActionResult, Results};
use crate::session::smb2::Scope;
use filestone_wire::smb2::codec::{Array, Decode, Encode, Reader, Text, Writer};
use filestone_wire::smb2::compound::Messages;
use filestone_wire::smb2::create::{self, CreateOptions};
use filestone_wire::smb2::info::{
    DirectoryClass, Entries, FileDispositionInformation, FileEndOfFileInformation, FileInfoClass,
    FileRenameInformation, FsInfoClass, InfoClass,
};
use filestone_wire::smb2::ioctl::{self, ControlCode, NetworkInterface};
use filestone_wire::smb2::query_directory::{self, QueryDirectoryFlags};
use filestone_wire::smb2::{
    Channel, Command, FileAttributes, FileId, Status, change_notify, close, echo, flush, lock,
    logoff, query_info, read, set_info, tree_connect, tree_disconnect, write,
};
use filestone_workload::output::DataRange;

/// Maximum bytes of a list of a server's interfaces: the payload of one credit.
const INTERFACES_LEN: u32 = 64 << 10;

fn closing(chaining: CompoundBuilder<'_>, file_id: FileId) -> CompoundBuilder<'_> {
    let flags = close::CloseFlags::NONE;
    chaining.request(Command::Close, 0, &close::Request { flags, file_id })
}

/// Length of the header of a READ response, and of its body before the data.
pub(super) const READ_HEAD: usize = filestone_wire::smb2::HEADER_LEN + 16;

fn read_request(file_id: FileId, offset: u64, length: u32) -> read::Request<'static> {
    read::Request {
        padding: read::Request::PADDING,
        flags: read::ReadFlags::NONE,
        length,
        offset,
        file_id,
        minimum_count: 0,
        channel: Channel::NONE,
        remaining_bytes: 0,
        channel_info: &[],
    }
}

/// Returns the number of bytes that a READ has returned, from the beginning of its response.
fn read_count(results: Results<'_>, asked: u32) -> DecodeResult<u32> {
    let mut reader = Reader::new(results.bytes);
    let header =
        <filestone_wire::smb2::Header as filestone_wire::smb2::codec::Decode>::decode(&mut reader)?;
    if header.status.is_error() {
        return match header.status {
            // There are no data from this offset on.
            Status::END_OF_FILE => Ok(Ok(0)),
            status => Ok(Err(status.into())),
        };
    }
    reader.structure(17)?;
    let at = usize::from(reader.u8()?);
    reader.skip(1)?;
    let len = reader.u32()?;
    if at < READ_HEAD || at + len as usize > results.len {
        return Err(SmbReplyError::Violation(
            "READ brought data that are not there".into(),
        ));
    }
    if len > asked {
        return Err(SmbReplyError::Violation(
            "READ brought more data than were asked for".into(),
        ));
    }
    Ok(Ok(len))
}

/// Returns the data of a READ response; empty for any other response.
pub(super) fn data_read(results: Results<'_>) -> &[u8] {
    let message = CompoundResponses::of(results).message();
    let Some(message) = message.ok().flatten() else {
        return &[];
    };
    if message.header.command != Command::Read || message.header.status.is_error() {
        return &[];
    }
    match message.reply::<read::Response<'_>>() {
        Ok(Ok(response)) => response.data,
        Ok(Err(_)) | Err(_) => &[],
    }
}

/// A directory entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The name.
    pub name: String,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Length of the file in bytes.
    pub len: u64,
}

/// A page of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Number of entries.
    pub entries: u64,
    /// Whether it is the last page.
    pub is_last: bool,
}

impl SmbCallHandle {
    /// Sends ECHO.
    pub fn echo(&self) -> impl Future<Output = ActionResult<()>> {
        self.send(
            move |chaining| {
                let chaining = chaining.of(Scope::Session);
                chaining
                    .request(Command::Echo, 0, &echo::Request {})
                    .chain()
            },
            |results| one(results, Command::Echo, |echo::Response {}| ()),
        )
    }

    /// Sends FSCTL_QUERY_NETWORK_INTERFACE_INFO; returns the network interfaces of the server.
    pub fn interfaces(&self) -> impl Future<Output = ActionResult<Vec<NetworkInterface>>> {
        let request = ioctl::Request {
            control_code: ControlCode::QUERY_NETWORK_INTERFACE_INFO,
            file_id: FileId::OF_PREVIOUS,
            max_input_response: 0,
            max_output_response: INTERFACES_LEN,
            flags: ioctl::Request::IS_FSCTL,
            input: &[],
        };
        self.send(
            |chaining| {
                let payload = INTERFACES_LEN;
                chaining.request(Command::Ioctl, payload, &request).chain()
            },
            |results| {
                let listed = one(results, Command::Ioctl, |response: ioctl::Response<'_>| {
                    ioctl::interfaces(response.output).collect::<Result<Vec<_>, _>>()
                })?;
                Ok(match listed {
                    Ok(interfaces) => Ok(interfaces?),
                    Err(failure) => Err(failure),
                })
            },
        )
    }

    /// Sends CREATE.
    pub fn open(
        &self,
        opening: &CreateParams<'_>,
    ) -> impl Future<Output = ActionResult<CreateResult>> {
        self.send(
            |chaining| opening.add(chaining).chain(),
            |results| {
                one(
                    results,
                    Command::Create,
                    |response: create::Response<'_>| CreateResult::of(&response),
                )
            },
        )
    }

    /// Sends CREATE and CLOSE.
    pub fn touch(
        &self,
        opening: &CreateParams<'_>,
    ) -> impl Future<Output = ActionResult<CreateResult>> {
        self.on_open(
            opening,
            |chaining| chaining,
            |_| Ok(Some(())),
            |opened, ()| opened,
        )
    }

    /// Sends CREATE, the requests that `middle` adds, and CLOSE; `take` decodes the responses in
    /// the middle, and `keep` computes the result.
    fn on_open<M, T>(
        &self,
        opening: &CreateParams<'_>,
        middle: impl FnOnce(CompoundBuilder<'_>) -> CompoundBuilder<'_>,
        take: impl FnOnce(&mut CompoundResponses<'_>) -> Result<Option<M>, SmbReplyError>,
        keep: impl FnOnce(CreateResult, M) -> T,
    ) -> impl Future<Output = ActionResult<T>> {
        let build = |chaining: CompoundBuilder<'_>| {
            closing(middle(opening.add(chaining)), FileId::OF_PREVIOUS).chain()
        };
        self.send(build, |results| {
            let mut responses = CompoundResponses::of(results);
            let opened = responses.take::<create::Response<'_>>(Command::Create)?;
            let opened = opened.map(|response| CreateResult::of(&response));
            let taken = take(&mut responses)?;
            responses.take_closed()?;
            let value = opened.zip(taken);
            responses.finish(value.map(|(opened, taken)| keep(opened, taken)))
        })
    }

    /// Sends CLOSE.
    pub fn close(&self, file_id: FileId) -> impl Future<Output = ActionResult<()>> {
        self.send(
            |chaining| closing(chaining, file_id).chain(),
            |results| {
                let mut responses = CompoundResponses::of(results);
                let closed = responses.take_closed()?;
                responses.finish(closed)
            },
        )
    }

    /// Sends READ; returns the number of bytes, zero at the end of the file. The content is
    /// ignored.
    pub fn read(
        &self,
        file_id: FileId,
        offset: u64,
        len: u32,
    ) -> impl Future<Output = ActionResult<u32>> {
        let build = |chaining: CompoundBuilder<'_>| {
            let request = read_request(file_id, offset, len);
            chaining.request(Command::Read, len, &request).chain()
        };
        self.send_with(build, DataRange::default(), READ_HEAD, move |results| {
            read_count(results, len)
        })
    }

    /// Sends READ; returns the value of `look` on the data.
    pub fn read_data<T>(
        &self,
        file_id: FileId,
        offset: u64,
        len: u32,
        look: impl FnOnce(&[u8]) -> T,
    ) -> impl Future<Output = ActionResult<T>> {
        let build = |chaining: CompoundBuilder<'_>| {
            let request = read_request(file_id, offset, len);
            chaining.request(Command::Read, len, &request).chain()
        };
        self.send(build, move |results| {
            let message = CompoundResponses::of(results).message()?;
            if message.is_some_and(|message| message.header.status == Status::END_OF_FILE) {
                return Ok(Ok(look(&[])));
            }
            one(results, Command::Read, |response: read::Response<'_>| {
                look(response.data)
            })
        })
    }

    /// Sends CREATE, READ and CLOSE; returns the value of `look` on the data, which are empty at
    /// the end of the file.
    pub fn read_at_path<T>(
        &self,
        opening: &CreateParams<'_>,
        offset: u64,
        len: u32,
        look: impl FnOnce(&[u8]) -> T,
    ) -> impl Future<Output = ActionResult<T>> {
        self.on_open(
            opening,
            move |chaining| {
                let request = read_request(FileId::OF_PREVIOUS, offset, len);
                chaining.request(Command::Read, len, &request)
            },
            |responses| {
                let data = responses.take::<read::Response<'_>>(Command::Read)?;
                Ok(data.map(|response| look(response.data)))
            },
            |_, seen| seen,
        )
    }

    /// Sends CREATE, FLUSH and CLOSE.
    pub async fn flush_at_path(&self, opening: &CreateParams<'_>) -> ActionResult<()> {
        let flushed = self.on_open(
            opening,
            |chaining| {
                let file_id = FileId::OF_PREVIOUS;
                chaining.request(Command::Flush, 0, &flush::Request { file_id })
            },
            |responses| {
                let taken = responses.take::<flush::Response>(Command::Flush)?;
                Ok(taken.map(|_| ()))
            },
            |_, ()| (),
        );
        flushed.await
    }

    /// Sends WRITE of a range of the action's data; returns the number of bytes accepted.
    pub fn write(
        &self,
        file_id: FileId,
        offset: u64,
        data: DataRange,
        is_through: bool,
    ) -> impl Future<Output = ActionResult<u32>> {
        let head = write::Request {
            offset,
            file_id,
            channel: Channel::NONE,
            remaining_bytes: 0,
            flags: if is_through {
                write::WriteFlags::WRITE_THROUGH
            } else {
                write::WriteFlags::NONE
            },
            channel_info: &[],
            data: &[],
        };
        let build = |chaining: CompoundBuilder<'_>| {
            chaining
                .with(Command::Write, data.len, |out| {
                    head.encode_head(data.len as usize, out);
                })
                .chain()
        };
        self.send_with(build, data, usize::MAX, move |results| {
            let count = one(results, Command::Write, |response: write::Response| {
                response.count
            })?;
            match count {
                Ok(count) if count > data.len || (count == 0 && data.len > 0) => Err(
                    SmbReplyError::Violation("WRITE took another number of bytes".into()),
                ),
                count => Ok(count),
            }
        })
    }

    /// Sends FLUSH.
    pub fn flush(&self, file_id: FileId) -> impl Future<Output = ActionResult<()>> {
        self.send(
            move |chaining| {
                chaining
                    .request(Command::Flush, 0, &flush::Request { file_id })
                    .chain()
            },
            |results| one(results, Command::Flush, |_: flush::Response| ()),
        )
    }

    /// Sends QUERY_INFO on an open file.
    pub fn query(
        &self,
        file_id: FileId,
        class: InfoClass,
    ) -> impl Future<Output = ActionResult<()>> {
        self.send(
            |chaining| querying(chaining, file_id, class).chain(),
            |results| {
                one(
                    results,
                    Command::QueryInfo,
                    |_: query_info::Response<'_>| (),
                )
            },
        )
    }

    /// Sends CREATE, QUERY_INFO and CLOSE.
    pub fn query_path(
        &self,
        opening: &CreateParams<'_>,
        class: InfoClass,
    ) -> impl Future<Output = ActionResult<CreateResult>> {
        self.on_open(
            opening,
            move |chaining| querying(chaining, FileId::OF_PREVIOUS, class),
            |responses| {
                let taken = responses.take::<query_info::Response<'_>>(Command::QueryInfo)?;
                Ok(taken.map(|_| ()))
            },
            |opened, ()| opened,
        )
    }

    /// Sends QUERY_INFO for the file system on the share's root, with CREATE and CLOSE.
    pub async fn query_file_system(&self, class: FsInfoClass) -> ActionResult<()> {
        let root = CreateParams::existing("", ATTRIBUTES).with(CreateOptions::DIRECTORY_FILE);
        let queried = self.query_path(&root, InfoClass::FileSystem(class));
        queried.await.map(drop)
    }

    /// Sends SET_INFO on an open file.
    pub fn set(
        &self,
        file_id: FileId,
        class: FileInfoClass,
        information: &impl Encode,
    ) -> impl Future<Output = ActionResult<()>> {
        self.send(
            |chaining| setting(chaining, file_id, class, information).chain(),
            |results| one(results, Command::SetInfo, |_: set_info::Response| ()),
        )
    }

    /// Sends CREATE, SET_INFO and CLOSE.
    pub fn set_at_path(
        &self,
        opening: &CreateParams<'_>,
        class: FileInfoClass,
        information: &impl Encode,
    ) -> impl Future<Output = ActionResult<()>> {
        self.on_open(
            opening,
            move |chaining| setting(chaining, FileId::OF_PREVIOUS, class, information),
            |responses| {
                let taken = responses.take::<set_info::Response>(Command::SetInfo)?;
                Ok(taken.map(|_| ()))
            },
            |_, ()| (),
        )
    }

    /// Sends CREATE, SET_INFO with another name, and CLOSE.
    pub async fn rename(&self, from: &str, to: &str, replaces: bool) -> ActionResult<()> {
        self.name(from, to, FileInfoClass::RENAME, replaces).await
    }

    /// Sends CREATE, SET_INFO with an additional name, and CLOSE.
    pub async fn link(&self, from: &str, to: &str, replaces: bool) -> ActionResult<()> {
        self.name(from, to, FileInfoClass::LINK, replaces).await
    }

    async fn name(
        &self,
        from: &str,
        to: &str,
        class: FileInfoClass,
        replaces: bool,
    ) -> ActionResult<()> {
        let information = FileRenameInformation {
            replace_if_exists: replaces,
            name: Text::from(to),
        };
        let opening = CreateParams::existing(from, DELETING);
        self.set_at_path(&opening, class, &information).await
    }

    /// Sends CREATE, SET_INFO with a disposition, and CLOSE: removes the object at a path.
    pub async fn remove(&self, path: &str, options: CreateOptions) -> ActionResult<()> {
        let information = FileDispositionInformation {
            delete_pending: true,
        };
        let opening = CreateParams::existing(path, DELETING).with(options);
        self.set_at_path(&opening, FileInfoClass::DISPOSITION, &information)
            .await
    }

    /// Sends SET_INFO with another length.
    pub async fn set_len(&self, file_id: FileId, end_of_file: u64) -> ActionResult<()> {
        let information = FileEndOfFileInformation { end_of_file };
        self.set(file_id, FileInfoClass::END_OF_FILE, &information)
            .await
    }

    /// Sends CREATE of a directory, QUERY_DIRECTORY with a pattern, and CLOSE; returns the number
    /// of matching entries in a page of `page_len` bytes.
    pub async fn find(&self, directory: &str, pattern: &str, page_len: u32) -> ActionResult<u64> {
        let opening =
            CreateParams::existing(directory, LISTING).with(CreateOptions::DIRECTORY_FILE);
        self.on_open(
            &opening,
            |chaining| listing(chaining, FileId::OF_PREVIOUS, pattern, true, page_len),
            |responses| {
                let page =
                    responses.take::<query_directory::Response<'_>>(Command::QueryDirectory)?;
                let count =
                    |data| entries(data).try_fold(0, |count, entry| entry.map(|_| count + 1));
                page.map(|page| count(page.data)).transpose()
            },
            |_, count| count,
        )
        .await
    }

    /// Sends QUERY_DIRECTORY for the next page of a listing, and calls `look` for each entry.
    pub fn list(
        &self,
        file_id: FileId,
        is_first: bool,
        page_len: u32,
        mut look: impl FnMut(DirEntry),
    ) -> impl Future<Output = ActionResult<Page>> {
        self.send(
            |chaining| listing(chaining, file_id, "*", is_first, page_len).chain(),
            move |results| {
                let page = one(
                    results,
                    Command::QueryDirectory,
                    |page: query_directory::Response<'_>| {
                        let mut count = 0;
                        for entry in entries(page.data) {
                            look(entry?);
                            count += 1;
                        }
                        Ok::<u64, SmbReplyError>(count)
                    },
                )?;
                let entries = match page {
                    Ok(count) => count?,
                    Err(failure) if is(failure, Status::NO_MORE_FILES) => 0,
                    Err(failure) => return Ok(Err(failure)),
                };
                Ok(Ok(Page {
                    entries,
                    is_last: entries == 0,
                }))
            },
        )
    }

    /// Sends LOCK for one range, to lock or unlock it.
    pub fn lock(
        &self,
        file_id: FileId,
        range: lock::LockElement,
    ) -> impl Future<Output = ActionResult<()>> {
        let locks = [range];
        self.send(
            move |chaining| {
                let request = lock::Request {
                    lock_sequence: 0,
                    file_id,
                    locks: Array::from(&locks[..]),
                };
                chaining.request(Command::Lock, 0, &request).chain()
            },
            |results| one(results, Command::Lock, |_: lock::Response| ()),
        )
    }

    /// Sends CHANGE_NOTIFY, and CANCEL: from then on the server records changes for later requests.
    pub async fn watch(&self, directory: FileId) -> ActionResult<()> {
        let asked = self.send(
            move |chaining| notifying(chaining, directory).cancelled().chain(),
            |results| {
                one(
                    results,
                    Command::ChangeNotify,
                    |_: change_notify::Response<'_>| (),
                )
            },
        );
        match asked.await {
            Err(failure) if is(failure, Status::CANCELLED) => Ok(()),
            answer => answer,
        }
    }

    /// Sends CHANGE_NOTIFY, and the CREATE of a file that it should report.
    pub fn notify_of_open(
        &self,
        directory: FileId,
        opening: &CreateParams<'_>,
    ) -> impl Future<Output = ActionResult<FileId>> {
        self.send(
            move |chaining| opening.add(notifying(chaining, directory)).chain(),
            |results| {
                reported(
                    results,
                    Command::Create,
                    |response: create::Response<'_>| CreateResult::of(&response).file_id,
                )
            },
        )
    }

    /// Sends CHANGE_NOTIFY, and the CLOSE that it should report.
    pub fn notify_of_close(
        &self,
        directory: FileId,
        file_id: FileId,
    ) -> impl Future<Output = ActionResult<()>> {
        self.send(
            move |chaining| closing(notifying(chaining, directory), file_id).chain(),
            |results| reported(results, Command::Close, |_: close::Response| ()),
        )
    }

    /// Sends TREE_CONNECT; returns the properties of the share, and the TreeId.
    pub fn tree_connect(
        &self,
        path: &str,
        scope: Scope,
    ) -> impl Future<Output = ActionResult<Tree>> {
        self.send(
            move |chaining| {
                let request = tree_connect::Request {
                    flags: tree_connect::ConnectFlags::NONE,
                    path: Text::from(path),
                };
                let chaining = chaining.of(scope);
                chaining.request(Command::TreeConnect, 0, &request).chain()
            },
            |results| {
                let header = CompoundResponses::of(results)
                    .message()?
                    .map(|message| message.header);
                let tree_id = header
                    .and_then(|header| header.tree_id())
                    .unwrap_or_default();
                one(
                    results,
                    Command::TreeConnect,
                    |share: tree_connect::Response| Tree { tree_id, share },
                )
            },
        )
    }

    /// Sends TREE_DISCONNECT.
    pub fn tree_disconnect(&self, scope: Scope) -> impl Future<Output = ActionResult<()>> {
        self.send(
            move |chaining| {
                let request = tree_disconnect::Request {};
                let chaining = chaining.of(scope);
                chaining
                    .request(Command::TreeDisconnect, 0, &request)
                    .chain()
            },
            |results| {
                one(
                    results,
                    Command::TreeDisconnect,
                    |_: tree_disconnect::Response| (),
                )
            },
        )
    }

    /// Sends LOGOFF.
    pub fn log_off(&self, scope: Scope) -> impl Future<Output = ActionResult<()>> {
        self.send(
            move |chaining| {
                let chaining = chaining.of(scope);
                chaining
                    .request(Command::Logoff, 0, &logoff::Request {})
                    .chain()
            },
            |results| one(results, Command::Logoff, |_: logoff::Response| ()),
        )
    }
}

/// Result of TREE_CONNECT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tree {
    /// TreeId.
    pub tree_id: u32,
    /// Properties of the share.
    pub share: tree_connect::Response,
}

/// Maximum length of information of a class: names may be long.
const INFORMATION_MAX: u32 = 4096;

fn querying(
    chaining: CompoundBuilder<'_>,
    file_id: FileId,
    class: InfoClass,
) -> CompoundBuilder<'_> {
    let request = query_info::Request {
        class,
        output_buffer_length: INFORMATION_MAX,
        additional_information: 0,
        flags: 0,
        file_id,
        input: &[],
    };
    chaining.request(Command::QueryInfo, INFORMATION_MAX, &request)
}

/// Adds CHANGE_NOTIFY for names, which completes on a change made by a later request.
fn notifying(chaining: CompoundBuilder<'_>, directory: FileId) -> CompoundBuilder<'_> {
    let names = change_notify::CompletionFilter::FILE_NAME;
    let request = change_notify::Request {
        flags: change_notify::NotifyFlags::NONE,
        output_buffer_length: INFORMATION_MAX,
        file_id: directory,
        completion_filter: names.with(change_notify::CompletionFilter::DIR_NAME),
    };
    let chaining = chaining.apart();
    chaining.request(Command::ChangeNotify, INFORMATION_MAX, &request)
}

/// Returns the value of `keep` on the response to a reported change. The response may come before
/// the report or after it.
fn reported<'r, T: Decode<'r>, U>(
    results: Results<'r>,
    change: Command,
    keep: impl FnOnce(T) -> U,
) -> DecodeResult<U> {
    let (mut kept, mut failed) = (None, None);
    let (mut keep, mut is_reported) = (Some(keep), false);
    for message in Messages::of(results.bytes) {
        let message = message?;
        let command = message.header.command;
        if command == Command::ChangeNotify {
            let report = message.reply::<change_notify::Response<'_>>()?;
            is_reported |= report.is_ok();
        } else if command == change {
            let reply = message.reply::<T>()?.ok();
            kept = reply.zip(keep.take()).map(|(reply, keep)| keep(reply));
        }
        if message.header.status.is_error() {
            failed.get_or_insert(message.header.status);
        }
    }
    match (failed, kept) {
        (Some(status), _) => Ok(Err(status.into())),
        (None, Some(kept)) if is_reported => Ok(Ok(kept)),
        (None, _) => Err(SmbReplyError::Violation(format!(
            "CHANGE_NOTIFY and {change} were answered as something else"
        ))),
    }
}

fn setting<'b>(
    chaining: CompoundBuilder<'b>,
    file_id: FileId,
    class: FileInfoClass,
    information: &impl Encode,
) -> CompoundBuilder<'b> {
    let request = set_info::Request {
        class: InfoClass::File(class),
        additional_information: 0,
        file_id,
        buffer: &[],
    };
    chaining.with(Command::SetInfo, 0, |out: &mut Writer<'_>| {
        request.encode_with(information, out);
    })
}

fn listing<'b>(
    chaining: CompoundBuilder<'b>,
    file_id: FileId,
    pattern: &str,
    is_first: bool,
    page_len: u32,
) -> CompoundBuilder<'b> {
    let request = query_directory::Request {
        class: FileInfoClass::ID_BOTH_DIRECTORY,
        flags: if is_first {
            QueryDirectoryFlags::RESTART_SCANS
        } else {
            QueryDirectoryFlags::NONE
        },
        file_index: 0,
        file_id,
        output_buffer_length: page_len,
        pattern: Text::from(pattern),
    };
    chaining.request(Command::QueryDirectory, page_len, &request)
}

fn entries(data: &[u8]) -> impl Iterator<Item = Result<DirEntry, SmbReplyError>> {
    Entries::of(DirectoryClass::IdBothDirectory, data).map(|entry| {
        let entry = entry?;
        Ok(DirEntry {
            name: entry.name.to_string(),
            is_directory: entry.file_attributes.contains(FileAttributes::DIRECTORY),
            len: entry.end_of_file,
        })
    })
}

/// Returns whether a path, or a directory in it, does not exist.
pub fn is_not_there(failure: ActionError) -> bool {
    [
        Status::OBJECT_NAME_NOT_FOUND,
        Status::OBJECT_PATH_NOT_FOUND,
        Status::NO_SUCH_FILE,
    ]
    .into_iter()
    .any(|status| is(failure, status))
}

//! NTSTATUS: result of a request (MS-ERREF, section 2.3.1).

values! {
    /// NTSTATUS, with the names that MS-SMB2 (section 3.3.5) and MS-FSCC define for servers, and
    /// those of Windows and Samba that occur in benchmarks or load files.
    #[derive(Default)]
    pub struct Status(u32) {
        /// The operation completed.
        SUCCESS = 0x0000_0000, "STATUS_SUCCESS";
        /// The final result follows in another response.
        PENDING = 0x0000_0103, "STATUS_PENDING";
        /// A break of an oplock is in progress.
        OPLOCK_BREAK_IN_PROGRESS = 0x0000_0108, "STATUS_OPLOCK_BREAK_IN_PROGRESS";
        /// The directory is no longer watched.
        NOTIFY_CLEANUP = 0x0000_010b, "STATUS_NOTIFY_CLEANUP";
        /// More changes than the buffer can hold: the client has to list the directory again.
        NOTIFY_ENUM_DIR = 0x0000_010c, "STATUS_NOTIFY_ENUM_DIR";
        /// The response is longer than the buffer.
        BUFFER_OVERFLOW = 0x8000_0005, "STATUS_BUFFER_OVERFLOW";
        /// The directory has no more entries.
        NO_MORE_FILES = 0x8000_0006, "STATUS_NO_MORE_FILES";
        /// The device is in use.
        DEVICE_BUSY = 0x8000_0011, "STATUS_DEVICE_BUSY";
        /// No more extended attributes.
        NO_MORE_EAS = 0x8000_0012, "STATUS_NO_MORE_EAS";
        /// No more entries.
        NO_MORE_ENTRIES = 0x8000_001a, "STATUS_NO_MORE_ENTRIES";
        /// The medium may have been changed.
        MEDIA_CHECK = 0x8000_0020, "STATUS_MEDIA_CHECK";
        /// The path contains a symbolic link.
        STOPPED_ON_SYMLINK = 0x8000_002d, "STATUS_STOPPED_ON_SYMLINK";
        /// The operation failed without a more specific status.
        UNSUCCESSFUL = 0xc000_0001, "STATUS_UNSUCCESSFUL";
        /// The server does not implement the operation.
        NOT_IMPLEMENTED = 0xc000_0002, "STATUS_NOT_IMPLEMENTED";
        /// Unknown information class.
        INVALID_INFO_CLASS = 0xc000_0003, "STATUS_INVALID_INFO_CLASS";
        /// A buffer is shorter than its required contents.
        INFO_LENGTH_MISMATCH = 0xc000_0004, "STATUS_INFO_LENGTH_MISMATCH";
        /// Access to invalid memory.
        ACCESS_VIOLATION = 0xc000_0005, "STATUS_ACCESS_VIOLATION";
        /// The handle is invalid.
        INVALID_HANDLE = 0xc000_0008, "STATUS_INVALID_HANDLE";
        /// A field of the request is invalid.
        INVALID_PARAMETER = 0xc000_000d, "STATUS_INVALID_PARAMETER";
        /// Unknown device.
        NO_SUCH_DEVICE = 0xc000_000e, "STATUS_NO_SUCH_DEVICE";
        /// No entry matches the pattern.
        NO_SUCH_FILE = 0xc000_000f, "STATUS_NO_SUCH_FILE";
        /// The object does not support the operation.
        INVALID_DEVICE_REQUEST = 0xc000_0010, "STATUS_INVALID_DEVICE_REQUEST";
        /// The file ends before the offset.
        END_OF_FILE = 0xc000_0011, "STATUS_END_OF_FILE";
        /// Another medium is in the drive.
        WRONG_VOLUME = 0xc000_0012, "STATUS_WRONG_VOLUME";
        /// The drive is empty.
        NO_MEDIA_IN_DEVICE = 0xc000_0013, "STATUS_NO_MEDIA_IN_DEVICE";
        /// The authentication continues with another message.
        MORE_PROCESSING_REQUIRED = 0xc000_0016, "STATUS_MORE_PROCESSING_REQUIRED";
        /// The server lacks memory.
        NO_MEMORY = 0xc000_0017, "STATUS_NO_MEMORY";
        /// A part of a server-side copy is beyond the end of its source.
        INVALID_VIEW_SIZE = 0xc000_001f, "STATUS_INVALID_VIEW_SIZE";
        /// The memory is already committed.
        ALREADY_COMMITTED = 0xc000_0021, "STATUS_ALREADY_COMMITTED";
        /// Access denied.
        ACCESS_DENIED = 0xc000_0022, "STATUS_ACCESS_DENIED";
        /// The response does not fit into the buffer.
        BUFFER_TOO_SMALL = 0xc000_0023, "STATUS_BUFFER_TOO_SMALL";
        /// The object is of another type.
        OBJECT_TYPE_MISMATCH = 0xc000_0024, "STATUS_OBJECT_TYPE_MISMATCH";
        /// The range is not locked.
        NOT_LOCKED = 0xc000_002a, "STATUS_NOT_LOCKED";
        /// Fields of the request contradict each other.
        INVALID_PARAMETER_MIX = 0xc000_0030, "STATUS_INVALID_PARAMETER_MIX";
        /// A name contains invalid characters.
        OBJECT_NAME_INVALID = 0xc000_0033, "STATUS_OBJECT_NAME_INVALID";
        /// The name does not exist.
        OBJECT_NAME_NOT_FOUND = 0xc000_0034, "STATUS_OBJECT_NAME_NOT_FOUND";
        /// The name already exists.
        OBJECT_NAME_COLLISION = 0xc000_0035, "STATUS_OBJECT_NAME_COLLISION";
        /// The port is not connected.
        PORT_DISCONNECTED = 0xc000_0037, "STATUS_PORT_DISCONNECTED";
        /// The form of a path is invalid.
        OBJECT_PATH_INVALID = 0xc000_0039, "STATUS_OBJECT_PATH_INVALID";
        /// A directory of the path does not exist.
        OBJECT_PATH_NOT_FOUND = 0xc000_003a, "STATUS_OBJECT_PATH_NOT_FOUND";
        /// The form of a path is invalid.
        OBJECT_PATH_SYNTAX_BAD = 0xc000_003b, "STATUS_OBJECT_PATH_SYNTAX_BAD";
        /// More data than the buffer can hold.
        DATA_OVERRUN = 0xc000_003c, "STATUS_DATA_OVERRUN";
        /// Data are lost.
        DATA_ERROR = 0xc000_003e, "STATUS_DATA_ERROR";
        /// A checksum is wrong.
        CRC_ERROR = 0xc000_003f, "STATUS_CRC_ERROR";
        /// Sharing violation with another open.
        SHARING_VIOLATION = 0xc000_0043, "STATUS_SHARING_VIOLATION";
        /// The user's quota is exceeded.
        QUOTA_EXCEEDED = 0xc000_0044, "STATUS_QUOTA_EXCEEDED";
        /// The file system has no extended attributes.
        EAS_NOT_SUPPORTED = 0xc000_004f, "STATUS_EAS_NOT_SUPPORTED";
        /// The extended attributes are too long.
        EA_TOO_LARGE = 0xc000_0050, "STATUS_EA_TOO_LARGE";
        /// The extended attribute does not exist.
        NONEXISTENT_EA_ENTRY = 0xc000_0051, "STATUS_NONEXISTENT_EA_ENTRY";
        /// The file has no extended attributes.
        NO_EAS_ON_FILE = 0xc000_0052, "STATUS_NO_EAS_ON_FILE";
        /// The extended attributes are damaged.
        EA_CORRUPT_ERROR = 0xc000_0053, "STATUS_EA_CORRUPT_ERROR";
        /// A lock of another owner conflicts with a read or write.
        FILE_LOCK_CONFLICT = 0xc000_0054, "STATUS_FILE_LOCK_CONFLICT";
        /// A lock of another owner conflicts with this one.
        LOCK_NOT_GRANTED = 0xc000_0055, "STATUS_LOCK_NOT_GRANTED";
        /// The file is marked for deletion.
        DELETE_PENDING = 0xc000_0056, "STATUS_DELETE_PENDING";
        /// The file does not support this control code.
        CTL_FILE_NOT_SUPPORTED = 0xc000_0057, "STATUS_CTL_FILE_NOT_SUPPORTED";
        /// No logon server is available.
        NO_LOGON_SERVERS = 0xc000_005e, "STATUS_NO_LOGON_SERVERS";
        /// The user lacks a required privilege.
        PRIVILEGE_NOT_HELD = 0xc000_0061, "STATUS_PRIVILEGE_NOT_HELD";
        /// The user does not exist.
        NO_SUCH_USER = 0xc000_0064, "STATUS_NO_SUCH_USER";
        /// The password is wrong.
        WRONG_PASSWORD = 0xc000_006a, "STATUS_WRONG_PASSWORD";
        /// The user or the password is wrong.
        LOGON_FAILURE = 0xc000_006d, "STATUS_LOGON_FAILURE";
        /// Account restrictions prevent the logon.
        ACCOUNT_RESTRICTION = 0xc000_006e, "STATUS_ACCOUNT_RESTRICTION";
        /// The password has expired.
        PASSWORD_EXPIRED = 0xc000_0071, "STATUS_PASSWORD_EXPIRED";
        /// The account is disabled.
        ACCOUNT_DISABLED = 0xc000_0072, "STATUS_ACCOUNT_DISABLED";
        /// No byte of the range is locked.
        RANGE_NOT_LOCKED = 0xc000_007e, "STATUS_RANGE_NOT_LOCKED";
        /// No space is left.
        DISK_FULL = 0xc000_007f, "STATUS_DISK_FULL";
        /// The server lacks resources.
        INSUFFICIENT_RESOURCES = 0xc000_009a, "STATUS_INSUFFICIENT_RESOURCES";
        /// The device is not connected.
        DEVICE_NOT_CONNECTED = 0xc000_009d, "STATUS_DEVICE_NOT_CONNECTED";
        /// The medium is write-protected.
        MEDIA_WRITE_PROTECTED = 0xc000_00a2, "STATUS_MEDIA_WRITE_PROTECTED";
        /// Invalid impersonation level.
        BAD_IMPERSONATION_LEVEL = 0xc000_00a5, "STATUS_BAD_IMPERSONATION_LEVEL";
        /// All instances of the pipe are in use.
        PIPE_NOT_AVAILABLE = 0xc000_00ac, "STATUS_PIPE_NOT_AVAILABLE";
        /// The pipe is in use.
        PIPE_BUSY = 0xc000_00ae, "STATUS_PIPE_BUSY";
        /// The other end of the pipe is disconnected.
        PIPE_DISCONNECTED = 0xc000_00b0, "STATUS_PIPE_DISCONNECTED";
        /// The operation timed out.
        IO_TIMEOUT = 0xc000_00b5, "STATUS_IO_TIMEOUT";
        /// A directory where a file is required.
        FILE_IS_A_DIRECTORY = 0xc000_00ba, "STATUS_FILE_IS_A_DIRECTORY";
        /// The server does not support the operation.
        NOT_SUPPORTED = 0xc000_00bb, "STATUS_NOT_SUPPORTED";
        /// The network path does not exist.
        BAD_NETWORK_PATH = 0xc000_00be, "STATUS_BAD_NETWORK_PATH";
        /// The network is busy.
        NETWORK_BUSY = 0xc000_00bf, "STATUS_NETWORK_BUSY";
        /// The response from the network is invalid.
        INVALID_NETWORK_RESPONSE = 0xc000_00c3, "STATUS_INVALID_NETWORK_RESPONSE";
        /// The network failed.
        UNEXPECTED_NETWORK_ERROR = 0xc000_00c4, "STATUS_UNEXPECTED_NETWORK_ERROR";
        /// The share has been removed, or the session belongs to another connection.
        NETWORK_NAME_DELETED = 0xc000_00c9, "STATUS_NETWORK_NAME_DELETED";
        /// Access to the share is denied.
        NETWORK_ACCESS_DENIED = 0xc000_00ca, "STATUS_NETWORK_ACCESS_DENIED";
        /// The share is of another type.
        BAD_DEVICE_TYPE = 0xc000_00cb, "STATUS_BAD_DEVICE_TYPE";
        /// The share does not exist.
        BAD_NETWORK_NAME = 0xc000_00cc, "STATUS_BAD_NETWORK_NAME";
        /// The server has reached its limit of sessions.
        TOO_MANY_SESSIONS = 0xc000_00ce, "STATUS_TOO_MANY_SESSIONS";
        /// The server accepts no more connections.
        REQUEST_NOT_ACCEPTED = 0xc000_00d0, "STATUS_REQUEST_NOT_ACCEPTED";
        /// Writing to the network failed.
        NET_WRITE_FAULT = 0xc000_00d2, "STATUS_NET_WRITE_FAULT";
        /// Source and target are on different volumes.
        NOT_SAME_DEVICE = 0xc000_00d4, "STATUS_NOT_SAME_DEVICE";
        /// The file has been renamed.
        FILE_RENAMED = 0xc000_00d5, "STATUS_FILE_RENAMED";
        /// No oplock was given.
        OPLOCK_NOT_GRANTED = 0xc000_00e2, "STATUS_OPLOCK_NOT_GRANTED";
        /// Acknowledgment of a break that does not exist.
        INVALID_OPLOCK_PROTOCOL = 0xc000_00e3, "STATUS_INVALID_OPLOCK_PROTOCOL";
        /// Internal error of the server.
        INTERNAL_ERROR = 0xc000_00e5, "STATUS_INTERNAL_ERROR";
        /// File system error without a specific status.
        UNEXPECTED_IO_ERROR = 0xc000_00e9, "STATUS_UNEXPECTED_IO_ERROR";
        /// The directory is not empty.
        DIRECTORY_NOT_EMPTY = 0xc000_0101, "STATUS_DIRECTORY_NOT_EMPTY";
        /// The file is damaged.
        FILE_CORRUPT_ERROR = 0xc000_0102, "STATUS_FILE_CORRUPT_ERROR";
        /// A file where a directory is required.
        NOT_A_DIRECTORY = 0xc000_0103, "STATUS_NOT_A_DIRECTORY";
        /// The name is too long.
        NAME_TOO_LONG = 0xc000_0106, "STATUS_NAME_TOO_LONG";
        /// Files are still open.
        FILES_OPEN = 0xc000_0107, "STATUS_FILES_OPEN";
        /// The connection is in use.
        CONNECTION_IN_USE = 0xc000_0108, "STATUS_CONNECTION_IN_USE";
        /// The server has reached its limit of open files.
        TOO_MANY_OPENED_FILES = 0xc000_011f, "STATUS_TOO_MANY_OPENED_FILES";
        /// The request was cancelled.
        CANCELLED = 0xc000_0120, "STATUS_CANCELLED";
        /// The file cannot be removed.
        CANNOT_DELETE = 0xc000_0121, "STATUS_CANNOT_DELETE";
        /// The file has been removed.
        FILE_DELETED = 0xc000_0123, "STATUS_FILE_DELETED";
        /// The handle has been closed.
        FILE_CLOSED = 0xc000_0128, "STATUS_FILE_CLOSED";
        /// Invalid information level.
        INVALID_LEVEL = 0xc000_0148, "STATUS_INVALID_LEVEL";
        /// The other end of the pipe is closed.
        PIPE_BROKEN = 0xc000_014b, "STATUS_PIPE_BROKEN";
        /// This type of logon is not granted to the user.
        LOGON_TYPE_NOT_GRANTED = 0xc000_015b, "STATUS_LOGON_TYPE_NOT_GRANTED";
        /// The device has an error.
        IO_DEVICE_ERROR = 0xc000_0185, "STATUS_IO_DEVICE_ERROR";
        /// The user's account has expired.
        ACCOUNT_EXPIRED = 0xc000_0193, "STATUS_ACCOUNT_EXPIRED";
        /// A range that wraps around.
        INVALID_LOCK_RANGE = 0xc000_01a1, "STATUS_INVALID_LOCK_RANGE";
        /// The session was removed.
        USER_SESSION_DELETED = 0xc000_0203, "STATUS_USER_SESSION_DELETED";
        /// The server lacks resources for another connection.
        INSUFF_SERVER_RESOURCES = 0xc000_0205, "STATUS_INSUFF_SERVER_RESOURCES";
        /// The connection was lost.
        CONNECTION_DISCONNECTED = 0xc000_020c, "STATUS_CONNECTION_DISCONNECTED";
        /// The connection was reset.
        CONNECTION_RESET = 0xc000_020d, "STATUS_CONNECTION_RESET";
        /// The limit of network names is reached.
        TOO_MANY_NODES = 0xc000_020e, "STATUS_TOO_MANY_NODES";
        /// The user must choose another password first.
        PASSWORD_MUST_CHANGE = 0xc000_0224, "STATUS_PASSWORD_MUST_CHANGE";
        /// The object was not found.
        NOT_FOUND = 0xc000_0225, "STATUS_NOT_FOUND";
        /// The account is temporarily locked out.
        ACCOUNT_LOCKED_OUT = 0xc000_0234, "STATUS_ACCOUNT_LOCKED_OUT";
        /// The connection was refused.
        CONNECTION_REFUSED = 0xc000_0236, "STATUS_CONNECTION_REFUSED";
        /// The connection was aborted.
        CONNECTION_ABORTED = 0xc000_0241, "STATUS_CONNECTION_ABORTED";
        /// The path is on another server (DFS).
        PATH_NOT_COVERED = 0xc000_0257, "STATUS_PATH_NOT_COVERED";
        /// The file has reached its limit of names.
        TOO_MANY_LINKS = 0xc000_0265, "STATUS_TOO_MANY_LINKS";
        /// The directory is a reparse point.
        DIRECTORY_IS_A_REPARSE_POINT = 0xc000_0281, "STATUS_DIRECTORY_IS_A_REPARSE_POINT";
        /// The session's ticket has expired.
        NETWORK_SESSION_EXPIRED = 0xc000_035c, "STATUS_NETWORK_SESSION_EXPIRED";
        /// The request was sent before its prerequisite.
        REQUEST_OUT_OF_SEQUENCE = 0xc000_042a, "STATUS_REQUEST_OUT_OF_SEQUENCE";
        /// The server is not ready.
        SERVER_UNAVAILABLE = 0xc000_0466, "STATUS_SERVER_UNAVAILABLE";
        /// The handle is temporarily unavailable.
        FILE_NOT_AVAILABLE = 0xc000_0467, "STATUS_FILE_NOT_AVAILABLE";
        /// The user's disk quota is full.
        DISK_QUOTA_EXCEEDED = 0xc000_0802, "STATUS_DISK_QUOTA_EXCEEDED";
        /// Client and server share no hash algorithm.
        SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP = 0xc05d_0000, "STATUS_SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP";
    }
}

impl Status {
    /// The two severity bits indicate an error (MS-ERREF, section 2.3).
    #[inline]
    pub const fn is_error(self) -> bool {
        self.0 >> 30 == 3
    }

    /// Returns whether the status means that the session of a request, or its tree connection, has
    /// ended or expired while the transport connection continues.
    #[inline]
    pub const fn ends_session(self) -> bool {
        matches!(
            self,
            Status::USER_SESSION_DELETED
                | Status::NETWORK_NAME_DELETED
                | Status::NETWORK_SESSION_EXPIRED
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_status_is_shown_by_name_and_number() {
        assert_eq!(
            Status::LOGON_FAILURE.to_string(),
            "STATUS_LOGON_FAILURE (0xc000006d)"
        );
        assert_eq!(Status(5).to_string(), "Status 0x00000005");
        for status in Status::NAMED {
            assert_eq!(status.name().and_then(Status::from_name), Some(*status));
        }
    }

    #[test]
    fn only_the_highest_severity_is_an_error() {
        let no_errors = [
            Status::SUCCESS,
            Status::PENDING,
            Status::BUFFER_OVERFLOW,
            Status::NO_MORE_FILES,
        ];
        assert!(!no_errors.into_iter().any(Status::is_error));
        assert!(Status::MORE_PROCESSING_REQUIRED.is_error());
    }
}

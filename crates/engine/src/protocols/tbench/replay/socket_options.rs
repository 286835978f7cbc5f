//! Socket options by name, in the syntax of dbench's `-T` and `tbench_srv -t`.
//!
//! The list is separated by blanks, tabs or commas; each element is `NAME` or `NAME=VALUE`. Names
//! are those of `setsockopt`. Three incorrect names from dbench's manual page are accepted too.

use filestone_host::error::{AreaError, ErrorCategory};
use rustix::net::sockopt::{
    self, Timeout, set_ip_tos, set_ipv6_tclass, set_socket_broadcast, set_socket_keepalive,
    set_socket_recv_buffer_size, set_socket_reuseaddr, set_socket_send_buffer_size,
    set_socket_timeout, set_tcp_nodelay,
};
use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::str::FromStr;
use std::time::Duration;

/// IPTOS_LOWDELAY (RFC 1349, section 4).
const LOW_DELAY: u8 = 0x10;
/// IPTOS_THROUGHPUT.
const THROUGHPUT: u8 = 0x08;

/// All option names, for help and for suggestions.
pub const NAMES: [&str; 12] = {
    let mut names = [""; 12];
    let mut index = 0;
    while index < names.len() {
        names[index] = OPTIONS[index].0;
        index += 1;
    }
    names
};

/// Value that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    /// 0 or 1, or no value for 1.
    Switch,
    /// A positive number.
    Number,
    /// No value.
    None,
    /// 1, which is the only value on Linux.
    One,
}

/// Sets an option with its value.
type Setter = fn(BorrowedFd<'_>, u32) -> rustix::io::Result<()>;

/// All options: name, value, and setter.
const OPTIONS: [(&str, ValueKind, Setter); 12] = [
    ("SO_KEEPALIVE", ValueKind::Switch, |socket, on| {
        set_socket_keepalive(socket, on == 1)
    }),
    ("SO_REUSEADDR", ValueKind::Switch, |socket, on| {
        set_socket_reuseaddr(socket, on == 1)
    }),
    ("SO_BROADCAST", ValueKind::Switch, |socket, on| {
        set_socket_broadcast(socket, on == 1)
    }),
    ("TCP_NODELAY", ValueKind::Switch, |socket, on| {
        set_tcp_nodelay(socket, on == 1)
    }),
    // As IP_TOS or IPV6_TCLASS.
    ("IPTOS_LOWDELAY", ValueKind::None, |socket, _| {
        set_type_of_service(socket, LOW_DELAY)
    }),
    ("IPTOS_THROUGHPUT", ValueKind::None, |socket, _| {
        set_type_of_service(socket, THROUGHPUT)
    }),
    ("SO_SNDBUF", ValueKind::Number, |socket, bytes| {
        set_socket_send_buffer_size(socket, bytes as usize)
    }),
    ("SO_RCVBUF", ValueKind::Number, |socket, bytes| {
        set_socket_recv_buffer_size(socket, bytes as usize)
    }),
    ("SO_SNDLOWAT", ValueKind::One, |_, _| Ok(())),
    // Has no effect, because each message is received as a whole.
    ("SO_RCVLOWAT", ValueKind::Number, |_, _| Ok(())),
    ("SO_SNDTIMEO", ValueKind::Number, |socket, time| {
        set_socket_timeout(
            socket,
            Timeout::Send,
            Some(Duration::from_secs(time.into())),
        )
    }),
    ("SO_RCVTIMEO", ValueKind::Number, |socket, time| {
        set_socket_timeout(
            socket,
            Timeout::Recv,
            Some(Duration::from_secs(time.into())),
        )
    }),
];

/// A socket option: its index in [`OPTIONS`], and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketOption {
    index: usize,
    value: u32,
}

/// Socket options in the order of their application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketOptionList(Vec<SocketOption>);

impl Default for SocketOptionList {
    /// As in dbench.
    fn default() -> Self {
        let options = ["TCP_NODELAY", "SO_REUSEADDR"];
        Self(options.into_iter().flat_map(str::parse).collect())
    }
}

/// Error in a list of socket options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SocketOptionError {
    /// The option name is unknown.
    #[error("no socket option is called {name}; there are {}", NAMES.join(" "))]
    Unknown {
        /// The given name.
        name: String,
    },
    /// The value is not a number or is out of range.
    #[error("expected {expected} for {option}, not \"{value}\"")]
    Value {
        /// Name of the option.
        option: String,
        /// The given value.
        value: String,
        /// Description of valid values.
        expected: &'static str,
    },
}

impl AreaError for SocketOptionError {
    fn category(&self) -> ErrorCategory {
        ErrorCategory::Usage
    }

    fn help(&self) -> Option<String> {
        None
    }
}

impl SocketOptionList {
    /// Iterates over the options in order.
    pub fn iter(&self) -> impl Iterator<Item = &SocketOption> {
        self.0.iter()
    }

    /// Parses a list as dbench and tbench_srv do: unknown options are skipped, and an invalid value
    /// becomes the result of C's atoi. Returns a message for each of these cases.
    pub fn leniently(text: &str) -> (Self, Vec<String>) {
        let mut said = Vec::new();
        let mut options = Vec::new();
        for word in words(text) {
            match word.parse() {
                Ok(option) => options.push(option),
                Err(error) => {
                    let taken = taken_for(word);
                    said.push(match &taken {
                        Some(option) => format!("{error}: taken for {option}"),
                        None => format!("{error}: {word} is passed over"),
                    });
                    options.extend(taken);
                }
            }
        }
        (Self(options), said)
    }

    /// Sets all options; an error names the option.
    pub fn apply(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        for option in &self.0 {
            option.apply(socket).map_err(|error| {
                io::Error::new(error.kind(), format!("cannot set {option}: {error}"))
            })?;
        }
        Ok(())
    }
}

impl FromStr for SocketOptionList {
    type Err = SocketOptionError;

    fn from_str(text: &str) -> Result<Self, SocketOptionError> {
        words(text)
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split([' ', '\t', ',']);
    words.filter(|word| !word.is_empty())
}

/// Returns the option that the original program would set for an invalid value; `None` if the
/// option is unknown or the kernel would reject it.
fn taken_for(word: &str) -> Option<SocketOption> {
    let (name, value) = word.split_once('=').unwrap_or((word, "1"));
    let end = value.find(|letter: char| !letter.is_ascii_digit());
    let digits = value.split_at(end.unwrap_or(value.len())).0;
    let number: u64 = digits.parse().unwrap_or_default();
    let of_value = [number, u64::from(number != 0)].map(|number| format!("{name}={number}"));
    let mut candidates = of_value.iter().map(String::as_str).chain([name]);
    candidates.find_map(|candidate| candidate.parse().ok())
}

impl fmt::Display for SocketOptionList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, option) in self.0.iter().enumerate() {
            let separator = if index > 0 { " " } else { "" };
            write!(f, "{separator}{option}")?;
        }
        Ok(())
    }
}

impl FromStr for SocketOption {
    type Err = SocketOptionError;

    fn from_str(text: &str) -> Result<Self, SocketOptionError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let standard_name = match name {
            "SO_NODELAY" => "TCP_NODELAY",
            "SO_LOWDELAY" => "IPTOS_LOWDELAY",
            "SO_THROUGHPUT" => "IPTOS_THROUGHPUT",
            _ => name,
        };
        let index = NAMES.iter().position(|known| *known == standard_name);
        let index = index.ok_or_else(|| SocketOptionError::Unknown { name: name.into() })?;
        let number = value.and_then(|value| value.parse().ok());
        let positive = number.filter(|number| (1..=i32::MAX as u32).contains(number));
        let positive = positive.ok_or("a number from 1 to 2147483647");
        let value = match (OPTIONS[index].1, value) {
            (ValueKind::Switch, None | Some("1")) | (ValueKind::None, None) => Ok(1),
            (ValueKind::Switch, Some("0")) => Ok(0),
            (ValueKind::Switch, Some(_)) => Err("0 or 1"),
            (ValueKind::None, Some(_)) => Err("no value"),
            (ValueKind::Number, _) => positive,
            (ValueKind::One, _) => match positive {
                Ok(2..) => Err("1 (Linux takes nothing else)"),
                positive => positive,
            },
        }
        .map_err(|expected| SocketOptionError::Value {
            option: name.into(),
            value: value.unwrap_or_default().into(),
            expected,
        })?;
        Ok(Self { index, value })
    }
}

impl fmt::Display for SocketOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, kind, _) = OPTIONS[self.index];
        match (kind, self.value) {
            (ValueKind::Switch, 1) | (ValueKind::None, _) => f.write_str(name),
            (_, value) => write!(f, "{name}={value}"),
        }
    }
}

impl SocketOption {
    /// Sets the option.
    pub fn apply(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let (_, _, set) = OPTIONS[self.index];
        set(socket, self.value).map_err(Into::into)
    }
}

/// Sets the traffic class; IPv6 has a separate socket option for it.
fn set_type_of_service(socket: BorrowedFd<'_>, value: u8) -> rustix::io::Result<()> {
    match sockopt::socket_domain(socket)? {
        rustix::net::AddressFamily::INET6 => set_ipv6_tclass(socket, value.into()),
        _ => set_ip_tos(socket, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, UdpSocket};
    use std::os::fd::AsFd;

    const ALL: &str = "SO_KEEPALIVE SO_REUSEADDR=0,SO_BROADCAST\tTCP_NODELAY=0 IPTOS_LOWDELAY \
                       IPTOS_THROUGHPUT,,SO_SNDBUF=100000 SO_RCVBUF=100001 SO_SNDLOWAT=1 \
                       SO_RCVLOWAT=4 SO_SNDTIMEO=5 SO_RCVTIMEO=6";

    #[test]
    fn every_name_is_understood_and_shown_as_it_was_given() {
        let options: SocketOptionList = ALL.parse().unwrap();
        let shown = options.to_string();
        assert_eq!(
            shown,
            "SO_KEEPALIVE SO_REUSEADDR=0 SO_BROADCAST TCP_NODELAY=0 IPTOS_LOWDELAY \
             IPTOS_THROUGHPUT SO_SNDBUF=100000 SO_RCVBUF=100001 SO_SNDLOWAT=1 SO_RCVLOWAT=4 \
             SO_SNDTIMEO=5 SO_RCVTIMEO=6"
        );
        assert_eq!(shown.parse(), Ok(options));
        for name in NAMES {
            assert!(shown.contains(name));
        }
    }

    #[test]
    fn what_is_set_when_nothing_is_said_is_what_dbench_sets() {
        let default = SocketOptionList::default();
        assert_eq!(default.to_string(), "TCP_NODELAY SO_REUSEADDR");
        assert_eq!("".parse(), Ok(SocketOptionList(Vec::new())));
    }

    #[test]
    fn names_of_the_manual_page_mean_what_it_says_they_mean() {
        let options: SocketOptionList = "SO_NODELAY SO_LOWDELAY SO_THROUGHPUT".parse().unwrap();
        let shown = "TCP_NODELAY IPTOS_LOWDELAY IPTOS_THROUGHPUT";
        assert_eq!(options.to_string(), shown);
    }

    #[test]
    fn what_is_no_option_is_an_error_that_names_it() {
        let error = |text: &str| text.parse::<SocketOptionList>().unwrap_err().to_string();
        assert!(error("TCP_NODELAY SO_FAST").starts_with("no socket option is called SO_FAST;"));
        assert_eq!(
            error("SO_SNDBUF"),
            "expected a number from 1 to 2147483647 for SO_SNDBUF, not \"\""
        );
        assert_eq!(
            error("SO_RCVBUF=4294967296"),
            "expected a number from 1 to 2147483647 for SO_RCVBUF, not \"4294967296\""
        );
        assert_eq!(
            error("TCP_NODELAY=2"),
            "expected 0 or 1 for TCP_NODELAY, not \"2\""
        );
        assert_eq!(
            error("IPTOS_LOWDELAY=1"),
            "expected no value for IPTOS_LOWDELAY, not \"1\""
        );
        assert!(error("SO_SNDLOWAT=2").starts_with("expected 1 (Linux takes nothing else)"));
    }

    #[test]
    fn what_the_original_passes_over_is_passed_over_and_said() {
        let read = |text: &str| {
            let (options, said) = SocketOptionList::leniently(text);
            (options.to_string(), said)
        };
        assert_eq!(
            read(ALL),
            (ALL.parse::<SocketOptionList>().unwrap().to_string(), vec![])
        );
        let (options, said) = read("SO_FAST TCP_NODELAY SO_WARP=9");
        assert_eq!(options, "TCP_NODELAY");
        assert!(said[0].starts_with("no socket option is called SO_FAST;"));
        assert!(said[0].ends_with(": SO_FAST is passed over"), "{}", said[0]);
        assert_eq!(said.len(), 2);
        for (text, taken) in [
            ("SO_SNDBUF=8k", "SO_SNDBUF=8"),
            ("SO_SNDBUF", "SO_SNDBUF=1"),
            ("TCP_NODELAY=2", "TCP_NODELAY"),
            ("TCP_NODELAY=no", "TCP_NODELAY=0"),
            ("IPTOS_LOWDELAY=1", "IPTOS_LOWDELAY"),
            ("SO_RCVBUF=x", ""),
            ("SO_SNDLOWAT=2", "SO_SNDLOWAT=1"),
        ] {
            let (options, said) = read(text);
            assert_eq!((options.as_str(), said.len()), (taken, 1), "{text}");
        }
    }

    #[test]
    fn sockets_take_them_over_ipv4_and_ipv6() {
        let options: SocketOptionList = ALL.parse().unwrap();
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            options.apply(listener.as_fd()).unwrap();
            assert!(!sockopt::tcp_nodelay(&listener).unwrap());
            assert!(sockopt::socket_keepalive(&listener).unwrap());
            let timeout = sockopt::socket_timeout(&listener, Timeout::Recv).unwrap();
            assert_eq!(timeout, Some(Duration::from_secs(6)));
        }
    }

    #[test]
    fn a_socket_that_does_not_take_one_names_it() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let error = SocketOptionList::default()
            .apply(socket.as_fd())
            .unwrap_err();
        assert!(error.to_string().starts_with("cannot set TCP_NODELAY: "));
    }
}

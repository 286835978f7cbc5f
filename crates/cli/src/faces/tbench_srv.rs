//! `filestone as tbench_srv`: its command line and what it prints.

use crate::error::Error;
use crate::{Exit, built_in, console, interruption};
use filestone_engine::Guilt;
use filestone_engine::replay::tcp::SocketOptions;
use filestone_server::tbench::{self, TbenchServer};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What tbench_srv ends with when its command line is wrong, or its port taken.
const EXIT_FAILURE: u8 = 1;

/// How often new connections are looked for, to be shown.
const LOOK_EVERY: Duration = Duration::from_millis(100);

const USAGE: &str = "\
usage: tbench_srv [-t options]
-t options   socket options such as \"TCP_NODELAY SO_RCVBUF=65536\" (default: TCP_NODELAY SO_REUSEADDR)
-h           print this help
";

/// What tbench_srv was asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Request {
    Help,
    Serve(SocketOptions),
}

/// Does what tbench_srv was asked to do.
pub fn run(arguments: &[String]) -> Result<Exit, Error> {
    let served = match parse(arguments) {
        Ok(Request::Help) => console::result(USAGE).map(|_| Exit::Done),
        Ok(Request::Serve(socket_options)) => serve(&socket_options),
        Err(what) => {
            Err(Error::usage(what).with_help("filestone as tbench_srv -h shows its command line"))
        }
    };
    match served {
        Err(error) if matches!(error.guilt, Guilt::Usage | Guilt::Environment) => {
            console::error(&error);
            Ok(Exit::Code(EXIT_FAILURE))
        }
        served => served,
    }
}

/// Reads its command line as getopt does.
fn parse(arguments: &[String]) -> Result<Request, String> {
    let mut options = SocketOptions::default();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match (word.as_str(), word.strip_prefix("-t")) {
            ("-h" | "--help", _) => return Ok(Request::Help),
            (_, Some(attached)) => {
                let list = match attached {
                    "" => rest.next().ok_or("-t: a value is missing")?,
                    attached => attached,
                };
                let parsed = list.parse::<SocketOptions>();
                options = parsed.map_err(|error| format!("-t: {error}"))?;
            }
            (word, None) => return Err(format!("{word}: tbench_srv has no such option")),
        }
    }
    Ok(Request::Serve(options))
}

fn serve(socket_options: &SocketOptions) -> Result<Exit, Error> {
    let stop = interruption::stop_flag()?;
    let running = start(socket_options)?;
    console::result("waiting for connections\n")?;
    let mut shown = 0;
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK_EVERY);
        let connections = running.counters().connections;
        let new = usize::try_from(connections - shown).unwrap_or_default();
        shown = connections;
        if new > 0 {
            console::result(&"^".repeat(new))?;
        }
    }
    running.stop();
    console::result("\n")?;
    Ok(Exit::Done)
}

/// As tbench_srv, at every address of this host, and where there is IPv6, at those too.
fn start(socket_options: &SocketOptions) -> Result<TbenchServer, Error> {
    let all: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    let start = |addresses| {
        built_in::start_tbench(addresses, tbench::PORT, socket_options.clone()).map_err(|error| {
            // Its port is fixed, so it has no option for another.
            error.with_help("filestone serve --tbench takes another port with --port")
        })
    };
    start(&all[..]).or_else(|_| start(&all[..1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Request, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        parse(&words)
    }

    fn serve(list: &str) -> Result<Request, String> {
        Ok(Request::Serve(list.parse().unwrap()))
    }

    #[test]
    fn its_one_option_is_read_as_getopt_does() {
        assert_eq!(parsed(&[]), serve("TCP_NODELAY SO_REUSEADDR"));
        assert_eq!(parsed(&["-t", "SO_KEEPALIVE"]), serve("SO_KEEPALIVE"));
        assert_eq!(
            parsed(&["-tSO_SNDBUF=9000,TCP_NODELAY"]),
            serve("SO_SNDBUF=9000 TCP_NODELAY")
        );
        assert_eq!(parsed(&["-h"]), Ok(Request::Help));
    }

    #[test]
    fn what_it_does_not_have_is_refused() {
        assert_eq!(
            parsed(&["-x"]),
            Err("-x: tbench_srv has no such option".into())
        );
        assert_eq!(parsed(&["-t"]), Err("-t: a value is missing".into()));
        let unknown = parsed(&["-t", "SO_WARP"]).unwrap_err();
        assert!(unknown.starts_with("-t: no socket option is called SO_WARP"));
    }
}

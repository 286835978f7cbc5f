//! The terminal while the view uses it, and its restoration.
//!
//! The view ends in four ways: the command completes, it fails, a second ^C ends it at once, it
//! panics. All of them call [`restore`], which acts once. Output during the view waits
//! (`console::hold`).

use super::drawing::draw;
use super::state::{KeyAction, View};
use super::theme::Theme;
use crate::console;
use crate::error::{Error, reason};
use crossterm::cursor::{Hide, Show};
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use filestone_live::feed::{Feed, FeedItem};
use filestone_live::http_server::give_way;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use std::io::{IsTerminal as _, Stderr, stderr, stdin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum time between two pictures, and maximum delay of a key if no event arrives.
const DRAW_EVERY: Duration = Duration::from_millis(200);
/// Time to wait for more keys after one has arrived. With a timeout of zero crossterm does not read
/// any.
const AT_ONCE: Duration = Duration::from_millis(1);
/// Time to wait for a picture that is being drawn before the terminal is restored.
const PICTURE_MAX: Duration = Duration::from_millis(200);

/// Whether the view uses the terminal.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);
/// Held while the terminal is written.
static WRITING: Mutex<()> = Mutex::new(());
/// Installs the panic hook that restores the terminal.
static ON_PANIC: Once = Once::new();

/// The view on this terminal, which is restored on drop.
pub struct Screen {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    /// Whether there is a terminal that this command may use: a command in the background would be
    /// stopped by it.
    pub fn is_possible() -> bool {
        let is_terminal = stdin().is_terminal() && stderr().is_terminal();
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let foreground = rustix::termios::tcgetpgrp(stderr());
        let is_ours = foreground.is_ok_and(|group| group == rustix::process::getpgrp());
        is_terminal && !is_dumb && is_ours
    }

    /// Shows the events of a feed, on a thread that avoids the processors `pinned`.
    pub fn show(feed: &Feed, pinned: &[u32]) -> Result<Self, Error> {
        let refused = |error: std::io::Error| {
            restore();
            Error::environment(format!("--live=tui: the terminal: {}", reason(&error)))
        };
        let terminal = take().map_err(refused)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let mut shown = Shown {
            terminal,
            look: Theme {
                has_colours: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            },
            feed: feed.clone(),
            is_over: Arc::clone(&is_over),
            began: Instant::now(),
        };
        let pinned = pinned.to_vec();
        let thread = std::thread::Builder::new().name("filestone-view".into());
        let thread = thread.spawn(move || {
            give_way(&pinned);
            // If the terminal fails, the run continues and prints its report as usual.
            let _ = shown.run();
            restore();
        });
        Ok(Self {
            is_over,
            thread: Some(thread.map_err(refused)?),
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic has already printed its message.
            let _ = thread.join();
        }
        restore();
    }
}

/// Whether the view uses the terminal.
pub fn is_shown() -> bool {
    IS_SHOWN.load(Ordering::Acquire)
}

/// Restores the terminal, if the view uses it, and prints the output that was held back.
pub fn restore() {
    let writing = wait_for_picture();
    if IS_SHOWN.swap(false, Ordering::AcqRel) {
        // An error is ignored: if the terminal is gone, its user is too.
        let _ = execute!(stderr(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
        console::release();
    }
    drop(writing);
}

/// Waits for the thread that writes to the terminal, unless it panicked while writing or is
/// blocked.
fn wait_for_picture() -> Option<MutexGuard<'static, ()>> {
    let begun = Instant::now();
    loop {
        match WRITING.try_lock() {
            Ok(guard) => return Some(guard),
            Err(_) if begun.elapsed() >= PICTURE_MAX => return None,
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

type Backend = CrosstermBackend<Stderr>;

/// Switches the terminal to the view.
fn take() -> std::io::Result<Terminal<Backend>> {
    ON_PANIC.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
    });
    console::hold();
    IS_SHOWN.store(true, Ordering::Release);
    enable_raw_mode()?;
    execute!(stderr(), EnterAlternateScreen, Hide)?;
    Terminal::new(CrosstermBackend::new(stderr()))
}

/// The view while it is shown.
struct Shown {
    terminal: Terminal<Backend>,
    look: Theme,
    feed: Feed,
    is_over: Arc<AtomicBool>,
    began: Instant,
}

impl Shown {
    fn run(&mut self) -> std::io::Result<()> {
        let (snapshot, mut reader) = self.feed.read();
        let mut view = View::of(snapshot, self.began.elapsed());
        view.is_debug_build = cfg!(debug_assertions);
        let processors = std::thread::available_parallelism();
        view.processors = processors
            .ok()
            .and_then(|count| u32::try_from(count.get()).ok());
        loop {
            while let Some(next) = reader.try_next() {
                match next {
                    FeedItem::Event(published) => {
                        view.record(&published.event, self.began.elapsed())
                    }
                    FeedItem::Lagged => {
                        let (snapshot, fresh) = self.feed.read();
                        reader = fresh;
                        view.renew(snapshot, self.began.elapsed());
                    }
                    FeedItem::Ended => return Ok(()),
                }
            }
            if self.is_over.load(Ordering::Relaxed) || !self.draw(&view)? {
                return Ok(());
            }
            self.wait_for_keys(&mut view)?;
        }
    }

    /// Draws if the view still uses the terminal, and returns whether it does.
    fn draw(&mut self, view: &View) -> std::io::Result<bool> {
        let Ok(_writing) = WRITING.lock() else {
            return Ok(false);
        };
        if !is_shown() {
            return Ok(false);
        }
        let (look, now) = (self.look, self.began.elapsed());
        self.terminal.draw(|frame| draw(frame, view, look, now))?;
        Ok(true)
    }

    fn wait_for_keys(&self, view: &mut View) -> std::io::Result<()> {
        let mut wait = DRAW_EVERY;
        while event::poll(wait)? {
            wait = AT_ONCE;
            if let Event::Key(key) = event::read()?
                && let Some(asked) = asked(key)
            {
                view.press(asked);
                if asked == KeyAction::Stop {
                    // As ^C does on an ordinary terminal: the first ends the run in order, a later
                    // one at once.
                    signal_hook::low_level::raise(signal_hook::consts::SIGINT)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the action of a key.
fn asked(key: KeyEvent) -> Option<KeyAction> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if is_control => Some(KeyAction::Stop),
        KeyCode::Char(_) if is_control => None,
        KeyCode::Char('q') => Some(KeyAction::Stop),
        KeyCode::Char('k') | KeyCode::Up | KeyCode::BackTab => Some(KeyAction::Previous),
        KeyCode::Char('j') | KeyCode::Down | KeyCode::Tab => Some(KeyAction::Next),
        KeyCode::Char('a') | KeyCode::Esc => Some(KeyAction::All),
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => Some(KeyAction::Help),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_ask_for_what_the_help_says() {
        let plain = |code| asked(KeyEvent::new(code, KeyModifiers::NONE));
        let control = |code| asked(KeyEvent::new(code, KeyModifiers::CONTROL));
        assert_eq!(plain(KeyCode::Char('q')), Some(KeyAction::Stop));
        assert_eq!(control(KeyCode::Char('c')), Some(KeyAction::Stop));
        assert_eq!(control(KeyCode::Char('q')), None);
        assert_eq!(plain(KeyCode::Char('c')), None);
        assert_eq!(plain(KeyCode::Up), Some(KeyAction::Previous));
        assert_eq!(plain(KeyCode::Char('j')), Some(KeyAction::Next));
        assert_eq!(plain(KeyCode::Esc), Some(KeyAction::All));
        assert_eq!(plain(KeyCode::Char('?')), Some(KeyAction::Help));
        assert_eq!(plain(KeyCode::Enter), None);
    }
}

//! Theme of the terminal view: colours, and their replacements on terminals without any.

use ratatui::style::{Color, Modifier, Style};

/// Styles of the terminal view.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    /// Whether colours are used; otherwise emphasis is bold or reversed.
    pub has_colours: bool,
}

impl Theme {
    const fn of(self, colour: Color) -> Style {
        if self.has_colours {
            Style::new().fg(colour)
        } else {
            Style::new()
        }
    }

    /// Style of headings.
    pub const fn heading(self) -> Style {
        self.of(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// Style of the load.
    pub const fn load(self) -> Style {
        self.of(Color::Blue)
    }

    /// Style of response times.
    pub const fn time(self) -> Style {
        self.of(Color::Magenta)
    }

    /// Style of errors.
    pub const fn bad(self) -> Style {
        self.of(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Style of caveats.
    pub const fn doubt(self) -> Style {
        self.of(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// Style of explanations.
    pub const fn aside(self) -> Style {
        self.of(Color::DarkGray)
    }

    /// Style of the selected row.
    pub const fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

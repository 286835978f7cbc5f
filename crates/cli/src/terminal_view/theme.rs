//! The look of what is drawn: colours, and what stands for them where there are none.

use ratatui::style::{Color, Modifier, Style};

/// The look of things.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    /// Whether there are colours; without them, what stands out is bold or reversed.
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

    /// Of headings.
    pub const fn heading(self) -> Style {
        self.of(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// Of the load.
    pub const fn load(self) -> Style {
        self.of(Color::Blue)
    }

    /// Of response times.
    pub const fn time(self) -> Style {
        self.of(Color::Magenta)
    }

    /// Of what did not go well.
    pub const fn bad(self) -> Style {
        self.of(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Of reasons to doubt.
    pub const fn doubt(self) -> Style {
        self.of(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// Of what explains.
    pub const fn aside(self) -> Style {
        self.of(Color::DarkGray)
    }

    /// Of the row that is looked at.
    pub const fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

//! The specification of a file set on a server: a few lines with everything that the set depends
//! on.

use super::FILES_PER_DIRECTORY;
use crate::file_set::FileSetPlan;
use core::fmt;

/// Version of the sampling of lengths and of the names. Any change to these needs a new version.
const VERSION: u32 = 1;
/// Prefix of the lines of a specification.
const LINE: &str = "recipe: ";

/// Specification of the generation of a set.
///
/// The specification does not contain the number of clients, the changing names, and the size of
/// the working set: more clients only add directories, and each run restores the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSetSpec(Vec<String>);

impl FileSetSpec {
    /// Returns the specification of a plan.
    pub fn of(plan: &FileSetPlan) -> Self {
        Self(vec![
            format!("version {VERSION}"),
            format!("{} files of each client", plan.files_per_client),
            format!("{FILES_PER_DIRECTORY} files in a directory"),
            format!("sizes {}", plan.sizes),
        ])
    }

    /// Returns the specification in a marker's text; `None` if there is none.
    pub fn find(text: &str) -> Option<Self> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(LINE));
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        (!lines.is_empty()).then_some(Self(lines))
    }
}

impl fmt::Display for FileSetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|line| writeln!(f, "{LINE}{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_set::{FileSizes, Popularity, SizeClass};

    fn plan(files: u32, sizes: FileSizes) -> FileSetPlan {
        FileSetPlan {
            name: "set".into(),
            files_per_client: files,
            sizes,
            symbolic_links_per_client: 3,
            spare_names_per_client: 8,
            working_set_bytes: None,
            popularity: Popularity::Uniform,
        }
    }

    #[test]
    fn a_recipe_is_found_in_the_text_around_it() {
        let recipe = FileSetSpec::of(&plan(40, FileSizes::Nhfsstone));
        let text = format!("made by somebody\n{recipe}and more\n");
        assert_eq!(FileSetSpec::find(&text), Some(recipe.clone()));
        assert_eq!(
            recipe.to_string(),
            "recipe: version 1\n\
             recipe: 40 files of each client\n\
             recipe: 1000 files in a directory\n\
             recipe: sizes nhfsstone\n"
        );
        assert_eq!(FileSetSpec::find("made by somebody\n"), None);
    }

    #[test]
    fn another_set_has_another_recipe() {
        let forty = FileSetSpec::of(&plan(40, FileSizes::Nhfsstone));
        assert_ne!(forty, FileSetSpec::of(&plan(41, FileSizes::Nhfsstone)));
        assert_ne!(
            forty,
            FileSetSpec::of(&plan(40, FileSizes::Fixed { bytes: 1 }))
        );
    }

    #[test]
    fn the_longest_recipe_leaves_room_in_a_marker() {
        let class = SizeClass {
            weight: u64::MAX / 64,
            bytes: (1 << 40) - 1,
        };
        let classes = vec![class; super::super::CLASSES_MAX];
        let recipe = FileSetSpec::of(&plan(10_000_000, FileSizes::Classes { classes }));
        assert!(
            recipe.to_string().len() < 3000,
            "{}",
            recipe.to_string().len()
        );
    }
}

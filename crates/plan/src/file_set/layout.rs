//! Layout of a file set: names, lengths, working set, and totals.

use super::lengths::FileSizeSampler;
use super::{FILES_MAX, FILES_PER_DIRECTORY, FileSetError, OBJECTS_MAX, VolatileDirectory};
use crate::file_set::{FileSetPlan, FileSizes};
use filestone_workload::numbering::ClientIndexMap;
use filestone_workload::operation::OpKind;

/// Suffix of the names of data files, as in nhfsstone, where it exceeds the length limit of
/// contemporary name caches.
const NAME_TAIL: &str = "abcdefghijklmn";

/// Names, lengths and totals of a file set.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    clients: u32,
    /// Numbers of the clients in the whole job.
    numbering: ClientIndexMap,
    files_per_client: u32,
    symbolic_links_per_client: u32,
    spare_names_per_client: u32,
    sizes: FileSizes,
    working_files: Vec<u32>,
    totals: FileSetTotals,
}

/// Totals over all clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileSetTotals {
    /// Number of data files.
    pub files: u64,
    /// Sum of their lengths, in bytes.
    pub bytes: u64,
    /// Number of files in the working set.
    pub working_files: u64,
    /// Sum of the lengths of the working set, in bytes.
    pub working_bytes: u64,
}

/// Returns the name of a client's directory.
pub fn client_directory(client: u32) -> String {
    format!("client{client:04}")
}

/// Returns the name of the directory of the data files from `FILES_PER_DIRECTORY * index` on.
pub fn files_directory(index: u32) -> String {
    format!("files{index}")
}

/// Returns the name of a data file: nhfsstone's `%03dabcdefghijklmn`.
pub fn file_name(file: u32) -> String {
    format!("{file:03}{NAME_TAIL}")
}

/// Returns the name of a permanent symbolic link: nhfsstone's `%03d`.
pub fn link_name(link: u32) -> String {
    format!("{link:03}")
}

/// Returns the client whose directory has this name.
pub fn client_of(name: &[u8]) -> Option<u32> {
    numbered(name, b"client", 4)
}

/// Returns the index of the data file directory with this name.
pub fn files_directory_of(name: &[u8]) -> Option<u32> {
    numbered(name, b"files", 1)
}

/// Returns the number of the data file with this name.
pub fn file_of(name: &[u8]) -> Option<u32> {
    numbered(name.strip_suffix(NAME_TAIL.as_bytes())?, b"", 3)
}

/// Returns the number of the permanent symbolic link with this name.
pub fn link_of(name: &[u8]) -> Option<u32> {
    numbered(name, b"", 3)
}

/// Returns the number after `head`, written with at least `width` digits and without further
/// leading zeros.
fn numbered(name: &[u8], head: &[u8], width: usize) -> Option<u32> {
    let digits = name.strip_prefix(head)?;
    let is_shortest =
        digits.len() == width || digits.len() > width && digits.first() != Some(&b'0');
    if !is_shortest || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    core::str::from_utf8(digits).ok()?.parse().ok()
}

fn check_name(name: &str) -> Result<(), FileSetError> {
    let is_name = !matches!(name, "" | "." | "..") && name.len() <= 255;
    if !is_name || name.contains(['/', '\0']) {
        return Err(FileSetError::Name(name.into()));
    }
    Ok(())
}

impl Layout {
    /// Creates the layout of `plan` for a number of clients. Samples the length of each file once.
    pub fn of(plan: &FileSetPlan, clients: u32) -> Result<Self, FileSetError> {
        Self::of_numbered(plan, clients, ClientIndexMap::ALL)
    }

    /// Creates the layout for some of a job's clients.
    pub fn of_numbered(
        plan: &FileSetPlan,
        clients: u32,
        numbering: ClientIndexMap,
    ) -> Result<Self, FileSetError> {
        check_name(&plan.name)?;
        plan.popularity.check()?;
        plan.sizes.check()?;
        match plan.files_per_client {
            0 => return Err(FileSetError::NoFiles),
            files if files > FILES_MAX => return Err(FileSetError::TooManyFiles(files)),
            _ => {}
        }
        let mut layout = Self {
            clients,
            numbering,
            files_per_client: plan.files_per_client,
            symbolic_links_per_client: plan.symbolic_links_per_client,
            spare_names_per_client: plan.spare_names_per_client,
            sizes: plan.sizes.clone(),
            working_files: Vec::new(),
            totals: FileSetTotals::default(),
        };
        let objects = u64::from(clients) * u64::from(layout.files_per_client)
            + layout.other_objects(OpKind::STATELESS);
        if objects > OBJECTS_MAX {
            return Err(FileSetError::TooManyObjects(objects));
        }
        // The working set is that of all clients together; each client has an equal share.
        let share = plan
            .working_set_bytes
            .map(|bytes| bytes.div_ceil(u64::from(clients).max(1)));
        for client in 0..clients {
            layout.count(client, share)?;
        }
        Ok(layout)
    }

    /// Adds a client to the totals.
    fn count(&mut self, client: u32, working_bytes: Option<u64>) -> Result<(), FileSetError> {
        let (mut sum, mut working, mut working_sum) = (0_u64, 0, 0_u64);
        for length in FileSizeSampler::of(
            &self.sizes,
            self.numbering.number_of(client),
            self.files_per_client,
        )? {
            // At least one file, and no further one once the size is reached.
            if working == 0 || working_bytes.is_none_or(|bytes| working_sum < bytes) {
                working += 1;
                working_sum = working_sum.saturating_add(length);
            }
            sum = sum.checked_add(length).ok_or(FileSetError::TooManyBytes)?;
        }
        let totals = &mut self.totals;
        totals.files += u64::from(self.files_per_client);
        totals.bytes = totals
            .bytes
            .checked_add(sum)
            .ok_or(FileSetError::TooManyBytes)?;
        totals.working_files += u64::from(working);
        totals.working_bytes += working_sum;
        self.working_files.push(working);
        Ok(())
    }

    /// Returns the index of the directory of a client's files: client i of a job uses directory i
    /// modulo their number.
    pub fn directory_of(&self, client: u32, directories: usize) -> usize {
        self.numbering.number_of(client) as usize % directories.max(1)
    }

    /// Returns the number of clients.
    pub fn clients(&self) -> u32 {
        self.clients
    }

    /// Returns the number of data files of each client.
    pub fn files_per_client(&self) -> u32 {
        self.files_per_client
    }

    /// Returns the number of directories for each client's data files.
    pub fn file_directories(&self) -> u32 {
        self.files_per_client.div_ceil(FILES_PER_DIRECTORY)
    }

    /// Returns the number of permanent symbolic links of each client, if the kinds of operation use
    /// them.
    pub fn symbolic_links(&self, kinds: &[OpKind]) -> u32 {
        if kinds.contains(&OpKind::ReadLink) {
            self.symbolic_links_per_client
        } else {
            0
        }
    }

    /// Returns the number of names in each of the changing directories at the start.
    pub fn spare_names(&self) -> u32 {
        self.spare_names_per_client
    }

    /// Returns the lengths of a client's data files, in their order.
    pub fn lengths(&self, client: u32) -> impl ExactSizeIterator<Item = u64> + use<> {
        // The sizes were checked when the layout was created.
        FileSizeSampler::of(
            &self.sizes,
            self.numbering.number_of(client),
            self.files_per_client,
        )
        .expect("a layout has file sizes that can be drawn")
    }

    /// Returns the number of a client's data files in the working set, which are the first ones.
    pub fn working_files(&self, client: u32) -> u32 {
        self.working_files
            .get(client as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Returns the target of symbolic link `link`: a data file of the same client.
    pub fn link_target(&self, link: u32) -> String {
        let file = link % self.files_per_client;
        let directory = files_directory(file / FILES_PER_DIRECTORY);
        format!("../{directory}/{}", file_name(file))
    }

    /// Returns the totals over all clients.
    pub fn totals(&self) -> FileSetTotals {
        self.totals
    }

    /// Returns the number of directories, links and names of all clients, without the data files,
    /// that operations of these kinds use.
    pub fn other_objects(&self, kinds: &[OpKind]) -> u64 {
        let count = |is_counted: &dyn Fn(VolatileDirectory) -> bool| {
            let all = VolatileDirectory::ALL.iter();
            all.filter(|changing| is_counted(**changing)).count() as u64
        };
        let directories = 1
            + u64::from(self.file_directories())
            + count(&|changing| changing.is_needed_by(kinds));
        let spare_names = count(&|changing| changing.is_changed_by(kinds))
            .saturating_mul(u64::from(self.spare_names_per_client));
        let links = u64::from(self.symbolic_links(kinds));
        u64::from(self.clients).saturating_mul(directories + spare_names + links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_set::Popularity;

    fn plan(files: u32, sizes: &str) -> FileSetPlan {
        FileSetPlan {
            name: "set".into(),
            files_per_client: files,
            sizes: sizes.parse().expect("file sizes"),
            symbolic_links_per_client: 3,
            spare_names_per_client: 8,
            working_set_bytes: None,
            popularity: Popularity::Uniform,
        }
    }

    #[test]
    fn names_are_nhfsstones_and_are_known_again() {
        assert_eq!(file_name(0), "000abcdefghijklmn");
        assert_eq!(file_name(39).len(), 17);
        assert_eq!(file_name(12_345), "12345abcdefghijklmn");
        for file in [0, 39, 999, 1000, 9_999_999] {
            assert_eq!(file_of(file_name(file).as_bytes()), Some(file));
            assert_eq!(client_of(client_directory(file).as_bytes()), Some(file));
            assert_eq!(link_of(link_name(file).as_bytes()), Some(file));
            let directory = files_directory(file);
            assert_eq!(files_directory_of(directory.as_bytes()), Some(file));
        }
        for name in [
            "0abcdefghijklmn",
            "0000abcdefghijklmn",
            "000abc",
            "+00abcdefghijklmn",
        ] {
            assert_eq!(file_of(name.as_bytes()), None, "{name}");
        }
        for name in [
            "client",
            "client000",
            "client00000",
            "client000x",
            "files",
            "files00",
        ] {
            assert_eq!(client_of(name.as_bytes()), None, "{name}");
            assert_eq!(files_directory_of(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn the_sums_are_those_of_the_lengths() {
        let layout = Layout::of(&plan(2500, "nhfsstone"), 3).expect("a layout");
        let bytes: u64 = (0..3).flat_map(|client| layout.lengths(client)).sum();
        let totals = layout.totals();
        assert_eq!((totals.files, totals.bytes), (7500, bytes));
        assert_eq!((totals.working_files, totals.working_bytes), (7500, bytes));
        assert_eq!(layout.file_directories(), 3);
        // The client's directory, three for data files, five with changing names, three links.
        assert_eq!(
            layout.other_objects(OpKind::STATELESS),
            3 * (1 + 3 + 5 + 5 * 8 + 3)
        );
        assert_eq!(layout.other_objects(&[OpKind::Read]), 3 * (1 + 3));
    }

    #[test]
    fn the_working_set_is_the_first_files_that_sum_up_to_it() {
        let working = |bytes: u64| {
            let plan = FileSetPlan {
                working_set_bytes: Some(bytes),
                ..plan(10, "1K")
            };
            let layout = Layout::of(&plan, 2).expect("a layout");
            let totals = layout.totals();
            assert_eq!(layout.working_files(0), layout.working_files(1));
            assert_eq!(totals.working_bytes, 1024 * totals.working_files);
            layout.working_files(0)
        };
        assert_eq!(working(0), 1);
        assert_eq!(working(2 << 10), 1);
        assert_eq!(working((2 << 10) + 1), 2);
        assert_eq!(working(6 << 10), 3);
        assert_eq!(working(1 << 40), 10);
    }

    #[test]
    fn links_lead_to_data_files() {
        let layout = Layout::of(&plan(1500, "1K"), 1).expect("a layout");
        assert_eq!(layout.link_target(0), "../files0/000abcdefghijklmn");
        assert_eq!(layout.link_target(1499), "../files1/1499abcdefghijklmn");
        assert_eq!(layout.link_target(1500), layout.link_target(0));
        assert_eq!(layout.symbolic_links(&[OpKind::ReadLink]), 3);
        assert_eq!(layout.symbolic_links(&[OpKind::SymLink]), 0);
    }

    #[test]
    fn sets_without_measure_are_refused() {
        let refused = |plan: &FileSetPlan, clients| Layout::of(plan, clients).expect_err("refused");
        assert_eq!(refused(&plan(0, "1K"), 1), FileSetError::NoFiles);
        let many = refused(&plan(10_000_001, "1K"), 1);
        assert_eq!(many, FileSetError::TooManyFiles(10_000_001));
        let all = refused(&plan(10_000_000, "1K"), u32::MAX);
        assert!(matches!(all, FileSetError::TooManyObjects(_)), "{all}");
        let spare = FileSetPlan {
            spare_names_per_client: u32::MAX,
            ..plan(1, "1K")
        };
        assert!(matches!(
            refused(&spare, 1),
            FileSetError::TooManyObjects(_)
        ));
        for name in ["", ".", "..", "a/b", "a\0b", &"x".repeat(256)] {
            let plan = FileSetPlan {
                name: name.into(),
                ..plan(1, "1K")
            };
            assert_eq!(refused(&plan, 1), FileSetError::Name(name.into()));
        }
        let zipf = FileSetPlan {
            popularity: Popularity::Zipf { exponent: f64::NAN },
            ..plan(1, "1K")
        };
        assert!(matches!(refused(&zipf, 1), FileSetError::Exponent(_)));
    }

    #[test]
    fn more_bytes_than_can_be_counted_are_refused() {
        let error = Layout::of(&plan(10_000_000, "1T"), 2).expect_err("refused");
        assert_eq!(error, FileSetError::TooManyBytes);
    }
}

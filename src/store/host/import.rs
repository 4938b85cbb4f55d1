//! Versions out of a file, a batch at a time.

use std::io::{BufRead, BufReader, Read};

use super::fields::Bad;
use super::{Host, line};
use crate::error::{Error, ErrorKind, Result};
use crate::observe::Operation;
use crate::policy::Gate;
use crate::storage::{ImportReport, Imported, Namespace, StoredVersion};

/// The most versions of one transaction.
const BATCH: usize = 256;

/// The bytes of text at which a transaction ends.
const BATCH_BYTES: usize = 1 << 20;

impl Host {
    #[doc = include_str!("import.md")]
    pub fn import(&self, reader: impl Read) -> Result<ImportReport> {
        self.watch(Operation::Import, || {
            let mut lines = Lines::new(reader, line::longest(&self.limits));
            let promised = match lines.next()? {
                Some(Ok(header)) => line::read_header(header)?,
                _ => line::read_header(b"")?,
            };
            let mut importer = Importer::new(self);
            let mut records = 0;
            while let Some(found) = lines.next()? {
                records += 1;
                let found = found.and_then(|line| line::read(line, &self.limits));
                importer.add(lines.number, found)?;
            }
            let mut report = importer.finish()?;
            if promised.is_some_and(|promised| promised > records) {
                let text = "the file ends before all the records that its first line tells of";
                report.note(lines.number, text);
            }
            Ok(report)
        })
    }
}

/// Takes versions over in transactions of bounded size, and keeps the account of it.
pub(super) struct Importer<'h> {
    host: &'h Host,
    batch: Vec<StoredVersion>,
    lines: Vec<u64>,
    bytes: usize,
    pub(super) report: ImportReport,
}

impl<'h> Importer<'h> {
    pub(super) fn new(host: &'h Host) -> Self {
        Self {
            host,
            batch: Vec::new(),
            lines: Vec::new(),
            bytes: 0,
            report: ImportReport::default(),
        }
    }

    /// Adds what a line holds, or counts that it is refused.
    pub(super) fn add(&mut self, line: u64, found: Result<StoredVersion, Bad>) -> Result<()> {
        let checked = found.and_then(|found| {
            line::check_content(&found, &self.host.limits)?;
            Ok(found)
        });
        match checked {
            Err(Bad(reason)) => self.report.refuse(line, reason),
            Ok(found) => {
                self.bytes = self.bytes.saturating_add(found.text_bytes());
                self.batch.push(found);
                self.lines.push(line);
            }
        }
        if self.batch.len() >= BATCH || self.bytes >= BATCH_BYTES {
            self.store()?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<ImportReport> {
        self.store()?;
        Ok(self.report)
    }

    fn store(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let gate = &self.host.gate;
        let grant = Gate::host(self.host.namespace.clone(), None);
        let outcomes = gate.provider().import(&grant, gate.now(), &self.batch)?;
        if outcomes.len() != self.batch.len() {
            let text = "the provider took over versions and doesn't say which";
            return Err(Error::internal(text));
        }
        let new = std::mem::take(&mut self.batch);
        let lines = std::mem::take(&mut self.lines);
        for ((line, new), outcome) in lines.into_iter().zip(&new).zip(outcomes) {
            self.count(line, new, outcome);
        }
        self.bytes = 0;
        Ok(())
    }

    fn count(&mut self, line: u64, new: &StoredVersion, outcome: Imported) {
        let report = &mut self.report;
        let is_session = new.namespace == Namespace::SESSION;
        match outcome {
            Imported::Stored { .. } if is_session => report.sessions += 1,
            Imported::Ended | Imported::Unchanged if is_session => (),
            Imported::Stored { version } => {
                report.imported += 1;
                report.renumbered += u64::from(version != new.version.memory.version);
            }
            Imported::Ended => report.ended += 1,
            Imported::Unchanged => report.unchanged += 1,
            Imported::Conflict => report.refuse(
                line,
                "the store has this lineage id with another owner, key, level or content, which stays",
            ),
        }
    }
}

/// Lines of bounded length, of which blank ones are left out.
struct Lines<R> {
    reader: BufReader<R>,
    longest: usize,
    line: Vec<u8>,
    /// How many lines were read.
    number: u64,
}

impl<R: Read> Lines<R> {
    fn new(reader: R, longest: usize) -> Self {
        Self {
            reader: BufReader::new(reader),
            longest,
            line: Vec::new(),
            number: 0,
        }
    }

    fn next(&mut self) -> Result<Option<Result<&[u8], Bad>>> {
        loop {
            self.line.clear();
            let most = u64::try_from(self.longest).unwrap_or(u64::MAX);
            let mut part = self.reader.by_ref().take(most);
            let read = part.read_until(b'\n', &mut self.line).map_err(cant_read)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if read >= self.longest && !self.line.ends_with(b"\n") {
                self.reader.skip_until(b'\n').map_err(cant_read)?;
                let text = format!("the line is longer than {} bytes", self.longest);
                return Ok(Some(Err(Bad(text))));
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(Ok(self.line.trim_ascii())));
            }
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn cant_read(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, "the file to import can't be read")
        .with_source(error.kind().to_string())
}

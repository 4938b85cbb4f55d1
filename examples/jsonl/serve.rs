//! Lines in, lines out.

use std::io::{self, BufRead, Read as _, Write};

use super::driver::{Driver, too_long};

/// The longest line that is read; a longer one is skipped and gets an error.
pub(crate) const LINE_BYTES: usize = 64 << 20;

/// Answers each line with one line, until the input ends.
pub(crate) fn serve(
    mut input: impl BufRead,
    mut output: impl Write,
    driver: &mut Driver,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = u64::try_from(LINE_BYTES).unwrap_or(u64::MAX);
        let read = input.by_ref().take(most).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let reply = if read == LINE_BYTES && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            too_long(LINE_BYTES)
        } else {
            driver.answer(&line)
        };
        writeln!(output, "{reply}")?;
        output.flush()?;
    }
}

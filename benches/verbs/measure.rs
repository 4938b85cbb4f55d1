//! Timing two sides in turns, so that what disturbs the machine hits both.

use std::hint::black_box;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The times of one side's calls, ascending.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    fn quantile(&self, percent: usize) -> Duration {
        self.0[(self.0.len() - 1) * percent / 100]
    }

    pub(crate) fn show(&self) -> String {
        format!("{} / {}", show(self.quantile(50)), show(self.quantile(99)))
    }
}

/// The same calls made by strandline and by hand.
pub(crate) struct Comparison {
    ours: Times,
    raw: Times,
}

/// Makes the calls 0 to `calls` on both sides, in turns of `turn` calls. Who goes first alternates.
pub(crate) fn compare<A, B>(
    calls: usize,
    turn: usize,
    mut ours: impl FnMut(usize) -> A,
    mut raw: impl FnMut(usize) -> B,
) -> Comparison {
    let (mut our_times, mut raw_times) = (Vec::new(), Vec::new());
    for (round, start) in (0..calls).step_by(turn).enumerate() {
        let turn = start..calls.min(start + turn);
        if round % 2 == 0 {
            time(turn.clone(), &mut ours, &mut our_times);
            time(turn, &mut raw, &mut raw_times);
        } else {
            time(turn.clone(), &mut raw, &mut raw_times);
            time(turn, &mut ours, &mut our_times);
        }
    }
    Comparison {
        ours: Times::new(our_times),
        raw: Times::new(raw_times),
    }
}

fn time<T>(calls: Range<usize>, call: &mut impl FnMut(usize) -> T, times: &mut Vec<Duration>) {
    for index in calls {
        let start = Instant::now();
        let result = black_box(call(index));
        times.push(start.elapsed());
        drop(result);
    }
}

/// What the ratio should be.
#[derive(Clone, Copy)]
pub(crate) enum Aim {
    /// At most so many times as long as by hand.
    Within(f64),
    /// At least so many times faster than by hand.
    Faster(f64),
    /// Nothing in particular.
    None,
}

/// Prints the medians and their ratio.
pub(crate) fn report(name: &str, result: &Comparison, aim: Aim) {
    let Comparison { ours, raw } = result;
    let median = |times: &Times| times.quantile(50).as_secs_f64();
    let ratio = median(ours) / median(raw);
    let met = |yes| if yes { "met" } else { "MISSED" };
    let verdict = match aim {
        Aim::Within(most) => format!("(aim: within {most}, {})", met(ratio <= most)),
        Aim::Faster(least) => {
            let faster = 1.0 / ratio;
            format!(
                "= {faster:.1} times faster (aim: {least}, {})",
                met(faster >= least)
            )
        }
        Aim::None if ratio < 1.0 => format!("= {:.1} times faster", 1.0 / ratio),
        Aim::None => String::new(),
    };
    println!(
        "{name:26} strandline {:>21} | by hand {:>21} | ratio {ratio:.2} {verdict}",
        ours.show(),
        raw.show()
    );
}

/// A time in a unit that suits it.
fn show(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1_000.0 {
        format!("{micros:.1} µs")
    } else {
        format!("{:.2} ms", micros / 1e3)
    }
}

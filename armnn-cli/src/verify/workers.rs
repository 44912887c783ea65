//! Work that is done side by side, with results in order.

use std::sync::{
    atomic::{AtomicBool, AtomicUsize, Ordering},
    mpsc,
};

/// Does `work` for each of `items`, `count` at a time, and gives each result to `take` in the order
/// of the items, as soon as all before it are done. Ends early when `take` fails.
///
/// # Errors
/// That of `take`.
pub fn in_order<T: Sync, R: Send>(
    items: &[T],
    count: usize,
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(&T, R) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..count.min(items.len()) {
            let sender = sender.clone();
            let (next, stop, work) = (&next, &stop, &work);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    if sender.send((index, work(item))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting: Vec<Option<R>> = items.iter().map(|_| None).collect();
        let mut due = 0;
        let mut outcome = Ok(());
        for (index, result) in receiver {
            if outcome.is_err() {
                continue;
            }
            waiting[index] = Some(result);
            while let Some(result) = waiting.get_mut(due).and_then(Option::take) {
                outcome = take(&items[due], result);
                due += 1;
                if outcome.is_err() {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
            }
        }
        outcome
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items_whichever_is_done_first() {
        // The first two are at work at the same time, or this would not end.
        let both = Barrier::new(2);
        let mut taken = Vec::new();
        let work = |&item: &u32| {
            if item < 2 {
                both.wait();
            }
            item * 10
        };
        in_order(&[0, 1, 2, 3], 2, work, |item, result| {
            taken.push((*item, result));
            Ok(())
        })
        .unwrap();
        assert_eq!(taken, [(0, 0), (1, 10), (2, 20), (3, 30)]);
    }

    #[test]
    fn the_first_error_ends_it() {
        let mut taken = 0;
        let outcome = in_order(
            &[1, 2, 3],
            1,
            |item| *item,
            |_, result| {
                taken += 1;
                anyhow::ensure!(result != 2, "two");
                Ok(())
            },
        );
        assert_eq!(outcome.unwrap_err().to_string(), "two");
        assert_eq!(taken, 2);
    }
}

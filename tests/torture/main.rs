// SPDX-License-Identifier: BSD-3-Clause
// Threads, panics and iterators.
use std::{collections::HashMap, panic, process, sync::mpsc, thread};

fn main() {
    let (sender, receiver) = mpsc::channel();
    for i in 0..4u64 {
        let sender = sender.clone();
        thread::spawn(move || sender.send((0..10000).map(|x| x ^ i).sum::<u64>()).unwrap());
    }
    drop(sender);
    println!("{}", receiver.iter().sum::<u64>());
    let mut count: HashMap<u32, u32> = HashMap::new();
    (0..5000u32).for_each(|i| *count.entry(i * 7919 % 97).or_default() += 1);
    println!("{} {:.12}", count.len(), 1f64.sin());
    let caught = panic::catch_unwind(|| panic!("thrown"));
    println!("{}", caught.is_err());
    println!("{}", thread::spawn(|| panic!("in a thread")).join().is_err());
    process::exit(9);
}

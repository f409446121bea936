//! Findings of `lint` on files, for looking through collections of rules.

fn main() {
    let (mut worst, mut files, mut with) = (0.0_f64, 0, 0);
    for file in std::env::args().skip(1) {
        let bytes = std::fs::read(&file).unwrap();
        let started = std::time::Instant::now();
        let reading = surmise_gdl::read_bytes(&bytes, &surmise_gdl::Options::default());
        let read = started.elapsed().as_secs_f64() * 1e3;
        let found = surmise_gdl::lint(&reading);
        let ms = started.elapsed().as_secs_f64() * 1e3;
        if ms > worst {
            worst = ms;
            println!("# {file}: {read:.1} + {:.1} ms", ms - read);
        }
        files += 1;
        with += usize::from(!found.is_empty());
        print!(
            "{}",
            surmise_gdl::render(&found, file.rsplit('/').next().unwrap(), &reading.text)
        );
    }
    println!("{with} of {files} files have findings; slowest {worst:.1} ms");
}

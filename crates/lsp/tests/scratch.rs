//! scratch
use std::time::Instant;
#[test]
fn lints() {
    let mut all = Vec::new();
    for d in ["ggp-repository"] {
        for e in std::fs::read_dir(format!("/work/shared/conformance/rules/{d}")).unwrap() {
            let p = e.unwrap().path();
            let t = std::fs::read(&p).unwrap();
            let s = Instant::now();
            let r = gdl::read_bytes(&t, &gdl::Options::default());
            let a = s.elapsed();
            let s = Instant::now();
            let n = gdl::lint(&r).len();
            all.push((s.elapsed(), a, n, t.len(), p));
        }
    }
    all.sort();
    for x in all.iter().rev().take(12) { eprintln!("{x:?}"); }
}

//! Writes reports again.
fn main() {
    for path in std::env::args().skip(1) {
        let (folder, _, _) = surmise_lab::folder::Folder::open(std::path::Path::new(&path)).expect("a folder");
        surmise_lab::report::write(&folder).expect("a report");
        println!("{path}");
    }
}

//! Ctrl-C: the first asks the work to end and keep what it has, the second ends the program.

use game::StopFlag;
use std::sync::OnceLock;

/// The flag that Ctrl-C raises. The handler is installed when this is first asked for.
pub fn flag() -> StopFlag {
    static FLAG: OnceLock<StopFlag> = OnceLock::new();
    let install = || {
        let flag = StopFlag::default();
        let raised = flag.clone();
        // Without a handler Ctrl-C ends the program at once, which is what it does elsewhere too.
        let _ = ctrlc::set_handler(move || {
            if raised.is_raised() {
                std::process::exit(130);
            }
            raised.raise();
        });
        flag
    };
    FLAG.get_or_init(install).clone()
}

//! A program of somebody else's at the table: lines to its standard input, lines from its standard output.
//!
//! The program may crash, hang, flood us or say nothing. Threads of their own read and write the pipes, what is read is
//! bounded, and every wait has a deadline. A program that is dropped is killed, on Unix with all that it started.

use game::StopFlag;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most bytes of a line that is read.
pub const MAX_LINE: usize = 64 << 10;

/// Bytes of standard error that are kept: the last ones.
const KEPT_ERRORS: usize = 16 << 10;

/// Lines that wait to be taken. A program that writes more waits.
const WAITING_LINES: usize = 16;

/// Time between two looks at the stop flag.
const LOOK: Duration = Duration::from_millis(20);

/// A running program.
pub struct Program {
    child: Child,
    /// Lines to be written; none when standard input is closed.
    to: Option<Sender<String>>,
    from: Receiver<Heard>,
    errors: Arc<Mutex<VecDeque<u8>>>,
    /// How the program ended, once it is known.
    ended: Option<ExitStatus>,
}

/// What was read from a program.
enum Heard {
    Line(String),
    TooLong(String),
}

/// Why there is no line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLine {
    /// The time is over.
    Late,
    /// The line is longer than [`MAX_LINE`]; this is its beginning.
    TooLong(String),
    /// The program ended: how.
    Ended(String),
    /// The wait was stopped.
    Stopped,
}

impl Program {
    /// Starts a program.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Program> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        {
            // A group of its own, so that all that it starts can be ended, and Ctrl-C is ours to pass on.
            use std::os::unix::process::CommandExt;
            command.process_group(0);
        }
        let mut child = command.spawn()?;
        let (to, lines) = channel();
        let (heard, from) = sync_channel(WAITING_LINES);
        let errors: Arc<Mutex<VecDeque<u8>>> = Arc::default();
        let kept = errors.clone();
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("no pipes"));
        };
        std::thread::spawn(move || write_lines(stdin, &lines));
        std::thread::spawn(move || read_lines(BufReader::new(stdout), &heard));
        std::thread::spawn(move || keep_errors(stderr, &kept));
        Ok(Program {
            child,
            to: Some(to),
            from,
            errors,
            ended: None,
        })
    }

    /// Writes a line. Whether it arrives is seen by what is answered. Lines that came before are dropped: they are no
    /// answers to this one.
    pub fn say(&mut self, line: String) {
        while self.from.try_recv().is_ok() {}
        if let Some(to) = &self.to {
            let _ = to.send(line);
        }
    }

    /// The next line, if it comes in time.
    ///
    /// # Errors
    /// If there is none.
    pub fn hear(&mut self, patience: Duration, stop: &StopFlag) -> Result<String, NoLine> {
        let begun = Instant::now();
        loop {
            if stop.is_raised() {
                return Err(NoLine::Stopped);
            }
            let Some(left) = patience.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) else {
                return Err(NoLine::Late);
            };
            match self.from.recv_timeout(left.min(LOOK)) {
                Ok(Heard::Line(line)) => return Ok(line),
                Ok(Heard::TooLong(line)) => return Err(NoLine::TooLong(line)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(NoLine::Ended(self.how_it_ended(left.min(Duration::from_secs(1)))));
                }
            }
        }
    }

    /// How a program ended that has closed its standard output, in words, with the last line of its standard error.
    fn how_it_ended(&mut self, patience: Duration) -> String {
        self.wait(patience);
        let how = match self.ended {
            None => "the program closed its standard output".to_owned(),
            Some(status) => format!("the program ended ({status})"),
        };
        // The thread that reads standard error may need a moment more.
        std::thread::sleep(LOOK);
        let errors = self.errors();
        match errors.lines().rev().find(|line| !line.trim().is_empty()) {
            None => how,
            Some(last) => format!("{how}: {}", last.trim().chars().take(300).collect::<String>()),
        }
    }

    /// The end of what the program wrote to its standard error, as text.
    pub fn errors(&self) -> String {
        let kept = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits for the program to end, at most this long. Whether it did.
    fn wait(&mut self, patience: Duration) -> bool {
        let begun = Instant::now();
        loop {
            if self.ended.is_none() {
                self.ended = self.child.try_wait().ok().flatten();
            }
            if self.ended.is_some() || begun.elapsed() >= patience {
                return self.ended.is_some();
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Closes the program's standard input and lets it end by itself, for this long; then it is killed.
    pub fn end(&mut self, patience: Duration) {
        self.to = None;
        if !self.wait(patience) {
            self.kill();
        }
    }

    /// Ends the program at once.
    pub fn kill(&mut self) {
        self.to = None;
        if self.wait(Duration::ZERO) {
            return;
        }
        #[cfg(unix)]
        {
            // All of its group, while its number cannot be another's: it has not been waited for.
            let group = format!("kill -s KILL -- -{}", self.child.id());
            let quiet = || Stdio::null();
            let mut shell = Command::new("sh");
            let shell = shell
                .args(["-c", &group])
                .stdin(quiet())
                .stdout(quiet())
                .stderr(quiet());
            let _ = shell.status();
        }
        let _ = self.child.kill();
        self.ended = self.child.wait().ok();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<String>) {
    for mut line in lines {
        line.push('\n');
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(mut stdout: impl BufRead, heard: &SyncSender<Heard>) {
    loop {
        let mut line = Vec::new();
        let read = stdout.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line);
        if !matches!(read, Ok(n) if n > 0) {
            return;
        }
        let too_long = line.len() > MAX_LINE;
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        let sent = match too_long {
            true => heard.send(Heard::TooLong(text.chars().take(200).collect())),
            false => heard.send(Heard::Line(text)),
        };
        // What follows a line without end would be taken for lines of their own.
        if sent.is_err() || too_long {
            return;
        }
    }
}

fn keep_errors(mut stderr: impl Read, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(n) = stderr.read(&mut buffer) {
        if n == 0 {
            return;
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&buffer[..n]);
        let too_many = kept.len().saturating_sub(KEPT_ERRORS);
        kept.drain(..too_many);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program::start(Command::new("sh").args(["-c", script])).expect("there is a shell")
    }

    fn hear(program: &mut Program) -> Result<String, NoLine> {
        program.hear(Duration::from_secs(10), &StopFlag::default())
    }

    #[test]
    fn lines_go_out_and_come_in() {
        let mut program = shell("read a; echo \"<$a>\"; read b; echo \"<$b>\"");
        program.say("one".to_owned());
        assert_eq!(hear(&mut program), Ok("<one>".to_owned()));
        program.say("two".to_owned());
        assert_eq!(hear(&mut program), Ok("<two>".to_owned()));
        program.end(Duration::from_secs(10));
        assert!(program.ended.is_some_and(|status| status.success()));
    }

    #[test]
    fn crashes_are_told_with_the_last_line_of_standard_error() {
        let mut program = shell("echo what >&2; echo 'it broke' >&2; exit 3");
        let Err(NoLine::Ended(how)) = hear(&mut program) else {
            panic!("it ended")
        };
        assert!(how.contains('3') && how.ends_with(": it broke"), "{how}");
        assert_eq!(program.errors(), "what\nit broke\n");
    }

    #[test]
    fn silence_ends_at_the_deadline_and_a_stop_ends_it_earlier() {
        let mut program = shell("sleep 100");
        let begun = Instant::now();
        let late = program.hear(Duration::from_millis(100), &StopFlag::default());
        assert_eq!(late, Err(NoLine::Late));
        let stop = StopFlag::default();
        stop.raise();
        assert_eq!(program.hear(Duration::from_secs(100), &stop), Err(NoLine::Stopped));
        drop(program);
        assert!(begun.elapsed() < Duration::from_secs(20), "the program was killed");
    }

    #[test]
    fn floods_and_endless_lines_are_bounded() {
        let mut flood = shell("while true; do echo a line; echo error >&2; done");
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(hear(&mut flood), Ok("a line".to_owned()));
        assert!(flood.errors().len() <= KEPT_ERRORS);
        drop(flood);
        let mut endless =
            shell("while true; do printf xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done");
        assert!(matches!(hear(&mut endless), Err(NoLine::TooLong(text)) if text.len() == 200));
    }

    #[test]
    fn what_a_program_started_ends_with_it() {
        let mut program = shell("sleep 1000 & echo $!; wait");
        let grandchild = hear(&mut program).expect("its number");
        drop(program);
        let begun = Instant::now();
        let alive = || {
            let asked = Command::new("sh")
                .args(["-c", &format!("kill -0 {grandchild} 2>/dev/null")])
                .status();
            // A process that nobody has waited for yet is dead all the same.
            let state = std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
            asked.is_ok_and(|status| status.success()) && !state.contains(") Z ")
        };
        while alive() {
            assert!(begun.elapsed() < Duration::from_secs(10), "{grandchild} is alive");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

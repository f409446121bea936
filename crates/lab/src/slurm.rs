//! A run as a job array of Slurm, on a folder that all nodes share.
//!
//! Task k of n plays the matches k, k + n, k + 2n … of the spec into a journal of its own, so tasks do not depend on
//! each other. Slurm puts a task back into the queue when it is preempted or its node fails (`--requeue`). A task whose
//! program fails asks for that itself, a few times. Either way the task continues where its journal ends. Cancelled
//! tasks are queued again by submitting again.

use crate::error::{Error, FileAction, Result, SlurmProblem};
use crate::folder::Folder;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A job array to submit.
#[derive(Clone, Debug, Default)]
pub struct SlurmJob {
    /// Tasks of the array.
    pub tasks: usize,
    /// Matches played at the same time in each task.
    pub threads: usize,
    /// The partition; Slurm's default if none.
    pub partition: Option<String>,
    /// Most tasks that run at the same time.
    pub at_a_time: Option<usize>,
    /// Time limit of a task, as Slurm writes it.
    pub time: Option<String>,
}

/// The jobs that were submitted for a folder.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SubmittedJobs {
    /// Number of tasks that share the matches.
    pub tasks: usize,
    /// Numbers of the jobs, the newest last.
    pub jobs: Vec<u64>,
}

/// Most times a task whose program fails is put back into the queue.
const RETRIES: u32 = 3;

impl SubmittedJobs {
    /// What was submitted so far, if anything was.
    ///
    /// # Errors
    /// If the list of jobs cannot be read.
    pub fn read(folder: &Folder) -> Result<Option<SubmittedJobs>> {
        let path = folder.file("slurm/jobs.json");
        match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(FileAction::Read, &path)(error)),
            Ok(text) => serde_json::from_str(&text).map_err(|source| Error::Damaged { path, source }),
        }
    }
}

/// The script of a job.
pub fn script(job: &SlurmJob, folder: &Path, program: &Path, name: &str, open: &[usize]) -> String {
    let list: Vec<String> = ranges(open);
    let limit = job.at_a_time.map(|n| format!("%{n}")).unwrap_or_default();
    let mut out = String::from("#!/bin/bash\n");
    let mut ask = |what: String| out += &format!("#SBATCH {what}\n");
    ask(format!("--job-name=lab-{name}"));
    ask(format!("--array={}{limit}", list.join(",")));
    ask("--ntasks=1".to_owned());
    ask(format!("--cpus-per-task={}", job.threads.max(1)));
    ask("--requeue".to_owned());
    ask("--open-mode=append".to_owned());
    ask(format!("--output={}/slurm/task-%a.log", folder.display()));
    if let Some(partition) = &job.partition {
        ask(format!("--partition={partition}"));
    }
    if let Some(time) = &job.time {
        ask(format!("--time={time}"));
    }
    let (program, folder) = (quoted(program), quoted(folder));
    out += &format!(
        "\n# A task that fails is queued again and goes on where it was.\n\
         {program} lab work {folder} --task \"$SLURM_ARRAY_TASK_ID\" --of {} --threads {}\n\
         status=$?\n\
         if [ $status -ne 0 ] && [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {RETRIES} ]; then\n    \
         scontrol requeue \"${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}\"\n\
         fi\n\
         exit $status\n",
        job.tasks,
        job.threads.max(1)
    );
    out
}

/// Workers that all do the same, as a job array: they may be killed and started again at any time.
#[derive(Clone, Debug, Default)]
pub struct WorkerJob {
    /// Tasks of the array.
    pub tasks: u64,
    /// Processors of each task.
    pub threads: usize,
    /// The partition; Slurm's default if none.
    pub partition: Option<String>,
    /// Time limit of a task, as Slurm writes it.
    pub time: Option<String>,
    /// Where the output of a task goes, with `%a` for its number.
    pub output: PathBuf,
    /// The command of a task.
    pub command: Vec<String>,
}

/// The script of an array of workers.
pub fn worker_script(job: &WorkerJob) -> String {
    let mut out = String::from("#!/bin/bash\n");
    let mut ask = |what: String| out += &format!("#SBATCH {what}\n");
    ask("--job-name=train-workers".to_owned());
    ask(format!("--array=0-{}", job.tasks.saturating_sub(1)));
    ask("--ntasks=1".to_owned());
    ask(format!("--cpus-per-task={}", job.threads.max(1)));
    ask("--requeue".to_owned());
    ask("--open-mode=append".to_owned());
    ask(format!("--output={}", job.output.display()));
    if let Some(partition) = &job.partition {
        ask(format!("--partition={partition}"));
    }
    if let Some(time) = &job.time {
        ask(format!("--time={time}"));
    }
    let words: Vec<String> = job.command.iter().map(|word| quoted(Path::new(word))).collect();
    out + "\n" + &words.join(" ") + "\n"
}

/// Hands a script to Slurm. Returns the number of the job.
///
/// # Errors
/// If Slurm is not there or refuses.
pub fn submit_script(script: &Path) -> Result<u64> {
    let said = call("sbatch", &["--parsable", &script.display().to_string()])?;
    let number = said.trim().split(';').next().unwrap_or_default();
    number.parse().map_err(|_| {
        Error::Slurm(SlurmProblem::NoJobNumber {
            said: said.trim().to_owned(),
        })
    })
}

/// A path as one word of a shell command.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// `0-3,7` for 0, 1, 2, 3, 7.
fn ranges(numbers: &[usize]) -> Vec<String> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match out.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => out.push((number, number)),
        }
    }
    let show = |(a, b): (usize, usize)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    out.into_iter().map(show).collect()
}

/// Submits the tasks with matches left to play. Returns the number of the job.
///
/// # Errors
/// If Slurm is not there or refuses.
pub fn submit(folder: &Folder, job: &SlurmJob, program: &Path, name: &str, open: &[usize]) -> Result<u64> {
    let before = SubmittedJobs::read(folder)?;
    let made = std::fs::create_dir_all(folder.file("slurm"));
    made.map_err(Error::io(FileAction::WriteInto, &folder.path))?;
    let absolute = std::path::absolute(&folder.path).map_err(Error::io(FileAction::Resolve, &folder.path))?;
    folder.write("slurm/job.sh", script(job, &absolute, program, name, open).as_bytes())?;
    let number = submit_script(&absolute.join("slurm/job.sh"))?;
    let mut submitted = before.unwrap_or_default();
    submitted.tasks = job.tasks;
    submitted.jobs.push(number);
    let json = serde_json::to_string_pretty(&submitted).expect("plain data");
    folder.write("slurm/jobs.json", (json + "\n").as_bytes())?;
    Ok(number)
}

/// Tasks of the folder's jobs that Slurm still has, and their states.
///
/// # Errors
/// If Slurm is not there.
pub fn queued(submitted: &SubmittedJobs) -> Result<Vec<(usize, String)>> {
    let mut tasks = Vec::new();
    for job in &submitted.jobs {
        let number = job.to_string();
        // squeue fails for a job that ended long ago.
        let listed = call(
            "squeue",
            &["--noheader", "--array", "--jobs", &number, "--format=%K %T"],
        );
        let listed = match listed {
            Err(Error::Slurm(SlurmProblem::Failed { said, .. })) if said.contains("Invalid job id") => String::new(),
            other => other?,
        };
        for line in listed.lines() {
            if let Some((task, state)) = line.trim().split_once(' ')
                && let Ok(task) = task.parse()
            {
                tasks.push((task, state.to_owned()));
            }
        }
    }
    tasks.sort();
    Ok(tasks)
}

fn call(program: &str, args: &[&str]) -> Result<String> {
    let output = Command::new(program).args(args).output().map_err(|source| {
        Error::Slurm(SlurmProblem::NotInstalled {
            program: program.to_owned(),
            source,
        })
    })?;
    if !output.status.success() {
        return Err(Error::Slurm(SlurmProblem::Failed {
            command: format!("{program} {}", args.join(" ")),
            said: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        }));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_says_what_was_asked() {
        let job = SlurmJob {
            tasks: 8,
            threads: 2,
            partition: Some("short".to_owned()),
            at_a_time: Some(4),
            time: None,
        };
        let text = script(
            &job,
            Path::new("/data/it's"),
            Path::new("/opt/surmise"),
            "x",
            &[0, 1, 2, 5, 7],
        );
        assert!(text.starts_with("#!/bin/bash\n#SBATCH --job-name=lab-x\n#SBATCH --array=0-2,5,7%4\n"));
        assert!(text.contains("#SBATCH --partition=short\n") && !text.contains("--time"));
        assert!(text.contains(r"'/opt/surmise' lab work '/data/it'\''s' --task"));
        assert!(text.contains("--of 8 --threads 2"));
    }
}

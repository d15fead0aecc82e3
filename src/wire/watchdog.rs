//! The right to answer, and the watchdog that takes it at the deadline: a timer of the kernel, whose signal handler
//! writes what was prepared, whatever the process is doing, and a second later ends it.
//!
//! A signal and not a thread: a thread has a stack, an alternate stack and a heap of its own, which cost between a tenth
//! and a half of what starting a process costs. It takes `unsafe` to install a handler and to follow the pointer that it
//! finds. The handler only reads atomics and memory that is never freed or changed again, and calls only `write`,
//! `alarm` and `_exit`, which POSIX allows it.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

/// How long the process has to end by itself once it was answered for, in seconds.
const GRACE: libc::c_uint = 1;

/// Somebody has won the right to answer.
static CLAIMED: AtomicBool = AtomicBool::new(false);
/// The answer has left the process.
static GIVEN: AtomicBool = AtomicBool::new(false);
/// An answer that was being written had the time of the grace.
static WAITED: AtomicBool = AtomicBool::new(false);
/// What is said when the time has passed.
static LATE: AtomicPtr<Late> = AtomicPtr::new(ptr::null_mut());

/// What the watchdog writes, each a whole line.
#[derive(Debug)]
pub struct Late {
    /// To standard output.
    pub answer: String,
    /// To standard error.
    pub why: String,
}

/// Wins the right to answer: `true` once in the life of the process.
pub fn claim() -> bool {
    !CLAIMED.swap(true, Ordering::SeqCst)
}

/// The answer has left; what is done from here on, the deadline simply ends.
pub fn given() {
    GIVEN.store(true, Ordering::SeqCst);
}

/// From now on this is what is written at the deadline.
pub fn prepare(late: Late) {
    // Never freed: the handler may be reading the one before.
    LATE.store(Box::into_raw(Box::new(late)), Ordering::SeqCst);
}

/// Starts the timer; `limit` is rounded down to whole seconds, but to one at least.
///
/// # Errors
/// That of the system: the handler cannot be installed.
pub fn start(limit: Duration) -> io::Result<()> {
    let seconds = u32::try_from(limit.as_secs()).unwrap_or(u32::MAX).max(1);
    let handler: extern "C" fn(libc::c_int) = at_deadline;
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    let mut alone = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: both structures are plain data for which all zeros is a value; they live to the end of the calls, which keep
    // none of them; and the handler does only what a handler may.
    unsafe {
        let action = action.assume_init_mut();
        action.sa_sigaction = handler as libc::sighandler_t;
        // What the handler itself writes may wait for a reader too, and the timer has to end that.
        action.sa_flags = libc::SA_RESTART | libc::SA_NODEFER;
        libc::sigemptyset(&raw mut action.sa_mask);
        if libc::sigaction(libc::SIGALRM, &raw const *action, ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        // Whoever started this process may have left the signal blocked.
        libc::sigemptyset(alone.as_mut_ptr());
        libc::sigaddset(alone.as_mut_ptr(), libc::SIGALRM);
        let error = libc::pthread_sigmask(libc::SIG_UNBLOCK, alone.as_ptr(), ptr::null_mut());
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        libc::alarm(seconds);
    }
    Ok(())
}

/// Stops the timer: another program takes this process over, and a timer outlives that.
pub fn stop() {
    // SAFETY: `alarm` takes any number and touches no memory.
    unsafe { libc::alarm(0) };
}

extern "C" fn at_deadline(_: libc::c_int) {
    // SAFETY: `alarm` takes any number and touches no memory.
    let is_due = unsafe { libc::alarm(GRACE) } == 0;
    let claimed = claim();
    // Where the claim is lost, an answer is just being written. It has the time of the grace, for a pipe that nobody
    // reads may be full; a signal that came before the timer's does not count.
    if GIVEN.load(Ordering::SeqCst) || !claimed && is_due && WAITED.swap(true, Ordering::SeqCst) {
        // SAFETY: it runs nothing of this process any more.
        unsafe { libc::_exit(0) }
    }
    if claimed {
        // SAFETY: the pointer is null or from `prepare`, which never frees what it points to.
        if let Some(late) = unsafe { LATE.load(Ordering::SeqCst).as_ref() } {
            write(libc::STDOUT_FILENO, &late.answer);
            write(libc::STDERR_FILENO, &late.why);
        }
        given();
    }
}

/// A reader that is gone is no error: nobody is left to tell.
fn write(descriptor: libc::c_int, text: &str) {
    // SAFETY: the pointer and the length are those of a string that lives through the call.
    let _ = unsafe { libc::write(descriptor, text.as_ptr().cast(), text.len()) };
}

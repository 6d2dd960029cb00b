//! What waits: instructions of a NeuronCore, and calls of the host, by name. Every list asks here, so that a wait leads none.

/// Whether an engine that executes an instruction counts as active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineWait {
    /// The engine does nothing until another one has reached a count. `neuron-profile` leaves it out of active time.
    Semaphore,
    /// The engine finishes what it began before it goes on. `neuron-profile` counts it as active time.
    Drain,
}

/// The kind of wait that an instruction of a NeuronCore is; `None` if it does something.
pub fn of_instruction(opcode: &str) -> Option<EngineWait> {
    Some(match opcode {
        "EVENT_SEMAPHORE" | "EventSemaphore" | "SEMAPHORE_WAIT" | "SemaphoreWait" | "WAIT" => EngineWait::Semaphore,
        "DRAIN" | "Drain" => EngineWait::Drain,
        _ => return None,
    })
}

/// Whether the name of a call of the host, in the profile of a machine-learning framework, says that it waits.
pub fn is_waiting_call(name: &str) -> bool {
    const ANYWHERE: [&str; 5] =
        ["Synchronize", "StreamWaitEvent", "EventQuery", "BlockUntilReady", "BlockHostUntilDone"];
    ANYWHERE.iter().any(|w| name.contains(w)) || is_waiting_call_anywhere(name)
}

/// Whether the name of a slice says that it waits, whoever wrote the profile: names of system calls, of the standard
/// libraries of Java and Python, of executors, and of the runtimes of devices.
pub fn is_waiting_call_anywhere(name: &str) -> bool {
    // Names that mean something else as the last part of a longer one are compared whole.
    const WHOLE: [&str; 5] = ["Parallel Evaluator evaluation", "poll", "__poll", "ppoll", "__GI___poll"];
    const RUNTIMES: [&str; 3] = ["cuda", "cu", "hip"];
    if WHOLE.contains(&name) {
        return true;
    }
    if RUNTIMES.iter().any(|r| name.starts_with(r)) && name.contains("Synchronize") {
        return true;
    }
    match builtin_of_python(name) {
        Some((call, of)) => {
            matches!(call, "sleep" | "poll" | "select" | "wait" | "epoll_wait")
                || call == "acquire" && of.contains("lock")
        }
        None => is_last_part(without_parameters(name)),
    }
}

/// Whether the last part of a name is a call that waits: `java.lang.Thread.sleep`, `threading.py(320): wait`.
fn is_last_part(name: &str) -> bool {
    const CALLS: [&str; 20] = [
        "sleep",
        "usleep",
        "nanosleep",
        "clock_nanosleep",
        "park",
        "parkNanos",
        "parkUntil",
        "wait",
        "wait_for",
        "wait_until",
        "epoll_wait",
        "sem_wait",
        "pthread_cond_wait",
        "pthread_cond_timedwait",
        "WaitForSingleObject",
        "WaitForMultipleObjects",
        "block_until_ready",
        "Future.get",
        "FutureTask.get",
        "CountDownLatch.await",
    ];
    CALLS.iter().any(|call| {
        let before = name.strip_suffix(call);
        // A class whose name ends so is a future too: `CompletableFuture.get`.
        before.is_some_and(|b| b.is_empty() || b.ends_with([' ', '.', ':', '/']) || *call == "Future.get")
    })
}

/// The call and its object in the names that Python gives to calls without a file: `<built-in method poll of select.epoll
/// object at 0x7f>`, `<method 'acquire' of '_thread.lock' objects>`.
fn builtin_of_python(name: &str) -> Option<(&str, &str)> {
    let starts = ["<built-in method ", "<built-in function ", "<method '"];
    let rest = starts.iter().find_map(|start| name.strip_prefix(start))?;
    let end = rest.find([' ', '>', '\''])?;
    let call = &rest[..end];
    Some((call.rsplit('.').next().unwrap_or(call), &rest[end..]))
}

/// `Thread.sleep(long)` is `Thread.sleep`; the place in `file.py(12): f` stays.
fn without_parameters(name: &str) -> &str {
    match name.find('(') {
        Some(at) if !name.contains("): ") => name[..at].trim_end(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_known_by_their_names_and_work_is_not() {
        for name in [
            "Parallel Evaluator evaluation",
            "java.util.concurrent.CompletableFuture.get",
            "jdk.internal.misc.Unsafe.park",
            "java.lang.Thread.sleep(long)",
            "threading.py(320): wait",
            "<built-in method poll of select.epoll object at 0x7f>",
            "<method 'acquire' of '_thread.lock' objects>",
            "<built-in function sleep>",
            "time.sleep",
            "poll",
            "epoll_wait",
            "cudaDeviceSynchronize",
            "cuStreamSynchronize",
            "hipDeviceSynchronize",
            "host: wait",
        ] {
            assert!(is_waiting_call_anywhere(name), "{name}");
        }
        for name in [
            "<F as core::future::Future>::poll",
            "await_results",
            "std::unique_ptr::get",
            "dict.get",
            "str.join",
            "ballpark",
            "unpark",
            "LayerTreeHost::SynchronizeState",
            "<built-in method acquire of Camera object>",
            "sleepless",
            "",
        ] {
            assert!(!is_waiting_call_anywhere(name), "{name}");
        }
        assert!(is_waiting_call("BlockHostUntilDone") && !is_waiting_call("aten::mm"));
        assert_eq!(of_instruction("EVENT_SEMAPHORE"), Some(EngineWait::Semaphore));
        assert_eq!(of_instruction("DRAIN"), Some(EngineWait::Drain));
        assert_eq!(of_instruction("EVENT_SEMAPHORE_RANGE_CLEAR"), None);
    }
}

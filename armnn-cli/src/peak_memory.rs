//! How much memory the process needed.

/// The most memory that was resident so far, in bytes; `None` where the system does not tell.
pub fn peak_resident_bytes() -> Option<u64> {
    // `VmHWM: <n> kB`, described in proc_pid_status(5).
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

//! Keeping the thread's floating-point environment as it is while foreign code runs.

/// The rounding mode, the treatment of denormals and the exception masks of this thread, put back
/// when dropped.
///
/// A library built with `-ffast-math` sets flush-to-zero in its constructor, for the whole thread
/// and for good: the host's own results would change, and unloading does not undo it.
pub(crate) struct FloatEnvironment {
    #[cfg(target_arch = "x86_64")]
    mxcsr: u32,
    #[cfg(target_arch = "x86_64")]
    x87_control: u16,
    #[cfg(target_arch = "aarch64")]
    fpcr: u64,
}

impl FloatEnvironment {
    /// Remembers the environment of this thread.
    pub(crate) fn save() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let mut saved = Self {
                mxcsr: 0,
                x87_control: 0,
            };
            // SAFETY: both instructions only store a control register to the given place, which
            // is of the size that they write.
            unsafe {
                core::arch::asm!("stmxcsr [{}]", in(reg) &mut saved.mxcsr,
                    options(nostack, preserves_flags));
                core::arch::asm!("fnstcw [{}]", in(reg) &mut saved.x87_control,
                    options(nostack, preserves_flags));
            }
            saved
        }
        #[cfg(target_arch = "aarch64")]
        {
            let fpcr;
            // SAFETY: reads a register that every thread may read.
            unsafe {
                core::arch::asm!("mrs {}, fpcr", out(reg) fpcr,
                    options(nomem, nostack, preserves_flags));
            }
            Self { fpcr }
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        Self {}
    }
}

impl Drop for FloatEnvironment {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: loads values that `save` stored from the same registers, so that no reserved
        // bit is set and the environment is the one that compiled code expects.
        unsafe {
            core::arch::asm!("ldmxcsr [{}]", in(reg) &self.mxcsr,
                options(nostack, readonly, preserves_flags));
            core::arch::asm!("fldcw [{}]", in(reg) &self.x87_control,
                options(nostack, readonly, preserves_flags));
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: writes back the value that `save` read from the same register.
        unsafe {
            core::arch::asm!("msr fpcr, {}", in(reg) self.fpcr,
                options(nomem, nostack, preserves_flags));
        }
    }
}

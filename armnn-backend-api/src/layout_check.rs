use core::ffi::c_void;
use crate::sys::*;
#[repr(transparent)]
#[derive(abi_stable::StableAbi)]
pub struct ParallelFor(pub Option<unsafe extern "C" fn(host: *mut c_void, n_tasks: u32, body: ParallelForBody, data: *mut c_void) -> ArmnnStatus>);
#[repr(transparent)]
#[derive(abi_stable::StableAbi)]
pub struct ParallelForBody(pub Option<unsafe extern "C" fn(data: *mut c_void, task: u32, thread: u32)>);
#[repr(transparent)]
#[derive(abi_stable::StableAbi)]
pub struct CacheGet(pub Option<unsafe extern "C" fn(host: *mut c_void, key: *const u8, key_len: usize, sink: CacheGetSink, data: *mut c_void) -> ArmnnStatus>);
#[repr(transparent)]
#[derive(abi_stable::StableAbi)]
pub struct CacheGetSink(pub Option<unsafe extern "C" fn(data: *mut c_void, blob: *const u8, len: usize)>);

//! The reference backend as a shared object.

armnn_backend_sdk::declare_backend!(cpu_ref::CpuRef);

//! The sample backend as a shared object: this line is all that makes one.

armnn_backend_sdk::declare_backend!(sample_backend::SampleBackend);

// What a backend exports.

/// The id, NUL-terminated, valid while the shared object is loaded: 1 to 63 of `[A-Za-z0-9_.-]`,
/// not `Unknown`. The same as in the note.
ARMNN_EXPORT const char *GetBackendId(void) ARMNN_NOEXCEPT;

/// Writes the interface version that the backend was built against: ARMNN_API_MAJOR and
/// ARMNN_API_MINOR.
ARMNN_EXPORT void GetVersion(uint32_t *major, uint32_t *minor) ARMNN_NOEXCEPT;

/// A new backend that the caller owns, or null.
ARMNN_EXPORT IBackendInternal *BackendFactory(void) ARMNN_NOEXCEPT;

// Reading what may be shorter or longer than it is known here.

/// Whether the struct of the other side at `pointer` is long enough to hold a field.
#define ARMNN_COVERS(Type, pointer, field)                                                         \
    ((pointer)->struct_size >= offsetof(Type, field) + sizeof((pointer)->field))

/// Whether the other side has a function: `if (ARMNN_HAS_SLOT(ArmnnHostApi, api, log)) …`
#define ARMNN_HAS_SLOT(Type, pointer, slot)                                                        \
    (ARMNN_COVERS(Type, pointer, slot) && (pointer)->slot != NULL)

/// Layer `index` of a view, which is below its `n_layers`.
static inline const ArmnnLayerDesc *ArmnnLayerAt(const ArmnnSubgraphView *view, size_t index) {
    return (const ArmnnLayerDesc *)(const void *)((const char *)view->layers +
                                                  index * view->layer_stride);
}

/// Tensor `index` of a view, which is below its `n_tensors`.
static inline const ArmnnTensorDesc *ArmnnTensorDescAt(const ArmnnSubgraphView *view,
                                                       size_t index) {
    return (const ArmnnTensorDesc *)(const void *)((const char *)view->tensors +
                                                   index * view->tensor_stride);
}

/// Input `index` of a call of `execute`.
static inline const ArmnnTensor *ArmnnInputAt(const ArmnnTensor *inputs, size_t input_stride,
                                              size_t index) {
    return (const ArmnnTensor *)(const void *)((const char *)inputs + index * input_stride);
}

/// Output `index` of a call of `execute`.
static inline ArmnnTensor *ArmnnOutputAt(ArmnnTensor *outputs, size_t output_stride,
                                         size_t index) {
    return (ArmnnTensor *)(void *)((char *)outputs + index * output_stride);
}

// Writing text.

/// A NUL-terminated text as it goes over the boundary; valid while `text` is.
static inline ArmnnStr ArmnnStrFrom(const char *text) {
    ArmnnStr out;
    out.ptr = text;
    out.len = 0;
    while (text != NULL && text[out.len] != '\0') {
        out.len += 1;
    }
    return out;
}

/// Writes an error, if there is room for one, and returns `status`, so that a function can end
/// with `return ArmnnSetError(error, ARMNN_STATUS_…, "…");`. A text that is too long is cut between
/// characters.
static inline ArmnnStatus ArmnnSetError(ArmnnError *error, ArmnnStatus status,
                                        const char *message) {
    size_t room, len = 0;
    if (error == NULL || error->struct_size < offsetof(ArmnnError, message)) {
        return status;
    }
    room = error->struct_size - offsetof(ArmnnError, message);
    room = room < ARMNN_ERROR_MESSAGE_SIZE ? room : ARMNN_ERROR_MESSAGE_SIZE;
    while (len < room && message[len] != '\0') {
        error->message[len] = message[len];
        len += 1;
    }
    if (message[len] != '\0') {
        while (len > 0 && ((unsigned char)message[len] & 0xc0u) == 0x80u) {
            len -= 1;
        }
    }
    error->len = (uint32_t)len;
    error->status = status;
    return status;
}

/// The same for an error of one layer, by its `id`; also for errors that come later than the call that
/// caused them.
static inline ArmnnStatus ArmnnSetLayerError(ArmnnError *error, ArmnnStatus status,
                                             uint32_t layer_id, const char *message) {
    if (error != NULL && error->struct_size >= offsetof(ArmnnError, message)) {
        error->layer_id = layer_id;
    }
    return ArmnnSetError(error, status, message);
}

// The note.

#define ARMNN_STRINGIFY_(x) #x
#define ARMNN_STRINGIFY(x) ARMNN_STRINGIFY_(x)

/// Compiler and target as the note names them, at most 95 bytes; may be defined before this file
/// is included.
#ifndef ARMNN_TOOLCHAIN
#if defined(__x86_64__)
#define ARMNN_TOOLCHAIN_TARGET " x86_64"
#elif defined(__aarch64__)
#define ARMNN_TOOLCHAIN_TARGET " aarch64"
#else
#define ARMNN_TOOLCHAIN_TARGET ""
#endif
#if defined(__clang__)
// Its __VERSION__ may be longer than the field.
#define ARMNN_TOOLCHAIN                                                                            \
    "clang " ARMNN_STRINGIFY(__clang_major__) "." ARMNN_STRINGIFY(                                 \
        __clang_minor__) "." ARMNN_STRINGIFY(__clang_patchlevel__) ARMNN_TOOLCHAIN_TARGET
#else
#define ARMNN_TOOLCHAIN "gcc " __VERSION__ ARMNN_TOOLCHAIN_TARGET
#endif
#endif

/// Emits the backend note, by which the host knows a backend before it runs any of its code. Once
/// in a shared object, at file scope, with string literals:
///
///     ARMNN_DECLARE_BACKEND_NOTE("MyBackend", "1.2.3");
#define ARMNN_DECLARE_BACKEND_NOTE(id, package_version)                                            \
    ARMNN_DECLARE_BACKEND_NOTE_WITH(id, package_version, 0u)

/// The same with flags, ARMNN_NOTE_FLAG_…, or-ed.
#define ARMNN_DECLARE_BACKEND_NOTE_WITH(id, package_version, flags)                                \
    ARMNN_DECLARE_BACKEND_NOTE_RAW(id, package_version, flags, ARMNN_API_MAJOR, ARMNN_API_MINOR,   \
                                   ARMNN_LAYOUT_HASH)

/// The same with everything chosen freely, for tests of a host.
#define ARMNN_DECLARE_BACKEND_NOTE_RAW(id, package_version, flags, major, minor, layout_hash)      \
    ARMNN_STATIC_ASSERT(sizeof("" id) <= 64, "the backend id has more than 63 bytes");             \
    ARMNN_STATIC_ASSERT(sizeof("" package_version) <= 32, "the version has more than 31 bytes");   \
    ARMNN_STATIC_ASSERT(sizeof("" ARMNN_TOOLCHAIN) <= 96,                                          \
                        "define ARMNN_TOOLCHAIN as a text of at most 95 bytes");                   \
    __attribute__((section(".note.armnn"), used, aligned(4))) static const ArmnnNote               \
        ArmnnBackendNote = {                                                                       \
            6u,                                                                                    \
            ARMNN_NOTE_DESCRIPTOR_SIZE,                                                            \
            ARMNN_NOTE_TYPE,                                                                       \
            "ArmNN",                                                                               \
            ARMNN_NOTE_FORMAT,                                                                     \
            (major),                                                                               \
            (minor),                                                                               \
            (flags),                                                                               \
            {(uint32_t)((layout_hash) & 0xffffffffu), (uint32_t)((layout_hash) >> 32)},            \
            id,                                                                                    \
            ARMNN_TOOLCHAIN,                                                                       \
            package_version,                                                                       \
        }


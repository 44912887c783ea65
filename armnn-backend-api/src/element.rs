//! Typed access to the memory of tensors.

/// A type that tensors' elements can be read as: every bit pattern is a value.
///
/// # Safety
/// The type has no padding, no invalid bit patterns and no interior mutability.
pub unsafe trait Element: Copy + Send + Sync + 'static {}

macro_rules! elements {
    ($($T:ty)*) => {$(
        // SAFETY: plain numbers.
        unsafe impl Element for $T {}
    )*};
}
elements! { u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 }

/// Views bytes as elements; `None` if they are not aligned or no whole number of elements.
pub fn cast_slice<T: Element>(bytes: &[u8]) -> Option<&[T]> {
    if bytes.is_empty() {
        return Some(&[]);
    }
    if !bytes.as_ptr().cast::<T>().is_aligned() || !bytes.len().is_multiple_of(size_of::<T>()) {
        return None;
    }
    // SAFETY: aligned, in bounds, and every bit pattern is a value.
    Some(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) })
}

/// Views bytes as elements that can be written; `None` as for [`cast_slice`].
pub fn cast_slice_mut<T: Element>(bytes: &mut [u8]) -> Option<&mut [T]> {
    if bytes.is_empty() {
        return Some(&mut []);
    }
    if !bytes.as_ptr().cast::<T>().is_aligned() || !bytes.len().is_multiple_of(size_of::<T>()) {
        return None;
    }
    let len = bytes.len() / size_of::<T>();
    // SAFETY: aligned, in bounds, exclusively borrowed, and every bit pattern is a value.
    Some(unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), len) })
}

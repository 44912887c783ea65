//! The inputs and outputs of one call.

use std::{cell::UnsafeCell, marker::PhantomData};

use crate::{BackendError, Result, Shape, sys, view::slice};

/// The inputs of one call.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    first: *const sys::ArmnnTensor,
    len: usize,
    stride: usize,
    lifetime: PhantomData<&'a ()>,
}

impl<'a> Inputs<'a> {
    pub(crate) unsafe fn from_raw(
        first: *const sys::ArmnnTensor,
        len: usize,
        stride: usize,
    ) -> Self {
        Self {
            first,
            len,
            stride,
            lifetime: PhantomData,
        }
    }

    /// How many there are, absent ones included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An input as it came over the wire.
    ///
    /// # Panics
    /// When there is none at this position.
    pub fn raw(&self, position: usize) -> &'a sys::ArmnnTensor {
        assert!(position < self.len, "there is no input {position}");
        // SAFETY: in range; the host vouches for the table.
        unsafe { &*self.first.byte_add(position * self.stride) }
    }

    /// The shape of an input.
    ///
    /// # Panics
    /// When there is none at this position.
    pub fn shape(&self, position: usize) -> &'a Shape {
        // SAFETY: `Shape` is `repr(transparent)` over the wire struct.
        unsafe { &*std::ptr::from_ref(&self.raw(position).shape).cast() }
    }

    /// The bytes of an input in host memory; `None` if it is absent, a released constant, or only
    /// in a handle.
    pub fn bytes(&self, position: usize) -> Option<&'a [u8]> {
        if position >= self.len {
            return None;
        }
        let raw = self.raw(position);
        if raw.data.is_null() && (raw.byte_len > 0 || !raw.handle.is_null()) {
            return None;
        }
        // SAFETY: the host gives `byte_len` readable bytes, which nobody writes during the call.
        Some(unsafe { slice(raw.data.cast_const().cast(), raw.byte_len) })
    }

    /// The elements of an input in host memory.
    ///
    /// # Errors
    /// When [`bytes`](Self::bytes) finds none, or they are not aligned.
    pub fn elements<T: crate::Element>(&self, position: usize) -> Result<&'a [T]> {
        self.bytes(position)
            .and_then(crate::cast_slice)
            .ok_or_else(|| {
                BackendError::invalid_argument(format!(
                    "input {position} is not in aligned host memory"
                ))
            })
    }
}

/// The outputs of one call. Nothing else refers to their memory during the call.
pub struct Outputs<'a> {
    first: *mut sys::ArmnnTensor,
    len: usize,
    stride: usize,
    lifetime: PhantomData<&'a UnsafeCell<()>>,
}

impl<'a> Outputs<'a> {
    pub(crate) unsafe fn from_raw(first: *mut sys::ArmnnTensor, len: usize, stride: usize) -> Self {
        Self {
            first,
            len,
            stride,
            lifetime: PhantomData,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An output as it came over the wire.
    ///
    /// # Panics
    /// When there is none at this position.
    pub fn raw(&self, position: usize) -> &sys::ArmnnTensor {
        assert!(position < self.len, "there is no output {position}");
        // SAFETY: in range; the host vouches for the table.
        unsafe { &*self.first.byte_add(position * self.stride) }
    }

    /// The shape of an output.
    ///
    /// # Panics
    /// When there is none at this position.
    pub fn shape(&self, position: usize) -> Shape {
        Shape::from_raw(&self.raw(position).shape).unwrap_or(Shape::SCALAR)
    }

    fn shape_is_known(&self, position: usize) -> bool {
        Shape::from_raw(&self.raw(position).shape).is_some_and(|shape| shape.is_known())
    }

    /// The bytes of an output in host memory; `None` if it is only in a handle, or its shape was
    /// unknown and [`allocate_output`](super::ExecutionContext::allocate_output) was not called.
    /// Their contents are arbitrary.
    pub fn bytes_mut(&mut self, position: usize) -> Option<&mut [u8]> {
        if position >= self.len {
            return None;
        }
        let raw = self.raw(position);
        let (data, len) = (raw.data, raw.byte_len);
        if len == 0 {
            // Without elements, or without memory so far.
            let is_there = !data.is_null() || self.shape_is_known(position);
            return is_there.then_some(&mut []);
        }
        if data.is_null() {
            return None;
        }
        // SAFETY: the host gives `byte_len` initialised bytes to this call alone, no two outputs
        // overlap, and `self` is borrowed while they are.
        Some(unsafe { std::slice::from_raw_parts_mut(data.cast(), len) })
    }

    /// The elements of an output in host memory.
    ///
    /// # Errors
    /// When [`bytes_mut`](Self::bytes_mut) finds none, or they are not aligned.
    pub fn elements_mut<T: crate::Element>(&mut self, position: usize) -> Result<&mut [T]> {
        self.bytes_mut(position)
            .and_then(crate::cast_slice_mut)
            .ok_or_else(|| {
                BackendError::invalid_argument(format!(
                    "output {position} is not in aligned host memory"
                ))
            })
    }
}

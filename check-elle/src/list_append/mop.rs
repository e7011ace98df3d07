//! A micro-op: it appends an element or reads a list.

use crate::ids::{ElemId, StateId};
use crate::txn::mop;

pub(crate) type Mop = mop::Mop<ElemId, StateId>;
pub(crate) type What = mop::What<ElemId, StateId>;

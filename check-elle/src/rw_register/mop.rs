//! A micro-op: it writes or reads a version.

use crate::ids::VersionId;
use crate::txn::mop;

pub(crate) type Mop = mop::Mop<VersionId, VersionId>;
pub(crate) type What = mop::What<VersionId, VersionId>;

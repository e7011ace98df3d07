//! Containers of EDN, item by item, as serde passes them.

use super::{EdnError, Place, name, serializer};
use serde::ser::{self, Serialize};

/// A container whose items are being written.
pub(super) struct Items<'a> {
    out: &'a mut String,
    empty: bool,
    close: &'static str,
    /// Whether this is a tagged value, whose first field is the tag.
    tagged: bool,
}

impl<'a> Items<'a> {
    pub(super) fn open(out: &'a mut String, open: &str, close: &'static str) -> Items<'a> {
        out.push_str(open);
        Items { out, empty: true, close, tagged: false }
    }

    /// Begins a tagged value: its tag, then its value.
    pub(super) fn tagged(out: &'a mut String) -> Items<'a> {
        Items { out, empty: true, close: "", tagged: true }
    }

    fn next(&mut self, separator: &str) {
        if !std::mem::take(&mut self.empty) {
            self.out.push_str(separator);
        }
    }

    fn item<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), EdnError> {
        self.next(" ");
        item.serialize(serializer(self.out, Place::Value))
    }

    pub(super) fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), EdnError> {
        if self.tagged {
            let place = if key == "tag" { Place::Tag } else { Place::Value };
            return value.serialize(serializer(self.out, place));
        }
        self.next(", ");
        name(self.out, key)?;
        self.out.push(' ');
        value.serialize(serializer(self.out, Place::Value))
    }

    pub(super) fn finish(self) {
        self.out.push_str(self.close);
    }
}

/// Implements a serde trait that passes the items of a sequence.
macro_rules! items {
    ($($of:ident :: $item:ident),*) => {$(
        impl ser::$of for Items<'_> {
            type Ok = ();
            type Error = EdnError;

            fn $item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EdnError> {
                self.item(value)
            }

            fn end(self) -> Result<(), EdnError> {
                self.finish();
                Ok(())
            }
        }
    )*};
}

items!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

impl ser::SerializeMap for Items<'_> {
    type Ok = ();
    type Error = EdnError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), EdnError> {
        self.next(", ");
        key.serialize(serializer(self.out, Place::Key))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EdnError> {
        self.out.push(' ');
        value.serialize(serializer(self.out, Place::Value))
    }

    fn end(self) -> Result<(), EdnError> {
        self.finish();
        Ok(())
    }
}

impl ser::SerializeStruct for Items<'_> {
    type Ok = ();
    type Error = EdnError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), EdnError> {
        self.field(key, value)
    }

    fn end(self) -> Result<(), EdnError> {
        self.finish();
        Ok(())
    }
}

impl ser::SerializeStructVariant for Items<'_> {
    type Ok = ();
    type Error = EdnError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), EdnError> {
        self.field(key, value)
    }

    fn end(self) -> Result<(), EdnError> {
        self.finish();
        Ok(())
    }
}

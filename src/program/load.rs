//! Numbers of weights, read from the file on demand.

use crate::{ArrayType, DataBeside, ProgramParameter, Value, WeightData, numbers_of_bytes};
use crate::{ImportError, Place};
use ns_base::convert::u64_to_i64;
use ns_base::{Refusal, refuse};
use ns_container::ByteSource;

/// The numbers of a parameter; `None` if the file does not hold them. Fails when they extend past the end of the file, or when
/// their element type is not supported.
pub fn load_parameter(bytes: &dyn ByteSource, parameter: &ProgramParameter) -> Result<Option<Value>, ImportError> {
    let wrong =
        |error: Refusal| ImportError::at(Place::Node(parameter.name.clone()), error.advise("save the model again"));
    match &parameter.data {
        WeightData::Absent => Ok(None),
        WeightData::Inline(value) => Ok(Some((**value).clone())),
        WeightData::InFile { offset, len, strides } => {
            let wanted = usize::try_from(*len).unwrap_or(usize::MAX);
            let raw = bytes.slice(*offset, wanted).map_err(|e| wrong(refuse!("its numbers cannot be read: {e}")))?;
            if raw.len() != wanted {
                return Err(wrong(refuse!("its {len} bytes at byte {offset} run past the end of the file")));
            }
            value_of_bytes(&parameter.ty, &raw, strides).map(Some).map_err(wrong)
        }
        WeightData::Beside(data) => {
            let raw = data.bytes(bytes).map_err(wrong)?;
            value_of_bytes(&parameter.ty, &raw, &[]).map(Some).map_err(wrong)
        }
    }
}

impl DataBeside {
    /// The file's path from the folder of the model; `None` if it leads out of it.
    pub fn path(&self) -> Option<String> {
        path_inside(&self.file)
    }

    /// The file with the numbers, if they are all there; `model` is the file of the model. Fails when the file is not beside the
    /// model, is outside of its folder, or is too short.
    pub fn source<'m>(&self, model: &'m dyn ByteSource) -> Result<Box<dyn ByteSource + 'm>, Refusal> {
        let Self { file, offset, len } = self;
        let Some(path) = self.path() else {
            return Err(refuse!(
                instead = "move it beside the model and save the model with that place",
                "its numbers are in {file:?}, which is outside of the model's folder"
            ));
        };
        let Some(source) = model.beside(&path) else {
            return Err(refuse!(
                instead = "put it there; on the page, open both files together",
                "its numbers are in {path}, which is not beside the model"
            ));
        };
        let size = source.size();
        if offset.saturating_add(*len) > size {
            return Err(refuse!(
                instead = "copy the file again",
                "its {len} bytes at byte {offset} of {path} run past the end of that file, which has {size}"
            ));
        }
        Ok(source)
    }

    /// The numbers' bytes. Fails as [`Self::source`], or when the file cannot be read.
    pub fn bytes(&self, model: &dyn ByteSource) -> Result<Vec<u8>, Refusal> {
        let wanted = usize::try_from(self.len).unwrap_or(usize::MAX);
        let raw = self.source(model)?.slice(self.offset, wanted);
        let raw = raw.map_err(|e| refuse!("its numbers in {} cannot be read: {e}", self.file))?;
        if raw.len() == wanted { Ok(raw) } else { Err(refuse!("its numbers in {} are cut off", self.file)) }
    }
}

/// A path of a model file from its folder, with `/` between its parts; `None` if it leads out of the folder.
fn path_inside(file: &str) -> Option<String> {
    let parts: Vec<&str> = file.split(['/', '\\']).collect();
    let is_absolute = parts.len() > 1 && parts[0].is_empty() || parts[0].ends_with(':');
    let inside: Vec<&str> = parts.into_iter().filter(|part| !matches!(*part, "" | ".")).collect();
    (!is_absolute && !inside.is_empty() && !inside.contains(&"..")).then(|| inside.join("/"))
}

/// Little-endian numbers as a value. `strides` are distances between neighbours in elements; `None` for row-major order. Fails when
/// there are too few bytes or the element type is not supported.
pub fn value_of_bytes(ty: &ArrayType, raw: &[u8], strides: &[i64]) -> Result<Value, Refusal> {
    let size = usize::try_from(ty.element.bits() / 8).unwrap_or(0);
    if size == 0 {
        return Err(refuse!("numbers of type {} are not read", ty.element));
    }
    let elements =
        ty.elements().and_then(|n| usize::try_from(n).ok()).ok_or_else(|| refuse!("it has too many elements"))?;
    let wrong = || refuse!("its bytes are not those of {ty}");
    let numbers = if strides.is_empty() {
        if elements.checked_mul(size) != Some(raw.len()) {
            return Err(refuse!("{} bytes are not those of {ty}", raw.len()));
        }
        numbers_of_bytes(ty.element, raw)
    } else {
        let bytes_of = |i: usize| {
            let at = place(i, &ty.dims, strides)?;
            raw.get(at.checked_mul(size)?..(at + 1).checked_mul(size)?)
        };
        let in_order: Option<Vec<&[u8]>> = (0..elements).map(bytes_of).collect();
        numbers_of_bytes(ty.element, &in_order.ok_or_else(wrong)?.concat())
    };
    Ok(Value { ty: ty.clone(), numbers: numbers.ok_or_else(wrong)? })
}

/// Position of the `i`-th element in row-major order.
fn place(i: usize, dims: &[u64], strides: &[i64]) -> Option<usize> {
    let mut rest = i as u64;
    let mut at = 0i64;
    for (&n, &stride) in dims.iter().zip(strides).rev() {
        at = at.checked_add(stride.checked_mul(u64_to_i64(rest % n.max(1)))?)?;
        rest /= n.max(1);
    }
    usize::try_from(at).ok()
}

#[cfg(test)]
mod tests {
    use super::{ArrayType, path_inside, value_of_bytes};
    use crate::{ElementType, Numbers};

    #[test]
    fn a_path_stays_in_the_folder_of_the_model() {
        let inside = ["w.bin", "./weights/w.bin", "weights\\w.bin", "a//b"].map(|path| path_inside(path).unwrap());
        assert_eq!(inside, ["w.bin", "weights/w.bin", "weights/w.bin", "a/b"]);
        for outside in ["/etc/w", "../w", "a/../../w", "C:\\w", "C:/w", "\\\\host\\w", "", ".", "a/.."] {
            assert_eq!(path_inside(outside), None, "{outside}");
        }
    }

    #[test]
    fn numbers_are_read_by_their_strides() {
        let ty = ArrayType::new(ElementType::S16, [2, 2]);
        let raw = [1, 0, 0xff, 0xff, 3, 0, 4, 0];
        assert_eq!(value_of_bytes(&ty, &raw, &[]).unwrap().numbers, Numbers::Whole(vec![1, -1, 3, 4]));
        assert_eq!(value_of_bytes(&ty, &raw, &[1, 2]).unwrap().numbers, Numbers::Whole(vec![1, 3, -1, 4]));
        assert!(value_of_bytes(&ty, &raw[..6], &[]).is_err());
        assert!(value_of_bytes(&ty, &raw, &[9, 1]).is_err());
    }
}

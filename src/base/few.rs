//! A map of a few entries.

/// A map of so few entries that looking through all of them is as fast as a tree, and takes a hundredth of its code. Entries keep the
/// order in which they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Few<K, V>(Vec<(K, V)>);

impl<K, V> Default for Few<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: PartialEq, V> Few<K, V> {
    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, value)| value)
    }

    /// Puts a value in place of the key's, if it has one.
    pub fn insert(&mut self, key: K, value: V) {
        match self.0.iter_mut().find(|(k, _)| *k == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
    }

    /// Takes the value of a key away.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let at = self.0.iter().position(|(k, _)| k == key)?;
        Some(self.0.remove(at).1)
    }

    /// Keys and values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &(K, V)> {
        self.0.iter()
    }

    /// Number of entries.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K, V> IntoIterator for Few<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_replaced_and_the_others_keep_their_order() {
        let mut few = Few::default();
        [(3, "a"), (1, "b"), (2, "c"), (1, "d")].into_iter().for_each(|(key, value)| few.insert(key, value));
        assert_eq!((few.get(&1), few.get(&9), few.len()), (Some(&"d"), None, 3));
        assert_eq!((few.remove(&3), few.remove(&3)), (Some("a"), None));
        assert_eq!(few.into_iter().collect::<Vec<_>>(), [(1, "d"), (2, "c")]);
    }
}

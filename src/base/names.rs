//! Enums whose variants have texts.

/// Declares an enum in which each variant has a text, so that a variant is written once. The items that follow from the variants stand
/// after the enum, as signatures; each of them can be left out, and has the attributes, the visibility and the name that are given:
///
/// - `const ALL: [Self; _];` lists the variants in the order of the enum.
/// - `const fn name(self) -> &'static str;` returns the text of a variant.
/// - `fn from_name(name: &str) -> Option<Self>;` finds the variant of a text. The compiler warns of two variants with one text.
///
/// ```
/// ns_base::names! {
///     /// A direction of sorting.
///     #[derive(Clone, Copy, Debug, PartialEq, Eq)]
///     pub enum Direction {
///         /// The smallest first.
///         Up = "ascending",
///         Down = "descending",
///     }
///
///     /// Both directions.
///     pub const ALL: [Self; _];
///     /// Its name in links.
///     pub const fn name(self) -> &'static str;
///     /// The direction with a name.
///     pub fn from_name(name: &str) -> Option<Self>;
/// }
/// ```
#[macro_export]
macro_rules! names {
    (@items [$($variant:ident $text:literal)+]) => {};

    (@items [$($variant:ident $text:literal)+]
        $(#[$meta:meta])* $vis:vis const $all:ident: [Self; _]; $($rest:tt)*
    ) => {
        $(#[$meta])*
        $vis const $all: [Self; [$($text),+].len()] = [$(Self::$variant),+];
        $crate::names!(@items [$($variant $text)+] $($rest)*);
    };

    (@items [$($variant:ident $text:literal)+]
        $(#[$meta:meta])* $vis:vis const fn $name:ident(self) -> &'static str; $($rest:tt)*
    ) => {
        $(#[$meta])*
        #[must_use]
        $vis const fn $name(self) -> &'static str {
            match self { $(Self::$variant => $text),+ }
        }
        $crate::names!(@items [$($variant $text)+] $($rest)*);
    };

    (@items [$($variant:ident $text:literal)+]
        $(#[$meta:meta])* $vis:vis fn $from_name:ident($name:ident: &str) -> Option<Self>; $($rest:tt)*
    ) => {
        $(#[$meta])*
        #[must_use]
        $vis fn $from_name($name: &str) -> Option<Self> {
            match $name {
                $($text => Some(Self::$variant),)+
                _ => None,
            }
        }
        $crate::names!(@items [$($variant $text)+] $($rest)*);
    };

    (
        $(#[$meta:meta])*
        $vis:vis enum $enum:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal),+ $(,)? }
        $($items:tt)+
    ) => {
        $(#[$meta])*
        $vis enum $enum { $($(#[$variant_meta])* $variant),+ }

        impl $enum {
            $crate::names!(@items [$($variant $text)+] $($items)+);
        }
    };
}

#[cfg(test)]
mod tests {
    names! {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        enum Direction {
            Up = "ascending",
            /// The attributes of a variant stay.
            #[default]
            Down = "descending",
        }

        const ALL: [Self; _];
        const fn word(self) -> &'static str;
        fn of_word(word: &str) -> Option<Self>;
    }

    #[test]
    fn texts_and_order_are_those_of_the_variants() {
        assert_eq!(Direction::ALL.map(Direction::word), ["ascending", "descending"]);
        assert!(Direction::Up < Direction::default());
        assert!(Direction::ALL.into_iter().all(|d| Direction::of_word(d.word()) == Some(d)));
        assert_eq!(Direction::of_word("Up"), None);
    }
}

//! The address in a file that shows its result live: a link of the page, below the place where the page is.

/// Address of the page of `neuronscope serve`, for files that the command line writes.
pub const LOCAL_PAGE: &str = "http://127.0.0.1:8080/";

/// The address of a link on the page at `base`; the part of `base` after a number sign is left out.
pub(crate) fn live_address(base: &str, hash: &str) -> String {
    let base = base.split('#').next().unwrap_or_default();
    format!("{base}{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_appended_to_the_address_of_the_page() {
        assert_eq!(live_address(LOCAL_PAGE, "#/profile?v=1"), "http://127.0.0.1:8080/#/profile?v=1");
        let base = "https://example.org/a/index.html?offline#/benchmark?v=1";
        assert_eq!(live_address(base, "#/"), "https://example.org/a/index.html?offline#/");
    }
}

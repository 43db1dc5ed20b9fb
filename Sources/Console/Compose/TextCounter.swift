/// Counts the characters and bytes of a text while it is typed: the script `compose.js` fills in both numbers.
struct TextCounter: Sendable {
    /// The largest payload that the text can be part of, in bytes.
    let limit: Int

    /// The values of the template `text-counter`.
    ///
    /// - Parameter id: that of the element with the text.
    func values(of id: String, _ catalogue: Catalogue) -> PageValue {
        let words = catalogue.text(.counterWords, "{0}", "{1}", Figures.count(Int64(limit)))
        return .group(["counted": .text(id), "limit": .text("\(limit)"), "words": .text(words)])
    }
}

/// Reasons that come from outside, made fit to be stored.
enum ReasonText {
    /// A reason longer than this is cut, in bytes; the longest that a gateway documents has 31.
    static let maximumBytes = 200

    /// The text without NUL bytes, which PostgreSQL does not store, cut to a storable length.
    static func storable(_ text: String) -> String {
        if text.utf8.count <= maximumBytes, !text.utf8.contains(0) { return text }
        var result = ""
        for character in text where character != "\0" {
            if result.utf8.count + character.utf8.count > maximumBytes { break }
            result.append(character)
        }
        return result
    }
}

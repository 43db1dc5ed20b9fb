/// The rules for bundle ids and package names. A bundle id is part of a header of every request.
package enum BundleID {
    /// The maximum length in bytes, far more than any app store accepts; Apple's limit is 155.
    private static let maxBytes = 255

    /// What is wrong with a bundle id or package name and what to do; nil if it is valid.
    package static func problem(_ text: String, _ platform: Platform) -> String? {
        let (name, mark, words) =
            switch platform {
            // Apple, "CFBundleIdentifier".
            case .ios: ("bundle id", "-", "hyphens")
            // Google, "Set the application ID".
            case .android: ("package name", "_", "underscores")
            }
        let isRight = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."):
                true
            default: mark.utf8.first == byte
            }
        }
        guard !isRight || text.isEmpty || text.utf8.count > maxBytes else { return nil }
        return
            "the \(name) is \(text.isEmpty ? "empty" : "not valid"): give 1 to \(maxBytes) letters, "
            + "digits, dots and \(words), as in com.example.app"
    }
}

/// HTML or SVG that was made here.
struct Markup: Sendable {
    private(set) var text: String

    init(trusted text: String) { self.text = text }

    /// Text from other sources, safe within markup.
    static func escaped(_ text: String) -> String {
        // By scalars: a combining mark would turn a special character into another one.
        text.unicodeScalars.reduce(into: "") { shown, scalar in
            switch scalar {
            case "&": shown += "&amp;"
            case "<": shown += "&lt;"
            case ">": shown += "&gt;"
            case "\"": shown += "&quot;"
            case "'": shown += "&#39;"
            default: shown.unicodeScalars.append(scalar)
            }
        }
    }

    private static let special: Set<Unicode.Scalar> = ["&", "<", ">", "\"", "'"]

    /// Text that swift-mustache can escape. It compares whole characters (`htmlEscape`, 2.1.1), and a combining mark
    /// merges with a special character: U+0301 after it, or U+0600 before it. A zero-width space keeps them apart.
    static func separated(_ text: String) -> String {
        guard
            text.contains(where: { $0.unicodeScalars.count > 1 && $0.unicodeScalars.contains(where: special.contains) })
        else { return text }
        return text.unicodeScalars.reduce(into: "") { shown, scalar in
            let isSpecial = special.contains(scalar)
            if isSpecial { shown.unicodeScalars.append("\u{200B}") }
            shown.unicodeScalars.append(scalar)
            if isSpecial { shown.unicodeScalars.append("\u{200B}") }
        }
    }
}

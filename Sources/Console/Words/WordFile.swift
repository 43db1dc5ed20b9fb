/// The texts of a language by name, from a file of ``ConsoleFile``.
///
/// A line is `name = text`. A line that begins with a blank continues the text before it, after a blank. Lines with
/// `#` in front are comments. A text that depends on a number has the plural form at the end of its name, see
/// ``PluralForm``.
struct WordFile: Sendable {
    let texts: [String: String]

    init(_ file: String) {
        var texts: [String: String] = [:]
        var name = ""
        for line in file.split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix(" ") {
                texts[name, default: ""] += " " + line.drop { $0 == " " }
            } else if let sign = line.firstRange(of: " = ") {
                name = String(line[..<sign.lowerBound])
                texts[name] = String(line[sign.upperBound...])
            }
        }
        self.texts = texts
    }
}

/// The plural form of a text, named as in Unicode's plural rules.
enum PluralForm: String, CaseIterable {
    case one, other
}

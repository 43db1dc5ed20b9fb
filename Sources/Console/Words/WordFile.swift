/// The texts of a language by their names, as a file of ``ConsoleFile`` has them.
///
/// A line is `name = text`; one that begins with a blank goes on with the text before, after a blank. Lines with `#` in front are for
/// people. The name of a text that depends on a number ends with the form, see ``PluralForm``.
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

/// The form of a text that goes with a number, by the names of Unicode's plural rules.
enum PluralForm: String, CaseIterable {
    case one, other
}

import Mustache
import Store

/// What a template shows, by name. Everything is escaped where it is shown, but drawings.
typealias PageValues = [String: PageValue]

/// A value of a template.
enum PageValue: Sendable {
    /// A text, which may come from anybody.
    case text(String)
    /// A drawing that was made here: markup, with its texts escaped already.
    case drawing(Markup)
    /// Whether a section is shown.
    case flag(Bool)
    /// A section that is shown once, with values of its own.
    case group(PageValues)
    /// A section that is shown for each.
    case list([PageValues])

    /// As swift-mustache takes it.
    var rendered: Any {
        switch self {
        case .text(let text): Markup.separated(text)
        case .drawing(let markup): markup.text
        case .flag(let flag): flag
        case .group(let values): values.rendered
        case .list(let rows): rows.map(\.rendered)
        }
    }
}

extension PageValues {
    /// As swift-mustache takes them.
    var rendered: [String: Any] { mapValues(\.rendered) }
}

extension PageValue: ExpressibleByStringInterpolation {
    init(stringLiteral value: String) { self = .text(value) }
}

/// HTML or SVG that was made here.
struct Markup: Sendable {
    private(set) var text: String

    init(trusted text: String) { self.text = text }

    /// Text of others as it may stand within markup.
    static func escaped(_ text: String) -> String {
        // By scalars: of a character, a mark that joins it would make another one.
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

    /// Text that swift-mustache can escape. It looks for whole characters (`htmlEscape`, 2.1.1), and a mark that joins HTML's, as U+0301 behind
    /// or U+0600 before it, makes one character of the two: a space of no width keeps them apart.
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

/// What limits the speed of a delivery or of an application, as pages show it: what binds now, then the rest.
enum LimitTables {
    static func values(_ limits: [LimitRow]) -> PageValues {
        // Most of them do not bind, and only say so.
        let binding = limits.filter(\.binds)
        let others = limits.filter { !$0.binds }
        var values: PageValues = ["hasLimits": .flag(!limits.isEmpty)]
        if !binding.isEmpty { values["binding"] = table(binding) }
        if !others.isEmpty { values["others"] = table(others) }
        return values
    }

    private static func table(_ limits: [LimitRow]) -> PageValue {
        .group([
            "limits": .list(
                limits.map { row in
                    [
                        "subject": .text(row.subject), "limit": .text(row.limit), "now": .text(row.now),
                        "most": .text(row.most), "setBy": .text(row.setBy), "why": .text(row.why),
                        "binds": .flag(row.binds),
                    ]
                }
            )
        ])
    }
}

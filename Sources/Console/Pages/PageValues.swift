import Mustache

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
        case .text(let text): text
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
        text.reduce(into: "") { shown, character in
            switch character {
            case "&": shown += "&amp;"
            case "<": shown += "&lt;"
            case ">": shown += "&gt;"
            case "\"": shown += "&quot;"
            case "'": shown += "&#39;"
            default: shown.append(character)
            }
        }
    }
}

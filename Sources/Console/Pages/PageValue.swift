/// A value of a template.
enum PageValue: Sendable {
    /// A text, possibly from an untrusted source.
    case text(String)
    /// A drawing made here: markup whose texts are already escaped.
    case drawing(Markup)
    /// Whether a section is shown.
    case flag(Bool)
    /// A section that is shown once, with its own values.
    case group(PageValues)
    /// A section that is shown once for each element.
    case list([PageValues])

    /// The value in swift-mustache's form.
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

extension PageValue: ExpressibleByStringInterpolation {
    init(stringLiteral value: String) { self = .text(value) }
}

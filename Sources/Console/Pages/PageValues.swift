import Mustache
import Store

/// What a template shows, by name. Everything but drawings is escaped when it is shown.
typealias PageValues = [String: PageValue]

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

extension PageValues {
    /// The values in swift-mustache's form.
    var rendered: [String: Any] { mapValues(\.rendered) }
}

extension PageValue: ExpressibleByStringInterpolation {
    init(stringLiteral value: String) { self = .text(value) }
}

/// What limits the speed of a delivery or an application, as pages show it: what binds now, then the rest.
enum LimitTables {
    static func values(_ limits: [LimitRow]) -> PageValues {
        // Most limits do not bind, and only say so.
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
                        "most": .text(row.maximum), "setBy": .text(row.setBy), "why": .text(row.why),
                        "binds": .flag(row.binds),
                    ]
                }
            )
        ])
    }
}

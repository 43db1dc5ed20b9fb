/// A test of what people did: whether they were sent deliveries, received or clicked them.
///
/// The history that it asks has whole days of UTC, and only of services that keep one.
package struct TargetBehaviour: Sendable, Hashable, CustomStringConvertible {
    /// What they did.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A gateway has accepted a message for them.
        case sent
        case received
        case clicked
    }

    /// The deliveries that it is about.
    package enum Subject: Sendable, Hashable {
        case any
        case delivery(Int64)
        /// All deliveries with this label.
        case label(String)
        /// All deliveries of this category of the service.
        case category(String)

        /// The words for it in a filter.
        package enum Word: String, Sendable, Hashable, CaseIterable {
            case delivery
            case label
            case category
            case any
        }

        package var word: Word {
            switch self {
            case .any: .any
            case .delivery: .delivery
            case .label: .label
            case .category: .category
            }
        }

        /// Its number or name; nil for any.
        package var value: String? {
            switch self {
            case .any: nil
            case .delivery(let id): String(id)
            case .label(let name), .category(let name): name
            }
        }
    }

    package let kind: Kind
    package let subject: Subject
    /// In how many days before the delivery's start; nil for the whole history.
    package let days: Int?

    package init(_ kind: Kind, _ subject: Subject, days: Int? = nil) {
        self.kind = kind
        self.subject = subject
        self.days = days
    }

    /// How many days the history has.
    package static let maxDays = 180

    /// The test in the filter language.
    package var description: String {
        let name =
            switch subject {
            case .any: ""
            case .delivery(let id): " \(id)"
            case .label(let name), .category(let name): " " + TargetFilter.quoted(name)
            }
        return "\(kind.rawValue) \(subject.word.rawValue)\(name)" + (days.map { " within \($0) days" } ?? "")
    }
}

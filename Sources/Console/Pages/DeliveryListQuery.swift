import PushCore
import Store

/// The filter of the list of deliveries as a link says it.
struct DeliveryListQuery: Sendable {
    /// The names of the parameters, which are those of the form's fields.
    enum Name {
        static let (text, state, service, application) = ("text", "state", "service", "application")
        static let (category, author, since, until) = ("category", "author", "since", "until")
        static let (list, seed, sort, after) = ("list", "seed", "sort", "after")
        /// The choice that stands beside the states.
        static let archived = "archived"
    }

    /// A search text is at most as long as a label.
    static let maxTextLength = 500
    /// The moments that PostgreSQL accepts: up to the year 9999.
    private static let moments: ClosedRange<Int64> = 0...253_402_300_800_000_000
    /// Between the value and the id of a place; no browser encodes it.
    private static let separator: Character = "~"

    var filter: DeliveryFilter
    /// Whether a day was given that is none.
    let hasWrongDay: Bool

    init(_ query: FormParameters) {
        func text(_ name: String, _ limit: Int = NameRule.maxNameLength) -> String {
            String((query[name] ?? "").prefix(limit))
        }
        filter = DeliveryFilter(
            state: query[Name.state].flatMap { DeliveryState(rawValue: $0) },
            application: text(Name.application),
            text: text(Name.text, Self.maxTextLength)
        )
        filter.isArchived = query[Name.state] == Name.archived
        filter.approval = query[Name.state].flatMap { DeliveryFilter.Approval(rawValue: $0) }
        filter.service = text(Name.service)
        filter.category = text(Name.category)
        filter.author = text(Name.author)
        filter.exclusionList = text(Name.list)
        filter.seed = text(Name.seed)
        filter.sort = query[Name.sort].flatMap { DeliveryFilter.Sort(rawValue: $0) } ?? .date
        let days = [text(Name.since), text(Name.until)]
        // PostgreSQL has no year 0.
        let right = days.map { RecurrenceRule.isDate($0) && $0 > "1" ? $0 : "" }
        (filter.since, filter.until) = (right[0], right[1])
        hasWrongDay = days != right
        filter.after = Self.place(query[Name.after] ?? "", filter.sort)
    }

    /// Whether the filter leaves something out.
    var isFiltered: Bool {
        var all = DeliveryFilter()
        (all.sort, all.after) = (filter.sort, filter.after)
        return filter != all
    }

    /// The query of its first page; "" for the whole list.
    var text: String { text(after: nil) }

    /// The query of the page after a place.
    func text(after place: DeliveryFilter.Place?) -> String {
        let state = filter.approval?.rawValue ?? filter.state?.rawValue ?? ""
        let pairs: [(String, String)] = [
            (Name.text, filter.text), (Name.state, filter.isArchived ? Name.archived : state),
            (Name.service, filter.service), (Name.application, filter.application), (Name.category, filter.category),
            (Name.author, filter.author), (Name.since, filter.since), (Name.until, filter.until),
            (Name.list, filter.exclusionList), (Name.seed, filter.seed),
            (Name.sort, filter.sort == .date ? "" : filter.sort.rawValue), (Name.after, place.map(Self.written) ?? ""),
        ]
        return pairs.filter { !$0.1.isEmpty }.map { "\($0.0)=\(SignIn.encoded($0.1))" }.joined(separator: "&")
    }

    /// The path of the page after a place.
    func path(after place: DeliveryFilter.Place? = nil) -> String {
        let query = text(after: place)
        return DeliveryListPage.path + (query.isEmpty ? "" : "?" + query)
    }

    /// The path of the list of the deliveries that use an exclusion list, or name a seed address.
    static func path(exclusionList: String = "", seed: String = "") -> String {
        var query = DeliveryListQuery(FormParameters())
        (query.filter.exclusionList, query.filter.seed) = (exclusionList, seed)
        return query.path()
    }

    private static func written(_ place: DeliveryFilter.Place) -> String {
        switch place {
        case .date(let moment, let delivery): "\(moment.microsecondsSince1970)\(separator)\(delivery)"
        case .value(let value, let delivery): "\(value)\(separator)\(delivery)"
        }
    }

    private static func place(_ text: String, _ sort: DeliveryFilter.Sort) -> DeliveryFilter.Place? {
        let parts = text.split(separator: separator)
        guard parts.count == 2, let delivery = Int64(parts[1]) else { return nil }
        switch sort {
        case .date:
            guard let moment = Int64(parts[0]), moments.contains(moment) else { return nil }
            return .date(DatabaseTime(microsecondsSince1970: moment), delivery: delivery)
        case .sent, .clickRate:
            guard let value = Double(parts[0]), value.isFinite else { return nil }
            return .value(value, delivery: delivery)
        }
    }
}

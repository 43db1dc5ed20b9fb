import PushCore
import TestSupport

/// Creates random filters, and values for them.
struct FilterGenerator {
    private var random: TestRandom

    init(seed: UInt64) { random = TestRandom(seed: seed) }

    mutating func below(_ bound: Int) -> Int { random.below(bound) }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// Times as people write them, with their microseconds since 1970.
    static let times: [String: Int64] = [
        "2026-01-31": 1_769_817_600_000_000, "2026-01-31T10:00:00+02:00": 1_769_846_400_000_000,
        "2026-01-31 08:00Z": 1_769_846_400_000_000, "1999-12-31T23:59:59.999999": 946_684_799_999_999,
        "0001-01-01": -62_135_596_800_000_000,
    ]

    /// Texts, including some that only look like numbers and times.
    static let texts =
        [
            "", "Lyon", "lyon", "Lyonnais", "Oslo", "Malmö", "Malmo\u{308}", "O'Hara", "日本", "a%b_c\\", "10", "9", "09",
            "-1.5", "+7",
            "7", "7.0", "1e5", "1.", "true", "false", "True", "2026-02-30", "2026-01-31T25:00", "0000-01-01", "'", "\"",
            "$1", ";--",
        ] + times.keys.sorted()
    static let numbers = ["10", "9", "-1.5", "7", "7.00", "0", "100000", "8.25"]

    static let textFields: [TargetField] = [
        .recipient("city"), .recipient("it's \"odd\""), .parameter("tier"), .device("model"), .column(.userKey),
        .column(.locale), .mapping("name"), .mapping("sel\"ect"),
    ]
    static let numberFields: [TargetField] = [
        .column(.subscriptionID), .column(.softErrors), .mapping("age"), .mapping("score"),
    ]
    static let booleanFields: [TargetField] = [.column(.optedOut), .mapping("vip")]
    static let timeFields: [TargetField] = [
        .column(.registeredAt), .column(.lastErrorAt), .mapping("born"), .mapping("joined"),
    ]
    static let choiceFields: [(TargetField, [String])] = [
        (.column(.quarantineStatus), ["valid", "with_errors", "quarantine", "denylisted"]),
        (.column(.platform), ["ios", "android"]), (.column(.application), ["shop-ios", "shop-android"]),
        (.column(.environment), ["sandbox", "production"]),
    ]

    /// A filter with at most this many levels.
    mutating func filter(depth: Int) -> TargetFilter {
        guard depth > 0, below(3) > 0 else { return test() }
        switch below(3) {
        case 0: return .not(filter(depth: depth - 1))
        case 1: return .all(chain(depth).flatMap { if case .all(let inner) = $0 { inner } else { [$0] } })
        default: return .any(chain(depth).flatMap { if case .any(let inner) = $0 { inner } else { [$0] } })
        }
    }

    private mutating func chain(_ depth: Int) -> [TargetFilter] {
        (0..<2 + below(3)).map { _ in filter(depth: depth - 1) }
    }

    private mutating func test() -> TargetFilter {
        switch below(10) {
        case 0: return .isNull(pick(Self.textFields + Self.numberFields + Self.booleanFields + Self.timeFields))
        case 1: return .contains(pick(Self.textFields), pick(Self.texts))
        case 2: return .startsWith(pick(Self.textFields), pick(Self.texts))
        case 3:
            let (field, choices) = pick(Self.choiceFields)
            return .compare(field, pick([.equal, .notEqual]), .text(pick(choices)))
        default:
            let (field, kinds): (TargetField, [TargetKind]) =
                switch below(6) {
                case 0: (pick(Self.numberFields), [.number])
                case 1: (pick(Self.booleanFields), [.boolean])
                case 2: (pick(Self.timeFields), [.time])
                default: (pick(Self.textFields), [.text, .text, .number, .boolean, .time])
                }
            let kind = pick(kinds)
            if below(4) == 0 {
                return .isIn(field, (0..<1 + below(5)).map { _ in literal(kind, of: field, moving: false) })
            }
            let comparison =
                kind == .boolean ? pick([TargetComparison.equal, .notEqual]) : pick(TargetComparison.allCases)
            return .compare(field, comparison, literal(kind, of: field, moving: true))
        }
    }

    private mutating func literal(_ kind: TargetKind, of field: TargetField, moving: Bool) -> TargetLiteral {
        switch kind {
        case .text:
            let text = pick(Self.texts)
            guard case .mapping = field, let moment = Self.times[text] else { return .text(text) }
            return .textOrTime(text, microseconds: moment)
        case .number: return .number(pick(Self.numbers))
        case .boolean: return .boolean(below(2) == 0)
        case .time:
            if moving, below(2) == 0 { return .time(.beforeStart(seconds: Int64(below(60) - 10) * 86_400)) }
            return .time(.absolute(microseconds: pick(Self.times.values.sorted())))
        }
    }
}

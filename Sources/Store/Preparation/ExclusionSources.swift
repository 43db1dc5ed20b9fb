/// By what the exclusions of a delivery name people: a statement looks up only what there can be.
struct ExclusionSources: OptionSet, Sendable, Hashable {
    let rawValue: Int

    /// Lists with names, which may get entries of every kind at any time.
    static let lists = ExclusionSources(rawValue: 1)
    /// In `pushmta.delivery_exclusion`, which is frozen with the delivery's start.
    static let users = ExclusionSources(rawValue: 2)
    static let subscriptions = ExclusionSources(rawValue: 4)
    static let tokens = ExclusionSources(rawValue: 8)

    /// The columns by which people are named, and those of a subscription that they stand for.
    private static let keys: [(source: ExclusionSources, column: String, key: String)] = [
        (.users, "user_key", "user_key"), (.subscriptions, "subscription_id", "id"),
        (.tokens, "push_token", "push_token"),
    ]

    /// The sources that delivery `d` has, as one number.
    static let columnSQL: String = {
        let own = keys.map { source, column, _ in
            """
            + CASE WHEN EXISTS (SELECT FROM pushmta.delivery_exclusion e WHERE e.delivery_id = d.id AND e.\(column) IS NOT NULL)
                THEN \(source.rawValue) ELSE 0 END
            """
        }
        return """
            CASE WHEN EXISTS (SELECT FROM pushmta_engine.delivery_exclusion_list l WHERE l.delivery_id = d.id)
                THEN \(lists.rawValue) ELSE 0 END \(own.joined(separator: " "))
            """
    }()

    /// Whether alias `subject`, a subscription, is excluded from delivery $1; nil if nobody can be.
    func condition(subject: String) -> String? {
        var tests: [String] = []
        for (_, column, key) in Self.keys where contains(.lists) {
            tests.append(
                """
                EXISTS (SELECT FROM pushmta_engine.delivery_exclusion_list l JOIN pushmta_engine.exclusion_entry e
                    ON e.list_id = l.list_id AND e.\(column) = \(subject).\(key) WHERE l.delivery_id = $1)
                """
            )
        }
        for (source, column, key) in Self.keys where contains(source) {
            tests.append(
                """
                EXISTS (SELECT FROM pushmta.delivery_exclusion e WHERE e.delivery_id = $1 AND e.\(column) = \(subject).\(key))
                """
            )
        }
        return tests.isEmpty ? nil : "(" + tests.joined(separator: " OR ") + ")"
    }

    /// The columns of a subscription that the condition reads.
    var columns: Set<String> {
        Set(Self.keys.filter { contains($0.source) || contains(.lists) }.map(\.key))
    }
}

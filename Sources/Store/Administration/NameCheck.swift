import PushCore

/// Refuses names before they reach the database, whose rules say only that one was broken.
enum NameCheck {
    /// Throws `invalid` for what cannot be the name of a thing such as "service", with the cause and the rule.
    static func name(_ name: String, of thing: String) throws {
        guard let problem = NameRule.problem(name: name) else { return }
        throw StoreError(.invalid, "The name of the \(thing) \(problem).", hint: NameRule.nameWords)
    }

    /// The same for a label; nil is one that is not changed.
    static func label(_ label: String?, of thing: String) throws {
        guard let label, let problem = NameRule.problem(label: label) else { return }
        throw StoreError(.invalid, "The label of the \(thing) \(problem).", hint: NameRule.labelWords)
    }

    /// The same for an integration key; nil is one that is not changed.
    static func integrationKey(_ key: String?) throws {
        guard let key, let problem = NameRule.problem(integrationKey: key) else { return }
        throw StoreError(
            .invalid,
            "The integration key \(problem).",
            hint: "\(NameRule.integrationKeyWords); leave the option out for a new one"
        )
    }

    /// Throws `invalid` for a validity that no delivery can have.
    static func validity(_ seconds: Int64?) throws {
        guard let seconds, let problem = DeliveryLimits.problem(validity: seconds) else { return }
        throw StoreError(
            .invalid,
            "No delivery can be made: \(problem).",
            hint: "a validity is \(DeliveryLimits.validityWords)"
        )
    }
}

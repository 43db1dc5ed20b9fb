import PushCore

/// Refuses names before they reach the database, whose constraints only say that one was violated.
enum NameCheck {
    /// Throws `invalid` for a text that cannot be the name of an object such as "service", with the cause and the rule.
    static func name(_ name: String, of thing: String) throws {
        guard let problem = NameRule.problem(name: name) else { return }
        throw StoreError(.invalid, "The name of the \(thing) \(problem).", hint: NameRule.nameWords)
    }

    /// The same for a label; nil is an unchanged one.
    static func label(_ label: String?, of thing: String) throws {
        guard let label, let problem = NameRule.problem(label: label) else { return }
        throw StoreError(.invalid, "The label of the \(thing) \(problem).", hint: NameRule.labelWords)
    }

    /// The same for an integration key; nil is an unchanged one.
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
        guard let seconds, let problem = DeliverySetting.validity.problem(seconds) else { return }
        throw StoreError(.invalid, "The delivery cannot be created: its validity of \(problem).")
    }
}

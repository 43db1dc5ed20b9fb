/// Whether a message of a part can still be sent, by the state of its subscription when it is loaded.
package enum LoadDecision: Int16, Sendable, CaseIterable {
    case sendable = 0
    /// The subscription was disabled (a newer one took its token, or the gateway refused it).
    case disabled = 1
    case optedOut = 2
    /// The subscription is in quarantine or on the deny list.
    case quarantined = 3
    /// The subscription does not exist any more.
    case missing = 4
    /// Send it, and report if it gets through: the subscription has soft errors, which that clears.
    case sendableWithErrors = 10
    /// The person opted out of the delivery's category.
    case categoryOptedOut = 11

    /// By the code of ``sql(_:)``. A subscription created for a seed address (9) that may not be sent to has lost its
    /// seed address, or its token's subscriber is no longer sent anything.
    init?(exclusion code: Int16) { self.init(rawValue: code == Store.seedExclusion ? Self.disabled.rawValue : code) }

    package var isSendable: Bool { self == .sendable || self == .sendableWithErrors }

    /// The decision on a subscription `s`, from its generated `exclusion`, which does not show soft errors.
    ///
    /// - Parameter readsCategory: whether to look up each subscription's opt-out from the delivery's category.
    static func sql(_ fields: MessageFields, readsCategory: Bool = true) -> String {
        var target = ChunkTarget()
        target.isOneTimeCode = fields.areOneTimeCodes
        target.categorySQL = readsCategory ? fields.category.map { "\($0)" } : nil
        // The first test is computed once for a statement: as long as nobody has opted out, messages cost nothing more.
        let isOptedOut = target.optOutSQL(of: "s").map { test in
            let category = target.categorySQL ?? "0"
            return """
                EXISTS (SELECT FROM pushmta_engine.category_opt_out x WHERE x.category_id = \(category)) AND \(test)
                """
        }
        let own = target.exclusionSQL(of: "s", isOptedOut: isOptedOut)
        return
            "CASE WHEN s.quarantine_status = 1 AND \(own) = 0 THEN \(sendableWithErrors.rawValue)::smallint ELSE \(own) END"
    }

    /// The reason that a `not_applicable` outcome is stored with; empty when sendable.
    package var reason: String {
        switch self {
        case .sendable, .sendableWithErrors: ""
        case .disabled: "subscription_disabled"
        case .optedOut: "opted_out"
        case .categoryOptedOut: "category_opted_out"
        case .quarantined: "quarantined"
        case .missing: "subscription_missing"
        }
    }
}

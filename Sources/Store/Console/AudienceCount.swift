import PostgresClient
import PushCore

/// How many subscriptions a target selects, as far as they were counted.
package struct AudienceCount: Sendable, Hashable {
    /// Subscriptions that would get a message.
    package let count: Int64
    /// Subscriptions that the target selects but that get no message: disabled, opted out, or in quarantine.
    package let excluded: Int64
    /// The error of an estimate, at 95 % confidence. Nil for a count.
    package let error: Int64?
    /// Whether the filter uses columns of a mapping, which only preparation reads; then nothing was counted.
    package let needsMapping: Bool

    init(
        count: Int64,
        excluded: Int64,
        error: Int64? = nil,
        needsMapping: Bool = false
    ) {
        self.count = count
        self.excluded = excluded
        self.error = error
        self.needsMapping = needsMapping
    }
}

extension Store {
    /// Counts the subscribers of applications that a filter selects, within the time for a page.
    ///
    /// Half of the time is for counting; what is left then is estimated from a sample in the other half, at least once.
    /// Exclusion lists, duplicate push tokens and what ``mayLeaveOut(applications:category:isOneTimeCode:)`` names are
    /// left to preparation. Throws ``StoreError`` of code `invalid` for a filter that compares incompatible values, or
    /// asks what people did although it is not kept.
    ///
    /// - Parameter isOneTimeCode: whether people who opted out count as reached.
    package func countAudience(
        _ filter: TargetFilter?,
        applications: [Int32],
        isOneTimeCode: Bool = false,
        within limit: Duration
    ) async throws -> AudienceCount {
        if let filter, !filter.mappingColumns.isEmpty {
            return AudienceCount(count: 0, excluded: 0, needsMapping: true)
        }
        let start = try await databaseClock()
        var target = ChunkTarget()
        target.isOneTimeCode = isOneTimeCode
        let services = filter?.asksBehaviour == true ? try await behaviourServices(applications: applications) : []
        func compiled(_ subscriptions: String) throws -> FilterSQL? {
            let behaviour = BehaviourScope(services: services, of: subscriptions)
            return try filter.map {
                try FilterSQL($0, firstParameter: 4, mapping: nil, start: start, behaviour: behaviour)
            }
        }
        let counter = AudienceCounter(
            store: self,
            exclusion: target.exclusionSQL(of: "s"),
            condition: try compiled("step"),
            sampled: try compiled("looked")
        )
        let deadline = ContinuousClock.now.advanced(by: limit)
        var counted = AudienceCounter.Sum()
        for (place, application) in applications.enumerated() {
            let (own, isWhole) = try await counter.count(application, until: deadline - limit / 2)
            guard isWhole else {
                return try await counter.estimate(
                    applications[place...].map { $0 },
                    beside: counted,
                    counted: own,
                    until: deadline
                )
            }
            counted.add(own)
        }
        return AudienceCount(count: counted.chosen, excluded: counted.excluded)
    }

    /// Whether a control group, a frequency cap or opt-outs from the category may leave people out of a delivery.
    package func mayLeaveOut(applications: [Int32], category: String?, isOneTimeCode: Bool) async throws -> Bool {
        try await query(
            "SELECT pushmta_engine.may_leave_out($1, $2::text, $3)",
            [.int32Array(applications), .textOrNull(category), .bool(isOneTimeCode)]
        ).one { try $0.bool() }
    }
}

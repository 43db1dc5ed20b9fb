import PostgresClient
import PushCore

/// How many messages a delivery would make now for an application.
package struct TargetCount: Sendable, Hashable, Encodable {
    package let application: String
    package let messages: Int64
    /// People that the target selects and that get no message.
    package let excluded: Int64
    /// Whether the numbers are estimated from a sample.
    package let estimate: Bool
    /// How far the number of messages may be off, at 95 % confidence. Nil for a count.
    package let error: Int64?

    package init(application: String, messages: Int64, excluded: Int64, error: Int64? = nil) {
        self.application = application
        self.messages = messages
        self.excluded = excluded
        self.error = error
        estimate = error != nil
    }

    /// Whether it is off by at most 2 %.
    var isPrecise: Bool { error.map { 50 * ($0 - 1) <= messages } ?? true }

    fileprivate init(_ row: inout RowReader) throws {
        application = try row.text()
        messages = try row.int64()
        excluded = try row.int64()
        estimate = try row.bool()
        error = try row.int64OrNil()
    }
}

/// What a supervisor has counted of a delivery's target.
package struct TargetCountAnswer: Sendable, Hashable {
    /// By application; empty until it is counted.
    package let counts: [TargetCount]
    /// Why it was not counted; "" if it was, or will be.
    package let problem: String
    /// Nil until it is counted.
    package let answeredAt: DatabaseTime?
}

extension Store {
    /// Asks a supervisor to count the target of a delivery, and returns the answer as soon as there is one.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func askTargetCount(ofDelivery id: Int64) async throws -> TargetCountAnswer {
        let result = try await query(
            """
            SELECT c.application, c.messages, c.excluded, c.estimate, c.error, c.problem, c.answered_at
            FROM pushmta.count_target($1) c
            """,
            [.int64(id)]
        )
        var counts: [TargetCount] = []
        var problem = ""
        var answeredAt: DatabaseTime?
        try result.each { row in
            if let count = try row.ifPresent(5, { try TargetCount(&$0) }) { counts.append(count) }
            problem = try row.text()
            answeredAt = try row.timeOrNil()
        }
        return TargetCountAnswer(counts: counts, problem: problem, answeredAt: answeredAt)
    }

    /// Counts what a delivery that has not begun would send now, by application, without its seed addresses. The rules
    /// are those of its preparation, except that it does not ask frequency caps.
    ///
    /// A large application is estimated from a sample, which grows until the error is at most 2 % of the number, the
    /// whole application has been read, or the time is over.
    ///
    /// Throws ``StoreError`` of code `notFound`; `invalid` if its filter cannot be used, or if only an analysis can count
    /// it; `unavailable` if it takes too long.
    package func countTarget(ofDelivery id: Int64, within limit: Duration = .seconds(10)) async throws -> [TargetCount]
    {
        var counting = try await targetCounting(ofDelivery: id, within: limit)
        repeat { try await counting.advance() } while !counting.isPrecise && !counting.isOver
        return counting.counts
    }

    /// The first step of the same, for those who wait: an answer within a few tenths of a second. Few deliveries of large
    /// applications need more than one step: those that select fewer than one in a hundred.
    package func countTargetRoughly(ofDelivery id: Int64) async throws -> [TargetCount] {
        var counting = try await targetCounting(ofDelivery: id)
        try await counting.advance()
        return counting.counts
    }

    /// A count of a delivery's target that has not begun.
    package func targetCounting(ofDelivery id: Int64, within limit: Duration = .seconds(10)) async throws
        -> TargetCounting
    {
        guard let target = try await chunkTargets(of: [id])[id] else {
            throw StoreError(
                .notFound,
                "There is no delivery \(id).",
                hint: "pushmta delivery list shows the deliveries"
            )
        }
        if let reason = target.uncountable {
            throw StoreError(
                .invalid,
                "The target of delivery \(id) cannot be counted in advance: \(reason).",
                hint: "pushmta delivery analyze counts it"
            )
        }
        let subject = try await query(CountSubject.sql, [.int64(id), .bool(target.asksBehaviour)])
            .one(CountSubject.init)
        if subject.isListed {
            let counts = try await countList(of: id, target, subject, within: limit)
            return TargetCounting(id, listed: counts, within: limit)
        }
        return TargetCounting(id, parts: try await parts(of: id, try target.sampled(subject), subject), within: limit)
    }

    private func countList(of id: Int64, _ target: ChunkTarget, _ subject: CountSubject, within limit: Duration)
        async throws -> [TargetCount]
    {
        let deadline = ContinuousClock.now + limit
        var counts: [TargetCount] = []
        for (application, name) in zip(subject.applications, subject.names) {
            let counter = TargetListCounter(
                store: self,
                delivery: id,
                application: application,
                target: target,
                allowsDuplicates: subject.allowsDuplicates,
                holdOut: subject.holdOut
            )
            do {
                counts.append(try await counter.count(named: name, within: deadline - ContinuousClock.now))
            } catch let error as PostgresError where LoadProblem.isTimeout(error) {
                throw TargetCounting.tooSlow(id, limit)
            }
        }
        return counts
    }

    private func parts(of id: Int64, _ target: ChunkTarget, _ subject: CountSubject) async throws -> [TargetPart] {
        var parts: [TargetPart] = []
        for (application, name) in zip(subject.applications, subject.names) {
            let sampler = TargetSampler(
                store: self,
                delivery: id,
                applications: subject.applications,
                application: application,
                target: target,
                holdOut: subject.holdOut
            )
            parts.append(TargetPart(name, sampler, try await sampler.size()))
        }
        return parts
    }
}

extension ChunkTarget {
    /// Why the target cannot be counted without preparing it; nil if it can.
    fileprivate var uncountable: String? {
        if readMapping != nil { return "its filter reads columns of a target mapping" }
        if hasSharedTokens { return "its applications may share push tokens, which get one message" }
        return nil
    }
}

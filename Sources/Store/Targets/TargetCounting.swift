import PostgresClient
import PushCore

/// The count of what a delivery would send now, as far as it has come.
///
/// Each step reads a bounded number of subscriptions, so that the first answer comes soon and later ones are better. How
/// far a step goes depends only on the data: two counts of as many steps at the same moment agree.
package struct TargetCounting: Sendable {
    private let delivery: Int64
    private let began = ContinuousClock.now
    private let limit: Duration
    private var parts: [TargetPart]
    /// The counts of a list of targets.
    private let listed: [TargetCount]

    /// Subscriptions that a step reads: half a second of processor time, so a quarter of a second with two idle cores.
    package static let step: Int64 = 1_050_000

    init(_ delivery: Int64, parts: [TargetPart] = [], listed: [TargetCount] = [], within limit: Duration) {
        self.delivery = delivery
        self.parts = parts
        self.listed = listed
        self.limit = limit
    }

    /// What was counted so far, by application.
    package var counts: [TargetCount] { listed + parts.map(\.count) }

    /// Whether nothing is left to read: all errors are small enough.
    package var isPrecise: Bool { parts.allSatisfy(\.sample.isPrecise) }

    /// Whether the time is over.
    package var isOver: Bool { ContinuousClock.now - began >= limit }

    /// Reads more, unless the numbers are good enough.
    ///
    /// Throws ``StoreError`` of code `unavailable` if the time ends before there is a number.
    ///
    /// - Parameter rows: how many subscriptions to read at most, about.
    package mutating func advance(by rows: Int64 = TargetCounting.step) async throws {
        let open = parts.indices.filter { !parts[$0].sample.isPrecise }
        let all = open.reduce(0) { $0 + parts[$1].subscriptions }
        for place in open {
            let share = Double(parts[place].subscriptions) / Double(max(all, 1))
            do {
                try await parts[place].advance(by: Int64(Double(rows) * share), until: began + limit)
            } catch let error as PostgresError where LoadProblem.isTimeout(error) {
                guard parts.allSatisfy(\.sample.saysSomething) else { throw Self.tooSlow(delivery, limit) }
                return
            }
        }
    }

    static func tooSlow(_ delivery: Int64, _ limit: Duration) -> StoreError {
        StoreError(
            .unavailable,
            "The target of delivery \(delivery) could not be counted within \(limit.components.seconds) s.",
            hint: "pushmta delivery analyze counts it without a limit"
        )
    }
}

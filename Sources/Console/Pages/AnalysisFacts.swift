import PushCore
import Store

/// What the page of a delivery that has not begun shows of its analysis.
struct AnalysisFacts: Sendable {
    /// What the analysis left out, and why.
    struct LeftOut: Sendable {
        let counts: [BoundedCount]
        /// Whether there are more than were counted.
        let isPartial: Bool
        /// The frequency caps that the delivery is subject to, if they left out anybody.
        let caps: [FrequencyCapRow]
        let holders: CapHolders
    }

    let analysis: DeliveryAnalysisRow
    let counts: [DeliveryCountRow]
    /// Nil if nobody was left out, or if its messages are not prepared any more.
    let leftOut: LeftOut?

    /// More combinations of application, locale and time zone than a delivery has.
    private static let maxCounts: Int32 = 20_000
    /// The maximum number of deliveries named that hold a cap.
    private static let maxHolders: Int32 = 5
    /// The reason in the database.
    static let capReason = "frequency_cap"

    /// Nil if the delivery was never analysed.
    static func read(_ store: Store, _ id: Int64, by actor: ConsoleActor) async throws -> AnalysisFacts? {
        guard let analysis = try await store.analysis(ofDelivery: id, by: actor) else { return nil }
        var leftOut: LeftOut?
        if analysis.isFinished, analysis.excluded > 0 {
            let (counts, isPartial) = try await store.boundedExclusions(delivery: id)
            let isCapped = counts.contains { $0.name == capReason }
            leftOut = LeftOut(
                counts: counts,
                isPartial: isPartial,
                caps: isCapped ? try await store.frequencyCaps(ofDelivery: id) : [],
                holders: isCapped ? try await store.capHolders(ofDelivery: id, limit: maxHolders) : .empty
            )
        }
        return AnalysisFacts(
            analysis: analysis,
            counts: try await store.counts(ofDelivery: id, limit: maxCounts),
            leftOut: leftOut
        )
    }
}

import PostgresClient
import PushCore

/// How many subscriptions a target chooses, as far as they were counted.
public struct AudienceCount: Sendable, Hashable {
    /// Those that a message would go to.
    public let count: Int64
    /// Those that the target chooses and nothing is sent to: disabled, opted out, or in quarantine.
    public let excluded: Int64
    /// Whether counting was ended before all were looked at: then there are at least so many.
    public let isPartial: Bool
    /// Whether the filter asks for columns of a mapping, which only preparation reads: then nobody was counted.
    public let needsMapping: Bool
}

extension Store {
    /// Subscriptions of a step: some 20 milliseconds where each has to be read.
    private static let audienceStep: Int64 = 5_000

    /// Counts whom a filter chooses among the subscribers of applications, for no longer than a page may wait.
    ///
    /// Exclusion lists and double push tokens are not looked at: preparation is.
    /// Throws ``StoreError`` of code `invalid` for a filter that compares what cannot be compared.
    public func countAudience(_ filter: TargetFilter?, applications: [Int32], within limit: Duration) async throws
        -> AudienceCount
    {
        if let filter, !filter.mappingColumns.isEmpty {
            return AudienceCount(count: 0, excluded: 0, isPartial: true, needsMapping: true)
        }
        let start = try await databaseClock()
        let condition = try filter.map { try FilterSQL($0, firstParameter: 4, mapping: nil, start: start) }
        let deadline = ContinuousClock.now.advanced(by: limit)
        var (count, excluded): (Int64, Int64) = (0, 0)
        for application in applications {
            var through: Int64 = 0
            while true {
                let result = try await query(
                    """
                    SELECT count(*) FILTER (WHERE c.chosen AND c.exclusion = 0), count(*) FILTER (WHERE c.chosen AND c.exclusion <> 0),
                        count(*), coalesce(max(c.id), 0)
                    FROM (SELECT s.id, s.exclusion, (\(condition?.condition ?? "true")) AS chosen
                        FROM pushmta_engine.console_audience s WHERE (s.application_id, s.id) > ($1, $2) AND s.application_id = $1
                        ORDER BY s.application_id, s.id LIMIT $3) c
                    """,
                    [.int32(application), .int64(through), .int64(Self.audienceStep)] + (condition?.parameters ?? [])
                )
                count += try result.int64(0, 0)
                excluded += try result.int64(0, 1)
                through = try result.int64(0, 3)
                if try result.int64(0, 2) < Self.audienceStep { break }
                if ContinuousClock.now >= deadline {
                    return AudienceCount(count: count, excluded: excluded, isPartial: true, needsMapping: false)
                }
            }
        }
        return AudienceCount(count: count, excluded: excluded, isPartial: false, needsMapping: false)
    }
}

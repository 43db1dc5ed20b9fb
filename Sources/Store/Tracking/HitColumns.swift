import PostgresClient
import PushCore

/// Hits as the arrays that `record_hits` takes.
struct HitColumns {
    private var deliveries: [Int64?] = []
    private var others: [Int64?] = []
    private var numbers: [Int64?] = []
    private var sequences: [Int32] = []
    private var days: [Int32] = []
    private var kinds: [Int16] = []
    private var times: [Int64] = []
    private var addresses: [String?] = []
    private var platforms: [String?] = []
    private var agents: [String?] = []

    init(_ hits: [ResolvedHit]) {
        for hit in hits { append(hit) }
    }

    var values: [PostgresValue] {
        [
            .int64ArrayWithNulls(deliveries), .int64ArrayWithNulls(others), .int64ArrayWithNulls(numbers),
            .int32Array(sequences), .int32Array(days), .int16Array(kinds),
            .timestampArray(microsecondsSince2000: times),
            .textArray(addresses), .textArray(platforms), .textArray(agents),
        ]
    }

    private mutating func append(_ hit: ResolvedHit) {
        switch hit.message {
        case .known(let delivery, let sequence, let logDay):
            deliveries.append(delivery)
            others.append(nil)
            numbers.append(nil)
            sequences.append(sequence)
            days.append(logDay)
        case .numbered(let number, let candidates):
            deliveries.append(candidates.first)
            others.append(candidates.dropFirst().first)
            numbers.append(number)
            sequences.append(0)
            days.append(0)
        }
        kinds.append(hit.hit.id.kind.rawValue)
        times.append(hit.hit.microseconds &- DatabaseTime.epochDistance)
        addresses.append(hit.hit.address?.description)
        platforms.append(hit.hit.platform?.rawValue)
        agents.append(hit.hit.userAgent.isEmpty ? nil : hit.hit.userAgent)
    }
}

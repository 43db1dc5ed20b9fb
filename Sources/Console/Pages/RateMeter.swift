import PushCore
import Store

/// How many messages of a delivery end each second, measured between readings of its counts.
struct RateMeter: Sendable {
    /// The readings of the last minute, oldest first.
    private var readings: [(at: DatabaseTime, ended: Int64)] = []

    /// Microseconds; a rate covers at most this time, so that it follows what changes.
    private static let window: Int64 = 60_000_000
    /// Microseconds; shorter times give no rate.
    private static let minTime: Int64 = 1_500_000

    /// Adds a reading. Readings of a delivery that sends nothing are dropped.
    mutating func note(_ progress: DeliveryProgress) {
        guard [.preparing, .inProgress].contains(progress.state) else {
            readings = []
            return
        }
        let at = progress.now
        guard readings.last.map({ $0.at < at }) ?? true else { return }
        readings.append((at, progress.target - progress.pending))
        readings.removeAll { at.microsecondsSince1970 - $0.at.microsecondsSince1970 > Self.window }
    }

    /// Messages a second; nil before there are two readings.
    var rate: Double? {
        guard let first = readings.first, let last = readings.last else { return nil }
        let time = last.at.microsecondsSince1970 - first.at.microsecondsSince1970
        guard time >= Self.minTime else { return nil }
        return Double(max(last.ended - first.ended, 0)) / (Double(time) / 1e6)
    }

    /// When it was last read; nil if it sends nothing.
    var lastReading: DatabaseTime? { readings.last?.at }
}

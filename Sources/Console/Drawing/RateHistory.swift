import Foundation
import PushCore
import Store

/// The rates of the last minutes, of hosts and children, as they were read: one value for each ten seconds in which a
/// page was open.
struct RateHistory: Sendable {
    /// The host or child that has the rate.
    enum Subject: Hashable, Sendable {
        case host(String)
        case child(Int64)
    }

    /// The seconds of a value: more than three of a child's heartbeats, so that every step has a value while a page
    /// is open.
    private static let step = 10.0
    /// Five minutes, enough for a sparkline.
    static let steps = 30

    private var values: [Subject: [Int: Double]] = [:]
    /// The step of the last reading.
    private var last = 0

    /// Adds a reading, and drops values that are too old, including those of children that have ended.
    mutating func note(_ hosts: [HostRow], _ children: [ChildOverview], at date: Date) {
        let now = Int((date.timeIntervalSince1970 / Self.step).rounded(.down))
        last = now
        var rates: [Subject: Double] = [:]
        for host in hosts where host.isHeardOf { rates[.host(host.report.id)] = 0 }
        for child in children {
            let rate = child.report.rate
            guard rate.isFinite, rate >= 0 else { continue }
            rates[.child(child.id)] = rate
            rates[.host(child.row.hostID)]? += rate
        }
        for (subject, rate) in rates { values[subject, default: [:]][now] = rate }
        // After a clock was set back, the values after `now` are dropped as well.
        values = values.compactMapValues { steps in
            let kept = steps.filter { $0.key > now - Self.steps && $0.key <= now }
            return kept.isEmpty ? nil : kept
        }
    }

    /// The rates of the last steps, oldest first; nil for steps in which no page was open.
    func rates(of subject: Subject) -> [Double?] {
        let own = values[subject] ?? [:]
        return (0..<Self.steps).map { own[last - Self.steps + 1 + $0] }
    }
}

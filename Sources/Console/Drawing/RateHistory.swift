import Foundation
import PushCore
import Store

/// The rates of the last minutes, of hosts and of children, as they were read: a value for each ten seconds in which somebody looked.
struct RateHistory: Sendable {
    /// Whose rate it is.
    enum Subject: Hashable, Sendable {
        case host(String)
        case child(Int64)
    }

    /// Seconds of a value: three of a child's heartbeats and more, so that no step is without one while somebody looks.
    private static let step = 10.0
    /// Five minutes, which a short line shows.
    static let steps = 30

    private var values: [Subject: [Int: Double]] = [:]
    /// The step of the last reading.
    private var last = 0

    /// Takes what a reading says, and forgets what is too old, that of children that have ended included.
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
        // A clock that was set back makes what comes after it older than it is.
        values = values.compactMapValues { steps in
            let kept = steps.filter { $0.key > now - Self.steps && $0.key <= now }
            return kept.isEmpty ? nil : kept
        }
    }

    /// The rates of the last steps, the oldest first; nil where nobody has looked.
    func rates(of subject: Subject) -> [Double?] {
        let own = values[subject] ?? [:]
        return (0..<Self.steps).map { own[last - Self.steps + 1 + $0] }
    }
}

/// A rate over the last minutes, as small bars without a scale of their own: words say from where to where it went.
struct Sparkline {
    let rates: [Double?]
    let catalogue: Catalogue

    private static let height = 22.0
    private static let width = 4.0

    /// The whole of it in a sentence, for those who do not see it.
    var words: String {
        let known = rates.compactMap(\.self)
        guard let least = known.min(), let most = known.max(), let now = known.last else {
            return catalogue[.trendEmpty]
        }
        return catalogue.text(.trendWords, Figures.rate(least), Figures.rate(most), Figures.rate(now))
    }

    var markup: Markup {
        // One message a second is no mountain.
        let scale = Self.height / max(rates.compactMap(\.self).max() ?? 0, 10)
        let bars = rates.enumerated().compactMap { place, rate in
            rate.map { rate in
                let height = max(rate * scale, 1)
                let x = Bar.number(Double(place) * Self.width)
                return
                    "<rect class=\"s-sent\" x=\"\(x)\" y=\"\(Bar.number(Self.height - height))\" width=\"3\" height=\"\(Bar.number(height))\"/>"
            }
        }
        let box = "0 0 \(Bar.number(Double(rates.count) * Self.width)) \(Bar.number(Self.height))"
        return Markup(
            trusted: "<svg class=\"spark\" viewBox=\"\(box)\" preserveAspectRatio=\"none\" role=\"img\" "
                + "aria-label=\"\(Markup.escaped(words))\"><title>\(Markup.escaped(words))</title>\(bars.joined())</svg>"
        )
    }
}

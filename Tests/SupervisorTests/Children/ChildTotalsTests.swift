import ProcessProtocol
import PushCore
import Testing

@testable import Supervisor

/// The figures that children report for metrics are summed, and none is counted twice.
@Suite struct ChildTotalsTests {
    private let kind = PlanHarness.push

    private func status(_ generation: Int32, sent: Int64, unknown: Int64 = 0, times: Int = 0) -> ChildStatus {
        var report = ChildReport(pid: 1, state: .sending)
        report.counts.sent = sent
        report.counts.unknown = unknown
        var status = ChildStatus(generation: generation, report: report)
        var figures = ChildFigures(
            messages: [
                OutcomeFigure(outcome: "sent", reasonClass: "none", count: sent),
                OutcomeFigure(outcome: "failed", reasonClass: "user_unknown", count: 1),
            ],
            cpuSeconds: Double(sent) / 10
        )
        for _ in 0..<times {
            figures.gateway.record(microseconds: 1_000)
            figures.database.store.record(microseconds: 3_000)
        }
        status.figures = figures
        return status
    }

    private func count(_ totals: ChildTotals, _ outcome: String, _ reason: String) -> Int64? {
        totals.current.sums[kind]?.messages[.init(outcome: outcome, reasonClass: reason)]
    }

    @Test func countersGrowByWhatIsNew() {
        let totals = ChildTotals()
        totals.heard(1, kind, status(1, sent: 10, times: 2))
        totals.heard(1, kind, status(1, sent: 25, unknown: 3, times: 5))
        totals.heard(2, kind, status(2, sent: 100, times: 1))
        #expect(count(totals, "sent", "none") == 125)
        #expect(count(totals, "failed", "user_unknown") == 2)
        let sums = totals.current.sums[kind]
        #expect(sums?.counts.unknown == 3 && sums?.gateway.total == 6)
        #expect(totals.current.database.store.total == 6 && totals.current.database.store.microseconds == 18_000)
        #expect(sums.map { abs($0.cpuSeconds - 12.5) < 1e-9 } == true)
    }

    /// The end of a child does not lower the totals: Prometheus counters never decrease.
    @Test func anEndTakesNothingBack() {
        let totals = ChildTotals()
        totals.heard(1, kind, status(1, sent: 10))
        totals.ended(1, .signalled)
        #expect(totals.current.last.isEmpty && totals.current.ended == [.signalled: 1])
        totals.heard(2, kind, status(2, sent: 4))
        #expect(count(totals, "sent", "none") == 14)
    }

    @Test func aLineOfAnotherGenerationDoesNotCount() {
        let totals = ChildTotals()
        totals.heard(1, kind, status(2, sent: 10))
        #expect(totals.current.sums.isEmpty)
    }

    /// A child of an older version has no figures, and a newer one may have other figures.
    @Test func aLineWithoutFiguresCounts() throws {
        let totals = ChildTotals()
        var parser = LineParser<ChildMessage>()
        let line = String(decoding: LineEncoder.line(ChildMessage(status(1, sent: 7))), as: UTF8.self)
        let other = line.replacing(/"messages":\[[^\]]*\]/, with: #""messages":7"#)
        #expect(other != line)
        let read = parser.parse(Array(other.utf8)).compactMap(\.status)
        #expect(read.map(\.report.counts.sent) == [7] && read.first?.figures == nil, "\(other)")
        for status in read { totals.heard(1, kind, status) }
        #expect(totals.current.sums[kind]?.messages.isEmpty == true && totals.current.last.count == 1)
        // The next complete line counts from there.
        totals.heard(1, kind, status(1, sent: 9))
        #expect(count(totals, "sent", "none") == 9)
    }

    @Test func durationsGoIntoTheBucketThatEndsAboveThem() {
        var histogram = SecondsHistogram()
        for duration: UInt32 in [0, 1, 512, 513, 1_024, 33_554_432, 33_554_433, .max] {
            histogram.record(microseconds: duration)
        }
        #expect(SecondsHistogram.bounds.first == 0.000512 && SecondsHistogram.bounds.last == 33.554432)
        #expect(histogram.counts.first == 3 && histogram.counts[1] == 2)
        #expect(histogram.counts[SecondsHistogram.buckets - 2] == 1 && histogram.counts.last == 2)
        #expect(histogram.total == 8)
    }
}

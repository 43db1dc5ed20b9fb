import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import pushmta

@Suite struct DeliveryHistoryTests {
    private let begin = ContinuousClock.now

    private func progress(sent: Int64, failed: Int64 = 0, target: Int64 = 1_000, _ state: DeliveryState = .inProgress)
        -> DeliveryProgress
    {
        DeliveryProgress(
            id: 7,
            label: "x",
            state: state,
            stateReason: "",
            target: target,
            excluded: 0,
            pending: target - sent - failed,
            sent: sent,
            failed: failed,
            ignored: 0,
            notApplicable: 0,
            canceled: 0,
            unknown: 0,
            lateOutcomes: 0,
            resentAfterAmbiguity: 0,
            journalReplayed: 0,
            partsReady: 0,
            partsClaimed: 0,
            partsWaiting: 0,
            partsDone: 0,
            prepared: true,
            startedAt: nil,
            finishedAt: nil,
            now: DatabaseTime(microsecondsSince1970: 0)
        )
    }

    private func words(_ line: String?) -> [String] { line?.split(separator: " ").map(String.init) ?? [] }

    @Test func aLineTellsWhatItsPeriodAdded() {
        var history = DeliveryHistory()
        let first = history.add(progress(sent: 100), at: begin)
        #expect(first.count == 2 && words(first.first).first == "after")
        #expect(words(first.last) == ["0:00:00", "100", "0", "0", "900", "in_progress"])
        #expect(history.add(progress(sent: 200), at: begin + .seconds(2)).isEmpty)
        let second = history.add(progress(sent: 400, failed: 10), at: begin + .seconds(5))
        #expect(words(second.first) == ["0:00:05", "+300", "+10", "+0", "62.0", "590", "in_progress"])
        // The end has its own line, however soon it comes.
        let last = history.add(progress(sent: 990, failed: 10, .finished), at: begin + .seconds(6))
        #expect(words(last.first) == ["0:00:06", "+590", "+0", "+0", "590", "0", "finished"])
    }

    @Test func longDeliveriesHaveLongPeriods() {
        var history = DeliveryHistory()
        var lines = 0
        for second in 0...86_400 {
            lines += history.add(progress(sent: Int64(second), target: 100_000), at: begin + .seconds(second)).count
        }
        #expect((100...300).contains(lines), "\(lines)")
    }

    @Test func theCurrentStateHasALineAnApplicationAndKeepsToTheWidth() {
        var history = DeliveryHistory()
        #expect(history.current(width: 80).isEmpty)
        _ = history.add(progress(sent: 500), at: begin)
        history.set(
            (1...20).map {
                ApplicationProgress(
                    application: "\($0)-" + String(repeating: "a", count: 100),
                    target: 50,
                    pending: 25,
                    sent: 25,
                    failed: 0,
                    other: 0
                )
            }
        )
        let lines = history.current(width: 79)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 79 }, "\(lines)")
        #expect(lines.first?.contains("50 %  500/1000  in_progress") == true)
        #expect(lines.count == 2 + DeliveryHistory.maxApplications + 1 && lines.last == "and 8 more applications")
        #expect(lines[2].hasPrefix("1-aaa") && words(lines[2]).suffix(4) == ["%", "50", "25", "25"], "\(lines[2])")
    }
}

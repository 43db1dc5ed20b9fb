import TestSupport
import Testing

@testable import PushCore

@Suite struct PartModelPropertyTests {
    /// Random schedules of 6 to 26 events and their recovery, two at a time; `PUSHMTA_TEST_CASES=1000000` for a million of them.
    @Test func promisesHoldInRandomSchedules() async throws {
        let seed = TestRandom.seed(for: "part protocol")
        let workers = 2
        let perWorker = TestCases.count(200_000) / workers
        let coverage = try await withThrowingTaskGroup(of: ScheduleRun.Coverage.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var run = ScheduleRun(guards: .all)
                    try run.run(schedules: perWorker, seed: seed &+ UInt64(worker * perWorker))
                    return run.coverage
                }
            }
            var coverage = ScheduleRun.Coverage()
            for try await part in group { coverage.add(part) }
            return coverage
        }
        print("part protocol: \(coverage)")
        #expect(coverage.schedules == workers * perWorker)
        // A test that never gets into trouble shows nothing.
        let troubles = [
            coverage.ambiguous, coverage.late, coverage.fenced, coverage.uniqueViolations, coverage.handedOver,
            coverage.duplicates, coverage.finished, coverage.unknown, coverage.canceled,
        ]
        for count in troubles { #expect(count > coverage.schedules / 1_000, "\(coverage)") }
    }

    /// Each measure of the protocol is needed: without it the same schedules break a promise.
    @Test(arguments: [
        PartGuards.token, .claimedState, .mark, .intent, .cutAfterCommit, .knownOutcomes, .uniqueOutcome,
        .countInserted, .atomicHandOver, .journalLock, .noteAtRelease, .resolveAmbiguous,
    ])
    func everyMeasureIsNeeded(measure: PartGuards) {
        let seed = TestRandom.seed(for: "part protocol without measure \(measure.rawValue)")
        var run = ScheduleRun(guards: PartGuards.all.subtracting(measure))
        #expect(throws: ScheduleRun.Failure.self) { try run.run(schedules: 200_000, seed: seed) }
        print("part protocol without measure \(measure.rawValue): caught after \(run.coverage.schedules) schedules")
    }
}

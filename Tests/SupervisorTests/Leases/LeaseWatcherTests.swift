import Store
import Testing

@testable import Supervisor

@Suite struct LeaseWatcherTests {
    private let time = ManualTime()
    private func lease(_ part: Int64, token: Int64 = 1, renewal: Int64 = 0) -> LeaseObservation {
        LeaseObservation(partID: part, owner: 1, hostID: "host", token: token, renewal: renewal)
    }

    /// Looks every two seconds for some time and returns when a part was first found lost.
    private func firstLoss(
        of part: Int64,
        _ watcher: inout LeaseWatcher,
        seconds: ClosedRange<Int>,
        _ seen: (Int) -> [LeaseObservation]
    ) -> Int? {
        for second in stride(from: seconds.lowerBound, through: seconds.upperBound, by: 2) {
            let lost = watcher.observe(seen(second), at: time[Double(second)])
            if lost.contains(where: { $0.partID == part }) { return second }
        }
        return nil
    }

    @Test func anUnchangedLeaseIsLostAfterAWholeLease() {
        var watcher = LeaseWatcher(lease: .seconds(15), maxStep: .seconds(4))
        #expect(firstLoss(of: 1, &watcher, seconds: 0...40) { _ in [lease(1)] } == 16)
    }

    @Test func renewalKeepsIt() {
        var watcher = LeaseWatcher(lease: .seconds(15), maxStep: .seconds(4))
        #expect(firstLoss(of: 1, &watcher, seconds: 0...300) { [lease(1, renewal: Int64($0 / 5))] } == nil)
    }

    @Test func aNewTokenStartsAgain() {
        var watcher = LeaseWatcher(lease: .seconds(15), maxStep: .seconds(4))
        let loss = firstLoss(of: 1, &watcher, seconds: 0...60) { [lease(1, token: $0 < 10 ? 1 : 2)] }
        #expect(loss == 26)
    }

    @Test func aPartThatWasAwayStartsAgain() {
        var watcher = LeaseWatcher(lease: .seconds(15), maxStep: .seconds(4))
        let loss = firstLoss(of: 1, &watcher, seconds: 0...60) { $0 == 10 ? [] : [lease(1)] }
        #expect(loss == 28)
    }

    @Test func timeWithoutTheDatabaseDoesNotCount() {
        var watcher = LeaseWatcher(lease: .seconds(15), maxStep: .seconds(4))
        #expect(firstLoss(of: 1, &watcher, seconds: 0...10) { _ in [lease(1)] } == nil)
        watcher.interrupted()
        #expect(firstLoss(of: 1, &watcher, seconds: 12...60) { _ in [lease(1)] } == 28)
    }

    @Test func ofALongGapBetweenLooksOnlyALittleCounts() {
        var watcher = LeaseWatcher(lease: .seconds(15), maxStep: .seconds(4))
        #expect(watcher.observe([lease(1)], at: time[0]).isEmpty)
        #expect(watcher.observe([lease(1)], at: time[100]).isEmpty, "this process was stopped, perhaps all were")
        #expect(firstLoss(of: 1, &watcher, seconds: 102...140) { _ in [lease(1)] } == 112)
    }

    @Test func slowLooksFindALostOwnerAllTheSame() {
        var watcher = LeaseWatcher(lease: .seconds(15), maxStep: .seconds(4))
        let looks = [0, 12, 24, 36, 48].map { !watcher.observe([lease(1)], at: time[Double($0)]).isEmpty }
        #expect(looks == [false, false, false, false, true])
    }

    @Test func aClockThatGoesBackCountsForNothing() {
        var watcher = LeaseWatcher(lease: .seconds(15), maxStep: .seconds(4))
        for second in [600, 0, 600, 0, 600] {
            #expect(watcher.observe([lease(1)], at: time[Double(second)]).isEmpty)
        }
    }

    @Test func anOwnerThatRenewsAfterAStopOfAllKeepsItsPart() {
        var watcher = LeaseWatcher(lease: .seconds(15), maxStep: .seconds(4))
        for second in [0, 2, 4] { #expect(watcher.observe([lease(1)], at: time[Double(second)]).isEmpty) }
        #expect(watcher.observe([lease(1)], at: time[900]).isEmpty, "the machine slept; this process woke up first")
        #expect(firstLoss(of: 1, &watcher, seconds: 902...930) { _ in [lease(1, renewal: 1)] } == 918)
    }

    @Test func onlyTheLostOneIsNamed() {
        var watcher = LeaseWatcher(lease: .seconds(15), maxStep: .seconds(4))
        for second in stride(from: 0, through: 20, by: 2) {
            let lost = watcher.observe([lease(1), lease(2, renewal: Int64(second))], at: time[Double(second)])
            #expect(lost == (second >= 16 ? [lease(1)] : []))
        }
    }
}

import Testing

@testable import HTTP2

@Suite struct PendingRequestsTests {
    @Test func givesRequestsInTheOrderOfSubmission() {
        var pending = PendingRequests()
        pending.append(TestBatch.make(3, tag: 1))
        pending.append(TestBatch.make(0, tag: 2))
        pending.append(TestBatch.make(2, tag: 3))
        #expect(pending.count == 5)
        var taken: [String] = []
        while let (batch, index) = pending.next() { taken.append("\(batch.tag).\(index)") }
        #expect(taken == ["1.0", "1.1", "1.2", "3.0", "3.1"])
        #expect(pending.count == 0)
    }

    @Test func showsTheFirstWithoutTakingIt() {
        var pending = PendingRequests()
        #expect(pending.first == nil)
        pending.append(TestBatch.make(1, tag: 1))
        pending.append(TestBatch.make(1, tag: 2))
        #expect(pending.first?.batch.tag == 1)
        #expect(pending.count == 2)
        pending.removeFirst()
        #expect(pending.first?.batch.tag == 2)
        pending.removeFirst()
        pending.removeFirst()
        #expect(pending.first == nil)
        #expect(pending.count == 0)
    }

    @Test func agreesWithAPlainList() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var pending = PendingRequests()
        var model: [String] = []
        for tag in 0..<2_000 as Range<Int64> {
            let size = Int.random(in: 0...5, using: &random)
            pending.append(TestBatch.make(size, tag: tag))
            model += (0..<size).map { "\(tag).\($0)" }
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                guard let (batch, index) = pending.next() else {
                    #expect(model.isEmpty, "seed \(seed)")
                    break
                }
                let expected = model.removeFirst()
                try #require("\(batch.tag).\(index)" == expected, "seed \(seed)")
                try #require(
                    pending.first?.index == model.first.flatMap { Int32($0.split(separator: ".")[1]) },
                    "seed \(seed)"
                )
            }
            try #require(pending.count == model.count, "seed \(seed)")
        }
    }

    @Test func showsARunOfOneBatch() throws {
        var pending = PendingRequests()
        #expect(pending.firstRun(atMost: 3) == nil)
        pending.append(TestBatch.make(5, tag: 1))
        pending.append(TestBatch.make(2, tag: 2))
        #expect(pending.firstRun(atMost: 3)?.range == 0..<3)
        pending.removeFirst(2)
        #expect(pending.firstRun(atMost: .max)?.range == 2..<5)
        pending.removeFirst(3)
        #expect(pending.firstRun(atMost: 10)?.batch.tag == 2)
        #expect(pending.count == 2)
    }

    @Test func countsWhatFitsAWindow() {
        var pending = PendingRequests()
        pending.append(TestBatch.make(3, tag: 1) { _ in "0123456789" })
        pending.append(TestBatch.make(3, tag: 2) { $0 == 0 ? "" : "0123456789" })
        #expect(pending.fitting(atMost: 9, unsent: 0, window: 100) == 6)
        #expect(pending.fitting(atMost: 2, unsent: 0, window: 100) == 2)
        #expect(pending.fitting(atMost: 9, unsent: 0, window: 29) == 2)
        #expect(pending.fitting(atMost: 9, unsent: 0, window: 30) == 4)
        #expect(pending.fitting(atMost: 9, unsent: 5, window: 30) == 2)
        // The first one leaves even if it does not fit, as the window never becomes larger.
        #expect(pending.fitting(atMost: 9, unsent: 0, window: 3) == 1)
        #expect(pending.fitting(atMost: 9, unsent: 1, window: 3) == 0)
    }

    @Test func countsWhatFitsBehindWhatOthersTake() {
        var pending = PendingRequests()
        pending.append(TestBatch.make(3, tag: 1) { _ in "0123456789" })
        pending.append(TestBatch.make(3, tag: 2) { _ in "01234" })
        #expect(pending.fitting(behind: 2, atMost: 9, unsent: 0, window: 100) == 4)
        #expect(pending.fitting(behind: 3, atMost: 9, unsent: 0, window: 10) == 2)
        #expect(pending.fitting(behind: 4, atMost: 9, unsent: 0, window: 100) == 2)
        #expect(pending.fitting(behind: 6, atMost: 9, unsent: 0, window: 100) == 0)
    }

    @Test func announcesEachRequestOnce() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var pending = PendingRequests()
        var waiting = 0
        var known = 0
        for tag in 0..<2_000 as Range<Int64> {
            let size = Int.random(in: 0...5, using: &random)
            pending.append(TestBatch.make(size, tag: tag))
            waiting += size
            let leaving = Int.random(in: 0...waiting, using: &random)
            var told: [HTTP2Departure] = []
            pending.announce(leaving, into: &told)
            try #require(told.reduce(0) { $0 + $1.range.count } == max(0, leaving - known), "seed \(seed)")
            try #require(told.allSatisfy { !$0.range.isEmpty }, "seed \(seed)")
            known = max(known, leaving)
            for _ in 0..<Int.random(in: 0...6, using: &random) where pending.next() != nil {
                waiting -= 1
                known = max(0, known - 1)
            }
        }
    }

    @Test func urgentRequestsGoBehindWhatIsAnnouncedAndBeforeTheRest() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var pending = PendingRequests()
        var model: [(name: String, isUrgent: Bool)] = []
        var known = 0
        for tag in 0..<2_000 as Range<Int64> {
            let batch = TestBatch.make(Int.random(in: 0...5, using: &random), tag: tag)
            batch.isUrgent = Int.random(in: 0..<3, using: &random) == 0
            pending.append(batch)
            let new = (0..<batch.count).map { (name: "\(tag).\($0)", isUrgent: batch.isUrgent) }
            let place = batch.isUrgent ? model[known...].firstIndex { !$0.isUrgent } ?? model.count : model.count
            model.insert(contentsOf: new, at: place)
            let leaving = Int.random(in: 0...model.count, using: &random)
            var told: [HTTP2Departure] = []
            pending.announce(leaving, into: &told)
            let names = told.flatMap { departure in departure.range.map { "\(departure.batch.tag).\($0)" } }
            try #require(names == model[min(known, leaving)..<leaving].map(\.name), "seed \(seed)")
            known = max(known, leaving)
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                guard let (batch, index) = pending.next() else { break }
                try #require("\(batch.tag).\(index)" == model.removeFirst().name, "seed \(seed)")
                known = max(0, known - 1)
            }
            try #require(pending.count == model.count, "seed \(seed)")
            try #require(pending.urgent == model.count { $0.isUrgent }, "seed \(seed)")
        }
    }

    /// A queue that is never empty must not retain requests that it handed out long ago.
    @Test func letsGoOfBatchesThatAreDone() {
        var pending = PendingRequests()
        var done: [WeakBatch] = []
        for tag in 0..<40 as Range<Int64> {
            let batch = TestBatch.make(1, tag: tag)
            done.append(WeakBatch(batch: batch))
            pending.append(batch)
            if tag >= 2 { _ = pending.next() }
        }
        #expect(pending.count == 2)
        #expect(done.count { $0.batch != nil } <= 4)
    }

    private struct WeakBatch {
        weak var batch: HTTP2RequestBatch?
    }
}

import Gateways
import Testing

@testable import LegacyGateways

@Suite("One connection of the binary protocol")
struct BinaryStateTests {
    private typealias State = BinaryConnectionState<Int>

    private let millisecond: UInt64 = 1_000_000

    /// A connection on which this many messages of ten bytes were written at 1 s, all of them acknowledged.
    private func sent(_ count: Int) -> State {
        var state = State(silence: 3_000 * millisecond, timeout: 30_000 * millisecond)
        #expect(state.handle(.opened, now: 0).isEmpty)
        #expect(state.handle(.sent((0..<count).map { ($0, 10) }), now: 1_000 * millisecond).isEmpty)
        #expect(state.handle(.acknowledged(.max), now: 1_000 * millisecond).isEmpty)
        return state
    }

    private func fates(_ actions: [State.Action]) -> [Int: BinaryFate] {
        var fates: [Int: BinaryFate] = [:]
        for case .resolve(let resolved) in actions { for one in resolved { fates[one.message] = one.fate } }
        return fates
    }

    private func packet(_ status: UInt8, _ identifier: UInt32) -> [UInt8] {
        [8, status] + (0..<4).map { UInt8(truncatingIfNeeded: identifier >> UInt32(24 - $0 * 8)) }
    }

    private func decision(_ actions: [State.Action]) -> State.Decision? {
        for case .judged(let decision) in actions { return decision }
        return nil
    }

    private func closes(_ actions: [State.Action]) -> Bool {
        actions.contains { if case .close = $0 { true } else { false } }
    }

    @Test("An error packet: earlier messages taken, the named one refused, later ones discarded")
    func errorPacket() throws {
        var state = sent(5)
        let actions = state.handle(.received(packet(8, 3)), now: 2_000 * millisecond)
        #expect(
            fates(actions) == [
                0: .taken, 1: .taken, 2: .refused(8), 3: .discarded(isFree: true), 4: .discarded(isFree: true),
            ]
        )
        let found = try #require(decision(actions))
        #expect(found.hasProgress && found.tooLate == 0)
        #expect(closes(actions) && state.phase == .ending && state.open == 0 && state.isProved)
        #expect(state.handle(.closed, now: 2_001 * millisecond).isEmpty)
        #expect(state.handle(.received(packet(8, 4)), now: 2_002 * millisecond).isEmpty)
    }

    @Test("The first and the last message are refused like any other", arguments: [1, 5] as [UInt32])
    func edges(_ identifier: UInt32) {
        var state = sent(5)
        let fates = fates(state.handle(.received(packet(7, identifier)), now: 2_000 * millisecond))
        #expect(fates.count == 5)
        #expect(fates[Int(identifier) - 1] == .refused(7))
        #expect(fates.values.count { $0 == .taken } == Int(identifier) - 1)
        #expect(fates.values.count { $0 == .discarded(isFree: true) } == 5 - Int(identifier))
    }

    @Test("Status 10 names the last one that was taken")
    func shutdown() {
        var state = sent(4)
        let actions = state.handle(.received(packet(10, 2)), now: 2_000 * millisecond)
        #expect(
            fates(actions) == [0: .taken, 1: .taken, 2: .discarded(isFree: true), 3: .discarded(isFree: true)]
        )
        var all = sent(4)
        #expect(fates(all.handle(.received(packet(10, 4)), now: 0)).values.allSatisfy { $0 == .taken })
    }

    @Test("Status 10 without a message: certainly none was taken")
    func shutdownBeforeTheFirst() throws {
        var state = sent(4)
        let actions = state.handle(.received(packet(10, 0)), now: 2_000 * millisecond)
        #expect(fates(actions).count == 4 && fates(actions).values.allSatisfy { $0 == .discarded(isFree: false) })
        let found = try #require(decision(actions))
        #expect(!found.hasProgress && found.tooLate == 0 && found.unproved == 0)
        #expect(closes(actions) && !state.isProved)
        // Messages presumed by then were not taken either.
        var late = sent(4)
        _ = late.handle(.tick, now: 4_100 * millisecond)
        #expect(fates(late.handle(.tick, now: 4_200 * millisecond)).count == 4)
        #expect(try #require(decision(late.handle(.received(packet(10, 0)), now: 4_300 * millisecond))).tooLate == 4)
    }

    @Test("A connection that ends reports how many messages were presumed on it without proof")
    func unproved() throws {
        var state = sent(3)
        _ = state.handle(.tick, now: 4_100 * millisecond)
        _ = state.handle(.tick, now: 4_200 * millisecond)
        _ = state.handle(.sent([(3, 10), (4, 10)]), now: 4_300 * millisecond)
        var (proved, drained, riddle, late) = (state, state, state, state)
        #expect(unproved(state.handle(.closed, now: 4_400 * millisecond)) == 3)
        #expect(unproved(state.handle(.closed, now: 4_400 * millisecond)) == 0, "once")
        // A packet that names a later one proves them.
        let word = proved.handle(.received(packet(8, 5)), now: 4_400 * millisecond)
        #expect(fates(word) == [3: .taken, 4: .refused(8)])
        #expect(try #require(decision(word)).unproved == 0)
        #expect(unproved(proved.handle(.closed, now: 4_500 * millisecond)) == 0)
        // One that names no message of the connection proves nothing.
        let nonsense = riddle.handle(.received(packet(8, 99)), now: 4_400 * millisecond)
        #expect(try #require(decision(nonsense)).unproved == 3)
        // A late one itself names those that were not.
        let told = try #require(decision(late.handle(.received(packet(8, 2)), now: 4_400 * millisecond)))
        #expect(told.tooLate == 2 && told.unproved == 0)
        // An end decided by this side says nothing about the gateway.
        _ = drained.handle(.acknowledged(.max), now: 4_400 * millisecond)
        _ = drained.handle(.drain, now: 4_400 * millisecond)
        _ = drained.handle(.tick, now: 9_000 * millisecond)
        #expect(closes(drained.handle(.tick, now: 9_100 * millisecond)))
        #expect(unproved(drained.handle(.closed, now: 9_200 * millisecond)) == 0)
    }

    private func unproved(_ actions: [State.Action]) -> Int {
        actions.reduce(0) { if case .unproved(let number) = $1 { $0 + number } else { $0 } }
    }

    @Test("A breaking connection has no room and presumes nothing; its error packet counts, its end leaves ambiguity")
    func breaking() {
        var state = sent(3)
        _ = state.handle(.tick, now: 3_900 * millisecond)
        #expect(state.room(100) == 97)
        #expect(state.handle(.broken, now: 3_950 * millisecond).isEmpty)
        #expect(state.phase == .breaking && state.room(100) == 0)
        #expect(state.handle(.opened, now: 3_960 * millisecond).isEmpty && state.room(100) == 0)
        for time in stride(from: UInt64(4_000), to: 9_000, by: 100) {
            #expect(state.handle(.tick, now: time * millisecond).isEmpty)
        }
        var silent = state
        #expect(
            fates(silent.handle(.closed, now: 9_000 * millisecond)).values.allSatisfy {
                $0 == .ambiguous(.connectionLost)
            }
        )
        #expect(
            fates(state.handle(.received(packet(8, 2)), now: 9_000 * millisecond))
                == [0: .taken, 1: .refused(8), 2: .discarded(isFree: true)]
        )
        #expect(state.handle(.broken, now: 9_000 * millisecond).isEmpty && state.phase == .ending)
    }

    @Test("Status 0 is no error: later messages may have been taken")
    func noErrors() {
        var state = sent(3)
        #expect(
            fates(state.handle(.received(packet(0, 2)), now: 2_000 * millisecond))
                == [0: .taken, 1: .taken, 2: .ambiguous(.connectionLost)]
        )
    }

    @Test(
        "An identifier that the connection has not used leaves all ambiguous",
        arguments: [0, 6, .max] as [UInt32]
    )
    func unknownIdentifier(_ identifier: UInt32) throws {
        for status in [0, 8, 10, 128, 255] as [UInt8] where status != 10 || identifier != 0 {
            var state = sent(5)
            let actions = state.handle(.received(packet(status, identifier)), now: 2_000 * millisecond)
            #expect(fates(actions).count == 5)
            #expect(fates(actions).values.allSatisfy { $0 == .ambiguous(.unknownIdentifier) })
            #expect(try #require(decision(actions)).hasProgress == false)
        }
    }

    @Test("A connection that ends without an error packet leaves all ambiguous")
    func lost() {
        var state = sent(3)
        #expect(
            fates(state.handle(.closed, now: 2_000 * millisecond)).values.allSatisfy {
                $0 == .ambiguous(.connectionLost)
            }
        )
        #expect(state.phase == .closed && state.open == 0 && state.room(100) == 0)
        #expect(state.handle(.closed, now: 2_000 * millisecond).isEmpty)
    }

    @Test("Silence for the window is acceptance, detected by two ticks")
    func presumed() {
        var state = sent(2)
        #expect(state.handle(.tick, now: 3_999 * millisecond).isEmpty)
        #expect(state.handle(.tick, now: 4_100 * millisecond).isEmpty, "the tick before was too early")
        let fates = fates(state.handle(.tick, now: 4_200 * millisecond))
        #expect(fates == [0: .presumedTaken, 1: .presumedTaken])
        #expect(state.open == 0 && state.isProved)
    }

    @Test("A process that was suspended presumes nothing before it has read again")
    func stoodStill() {
        var state = sent(2)
        #expect(state.handle(.tick, now: 1_100 * millisecond).isEmpty)
        #expect(state.handle(.tick, now: 60_000 * millisecond).isEmpty, "what came meanwhile is unread")
        let fates = fates(state.handle(.received(packet(8, 1)), now: 60_001 * millisecond))
        #expect(fates == [0: .refused(8), 1: .discarded(isFree: true)])
    }

    @Test("Unacknowledged messages are never presumed, and end the connection in time")
    func unacknowledged() {
        var state = State(silence: 3_000 * millisecond, timeout: 30_000 * millisecond)
        _ = state.handle(.opened, now: 0)
        _ = state.handle(.sent([(0, 10), (1, 10), (2, 10)]), now: 1_000 * millisecond)
        _ = state.handle(.acknowledged(19), now: 1_500 * millisecond)
        var seen: [Int: BinaryFate] = [:]
        for time in stride(from: UInt64(2_000), to: 30_900, by: 100) {
            seen.merge(fates(state.handle(.tick, now: time * millisecond))) { $1 }
        }
        #expect(seen == [0: .presumedTaken], "the second message is not all there")
        let actions = state.handle(.tick, now: 31_000 * millisecond)
        #expect(closes(actions) && state.phase == .ending)
        #expect(
            fates(state.handle(.closed, now: 31_001 * millisecond)) == [
                1: .ambiguous(.timeout), 2: .ambiguous(.timeout),
            ]
        )
    }

    @Test("An error packet after the presumption is reported, and unresolved messages were discarded")
    func tooLate() throws {
        var state = sent(3)
        _ = state.handle(.tick, now: 4_100 * millisecond)
        #expect(fates(state.handle(.tick, now: 4_200 * millisecond)).count == 3)
        _ = state.handle(.sent([(10, 10), (11, 10)]), now: 4_300 * millisecond)
        var other = state
        let actions = state.handle(.received(packet(8, 2)), now: 4_400 * millisecond)
        #expect(fates(actions) == [10: .discarded(isFree: false), 11: .discarded(isFree: false)])
        #expect(
            try #require(decision(actions))
                == .init(packet: .init(status: 8, identifier: 2), hasProgress: false, tooLate: 2, unproved: 0)
        )
        // Status 10 names a good one: later ones were wrongly presumed accepted.
        let shutdown = other.handle(.received(packet(10, 3)), now: 4_400 * millisecond)
        #expect(try #require(decision(shutdown)).tooLate == 0, "the presumption was right")
        #expect(fates(shutdown).values.allSatisfy { $0 == .discarded(isFree: false) })
    }

    @Test("Nonsense from the gateway ends the connection with all ambiguous")
    func nonsense() {
        var state = sent(2)
        let actions = state.handle(.received([72, 84, 84, 80]), now: 2_000 * millisecond)
        #expect(closes(actions) && fates(actions).isEmpty)
        #expect(
            fates(state.handle(.closed, now: 2_001 * millisecond)).values.allSatisfy {
                $0 == .ambiguous(.connectionLost)
            }
        )
    }

    @Test("Half a packet and the end: ambiguous, whatever the packet meant")
    func tornPacket() {
        var state = sent(2)
        #expect(state.handle(.received([8, 8, 0]), now: 2_000 * millisecond).isEmpty)
        #expect(fates(state.handle(.closed, now: 2_001 * millisecond)).count == 2)
    }

    @Test("Room follows the limit and the phase")
    func room() {
        var state = State(silence: 1, timeout: 1)
        #expect(state.room(10) == 0)
        _ = state.handle(.opened, now: 0)
        #expect(state.room(10) == 10)
        _ = state.handle(.sent([(0, 1), (1, 1)]), now: 0)
        #expect(state.room(10) == 8 && state.room(1) == 0 && state.nextIdentifier == 3)
        #expect(state.handle(.drain, now: 0).isEmpty && state.room(10) == 0)
        _ = state.handle(.acknowledged(2), now: 1)
        _ = state.handle(.tick, now: 5)
        #expect(closes(state.handle(.tick, now: 6)), "done")
        var fresh = State(silence: 1, timeout: 1)
        #expect(closes(fresh.handle(.drain, now: 0)))
    }

    @Test("A connection uses up its identifiers and is replaced")
    func identifiers() {
        var state = State(silence: 1, timeout: 1_000, identifiers: 3)
        _ = state.handle(.opened, now: 0)
        #expect(state.room(10) == 3)
        _ = state.handle(.sent([(0, 1), (1, 1), (2, 1)]), now: 0)
        #expect(state.room(10) == 0)
        _ = state.handle(.acknowledged(3), now: 1)
        _ = state.handle(.tick, now: 2)
        #expect(state.phase == .draining)
        #expect(closes(state.handle(.tick, now: 4)) && state.open == 0)
        var last = State(silence: 1, timeout: 1_000, identifiers: State.lastIdentifier)
        _ = last.handle(.opened, now: 0)
        #expect(last.room(4_000) == 4_000)
    }

    @Test("The window follows the distance between error packets")
    func sendAhead() {
        var ahead = SendAhead(maximum: 4_000)
        #expect(ahead.limit == 4_000)
        ahead.taken(19)
        ahead.refused()
        #expect(ahead.limit == 64, "never less than keeps the gateway busy")
        ahead.taken(999)
        ahead.refused()
        #expect(ahead.limit == 1_998)
        ahead.taken(1_500)
        #expect(ahead.limit == 3_000, "it grows without waiting for the next error")
        ahead.taken(.max / 2)
        #expect(ahead.limit == 4_000)
        var small = SendAhead(maximum: 10)
        small.refused()
        #expect(small.limit == 10)
        #expect(SendAhead(maximum: 0).limit == 1)
    }

    @Test("The ring keeps order through growth and wrapping")
    func ring() {
        var window = SentWindow<Int>()
        var next = 0
        var expected = 0
        for round in 1...300 {
            for _ in 0..<(round % 97) {
                window.append(.init(message: next, end: UInt64(next), sentAt: 0))
                next += 1
            }
            for _ in 0..<(round % 61) {
                guard let entry = window.removeFirst() else { break }
                #expect(entry.message == expected)
                expected += 1
            }
            #expect(window.count == next - expected)
        }
        while let entry = window.removeFirst() {
            #expect(entry.message == expected)
            expected += 1
        }
        #expect(expected == next && window.isEmpty && window.first == nil)
    }
}

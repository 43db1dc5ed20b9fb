import Gateways
import PushCore
import Synchronization
import Testing

/// Keeps what a gateway tells, and lets a test wait for it.
final class Collector: GatewayDelegate {
    private struct State {
        var outcomes: [Int64: [Int32: Outcome]] = [:]
        /// The same in the order in which they came.
        var arrivals: [(batch: Int64, outcome: Outcome)] = []
        var twice: [Outcome] = []
        var count = 0
        var calls = 0
        var events: [GatewayEvent] = []
        var announced: [Int64: [Range<Int32>]] = [:]
        var announcements: [Int] = []
        var mayLeave: (@Sendable (Int) -> Bool)?
        var waiters: [(isMet: (State) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    func aboutToSend(_ departures: [GatewayDeparture]) -> Bool {
        var answer = true
        change { state in
            for departure in departures {
                #expect(!departure.ranges.isEmpty && departure.ranges.allSatisfy { !$0.isEmpty })
                state.announced[departure.batch.id, default: []] += departure.ranges
            }
            state.announcements.append(departures.reduce(0) { $0 + $1.ranges.reduce(0) { $0 + $1.count } })
            answer = state.mayLeave?(state.announcements.count) ?? true
        }
        return answer
    }

    /// Decides for each announcement, counted from 1, whether it may leave.
    func decide(_ mayLeave: @escaping @Sendable (Int) -> Bool) {
        state.withLock { $0.mayLeave = mayLeave }
    }

    /// How many messages each announcement had.
    var announcements: [Int] { state.withLock { $0.announcements } }

    /// How often each row of a batch was announced.
    func announced(_ batch: Int64, _ size: Int) -> [Int] {
        var counts = [Int](repeating: 0, count: size)
        for range in state.withLock({ $0.announced[batch] ?? [] }) { for row in range { counts[Int(row)] += 1 } }
        return counts
    }

    func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32]) {
        #expect(outcomes.count == latencyMicroseconds.count)
        change { state in
            state.calls += 1
            for outcome in outcomes {
                let earlier = state.outcomes[batch.id, default: [:]].updateValue(outcome, forKey: outcome.index)
                if earlier != nil { state.twice.append(outcome) }
                state.arrivals.append((batch.id, outcome))
                state.count += 1
            }
        }
    }

    func gatewayEvent(_ event: GatewayEvent) {
        change { $0.events.append(event) }
    }

    /// How many outcomes came in all.
    var total: Int { state.withLock { $0.count } }

    /// Outcomes that came for a message which had one already.
    var twice: [Outcome] { state.withLock { $0.twice } }

    /// How often `resolved` was called.
    var calls: Int { state.withLock { $0.calls } }

    /// All events so far.
    var events: [GatewayEvent] { state.withLock { $0.events } }

    /// A batch's outcomes by index.
    func outcomes(_ batch: Int64) -> [Int32: Outcome] {
        state.withLock { $0.outcomes[batch] ?? [:] }
    }

    /// How many outcomes of each class a batch has.
    func classes(_ batch: Int64) -> [OutcomeClass: Int] {
        outcomes(batch).values.reduce(into: [:]) { $0[$1.outcomeClass, default: 0] += 1 }
    }

    /// Waits until so many outcomes came in all.
    func waitForOutcomes(_ count: Int) async {
        await wait { $0.count >= count }
    }

    /// Waits until more than so many outcomes came in all, and returns those behind them in the order in which they came.
    func arrivals(after count: Int) async -> [(batch: Int64, outcome: Outcome)] {
        await waitForOutcomes(count + 1)
        return state.withLock { Array($0.arrivals[count...]) }
    }

    /// Waits for an event and returns the first of its kind.
    @discardableResult
    func waitForEvent(_ kind: GatewayEvent.Kind) async throws -> GatewayEvent {
        await wait { state in state.events.contains { $0.kind == kind } }
        return try #require(events.first { $0.kind == kind })
    }

    private func wait(_ isMet: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMetNow = state.withLock { state in
                if isMet(state) { return true }
                state.waiters.append((isMet, continuation))
                return false
            }
            if isMetNow { continuation.resume() }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let ready = state.withLock { state in
            body(&state)
            let now = state
            state.waiters.removeAll { $0.isMet(now) }
            return now.waiters.filter { $0.isMet(now) }.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }
}

import Gateways
import PushCore
import Synchronization
import TestSupport

/// Collects what a gateway reports, and lets a test wait for it.
package final class Collector: GatewayDelegate {
    private struct State {
        var outcomes: [Int64: [Int32: Outcome]] = [:]
        /// The same, in the order of arrival.
        var arrivals: [(batch: Int64, outcome: Outcome)] = []
        var twice: [Outcome] = []
        var count = 0
        var calls = 0
        var events: [GatewayEvent] = []
        var announced: [Int64: [Range<Int32>]] = [:]
        var announcements: [Int] = []
        var problem: String?
        var mayLeave: (@Sendable (Int) -> Bool)?
        var waiters: [(isMet: (State) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// A violation of the gateway's contract; nil if there is none.
    package var problem: String? { state.withLock { $0.problem } }

    package func aboutToSend(_ departures: [GatewayDeparture]) -> Bool {
        var answer = true
        change { state in
            for departure in departures {
                if departure.ranges.isEmpty || departure.ranges.contains(where: \.isEmpty) {
                    state.problem = "a departure of nothing: \(departure.ranges)"
                }
                state.announced[departure.batch.id, default: []] += departure.ranges
            }
            state.announcements.append(departures.reduce(0) { $0 + $1.ranges.reduce(0) { $0 + $1.count } })
            answer = state.mayLeave?(state.announcements.count) ?? true
        }
        return answer
    }

    /// Decides for each announcement, counted from 1, whether it may leave.
    package func decide(_ mayLeave: @escaping @Sendable (Int) -> Bool) {
        state.withLock { $0.mayLeave = mayLeave }
    }

    /// How many messages each announcement had.
    package var announcements: [Int] { state.withLock { $0.announcements } }

    /// How often each row of a batch was announced.
    package func announced(_ batch: Int64, _ size: Int) -> [Int] {
        var counts = [Int](repeating: 0, count: size)
        for range in state.withLock({ $0.announced[batch] ?? [] }) { for row in range { counts[Int(row)] += 1 } }
        return counts
    }

    package func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32]) {
        change { state in
            if outcomes.count != latencyMicroseconds.count {
                state.problem = "\(outcomes.count) outcomes with \(latencyMicroseconds.count) latencies"
            }
            state.calls += 1
            for outcome in outcomes {
                let earlier = state.outcomes[batch.id, default: [:]].updateValue(outcome, forKey: outcome.index)
                if earlier != nil { state.twice.append(outcome) }
                state.arrivals.append((batch.id, outcome))
                state.count += 1
            }
        }
    }

    package func gatewayEvent(_ event: GatewayEvent) {
        change { $0.events.append(event) }
    }

    /// The total number of outcomes.
    package var total: Int { state.withLock { $0.count } }

    /// Outcomes for messages that already had one.
    package var twice: [Outcome] { state.withLock { $0.twice } }

    /// How often `resolved` was called.
    package var calls: Int { state.withLock { $0.calls } }

    /// All events so far.
    package var events: [GatewayEvent] { state.withLock { $0.events } }

    /// A batch's outcomes by index.
    package func outcomes(_ batch: Int64) -> [Int32: Outcome] {
        state.withLock { $0.outcomes[batch] ?? [:] }
    }

    /// How many outcomes of each class a batch has.
    package func classes(_ batch: Int64) -> [OutcomeClass: Int] {
        outcomes(batch).values.reduce(into: [:]) { $0[$1.outcomeClass, default: 0] += 1 }
    }

    /// Waits until there are this many outcomes in total.
    package func waitForOutcomes(_ count: Int) async {
        await wait { $0.count >= count }
    }

    /// Waits until there are more than this many outcomes in total, and returns the later ones in the order of arrival.
    package func arrivals(after count: Int) async -> [(batch: Int64, outcome: Outcome)] {
        await waitForOutcomes(count + 1)
        return state.withLock { Array($0.arrivals[count...]) }
    }

    /// Waits for an event and returns the first of its kind.
    @discardableResult
    package func waitForEvent(_ kind: GatewayEvent.Kind) async throws -> GatewayEvent {
        await wait { state in state.events.contains { $0.kind == kind } }
        guard let event = events.first(where: { $0.kind == kind }) else {
            throw TestSupportError("no event of kind \(kind.rawValue)")
        }
        return event
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

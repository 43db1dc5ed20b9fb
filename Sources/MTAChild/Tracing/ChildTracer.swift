import Foundation
import Gateways
import OperatingSystem
import ProcessProtocol
import Synchronization

/// Shows people what this child sends and receives, when its supervisor asks for it.
///
/// The event loop only copies a sample. A separate thread removes secrets, masks the sample and writes it, because a
/// pipe that no process reads must not hold up the sending. Samples that find no room are dropped and counted.
final class ChildTracer: GatewayTracer {
    /// A sample or report that waits to be written.
    private enum Item: Sendable {
        case exchange(CopiedExchange, traces: [Int64], at: Int64)
        case report(TraceReport)
    }

    private struct State {
        var sampler = TraceSampler(at: .now)
        var waiting: [Item] = []
        var isWriting = false
    }

    /// The maximum number of waiting items: two seconds at the maximum sample rate, about 2 MB of payloads.
    private static let maxWaiting = 2 * TraceLimits.maxPerSecond

    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)
    private let output: ChildOutput

    init(output: ChildOutput) {
        self.output = output
    }

    /// Starts, renews or ends a trace.
    ///
    /// - Parameter gateway: the gateway to trace; nil while there is none.
    func obey(_ order: TraceOrder, of gateway: (any Gateway)?) {
        // The gateway is told under the same lock, so that it has the latest state.
        let (counts, isShown) = state.withLock { state in
            let counts = state.sampler.obey(order, at: .now)
            return (counts, gateway?.trace(with: state.sampler.running.isEmpty ? nil : self) ?? true)
        }
        guard order.seconds > 0 else { return }
        let notice: String? =
            counts == nil ? "this child already shows \(TraceLimits.maxTraces) traces, the maximum" : nil
        put(
            .report(
                TraceReport(
                    trace: order.id,
                    counts: counts ?? TraceCounts(),
                    notice: isShown ? notice : gateway?.untraced
                )
            )
        )
    }

    /// Stops tracing the gateway if all traces have expired.
    func expire(of gateway: (any Gateway)?) {
        state.withLock { state in
            guard !state.sampler.running.isEmpty else { return }
            state.sampler.expire(at: .now)
            if state.sampler.running.isEmpty { _ = gateway?.trace(with: nil) }
        }
    }

    // MARK: On the event loop

    func choose(from count: Int, ofDelivery id: Int64, token: (Int) -> ArraySlice<UInt8>) -> [Int32: [Int64]] {
        state.withLock { $0.sampler.choose(from: count, ofDelivery: id, token: token, at: .now) }
    }

    func saw(_ exchange: CopiedExchange, for traces: [Int64]) {
        put(.exchange(exchange, traces: traces, at: Int64(Date().timeIntervalSince1970 * 1_000)))
    }

    // MARK: The thread

    private func put(_ item: Item) {
        let isFirst = state.withLock { state in
            guard state.waiting.count < Self.maxWaiting else {
                if case .exchange(_, let traces, _) = item { for trace in traces { state.sampler.lost(trace) } }
                return false
            }
            state.waiting.append(item)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if isFirst {
            do {
                try DetachedThread.start { [self] in write() }
            } catch {
                // No thread can be started: nothing is shown, and the next sample tries again.
                return state.withLock { state in
                    state.isWriting = false
                    state.waiting.removeAll()
                }
            }
        }
        signal.signal()
    }

    private func write() {
        while true {
            signal.wait()
            let items = state.withLock { state in
                defer { state.waiting.removeAll(keepingCapacity: true) }
                return state.waiting
            }
            for item in items { write(item) }
        }
    }

    private func write(_ item: Item) {
        switch item {
        case .report(let report): output.write(LineEncoder.line(ChildMessage(report)))
        case .exchange(let copy, let traces, let at):
            // A trace that ended meanwhile shows nothing more.
            let wanted = traces.compactMap { trace in running(trace).map { (trace, $0.counts, $0.isUnmasked) } }
            guard !wanted.isEmpty else { return }
            let exchange = copy.withoutSecrets
            for (trace, counts, isUnmasked) in wanted {
                let shown = TracedExchange(exchange, at: at, TraceMask(showsAll: isUnmasked))
                let line = LineEncoder.line(ChildMessage(TraceReport(trace: trace, counts: counts, exchange: shown)))
                if line.count <= TraceLimits.maxLineLength {
                    output.write(line)
                } else {
                    state.withLock { $0.sampler.lost(trace) }
                }
            }
        }
    }

    private func running(_ trace: Int64) -> (counts: TraceCounts, isUnmasked: Bool)? {
        state.withLock { state in
            state.sampler.counts(trace).map { ($0, state.sampler.isUnmasked(trace)) }
        }
    }
}

extension TracedExchange {
    /// Converts an exchange to what people may see of it.
    init(_ exchange: GatewayExchange, at: Int64, _ mask: TraceMask) {
        let masked = mask.masked(exchange)
        self.init(
            at: at,
            delivery: exchange.deliveryID,
            tokenHash: exchange.tokenHash,
            request: Part(headers: Self.fields(masked.requestFields), body: masked.requestBody),
            latencyMicroseconds: exchange.latencyMicroseconds
        )
        failure = exchange.failure
        if failure == nil {
            answer = Part(headers: Self.fields(masked.answerFields), body: masked.answerBody)
        }
    }

    private static func fields(_ fields: [WireField]) -> [Field] {
        fields.map { Field(name: $0.name, value: $0.value) }
    }
}

/// Decides which messages each trace shows, as a value: filters, samples a second, and each trace's end.
struct TraceSampler {
    /// A running trace.
    struct Running {
        var order: TraceOrder
        var end: ContinuousClock.Instant
        var allowance: SampleAllowance
        var counts = TraceCounts()
        /// The hash of the wanted push token, as bytes; nil for all tokens.
        var tokenHash: [UInt8]?

        /// Whether it is still running, and includes this delivery.
        func wants(_ delivery: Int64, at now: ContinuousClock.Instant) -> Bool {
            now < end && (order.deliveryID == nil || order.deliveryID == delivery)
        }
    }

    private(set) var running: [Running] = []
    /// The shared limit of all traces, so that tracing does not slow the sending.
    private var together: SampleAllowance
    /// Searching for a token is expensive, because each message's token is hashed. Above this rate some messages are
    /// not checked, and are counted.
    private var hashing: SampleAllowance

    init(at now: ContinuousClock.Instant) {
        together = SampleAllowance(perSecond: TraceLimits.maxPerSecond, at: now)
        hashing = SampleAllowance(perSecond: TraceLimits.maxHashesPerSecond, at: now)
    }

    /// Starts, renews or ends a trace.
    ///
    /// - Returns: the trace's counts; nil if the order cannot be carried out, because there are too many traces.
    mutating func obey(_ order: TraceOrder, at now: ContinuousClock.Instant) -> TraceCounts? {
        expire(at: now)
        let known = running.firstIndex { $0.order.id == order.id }
        guard order.seconds > 0 else { return known.map { running.remove(at: $0).counts } ?? TraceCounts() }
        // The duration is limited, so that an order from the pipe cannot run forever.
        let end = now.advanced(by: .seconds(min(order.seconds, TraceLimits.maxSeconds)))
        if let known {
            running[known].end = end
            return running[known].counts
        }
        guard running.count < TraceLimits.maxTraces else { return nil }
        let perSecond = min(max(order.perSecond, 1), TraceLimits.maxPerSecond)
        var made = Running(order: order, end: end, allowance: SampleAllowance(perSecond: perSecond, at: now))
        // An invalid hash matches no token.
        made.tokenHash = order.tokenHash.map { PushTokenHash.bytes($0) ?? [] }
        running.append(made)
        return TraceCounts()
    }

    /// Removes the traces that have expired.
    mutating func expire(at now: ContinuousClock.Instant) {
        running.removeAll { $0.end <= now }
    }

    /// The traces that show each message, by its index among the messages that leave together. Each trace counts all
    /// messages that match it.
    mutating func choose(
        from count: Int,
        ofDelivery id: Int64,
        token: (Int) -> ArraySlice<UInt8>,
        at now: ContinuousClock.Instant
    ) -> [Int32: [Int64]] {
        var chosen: [Int32: [Int64]] = [:]
        for number in running.indices where running[number].wants(id, at: now) {
            var found: [Int]?
            if let hash = running[number].tokenHash {
                found = find(hash, from: count, token: token, for: number, at: now)
            }
            let matched = found?.count ?? count
            running[number].counts.matched += Int64(matched)
            let shown = min(matched, running[number].allowance.left(at: now), together.left(at: now))
            guard shown > 0 else { continue }
            running[number].allowance.take(shown)
            together.take(shown)
            // The start is random, so that the first messages of a batch are not preferred.
            let start = Int.random(in: 0..<matched)
            for turn in 0..<shown {
                let place = (start + turn * matched / shown) % matched
                chosen[Int32(found?[place] ?? place), default: []].append(running[number].order.id)
            }
        }
        return chosen
    }

    /// The messages to a push token, among as many as may be checked.
    private mutating func find(
        _ hash: [UInt8],
        from count: Int,
        token: (Int) -> ArraySlice<UInt8>,
        for number: Int,
        at now: ContinuousClock.Instant
    ) -> [Int] {
        let looked = min(count, hashing.left(at: now))
        hashing.take(looked)
        running[number].counts.unchecked += Int64(count - looked)
        // If not all can be checked, a random start leaves no message out each time.
        let start = looked < count ? Int.random(in: 0..<count) : 0
        var found: [Int] = []
        for turn in 0..<looked {
            let index = (start + turn) % count
            if PushTokenHash.isHash(hash, of: token(index)) { found.append(index) }
        }
        return found
    }

    /// Counts a sample of a trace that was dropped.
    mutating func lost(_ id: Int64) {
        if let index = running.firstIndex(where: { $0.order.id == id }) { running[index].counts.lost += 1 }
    }

    /// The counts of a trace; nil if it is over.
    func counts(_ id: Int64) -> TraceCounts? { running.first { $0.order.id == id }?.counts }

    /// Whether a trace shows message texts.
    func isUnmasked(_ id: Int64) -> Bool { running.first { $0.order.id == id }?.order.isUnmasked ?? false }
}

/// An allowance of samples a second, which accumulates for one second at most.
struct SampleAllowance {
    private let perSecond: Double
    private var saved: Double
    private var counted: ContinuousClock.Instant

    init(perSecond: Int, at now: ContinuousClock.Instant) {
        self.perSecond = Double(perSecond)
        saved = Double(perSecond)
        counted = now
    }

    /// How many may be taken now.
    mutating func left(at now: ContinuousClock.Instant) -> Int {
        saved = min(perSecond, saved + max(0, (now - counted) / .seconds(1)) * perSecond)
        counted = now
        return Int(saved)
    }

    /// Takes some of the allowance.
    mutating func take(_ count: Int) { saved -= Double(count) }
}

import Foundation
import Gateways
import OperatingSystem
import ProcessProtocol
import Synchronization

/// Shows people what this child has on the wire, as its supervisor asks for it.
///
/// On the event loop a sample is copied, no more; a thread of its own takes secrets out, masks it and writes it, since a pipe that nobody
/// reads must not hold up the sending. What the thread has not come to when there is no room any more is lost, and counted.
final class ChildTracer: GatewayTracer {
    /// A sample that waits to be written.
    private enum Item: Sendable {
        case exchange(CopiedExchange, traces: [Int64], at: Int64)
        case report(TraceReport)
    }

    private struct State {
        var sampler = TraceSampler(at: .now)
        var waiting: [Item] = []
        var isWriting = false
    }

    /// Two seconds' worth of the most that is sampled: some 2 MB of payloads.
    private static let mostWaiting = 2 * TraceLimits.mostPerSecond

    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)
    private let output: ChildOutput

    init(output: ChildOutput) {
        self.output = output
    }

    /// Begins, renews or ends a trace.
    ///
    /// - Parameters:
    ///   - gateway: what it is to look at; nil while there is none.
    ///   - problem: why nothing can be shown of it, if so.
    func obey(_ order: TraceOrder, of gateway: (any Gateway)?, problem: String) {
        // The gateway is told behind the same lock, so that what is told last is so.
        let (counts, isShown) = state.withLock { state in
            let counts = state.sampler.obey(order, at: .now)
            return (counts, gateway?.trace(with: state.sampler.running.isEmpty ? nil : self) ?? true)
        }
        guard order.seconds > 0 else { return }
        let notice: String? = counts == nil ? "this child shows \(TraceLimits.mostTraces) traces already" : nil
        put(
            .report(
                TraceReport(trace: order.id, counts: counts ?? TraceCounts(), notice: isShown ? notice : problem)
            )
        )
    }

    /// Looks at nothing any more if the time of all traces is over.
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
            guard state.waiting.count < Self.mostWaiting else {
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
                // The machine has no thread left: nothing is shown, and the next sample tries again.
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
            // A trace that has ended meanwhile shows nothing more.
            let wanted = traces.compactMap { trace in running(trace).map { (trace, $0.counts, $0.isUnmasked) } }
            guard !wanted.isEmpty else { return }
            let exchange = copy.withoutSecrets
            for (trace, counts, isUnmasked) in wanted {
                let shown = TracedExchange(exchange, at: at, TraceMask(showsAll: isUnmasked))
                let line = LineEncoder.line(ChildMessage(TraceReport(trace: trace, counts: counts, exchange: shown)))
                if line.count <= TraceLimits.longestLine {
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
    /// What people may see of an exchange.
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

/// The child's standard output: whole lines, whoever writes.
final class ChildOutput: Sendable {
    private let file: Mutex<FileHandle>

    init(_ file: sending FileHandle = .standardOutput) {
        self.file = Mutex(file)
    }

    /// Writes a line with its newline.
    func write(_ line: [UInt8]) {
        // A supervisor that is gone does not read: the end of standard input tells the child, not this.
        file.withLock { try? $0.write(contentsOf: Data(line)) }
    }
}

/// Which messages are shown to whom, as a value: filters, samples a second, and when each trace ends.
struct TraceSampler {
    /// One trace that goes on.
    struct Running {
        var order: TraceOrder
        var end: ContinuousClock.Instant
        var allowance: SampleAllowance
        var counts = TraceCounts()
        /// The hash of the push token that is looked for, as bytes.
        var tokenHash: [UInt8]?

        /// Whether it goes on, and is of this delivery.
        func wants(_ delivery: Int64, at now: ContinuousClock.Instant) -> Bool {
            now < end && (order.deliveryID == nil || order.deliveryID == delivery)
        }
    }

    private(set) var running: [Running] = []
    /// All traces together show no more: what is read beside the sending must not show in its rate.
    private var together: SampleAllowance
    /// To look for a token is dear, as each message's is hashed for it: above this rate some are not looked at, and are counted.
    private var hashing: SampleAllowance

    init(at now: ContinuousClock.Instant) {
        together = SampleAllowance(perSecond: TraceLimits.mostPerSecond, at: now)
        hashing = SampleAllowance(perSecond: TraceLimits.mostHashesPerSecond, at: now)
    }

    /// Begins, renews or ends a trace.
    ///
    /// - Returns: its counts; of an order that cannot be obeyed, as there are too many, nil.
    mutating func obey(_ order: TraceOrder, at now: ContinuousClock.Instant) -> TraceCounts? {
        expire(at: now)
        let known = running.firstIndex { $0.order.id == order.id }
        guard order.seconds > 0 else { return known.map { running.remove(at: $0).counts } ?? TraceCounts() }
        // What comes by a pipe lets nothing run for ever.
        let end = now.advanced(by: .seconds(min(order.seconds, TraceLimits.longestSeconds)))
        if let known {
            running[known].end = end
            return running[known].counts
        }
        guard running.count < TraceLimits.mostTraces else { return nil }
        let perSecond = min(max(order.perSecond, 1), TraceLimits.mostPerSecond)
        var made = Running(order: order, end: end, allowance: SampleAllowance(perSecond: perSecond, at: now))
        // What is no hash is no token's.
        made.tokenHash = order.tokenHash.map { PushTokenHash.bytes($0) ?? [] }
        running.append(made)
        return TraceCounts()
    }

    /// Forgets the traces whose time is over.
    mutating func expire(at now: ContinuousClock.Instant) {
        running.removeAll { $0.end <= now }
    }

    /// The traces that show a message, by its index among those that leave together. Each trace counts all that it asked for.
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
            // From anywhere among them: the first of a batch is no better than the others.
            let start = Int.random(in: 0..<matched)
            for turn in 0..<shown {
                let place = (start + turn * matched / shown) % matched
                chosen[Int32(found?[place] ?? place), default: []].append(running[number].order.id)
            }
        }
        return chosen
    }

    /// The messages to a push token, among as many as may be looked at.
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
        // Where not all are looked at, none is always left out.
        let start = looked < count ? Int.random(in: 0..<count) : 0
        var found: [Int] = []
        for turn in 0..<looked {
            let index = (start + turn) % count
            if PushTokenHash.isHash(hash, of: token(index)) { found.append(index) }
        }
        return found
    }

    /// A sample of a trace found no room.
    mutating func lost(_ id: Int64) {
        if let index = running.firstIndex(where: { $0.order.id == id }) { running[index].counts.lost += 1 }
    }

    /// What was counted for a trace; nil if it is over.
    func counts(_ id: Int64) -> TraceCounts? { running.first { $0.order.id == id }?.counts }

    /// Whether a trace shows texts.
    func isUnmasked(_ id: Int64) -> Bool { running.first { $0.order.id == id }?.order.isUnmasked ?? false }
}

/// So many samples a second, saved up for one second at most.
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

    /// Takes some that may be taken.
    mutating func take(_ count: Int) { saved -= Double(count) }
}

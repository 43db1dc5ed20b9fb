/// Brings tracking hits to the server, in order, and keeps them while it cannot be reached.
///
/// A hit whose answer is lost is sent again, so a server may see it twice.
struct TrackingMachine: Sendable {
    /// More hits than a person makes off line; beyond, the oldest goes.
    static let mostHits = 100
    /// A hit that the server fails at so often shall not keep the others back for ever.
    static let mostRefusals = 10

    private struct Entry: Sendable {
        var hit: Hit
        var call: UInt64?
    }

    private var entries: [Entry] = []
    private var trackingHost: String?
    /// The number of the try that is under way; the first entry is what it sends.
    private var flight: UInt64?
    private var attempts: UInt64 = 0
    private var timer: UInt64 = 0
    private var backOff: BackOff

    init(seed: UInt64) {
        backOff = BackOff(seed: seed)
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .started(let hits):
            entries = hits.suffix(Self.mostHits).map { Entry(hit: $0) } + entries
            return send()
        case .trackingHost(let text):
            let base = ServerHost.base(text)
            guard base != trackingHost else { return [] }
            trackingHost = base
            return send()
        case .track(let path, let call): return track(path, call)
        case .answered(let attempt, let result): return answered(attempt, result)
        case .timerFired(let number): return number == timer ? send() : []
        case .retryNow: return send()
        }
    }

    private var store: Action { .store(entries.map(\.hit)) }

    private mutating func track(_ path: String?, _ call: UInt64) -> [Action] {
        guard trackingHost != nil else { return [.report(.trackingHostEmpty, calls: [call])] }
        guard let path else { return [.report(.noIDs, calls: [call])] }
        var actions: [Action] = []
        if entries.count >= Self.mostHits {
            // The first may be under way.
            let dropped = entries.remove(at: flight == nil ? 0 : 1)
            if let call = dropped.call {
                actions.append(.report(.refused(reason: "Too many hits wait for the server"), calls: [call]))
            }
        }
        entries.append(Entry(hit: Hit(path: path), call: call))
        return actions + [store] + send()
    }

    private mutating func send() -> [Action] {
        guard flight == nil, let trackingHost, let first = entries.first else { return [] }
        attempts &+= 1
        timer &+= 1
        flight = attempts
        let request = PushRequest(method: "GET", url: trackingHost + first.hit.path, headers: [:], body: nil)
        return [.send(attempt: attempts, request)]
    }

    private mutating func answered(_ attempt: UInt64, _ result: TransportResult) -> [Action] {
        guard flight == attempt, !entries.isEmpty else { return [] }
        flight = nil
        if case .answer = result, result.isWorthRetrying { entries[0].hit.refusals += 1 }
        guard result.isWorthRetrying, entries[0].hit.refusals < Self.mostRefusals else {
            let done = entries.removeFirst()
            backOff.reset()
            let outcome: TrackingOutcome = result.isSuccess ? .sent : .refused(reason: result.reason)
            return [store] + (done.call.map { [.report(outcome, calls: [$0])] } ?? []) + send()
        }
        // Nobody waits for a server that does not answer: a silent notification's time is short.
        let calls = entries.compactMap(\.call)
        for index in entries.indices { entries[index].call = nil }
        timer &+= 1
        return [store] + (calls.isEmpty ? [] : [.report(.queued(reason: result.reason), calls: calls)])
            + [.startTimer(timer, seconds: backOff.next(atLeast: result.retryAfter))]
    }
}

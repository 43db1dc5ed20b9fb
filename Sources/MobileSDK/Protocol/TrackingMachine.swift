/// Sends tracking hits to the server in order, and keeps them while it cannot be reached.
///
/// A hit whose answer is lost is sent again, so a server may see it twice. After a failure there is a pause in which
/// new hits are only queued. Otherwise each of them would cost the oldest hit an attempt and a struggling server a
/// request.
struct TrackingMachine: Sendable {
    /// The maximum number of queued hits, more than a user causes offline. Beyond it the oldest is dropped.
    static let maxHits = 100
    /// The maximum number of failed answers to a hit, so that it does not block the others forever.
    static let maxRefusals = 10

    private struct Entry: Sendable {
        var hit: Hit
        var call: UInt64?
    }

    private enum Pause {
        /// Chosen by the SDK; ``Event/retryNow`` ends it.
        case own
        /// Requested by the server, so that it cannot be ended early. The rest of the SDK's own pause follows.
        case asked(rest: Double)
    }

    private var entries: [Entry] = []
    private var trackingHost: String?
    /// The number of the attempt in progress, which sends the first entry.
    private var flight: UInt64?
    private var attempts: UInt64 = 0
    private var timer: UInt64 = 0
    private var backOff: BackOff
    private var pause: Pause?
    /// The reason for the pause.
    private var trouble = ""

    init(seed: UInt64) {
        backOff = BackOff(seed: seed)
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .started(let hits):
            entries = hits.suffix(Self.maxHits).map { Entry(hit: $0) } + entries
            return send()
        case .trackingHost(let text):
            let base = ServerHost.base(text)
            guard base != trackingHost else { return [] }
            trackingHost = base
            // A pause for another server does not apply.
            pause = nil
            return send()
        case .track(let path, let call): return track(path, call)
        case .answered(let attempt, let result): return answered(attempt, result)
        case .timerFired(let number): return number == timer ? pauseEnded() : []
        case .retryNow: return retryNow()
        }
    }

    private var store: Action { .store(entries.map(\.hit)) }

    private mutating func track(_ path: String?, _ call: UInt64) -> [Action] {
        guard trackingHost != nil else { return [.report(.trackingHostEmpty, calls: [call])] }
        guard let path else { return [.report(.noIDs, calls: [call])] }
        var actions: [Action] = []
        if entries.count >= Self.maxHits {
            // The first hit may be in progress.
            let dropped = entries.remove(at: flight == nil ? 0 : 1)
            if let call = dropped.call {
                actions.append(.report(.refused(reason: "Too many hits wait for the server"), calls: [call]))
            }
        }
        guard pause == nil else {
            entries.append(Entry(hit: Hit(path: path)))
            return actions + [store, .report(.queued(reason: trouble), calls: [call])]
        }
        entries.append(Entry(hit: Hit(path: path), call: call))
        return actions + [store] + send()
    }

    private mutating func pauseEnded() -> [Action] {
        if case .asked(let rest) = pause, rest > 0 {
            pause = .own
            timer &+= 1
            return [.startTimer(timer, seconds: rest)]
        }
        pause = nil
        return send()
    }

    private mutating func retryNow() -> [Action] {
        if case .asked = pause {
            pause = .asked(rest: 0)
            return []
        }
        pause = nil
        return send()
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
        var actions: [Action] = []
        if !result.isWorthRetrying || entries[0].hit.refusals >= Self.maxRefusals {
            let done = entries.removeFirst()
            let outcome: TrackingOutcome = result.isSuccess ? .sent : .refused(reason: result.reason)
            actions = done.call.map { [.report(outcome, calls: [$0])] } ?? []
        }
        guard result.isWorthRetrying else {
            backOff.reset()
            return [store] + actions + send()
        }
        // Calls do not wait for a server that does not answer: the time for a silent notification is short.
        let calls = entries.compactMap(\.call)
        for index in entries.indices { entries[index].call = nil }
        if !calls.isEmpty { actions.append(.report(.queued(reason: result.reason), calls: calls)) }
        return [store] + actions + [wait(for: result)]
    }

    private mutating func wait(for result: TransportResult) -> Action {
        let asked = result.retryAfter.map { min($0, BackOff.longestAsked) }
        let chosen = backOff.next(atLeast: asked)
        trouble = result.reason
        pause = asked.map { .asked(rest: chosen - $0) } ?? .own
        timer &+= 1
        return .startTimer(timer, seconds: asked ?? chosen)
    }
}

extension TrackingMachine {
    /// The events that the machine handles.
    enum Event: Sendable, Equatable {
        /// The process started and loaded these hits.
        case started([Hit])
        case trackingHost(String?)
        /// A call of the app with the path to request; nil if the notification has no ids.
        case track(path: String?, call: UInt64)
        case answered(attempt: UInt64, TransportResult)
        case timerFired(UInt64)
        case retryNow
    }

    /// The actions that its owner must carry out, in order.
    enum Action: Sendable, Equatable {
        case store([Hit])
        case send(attempt: UInt64, PushRequest)
        case startTimer(UInt64, seconds: Double)
        case report(TrackingOutcome, calls: [UInt64])
    }

    /// A request that the server does not have yet.
    struct Hit: Sendable, Equatable, Codable {
        var path: String
        /// How often a server answered but could not accept it.
        var refusals = 0
    }
}

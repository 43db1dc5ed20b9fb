import PushCore

/// What the child that probes a gateway in trouble does next, as a value: no input or output, no clock of its own.
///
/// A probe begins with the connection. An open one has to answer a PING; if there is none, the message waits until TCP,
/// TLS and SETTINGS are complete. Then one message is sent, preferably one that no earlier attempt left unanswered. So
/// if only the answers are lost, no user gets a message with every probe.
struct Prober: Sendable {
    enum State: Sendable, Equatable {
        /// An open connection has to answer a PING.
        case pinging
        /// A part is being claimed to probe with. `isFirst`: whether no message was allowed to leave yet for this
        /// probe.
        case claiming(isFirst: Bool)
        /// One message may leave, or is on its way.
        case probing
        /// The time of the next probe.
        case pausing(until: Duration)
        /// The gateway takes messages again, or another child probes it.
        case over
        /// This child ends, or leaves its place to another.
        case leaving
    }

    enum Event: Sendable, Equatable {
        /// Whether the open connections answer a PING.
        case pinged(Bool)
        /// Whether there was a part to probe with.
        case claimed(Bool)
        /// The claim failed.
        case claimFailed
        /// Something happened, or time has passed.
        case looked
        /// This child has to end.
        case drained
    }

    enum Action: Sendable, Equatable {
        case ping
        /// Claim a part to probe with, of another delivery than these.
        case claim(except: Set<Int64>)
        /// Let one message leave.
        case allow
        /// Report to the database that the gateway is being probed. After a refused probe: with the reason and when the
        /// next one is due.
        case tell(reason: String?, nextProbeIn: Duration?)
        /// Give back the part that the last probe came from.
        case giveBack
        /// Leave the prober's place to another child.
        case leave(isIdle: Bool)
    }

    /// The prober's heartbeat; after three times this long without one, another child may take its place.
    static let heartbeat = Duration.seconds(5)
    /// How long the right to probe lasts without a heartbeat.
    static let lease = Duration.seconds(15)
    /// A child with nothing to probe with for this long leaves its place to a child that has something to send.
    static let idleLimit = Duration.seconds(60)
    /// Between two claims for one probe, if the claimed part has expired; there may be many expired parts.
    static let claimPause = Duration.milliseconds(50)
    /// Describes a connection that does not answer, for people.
    static let silentConnection = "a connection is open and does not answer a PING"

    private(set) var state = State.pinging
    /// The deliveries already probed with; they take turns, because a refusal may be one delivery's own fault.
    private var tried: Set<Int64> = []
    /// When a probe was last refused.
    private var lastRefusal: Duration
    /// When the last heartbeat was sent.
    private var lastWord: Duration
    /// When a part was last claimed.
    private var lastClaim: Duration?
    private var random: any RandomNumberGenerator & Sendable

    /// - Parameters:
    ///   - moment: now, on the owner's monotonic clock.
    ///   - random: draws the pauses between probes.
    init(at moment: Duration, random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        lastRefusal = moment
        lastWord = moment
        self.random = random
    }

    /// When to look again if nothing happens.
    func nextLook(_ view: ProbeView) -> Duration {
        let word = lastWord + Self.heartbeat
        return switch state {
        case .pausing(let until): min(word, until)
        case .probing where view.mayProbe && view.hasNothing: min(word, nextClaim)
        case .probing: min(word, view.awaitedUntil ?? word)
        case .pinging, .claiming, .over, .leaving: word
        }
    }

    /// - Parameter view: the dispatch state's present view of the probe.
    mutating func handle(_ event: Event, _ view: ProbeView, at moment: Duration) -> [Action] {
        var actions: [Action] = []
        take(event, view, moment, &actions)
        if isWaiting, moment - lastWord >= Self.heartbeat { tell(nil, nil, moment, &actions) }
        return actions
    }

    private var nextClaim: Duration { lastClaim.map { $0 + Self.claimPause } ?? .zero }

    private var isWaiting: Bool {
        switch state {
        case .probing, .pausing: true
        case .pinging, .claiming, .over, .leaving: false
        }
    }

    private mutating func take(_ event: Event, _ view: ProbeView, _ moment: Duration, _ actions: inout [Action]) {
        switch (state, event) {
        case (.over, _), (.leaving, _): return
        // The answer to the last probe came late, or another child is the prober.
        case _ where !view.isProber: state = .over
        case (_, .drained): leave(isIdle: false, &actions)
        case (.pinging, .pinged(true)) where !view.hasNothing: allow(&actions)
        case (.pinging, .pinged(true)): claim(isFirst: true, view, moment, &actions)
        case (.pinging, .pinged(false)): end(refusal: Self.silentConnection, view, moment, &actions)
        case (.pinging, .looked): actions.append(.ping)
        case (.claiming(true), .claimed(true)): allow(&actions)
        case (.claiming(false), .claimed(true)): state = .probing
        case (.claiming(let isFirst), .claimed(false)) where !tried.isEmpty:
            tried = []
            state = .claiming(isFirst: isFirst)
            actions.append(.claim(except: []))
        case (.claiming, .claimed(false)), (.claiming, .claimFailed): end(refusal: nil, view, moment, &actions)
        case (.probing, .looked): look(view, moment, &actions)
        case (.pausing(let until), .looked) where moment >= until:
            state = .pinging
            actions.append(.ping)
        case (.claiming, _), (.pinging, _), (.probing, _), (.pausing, _): return
        }
    }

    private mutating func allow(_ actions: inout [Action]) {
        state = .probing
        actions.append(.allow)
    }

    private mutating func claim(isFirst: Bool, _ view: ProbeView, _ moment: Duration, _ actions: inout [Action]) {
        // The parts being given back may be the only ones there are.
        guard !view.isReleasing else { return end(refusal: nil, view, moment, &actions) }
        state = .claiming(isFirst: isFirst)
        lastClaim = moment
        actions.append(.claim(except: tried))
    }

    private mutating func look(_ view: ProbeView, _ moment: Duration, _ actions: inout [Action]) {
        tried.formUnion(view.deliveries)
        if !view.mayProbe {
            if !view.isAwaited { end(refusal: view.reason, view, moment, &actions) }
        } else if view.hasNothing, moment >= nextClaim {
            // The claimed part may have expired: the next one is the probe.
            claim(isFirst: false, view, moment, &actions)
        }
    }

    /// - Parameter refusal: how the probe was refused; nil if nothing was sent.
    private mutating func end(
        refusal: String?,
        _ view: ProbeView,
        _ moment: Duration,
        _ actions: inout [Action]
    ) {
        if refusal != nil { lastRefusal = moment }
        guard lastRefusal + Self.idleLimit >= moment else { return leave(isIdle: true, &actions) }
        let pause = ProbePace.pause(notBefore: view.pauseAskedFor ?? .zero, using: &random)
        state = .pausing(until: moment + pause)
        tell(refusal, refusal == nil ? nil : pause, moment, &actions)
        actions.append(.giveBack)
    }

    private mutating func tell(_ reason: String?, _ pause: Duration?, _ moment: Duration, _ actions: inout [Action]) {
        lastWord = moment
        actions.append(.tell(reason: reason, nextProbeIn: pause))
    }

    private mutating func leave(isIdle: Bool, _ actions: inout [Action]) {
        state = .leaving
        actions.append(.leave(isIdle: isIdle))
    }
}

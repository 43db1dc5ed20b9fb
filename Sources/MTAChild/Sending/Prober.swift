import PushCore

/// What the child that probes a gateway in trouble does next, as a value: no input or output, no clock of its own.
///
/// A probe begins with the connection: where one is open it has to answer a PING, where none is the message waits until TCP, TLS and
/// SETTINGS have come about. Then one message goes, which an earlier attempt has never left without an answer if there is any such; where
/// only the answers are lost, nobody gets a message with every probe.
struct Prober: Sendable {
    enum State: Sendable, Equatable {
        /// An open connection has to answer a PING.
        case pinging
        /// A part is asked for to probe with. `isFirst`: no message was allowed to leave yet with this probe.
        case claiming(isFirst: Bool)
        /// One message may leave, or is on its way.
        case probing
        /// The next probe is due then.
        case pausing(until: Duration)
        /// The gateway takes messages again, or another child probes it.
        case over
        /// This child goes, or leaves its place to others.
        case leaving
    }

    enum Event: Sendable, Equatable {
        /// Whether the connections that are open answer a PING.
        case pinged(Bool)
        /// Whether there was a part to probe with.
        case claimed(Bool)
        /// The database could not be asked for one.
        case claimFailed
        /// Something has happened, or time has passed.
        case looked
        /// This child is to go.
        case drained
    }

    enum Action: Sendable, Equatable {
        case ping
        /// Claim a part to probe with, of another delivery than these.
        case claim(except: Set<Int64>)
        /// Let one message leave.
        case allow
        /// Tell the database that the gateway is probed. After a probe that was refused: why, and when the next one is due.
        case tell(reason: String?, nextProbeIn: Duration?)
        /// Give back what the last probe was taken from.
        case giveBack
        /// Leave the place of the prober to another child.
        case leave(isIdle: Bool)
    }

    /// So often the prober says that it lives; after three times that another one may take its place.
    static let heartbeat = Duration.seconds(5)
    /// How long the right to probe lasts without a word.
    static let lease = Duration.seconds(15)
    /// A child that has had nothing to probe with for so long leaves its place to others; one that has something to send probes with it.
    static let idleLimit = Duration.seconds(60)
    /// Between two claims for one probe, where what was claimed has expired: there may be many of these.
    static let claimPause = Duration.milliseconds(50)
    /// What a connection that does not answer is, for people.
    static let silentConnection = "a connection is open and does not answer a PING"

    private(set) var state = State.pinging
    /// Deliveries take turns: what one of them meets may be its own fault.
    private var tried: Set<Int64> = []
    /// When a probe was last refused.
    private var lastRefusal: Duration
    /// When the database was last told.
    private var lastWord: Duration
    /// When a part was last asked for.
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

    /// When it is to look again though nothing happens.
    func nextLook(_ view: ProbeView) -> Duration {
        let word = lastWord + Self.heartbeat
        return switch state {
        case .pausing(let until): min(word, until)
        case .probing where view.mayProbe && view.hasNothing: min(word, nextClaim)
        case .probing: min(word, view.awaitedUntil ?? word)
        case .pinging, .claiming, .over, .leaving: word
        }
    }

    /// - Parameter view: the dispatch state's side of the probe now.
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
        // The answer to the last probe came late, or another child probes.
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
        // What goes back may be all that there is.
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
            // What was claimed has expired, say: the next one is the probe.
            claim(isFirst: false, view, moment, &actions)
        }
    }

    /// - Parameter refusal: what the probe has met; nil if nothing was sent.
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

/// How the probes of a gateway in trouble go.
struct ProbeView: Sendable {
    /// Whether this child is the one that probes.
    let isProber: Bool
    /// Whether a probe may go and has not gone.
    let mayProbe: Bool
    /// Whether one is on its way whose answer is waited for.
    let isAwaited: Bool
    /// When the answer of the last one is not waited for any more, on the owner's monotonic clock; nil if that is over.
    let awaitedUntil: Duration?
    /// Whether a part is needed to probe with.
    let hasNothing: Bool
    /// Whether parts go back, which may be all that there is.
    let isReleasing: Bool
    /// The deliveries of the parts that are held.
    let deliveries: Set<Int64>
    /// How long the gateway has asked to wait; nil if it did not.
    let pauseAskedFor: Duration?
    /// Why the gateway is in trouble.
    let reason: String
}

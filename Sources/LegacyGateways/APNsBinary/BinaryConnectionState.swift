/// One connection of the binary protocol, as a value: the messages written, and what the gateway's silence and its
/// error packet mean for them.
///
/// The gateway does not confirm the messages that it accepts. It names the message that it refuses, closes, and
/// discards later ones. So earlier messages are *taken*, the named one is *refused*, and later ones are *discarded* and
/// sent again. Status 10 names the last message that was taken. A message without an error packet for the window of
/// silence is *presumed taken*, as the protocol has no other sign of success. A connection that ends without an error
/// packet leaves all others *ambiguous*, and reports how many had been presumed taken without proof.
///
/// Silence counts only if the gateway could have answered. The host at the other end of the connection (the gateway or,
/// through a proxy, the proxy) must have acknowledged the message's bytes. So bytes that are buffered here during a
/// network failure do not count as delivered. An acknowledgement does not prove that the gateway itself read them. The
/// message must also have been old enough at the previous tick, because all received data is read between two ticks. So
/// a process that was suspended presumes nothing.
struct BinaryConnectionState<Message: Sendable>: Sendable {
    /// The last identifier of a connection; the connection is replaced earlier. Identifiers are per connection and
    /// begin with 1.
    static var lastIdentifier: UInt32 { .max - 1 }

    private let silence: UInt64
    private let timeout: UInt64
    private let identifiers: UInt32

    private(set) var phase = Phase.opening
    private var window = SentWindow<Message>()
    private var decoder = BinaryErrorDecoder()
    /// The identifier of the next message.
    private(set) var nextIdentifier: UInt32 = 1
    /// The end of the byte stream so far.
    private(set) var written: UInt64 = 0
    private var acknowledged: UInt64 = 0
    /// The previous tick, and what had been acknowledged then.
    private var lastTick: (time: UInt64, acknowledged: UInt64)?
    private var hasTimedOut = false
    /// Messages presumed taken because of silence, without proof since.
    private var presumed = 0
    /// Whether any message was taken or refused on the connection.
    private(set) var isProved = false

    /// - Parameters:
    ///   - silence: how long the gateway must be silent about a message until it counts as taken, in nanoseconds.
    ///   - timeout: how long the gateway's host may take to acknowledge a message's bytes, in nanoseconds.
    ///   - identifiers: the maximum number of messages on the connection.
    init(silence: UInt64, timeout: UInt64, identifiers: UInt32 = lastIdentifier) {
        self.silence = silence
        self.timeout = timeout
        self.identifiers = identifiers
    }

    /// The unresolved messages.
    var open: Int { window.count }

    /// How many messages may be written now.
    ///
    /// - Parameter limit: the maximum number of unresolved messages.
    func room(_ limit: Int) -> Int {
        guard phase == .ready else { return 0 }
        return max(0, min(limit - window.count, Int(identifiers) - Int(nextIdentifier) + 1))
    }

    /// Handles an event.
    ///
    /// - Parameter now: nanoseconds of a monotonic clock.
    mutating func handle(_ event: Event, now: UInt64) -> [Action] {
        switch event {
        case .opened:
            if phase == .opening { phase = .ready }
            return []
        case .sent(let messages): return sent(messages, now)
        case .acknowledged(let offset):
            acknowledged = max(acknowledged, min(offset, written))
            return []
        case .received(let bytes): return received(bytes, now)
        case .tick: return tick(now)
        case .drain: return drain()
        case .broken:
            if phase != .ending, phase != .closed { phase = .breaking }
            return []
        case .closed: return closed(now)
        }
    }

    private mutating func sent(_ messages: [(message: Message, bytes: Int)], _ now: UInt64) -> [Action] {
        for (message, bytes) in messages {
            written &+= UInt64(clamping: bytes)
            window.append(SentWindow.Entry(message: message, end: written, sentAt: now))
            nextIdentifier &+= 1
        }
        // Written on a connection that has ended: they were probably never read, but that is not certain.
        return phase == .closed ? resolveAll(.ambiguous(.connectionLost), now) : []
    }

    private mutating func drain() -> [Action] {
        switch phase {
        case .opening:
            phase = .ending
            return [.close(nil)]
        case .ready:
            phase = .draining
            return endIfDone()
        case .draining, .breaking, .ending, .closed: return []
        }
    }

    private mutating func endIfDone() -> [Action] {
        guard phase == .draining, window.isEmpty else { return [] }
        phase = .ending
        // This side closed it, so its end says nothing about them.
        presumed = 0
        return [.close(nil)]
    }

    // MARK: Silence

    private mutating func tick(_ now: UInt64) -> [Action] {
        guard phase == .ready || phase == .draining else { return [] }
        var actions = presume(now)
        lastTick = (now, acknowledged)
        if let first = window.first, first.end > acknowledged, now &- first.sentAt >= timeout, now >= first.sentAt {
            hasTimedOut = true
            phase = .ending
            actions.append(
                .close("the gateway's host has not acknowledged the data sent for \(timeout / 1_000_000) ms")
            )
            return actions
        }
        if phase == .ready, nextIdentifier > identifiers { phase = .draining }
        return actions + endIfDone()
    }

    private mutating func presume(_ now: UInt64) -> [Action] {
        guard let lastTick, lastTick.time >= silence else { return [] }
        let latest = lastTick.time - silence
        var resolved: [BinaryResolved<Message>] = []
        while let first = window.first, first.sentAt <= latest, first.end <= lastTick.acknowledged {
            take(.presumedTaken, now, &resolved)
        }
        return resolved.isEmpty ? [] : [.resolve(resolved)]
    }

    // MARK: The gateway's word

    private mutating func received(_ bytes: [UInt8], _ now: UInt64) -> [Action] {
        // A breaking connection may still hold an error packet from before the break.
        guard phase == .ready || phase == .draining || phase == .breaking else { return [] }
        switch decoder.read(bytes) {
        case .incomplete: return []
        case .nonsense(let byte):
            phase = .ending
            return [.close("the gateway sent \(byte) where only an error packet (8) is allowed")]
        case .packet(let packet):
            phase = .ending
            return judge(packet, now) + [.close(nil)]
        }
    }

    private mutating func judge(_ packet: BinaryErrorPacket, _ now: UInt64) -> [Action] {
        var decision = Decision(packet: packet, hasProgress: false, tooLate: 0, unproved: 0)
        var resolved: [BinaryResolved<Message>] = []
        let oldest = nextIdentifier &- UInt32(truncatingIfNeeded: window.count)
        // These two statuses name the last good message; all others name the first bad one.
        let namesTaken = packet.status == BinaryErrorPacket.shutdown || packet.status == BinaryErrorPacket.noErrors
        // Identifiers begin with 1: if 0 is the last good one, nothing was taken.
        let tookNothing = packet.identifier == 0 && packet.status == BinaryErrorPacket.shutdown
        if !tookNothing, packet.identifier == 0 || packet.identifier >= nextIdentifier {
            // It names no message of the connection. Messages before the refused one were taken and later ones were
            // not, but its position is unknown.
            decision.unproved = presumed
            takeAll(.ambiguous(.unknownIdentifier), now, &resolved)
        } else {
            let before = packet.identifier &- oldest &+ (namesTaken ? 1 : 0)
            if packet.identifier >= oldest {
                for _ in 0..<before { take(.taken, now, &resolved) }
                if !namesTaken { take(.refused(packet.status), now, &resolved) }
                decision.hasProgress = true
            } else {
                // Already presumed taken; later messages have been discarded nevertheless.
                decision.tooLate = Int(oldest &- packet.identifier) - (namesTaken ? 1 : 0)
            }
            // A gateway that found no error closed for another reason: it may have taken more messages.
            let isCertain = packet.status != BinaryErrorPacket.noErrors
            takeAll(
                isCertain ? .discarded(isFree: decision.hasProgress) : .ambiguous(.connectionLost),
                now,
                &resolved
            )
        }
        presumed = 0
        return (resolved.isEmpty ? [] : [.resolve(resolved)]) + [.judged(decision)]
    }

    private mutating func closed(_ now: UInt64) -> [Action] {
        guard phase != .closed else { return [] }
        var actions = phase == .ending && !hasTimedOut ? [] : presume(now)
        phase = .closed
        actions += resolveAll(.ambiguous(hasTimedOut ? .timeout : .connectionLost), now)
        if presumed > 0 { actions.append(.unproved(presumed)) }
        presumed = 0
        return actions
    }

    // MARK: Resolving

    private mutating func resolveAll(_ fate: BinaryFate, _ now: UInt64) -> [Action] {
        var resolved: [BinaryResolved<Message>] = []
        takeAll(fate, now, &resolved)
        return resolved.isEmpty ? [] : [.resolve(resolved)]
    }

    private mutating func takeAll(_ fate: BinaryFate, _ now: UInt64, _ resolved: inout [BinaryResolved<Message>]) {
        resolved.reserveCapacity(resolved.count + window.count)
        while !window.isEmpty { take(fate, now, &resolved) }
    }

    private mutating func take(_ fate: BinaryFate, _ now: UInt64, _ resolved: inout [BinaryResolved<Message>]) {
        guard let entry = window.removeFirst() else { return }
        if fate.provesConnection { isProved = true }
        if fate == .presumedTaken { presumed += 1 }
        resolved.append(
            BinaryResolved(message: entry.message, fate: fate, age: now > entry.sentAt ? now - entry.sentAt : 0)
        )
    }
}

extension BinaryConnectionState {
    /// The phase of a connection.
    enum Phase: Sendable, Hashable {
        /// Waits for TLS.
        case opening
        /// Accepts messages.
        case ready
        /// Accepts no more messages; closes when the last one is resolved.
        case draining
        /// TLS or the socket has failed: it accepts no more messages and presumes nothing more; an error packet may
        /// still be read.
        case breaking
        /// It was told to close, or the error packet came: nothing more is written or read.
        case ending
        case closed
    }

    /// What happens to a connection.
    enum Event: Sendable {
        /// The TLS handshake completed.
        case opened
        /// Frames were written, the first with ``BinaryConnectionState/nextIdentifier``; each with its number of bytes.
        case sent([(message: Message, bytes: Int)])
        /// The gateway's host has acknowledged the stream up to this position.
        case acknowledged(UInt64)
        /// Bytes from the gateway.
        case received([UInt8])
        /// Time passes. To be sent several times in each window of silence, with reads in between.
        case tick
        /// No more messages; close when all are resolved.
        case drain
        /// The connection failed and is being closed.
        case broken
        case closed
    }

    /// What to do, in order.
    enum Action: Sendable {
        /// Messages were resolved; in the order in which they were written.
        case resolve([BinaryResolved<Message>])
        /// The gateway sent an error packet; see ``BinaryConnectionState/Decision``.
        case judged(Decision)
        /// Close the connection; a nil reason means a normal end.
        case close(String?)
        /// The connection ended, and no packet has proved this many presumptions.
        case unproved(Int)
    }

    /// An error packet and its effect.
    struct Decision: Sendable, Hashable {
        var packet: BinaryErrorPacket
        /// Whether it decided about any message.
        var hasProgress: Bool
        /// How many messages were presumed taken before it came, but were not.
        var tooLate: Int
        /// How many messages were presumed taken before it came and are not confirmed by it.
        var unproved: Int
    }
}

/// A resolved message.
struct BinaryResolved<Message: Sendable>: Sendable {
    var message: Message
    var fate: BinaryFate
    /// The time from writing it to its resolution, in nanoseconds.
    var age: UInt64
}

/// What happened to a message.
enum BinaryFate: Sendable, Hashable {
    /// The gateway named a later message, or named this one as the last that was taken.
    case taken
    /// The gateway was silent about it for so long that it counts as taken.
    case presumedTaken
    /// The gateway refused it with this status.
    case refused(UInt8)
    /// The gateway discarded it unseen because of an earlier one.
    ///
    /// `isFree`: the packet resolved another message, so resending cannot loop forever.
    case discarded(isFree: Bool)
    /// The connection ended without an error packet; the message may have been taken.
    case ambiguous(BinaryAmbiguity)
}

extension BinaryFate {
    /// Whether the gateway has judged the message, which proves that the connection works.
    var provesConnection: Bool {
        switch self {
        case .taken, .presumedTaken, .refused: true
        case .discarded, .ambiguous: false
        }
    }
}

/// Why it is unknown what happened to a message.
enum BinaryAmbiguity: String, Sendable, Hashable {
    /// The connection ended without an error packet.
    case connectionLost = "ConnectionLost"
    /// The gateway's host did not acknowledge the bytes in time.
    case timeout = "Timeout"
    /// The error packet names no message of the connection.
    case unknownIdentifier = "UnknownIdentifier"
}

/// The unresolved messages of a connection, in the order in which they were written. It is a ring, so its memory is
/// bounded by the largest window.
struct SentWindow<Message: Sendable>: Sendable {
    /// A message that was written.
    struct Entry: Sendable {
        var message: Message
        /// The position of its frame's end in the connection's byte stream.
        var end: UInt64
        /// When it was written, in nanoseconds.
        var sentAt: UInt64
    }

    private var entries: [Entry?] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The message that was written first.
    var first: Entry? { count > 0 ? entries[head] : nil }

    mutating func append(_ entry: Entry) {
        if count == entries.count { grow() }
        entries[(head + count) % entries.count] = entry
        count += 1
    }

    /// Removes the message that was written first.
    mutating func removeFirst() -> Entry? {
        guard count > 0 else { return nil }
        let entry = entries[head]
        entries[head] = nil
        head = (head + 1) % entries.count
        count -= 1
        return entry
    }

    private mutating func grow() {
        var larger: [Entry?] = []
        larger.reserveCapacity(max(64, entries.count * 2))
        for offset in 0..<count { larger.append(entries[(head + offset) % entries.count]) }
        larger.append(contentsOf: repeatElement(nil, count: max(64, entries.count * 2) - count))
        entries = larger
        head = 0
    }
}

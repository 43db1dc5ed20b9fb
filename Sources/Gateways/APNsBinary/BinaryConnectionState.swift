/// One connection of the binary protocol, as a value: what was written, what the gateway's silence and its one word mean.
///
/// The gateway says nothing about what it takes. It names the message that it refuses, closes, and throws away what came
/// behind it: everything before is *taken*, the named one *refused*, everything behind *discarded* and sent again. Status 10
/// names the last that was taken. A message of which nothing was heard for the window of silence is *presumed taken*: the
/// protocol has no other way to say so. A connection that ends without a word leaves all others *ambiguous*, and tells how many
/// had been presumed taken: nothing has proved it.
///
/// Silence counts only if the gateway could speak: the message's bytes must have been acknowledged by the host at the other end of
/// the connection (the gateway's or, on the way through a proxy, the proxy's), so that nothing that lies in a buffer here is taken
/// for delivered while the network is cut. That the gateway itself has read them it does not say. And a message must have been old enough at
/// the tick before, since between two ticks all that has come is read. So a process that stood still presumes nothing.
struct BinaryConnectionState<Message: Sendable>: Sendable {
    /// The last identifier that a connection gives out; it is replaced before. Identifiers are its own and begin with 1.
    static var lastIdentifier: UInt32 { .max - 1 }

    private let silence: UInt64
    private let timeout: UInt64
    private let identifiers: UInt32

    private(set) var phase = Phase.opening
    private var window = SentWindow<Message>()
    private var decoder = BinaryErrorDecoder()
    /// The identifier of the next message.
    private(set) var nextIdentifier: UInt32 = 1
    /// Where the stream of bytes ends.
    private(set) var written: UInt64 = 0
    private var acknowledged: UInt64 = 0
    /// The tick before, and what had been acknowledged then.
    private var lastTick: (time: UInt64, acknowledged: UInt64)?
    private var hasTimedOut = false
    /// Messages that count as taken because of silence, with no word since that proves it.
    private var presumed = 0
    /// Whether any message was taken or refused on it.
    private(set) var isProved = false

    /// - Parameters:
    ///   - silence: how long nothing must be heard of a message until it counts as taken, in nanoseconds.
    ///   - timeout: how long the gateway's host may take to acknowledge a message's bytes, in nanoseconds.
    ///   - identifiers: how many messages the connection carries at most.
    init(silence: UInt64, timeout: UInt64, identifiers: UInt32 = lastIdentifier) {
        self.silence = silence
        self.timeout = timeout
        self.identifiers = identifiers
    }

    /// The messages whose fate is open.
    var open: Int { window.count }

    /// How many messages may be written now.
    ///
    /// - Parameter limit: how many may be open.
    func room(_ limit: Int) -> Int {
        guard phase == .ready else { return 0 }
        return max(0, min(limit - window.count, Int(identifiers) - Int(nextIdentifier) + 1))
    }

    /// Takes notice of an event.
    ///
    /// - Parameter now: nanoseconds of a clock that never goes back.
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
        // Written on a connection that has ended: nobody reads them any more, but nobody can be sure.
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
        // Ended from here, so that its end says nothing about them.
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
            actions.append(.close("the gateway's host has not taken what was sent for \(timeout / 1_000_000) ms"))
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
        // One that breaks may have its last word before the break.
        guard phase == .ready || phase == .draining || phase == .breaking else { return [] }
        switch decoder.read(bytes) {
        case .incomplete: return []
        case .nonsense(let byte):
            phase = .ending
            return [.close("the gateway sent \(byte) where only an error packet (8) may come")]
        case .packet(let packet):
            phase = .ending
            return judge(packet, now) + [.close(nil)]
        }
    }

    private mutating func judge(_ packet: BinaryErrorPacket, _ now: UInt64) -> [Action] {
        var decision = Decision(packet: packet, hasProgress: false, tooLate: 0, unproved: 0)
        var resolved: [BinaryResolved<Message>] = []
        let oldest = nextIdentifier &- UInt32(truncatingIfNeeded: window.count)
        // These two name the last one that is well, all others the first one that is not.
        let namesTaken = packet.status == BinaryErrorPacket.shutdown || packet.status == BinaryErrorPacket.noErrors
        // Identifiers begin with 1: the last one that is well is none, so that nothing at all was taken.
        let tookNothing = packet.identifier == 0 && packet.status == BinaryErrorPacket.shutdown
        if !tookNothing, packet.identifier == 0 || packet.identifier >= nextIdentifier {
            // It names none of the connection's: those before the refused one were taken, those behind it were not, and nobody
            // knows where it stood.
            decision.unproved = presumed
            takeAll(.ambiguous(.unknownIdentifier), now, &resolved)
        } else {
            let before = packet.identifier &- oldest &+ (namesTaken ? 1 : 0)
            if packet.identifier >= oldest {
                for _ in 0..<before { take(.taken, now, &resolved) }
                if !namesTaken { take(.refused(packet.status), now, &resolved) }
                decision.hasProgress = true
            } else {
                // Known as taken already, by presumption; what was behind it has been thrown away nevertheless.
                decision.tooLate = Int(oldest &- packet.identifier) - (namesTaken ? 1 : 0)
            }
            // A gateway that found no error has closed for a reason of its own: it may have taken more.
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
    /// How far a connection is.
    enum Phase: Sendable, Hashable {
        /// Waits for TLS.
        case opening
        /// Takes messages.
        case ready
        /// Takes no more messages; ends when the fate of the last one is known.
        case draining
        /// Its TLS or its socket has failed: takes no more messages and presumes nothing more; a last word may still be read.
        case breaking
        /// Was told to end, or the gateway said its last word: nothing more is written or read.
        case ending
        case closed
    }

    /// What happens to a connection.
    enum Event: Sendable {
        /// TLS is done.
        case opened
        /// Frames were written, the first with ``BinaryConnectionState/nextIdentifier``; each comes with its number of bytes.
        case sent([(message: Message, bytes: Int)])
        /// The gateway's host has acknowledged the stream up to there.
        case acknowledged(UInt64)
        /// Bytes from the gateway.
        case received([UInt8])
        /// Time passes; to be told several times in each window of silence, and reads must happen in between.
        case tick
        /// No more messages; end when all is known.
        case drain
        /// Something went wrong in it, and it is being closed.
        case broken
        case closed
    }

    /// What has to be done, in order.
    enum Action: Sendable {
        /// The fate of messages is known; in the order in which they were written.
        case resolve([BinaryResolved<Message>])
        /// The gateway sent an error packet and took it from there; see ``BinaryConnectionState/Decision``.
        case judged(Decision)
        /// End the connection; nil as reason: it is the end as it should be.
        case close(String?)
        /// It ended, and so many messages had been presumed taken on it that no packet has proved to be.
        case unproved(Int)
    }

    /// An error packet and what it did.
    struct Decision: Sendable, Hashable {
        var packet: BinaryErrorPacket
        /// Whether it decided about any message.
        var hasProgress: Bool
        /// How many messages counted as taken before it came, and were not.
        var tooLate: Int
        /// How many messages counted as taken before it came, of which it says nothing.
        var unproved: Int
    }
}

/// A message whose fate is known.
struct BinaryResolved<Message: Sendable>: Sendable {
    var message: Message
    var fate: BinaryFate
    /// The time from writing it to this, in nanoseconds.
    var age: UInt64
}

/// What became of a message.
enum BinaryFate: Sendable, Hashable {
    /// The gateway named a later one, so this one was taken; or it named this one as the last that was.
    case taken
    /// Nothing was heard of it for so long that it counts as taken.
    case presumedTaken
    /// The gateway refused it with that status.
    case refused(UInt8)
    /// The gateway threw it away unseen because of an earlier one.
    ///
    /// `isFree`: the packet decided about another message, so that sending again cannot go on for ever.
    case discarded(isFree: Bool)
    /// The connection ended without a word, and it may have been taken.
    case ambiguous(BinaryAmbiguity)
}

extension BinaryFate {
    /// Whether the gateway has judged the message, so that the connection serves.
    var provesConnection: Bool {
        switch self {
        case .taken, .presumedTaken, .refused: true
        case .discarded, .ambiguous: false
        }
    }
}

/// Why nobody knows what became of a message.
enum BinaryAmbiguity: String, Sendable, Hashable {
    /// The connection ended without an error packet.
    case connectionLost = "ConnectionLost"
    /// The gateway's host did not take the bytes in time.
    case timeout = "Timeout"
    /// The error packet names no message of the connection.
    case unknownIdentifier = "UnknownIdentifier"
}

/// The messages of a connection whose fate is open, in the order in which they were written: a ring, so that its memory is
/// that of the largest window and no more.
struct SentWindow<Message: Sendable>: Sendable {
    /// A message that was written.
    struct Entry: Sendable {
        var message: Message
        /// Where its frame ends in the connection's stream of bytes.
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

    /// Takes the message that was written first.
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

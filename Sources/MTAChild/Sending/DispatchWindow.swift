/// How many messages may be on their way at once. It bounds what a lost owner can leave ambiguous.
struct DispatchWindow: Sendable {
    /// Enough for a gateway that answers immediately: the streams of a connection plus ``beside``.
    static let usual = 4_000
    /// What a window holds in addition to the messages on the wire: a batch of outcomes that gathers or is being
    /// stored, and a thousand marked messages. These thousand wait for their mark's commit or for a stream. At 100,000
    /// messages a second, they are the messages of 10 ms.
    private static let beside = 3_000
    /// From this many streams on, each step handles more at once, in proportion to the streams…
    private static let streamsOfUsual = 16_000.0
    /// …and at most twice as much. With three times as much a child used 118 MiB instead of 109 and was no faster
    /// (700,000 messages at 200 ms, November 2026).
    private static let maxBreadth = 2.0
    /// The maximum bytes of messages in the gateway, and twice that where it takes long to answer. Without it, a large
    /// window of large messages would take a child over the memory at which it is replaced, by default 384 MiB.
    static let usualBytes = 24 * 1_024 * 1_024
    private static let longBytes = 2 * usualBytes

    /// The share of a window reserved for urgent messages, which would otherwise wait for the answers to others.
    private static let keptShare = 16

    /// The maximum number of messages without a stored outcome, at any latency of the gateway.
    let ceiling: Int
    /// The number of messages that may be without a stored outcome now.
    private(set) var size: Int
    /// The factor by which more than usual is stored and loaded at once, so that more messages share the fixed cost of
    /// each step. 700,000 messages at 200 ms reached 196,000 a second instead of 187,000.
    private(set) var breadth = 1.0
    /// How many bytes the batches in the gateway may take before no more is marked.
    private(set) var maxBytes: Int
    /// Messages that were sent, or are about to be, and have no stored outcome.
    private(set) var unresolved = 0
    /// Messages on the wire, or waiting in the gateway.
    private(set) var inGateway = 0
    /// Of these, the messages whose delivery's policy is `report`.
    private(set) var reported = 0
    /// Whether marks are being committed; nothing else is marked meanwhile.
    private(set) var isMarking = false
    /// Of the unresolved messages, those whose marks are requested.
    private var reserved = 0

    /// - Parameters:
    ///   - size: the initial size.
    ///   - ceiling: the maximum size; the initial size by default.
    init(size: Int, ceiling: Int? = nil, maxBytes: Int) {
        self.ceiling = max(size, ceiling ?? size)
        self.size = size
        self.maxBytes = maxBytes
    }

    /// Adapts the window to the number of streams.
    /// - Parameter batchSize: how many outcomes are usually stored at once.
    mutating func adapt(streams: Int, batchSize: Int) {
        guard ceiling > Self.usual else { return }
        breadth = min(Self.maxBreadth, max(1, Double(streams) / Self.streamsOfUsual))
        // More outcomes gather while others are stored.
        let more = Int((breadth - 1) * Double(3 * batchSize))
        size = min(ceiling, max(Self.usual, Self.beside + streams + more))
        maxBytes = size > Self.usual ? Self.longBytes : Self.usualBytes
    }

    /// Whether this many more messages have room, with this many bytes then in the gateway. The slices of a single mark
    /// always have room in an empty window.
    func admits(_ rows: Int, bytes: Int, isUrgent: Bool = false) -> Bool {
        unresolved == 0 || unresolved + rows <= (isUrgent ? size : size - size / Self.keptShare) && bytes <= maxBytes
    }

    /// The maximum number of outcomes stored at once: meanwhile the other half is on the wire.
    var maxStored: Int { max(1, size / 2) }

    /// The maximum number of messages of deliveries with the policy `report` on the wire. There may be fewer of them
    /// than of others, because each one on its way ends as `unknown` when its host is lost. Together with those without
    /// a stored outcome, there are at most ``usual``.
    private static let maxReported = 2_000

    /// Whether this many messages of deliveries with the policy `report` have room. The slices of a single mark always
    /// do if there are no others.
    /// - Parameters:
    ///   - others: the number of such messages on the wire.
    ///   - unstored: the number of such messages without a stored outcome.
    func admitsReported(_ rows: Int, beside others: Int, unstored: Int) -> Bool {
        others + unstored == 0 || others + rows <= Self.maxReported && others + rows + unstored <= Self.usual
    }

    // MARK: A message's way through the window

    /// Reserves room for messages whose mark is requested next.
    mutating func reserve(_ rows: Int) {
        unresolved += rows
        reserved += rows
        isMarking = true
    }

    /// Frees the reserved room, whether the marks were committed or not. Messages that are sent take it again.
    mutating func endMarking() {
        isMarking = false
        unresolved -= reserved
        reserved = 0
    }

    /// Counts messages that have their mark and are sent, or one held message about to be decided.
    mutating func enter(_ rows: Int) { unresolved += rows }

    /// Counts entered messages that are handed to the gateway.
    mutating func submit(_ rows: Int, isReported: Bool) {
        inGateway += rows
        if isReported { reported += rows }
    }

    /// Counts a message that the gateway gave back, with an answer or unsent.
    mutating func answered(isReported: Bool) {
        inGateway -= 1
        if isReported { reported -= 1 }
    }

    /// Counts messages that leave the window: their outcomes are stored, a retry part or another owner has them, or
    /// they are held undecided.
    mutating func leave(_ rows: Int) { unresolved -= rows }
}

/// How much may be on its way at once: the bound of what an owner that is lost can leave ambiguous.
struct DispatchWindow: Sendable {
    /// Enough for a gateway that answers at once: the streams of a connection, and what is beside them.
    static let usual = 4_000
    /// What a window holds beside the messages on the wire: a batch of outcomes that gathers or is stored, and a thousand messages that are
    /// being marked or have their mark when a stream is free, at 100,000 a second those of 10 ms.
    private static let beside = 3_000
    /// From so many streams on more is done at once, the more the more there are…
    private static let streamsOfUsual = 16_000.0
    /// …and at most twice as much: with three times as much a child had 118 MiB in place of 109, and was no faster (700,000 messages at
    /// 200 ms, November 2026).
    private static let mostBreadth = 2.0
    /// A large window of large messages would not leave a child below the memory at which it is replaced, 384 MiB as a rule: 24 MiB of them may
    /// be in the gateway, and twice as much where it takes long to answer.
    static let usualBytes = 24 * 1_024 * 1_024
    private static let longBytes = 2 * usualBytes

    /// The share of a window that only urgent messages get: they would else wait until others have their answers.
    private static let keptShare = 16

    /// Messages that may be without a stored outcome, whatever the gateway's latency.
    let ceiling: Int
    /// Messages that may be without a stored outcome now.
    private(set) var most: Int
    /// How many times as much as usual is stored and loaded at once. What each of these steps costs by itself is then shared by more messages:
    /// 700,000 messages at 200 ms came to 196,000 a second in place of 187,000.
    private(set) var breadth = 1.0
    /// How much memory the batches in the gateway may take before no more is marked.
    private(set) var mostBytes: Int
    /// Messages that were sent, or are about to be, and whose outcome is not stored.
    private(set) var unresolved = 0
    /// Messages on the wire, or waiting in the gateway.
    private(set) var inGateway = 0
    /// Those of them whose delivery's policy is `report`.
    private(set) var reported = 0
    /// Marks are being committed; nothing else is marked meanwhile.
    private(set) var isMarking = false
    /// Those of the unresolved whose marks are asked for.
    private var reserved = 0

    /// - Parameters:
    ///   - most: the size from which it starts.
    ///   - ceiling: the size that it may grow to; as many as at the start unless given.
    init(most: Int, ceiling: Int? = nil, mostBytes: Int) {
        self.ceiling = max(most, ceiling ?? most)
        self.most = most
        self.mostBytes = mostBytes
    }

    /// So many messages may be on the wire at once.
    /// - Parameter batchSize: how many outcomes are stored at once, as usual.
    mutating func adapt(streams: Int, batchSize: Int) {
        guard ceiling > Self.usual else { return }
        breadth = min(Self.mostBreadth, max(1, Double(streams) / Self.streamsOfUsual))
        // More of them gather while others are stored.
        let more = Int((breadth - 1) * Double(3 * batchSize))
        most = min(ceiling, max(Self.usual, Self.beside + streams + more))
        mostBytes = most > Self.usual ? Self.longBytes : Self.usualBytes
    }

    /// Whether so many messages more have room, with so many bytes in the gateway then. What one mark is for always has.
    func admits(_ rows: Int, bytes: Int, isUrgent: Bool = false) -> Bool {
        unresolved == 0 || unresolved + rows <= (isUrgent ? most : most - most / Self.keptShare) && bytes <= mostBytes
    }

    /// The most outcomes that are stored at once: while they are, the other half is on the wire.
    var mostStored: Int { max(1, most / 2) }

    /// Each message that is on its way when its host is lost ends as `unknown` where the policy is `report`, so there are fewer of them than of
    /// others: so many on the wire, and with those whose outcome is not stored at most ``usual``.
    private static let mostReported = 2_000

    /// Whether so many messages of deliveries with the policy `report` have room. What one mark is for always has.
    /// - Parameters:
    ///   - others: those of them on the wire.
    ///   - unstored: those whose outcome is not stored.
    func admitsReported(_ rows: Int, beside others: Int, unstored: Int) -> Bool {
        others + unstored == 0 || others + rows <= Self.mostReported && others + rows + unstored <= Self.usual
    }

    // MARK: A message's way through the window

    /// Keeps room for messages whose mark is asked for next.
    mutating func reserve(_ rows: Int) {
        unresolved += rows
        reserved += rows
        isMarking = true
    }

    /// The marks are committed, or not: frees the room that was kept for them. Messages that are sent take it again.
    mutating func endMarking() {
        isMarking = false
        unresolved -= reserved
        reserved = 0
    }

    /// Messages have their mark and are sent, or one that was held undecided gets its decision.
    mutating func enter(_ rows: Int) { unresolved += rows }

    /// Messages that have entered are handed to the gateway.
    mutating func submit(_ rows: Int, isReported: Bool) {
        inGateway += rows
        if isReported { reported += rows }
    }

    /// The gateway has given a message back, with an answer or unsent.
    mutating func answered(isReported: Bool) {
        inGateway -= 1
        if isReported { reported -= 1 }
    }

    /// Messages are not this window's any more: their outcomes are stored, a retry part or another owner has them, or they are held undecided.
    mutating func leave(_ rows: Int) { unresolved -= rows }
}

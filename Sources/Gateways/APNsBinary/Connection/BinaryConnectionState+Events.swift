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
        /// Was told to end, or the gateway said its last words: nothing more is written or read.
        case ending
        /// Is gone.
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
        /// The gateway said something.
        case received([UInt8])
        /// Time passes; to be told several times in each window of silence, and reads must happen in between.
        case tick
        /// No more messages; end when all is known.
        case drain
        /// Something went wrong in it, and it is being closed.
        case broken
        /// The connection is gone.
        case closed
    }

    /// What has to be done, in order.
    enum Action: Sendable {
        /// The fate of messages is known; in the order in which they were written.
        case settle([BinarySettled<Message>])
        /// The gateway sent an error packet and took it from there; see ``BinaryConnectionState/Verdict``.
        case judged(Verdict)
        /// End the connection; nil as reason: it is the end as it should be.
        case close(String?)
        /// It ended, and so many messages had been presumed taken on it that no packet has proved to be.
        case unproved(Int)
    }

    /// An error packet and what it did.
    struct Verdict: Sendable, Hashable {
        var packet: BinaryErrorPacket
        /// Whether it decided about any message.
        var hasProgress: Bool
        /// How many messages counted as taken before it came, and were not.
        var tooLate: Int
        /// How many messages counted as taken before it came, of which it says nothing.
        var unproved: Int
    }
}

/// The gateway's only words: command 8, a status and the identifier of a notification. It closes the connection behind them.
struct BinaryErrorPacket: Sendable, Hashable {
    /// What is wrong; the numbers are those of Apple's "Binary Provider API".
    var status: UInt8
    /// The notification that is wrong, or, with ``shutdown``, the last one that was taken.
    var identifier: UInt32

    /// Nothing was wrong.
    static let noErrors: UInt8 = 0
    /// The gateway is to be maintained: "the last notification that was successfully sent" is named.
    static let shutdown: UInt8 = 10
}

/// The gateway's only answer: command 8, a status and the identifier of a notification. The gateway closes the
/// connection after it.
struct BinaryErrorPacket: Sendable, Hashable {
    /// The error; the numbers are those of Apple's "Binary Provider API".
    var status: UInt8
    /// The faulty notification or, with ``shutdown``, the last one that was accepted.
    var identifier: UInt32

    static let noErrors: UInt8 = 0
    /// The gateway closes for maintenance and names "the last notification that was successfully sent".
    static let shutdown: UInt8 = 10
}

/// Decodes the error packet from chunks of any size; it keeps at most six bytes.
struct BinaryErrorDecoder: Sendable {
    /// What the bytes so far mean.
    enum Reading: Sendable, Hashable {
        /// The beginning of a packet, or nothing yet.
        case incomplete
        /// A packet; bytes after it have no meaning.
        case packet(BinaryErrorPacket)
        /// Not a packet of the protocol; its first byte.
        case nonsense(UInt8)
    }

    private static let command: UInt8 = 8
    private static let length = 6

    private var bytes: [UInt8] = []

    /// Whether a packet has begun and is not complete.
    var isTorn: Bool { !bytes.isEmpty && bytes.count < Self.length }

    mutating func read(_ piece: some Sequence<UInt8>) -> Reading {
        for byte in piece where bytes.count < Self.length { bytes.append(byte) }
        guard let command = bytes.first else { return .incomplete }
        guard command == Self.command else { return .nonsense(command) }
        guard bytes.count == Self.length else { return .incomplete }
        let identifier = bytes[2...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return .packet(BinaryErrorPacket(status: bytes[1], identifier: identifier))
    }
}

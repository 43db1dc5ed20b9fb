/// Reads the error packet out of pieces of any size; it keeps six bytes and no more.
struct BinaryErrorDecoder: Sendable {
    /// What the bytes so far are.
    enum Reading: Sendable, Hashable {
        /// The beginning of a packet, or nothing yet.
        case incomplete
        /// A packet; what comes behind it means nothing.
        case packet(BinaryErrorPacket)
        /// Nothing that the protocol knows; the first byte is given.
        case nonsense(UInt8)
    }

    private static let command: UInt8 = 8
    private static let length = 6

    private var bytes: [UInt8] = []

    /// Whether a packet has begun and is not complete.
    var isTorn: Bool { !bytes.isEmpty && bytes.count < Self.length }

    /// Takes the next bytes.
    mutating func read(_ piece: some Sequence<UInt8>) -> Reading {
        for byte in piece where bytes.count < Self.length { bytes.append(byte) }
        guard let command = bytes.first else { return .incomplete }
        guard command == Self.command else { return .nonsense(command) }
        guard bytes.count == Self.length else { return .incomplete }
        let identifier = bytes[2...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return .packet(BinaryErrorPacket(status: bytes[1], identifier: identifier))
    }
}

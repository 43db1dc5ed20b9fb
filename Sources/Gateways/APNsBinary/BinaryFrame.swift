import PushCore

/// Frames of command 2: a notification as a list of items (Apple, "Binary Provider API"); all numbers are big-endian.
struct BinaryFrame {
    /// The items that a frame can have.
    private enum Item {
        static let token: UInt8 = 1
        static let payload: UInt8 = 2
        static let identifier: UInt8 = 3
        static let expiration: UInt8 = 4
        static let priority: UInt8 = 5
    }

    private static let command: UInt8 = 2
    /// Number and length of an item.
    private static let itemHead = 3

    /// When the gateway gives up, in seconds since 1970; 0 for one attempt, nil for the gateway's own limit.
    var expiration: UInt32?
    /// 10 or 5; nil for the gateway's default, which is 10.
    var priority: UInt8?

    /// What a delivery's attributes make of the frames of its messages.
    ///
    /// - Parameter now: seconds since 1970.
    init(_ attributes: MessageAttributes, now: Int64) {
        expiration = attributes.expiration(now: now).map { UInt32(clamping: $0.moment) }
        if attributes.pushType == .background {
            // "The value 10 is an error for a push that contains only the content-available key."
            priority = 5
        } else if let wanted = attributes.priority {
            // The protocol knows these two; HTTP/2's 1 comes nearest to 5.
            priority = wanted >= 10 ? 10 : 5
        }
    }

    /// Appends a frame.
    ///
    /// - Parameters:
    ///   - token: a token that ``BinaryToken/isValid(_:)`` says is one.
    ///   - payload: at most 65,535 bytes; the caller has checked the gateway's limit.
    func append(
        identifier: UInt32,
        token: ArraySlice<UInt8>,
        payload: ArraySlice<UInt8>,
        to output: inout [UInt8]
    ) {
        output.append(Self.command)
        let start = output.count
        Self.append(UInt32(0), to: &output)
        Self.head(Item.token, length: token.count / 2, &output)
        BinaryToken.append(token, to: &output)
        Self.head(Item.payload, length: payload.count, &output)
        output.append(contentsOf: payload)
        Self.head(Item.identifier, length: 4, &output)
        Self.append(identifier, to: &output)
        if let expiration {
            Self.head(Item.expiration, length: 4, &output)
            Self.append(expiration, to: &output)
        }
        if let priority {
            Self.head(Item.priority, length: 1, &output)
            output.append(priority)
        }
        let length = UInt32(clamping: output.count - start - 4)
        for place in 0..<4 { output[start + place] = UInt8(truncatingIfNeeded: length >> UInt32(24 - place * 8)) }
    }

    /// About how many bytes a message takes on the wire.
    static func size(payload: Int) -> Int { payload + 5 + 5 * itemHead + 32 + 4 + 4 + 1 }

    private static func head(_ item: UInt8, length: Int, _ output: inout [UInt8]) {
        output.append(item)
        let length = UInt16(clamping: length)
        output.append(UInt8(truncatingIfNeeded: length >> 8))
        output.append(UInt8(truncatingIfNeeded: length))
    }

    private static func append(_ number: UInt32, to output: inout [UInt8]) {
        output.append(UInt8(truncatingIfNeeded: number >> 24))
        output.append(UInt8(truncatingIfNeeded: number >> 16))
        output.append(UInt8(truncatingIfNeeded: number >> 8))
        output.append(UInt8(truncatingIfNeeded: number))
    }
}

/// The gateway's only words: command 8, a status and the identifier of a notification. It closes the connection behind them.
struct BinaryErrorPacket: Sendable, Hashable {
    /// What is wrong; the numbers are those of Apple's "Binary Provider API".
    var status: UInt8
    /// The notification that is wrong, or, with ``shutdown``, the last one that was taken.
    var identifier: UInt32

    static let noErrors: UInt8 = 0
    /// The gateway is to be maintained: "the last notification that was successfully sent" is named.
    static let shutdown: UInt8 = 10
}

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

    mutating func read(_ piece: some Sequence<UInt8>) -> Reading {
        for byte in piece where bytes.count < Self.length { bytes.append(byte) }
        guard let command = bytes.first else { return .incomplete }
        guard command == Self.command else { return .nonsense(command) }
        guard bytes.count == Self.length else { return .incomplete }
        let identifier = bytes[2...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return .packet(BinaryErrorPacket(status: bytes[1], identifier: identifier))
    }
}

/// Push tokens on their way from hexadecimal digits to bytes.
enum BinaryToken {
    /// Apple, "Binary Provider API": the token has 32 bytes so far and may have up to 100.
    static let mostBytes = 100

    /// Whether the digits are a token that a frame can carry.
    static func isValid(_ digits: ArraySlice<UInt8>) -> Bool {
        !digits.isEmpty && digits.count.isMultiple(of: 2) && digits.count <= mostBytes * 2
            && digits.allSatisfy { value($0) != nil }
    }

    /// Appends the bytes of a valid token.
    static func append(_ digits: ArraySlice<UInt8>, to output: inout [UInt8]) {
        var index = digits.startIndex
        while index &+ 1 < digits.endIndex {
            output.append((value(digits[index]) ?? 0) << 4 | (value(digits[index &+ 1]) ?? 0))
            index &+= 2
        }
    }

    /// The lower-case digits of a token's bytes.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        for byte in bytes {
            digits.append(characters[Int(byte >> 4)])
            digits.append(characters[Int(byte & 15)])
        }
        return String(decoding: digits, as: UTF8.self)
    }

    private static let characters = Array("0123456789abcdef".utf8)

    @inline(__always)
    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }
}

import PushCore

/// Frames of command 2: a notification as a list of items (Apple, "Binary Provider API"); all numbers are big-endian.
struct BinaryFrame {
    /// The items of a frame.
    private enum Item {
        static let token: UInt8 = 1
        static let payload: UInt8 = 2
        static let identifier: UInt8 = 3
        static let expiration: UInt8 = 4
        static let priority: UInt8 = 5
    }

    private static let command: UInt8 = 2
    /// The number and length of an item.
    private static let itemHead = 3

    /// When the gateway gives up, in seconds since 1970; 0 for one attempt, nil for the gateway's own limit.
    var expiration: UInt32?
    /// 10 or 5; nil for the gateway's default, which is 10.
    var priority: UInt8?

    /// The frame items that a delivery's attributes determine.
    ///
    /// - Parameter now: seconds since 1970.
    init(_ attributes: MessageAttributes, now: Int64) {
        expiration = attributes.expiration(now: now).map { UInt32(clamping: $0.moment) }
        if attributes.pushType == .background {
            // "The value 10 is an error for a push that contains only the content-available key."
            priority = 5
        } else if let wanted = attributes.priority {
            // The protocol knows only these two; HTTP/2's 1 is closest to 5.
            priority = wanted >= 10 ? 10 : 5
        }
    }

    /// Appends a frame.
    ///
    /// - Parameters:
    ///   - token: a token that passes ``BinaryToken/isValid(_:)``.
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

    /// The approximate number of bytes of a message on the wire.
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

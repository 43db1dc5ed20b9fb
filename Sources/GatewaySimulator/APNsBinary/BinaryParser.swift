/// Parses notifications of commands 0, 1 and 2 from pieces of any size (Apple, "Binary Provider API" and "Legacy
/// Notification Format"). It is strict: anything outside the formats is an error.
struct BinaryParser: Sendable {
    enum Reading: Sendable, Hashable {
        /// More bytes are needed.
        case incomplete
        case notification(BinaryNotification)
        /// The bytes cannot be parsed; with the identifier if it was found before.
        case unreadable(identifier: UInt32?)
    }

    /// The maximum length of a command 2 frame: its five items, with a token of 100 bytes and any payload that a
    /// two-byte length allows. A payload that is too long must be parsed, too, so that the error can name its
    /// identifier.
    private static let maxFrameLength = 5 * 3 + 100 + 65_535 + 4 + 4 + 1

    private var buffer: [UInt8] = []
    private var start = 0

    /// The number of bytes that do not belong to a complete notification yet.
    var unread: Int { buffer.count - start }

    mutating func append(_ piece: some Sequence<UInt8>) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: piece)
    }

    /// The next notification. After ``Reading/unreadable(identifier:)`` nothing more can be parsed.
    mutating func next() -> Reading {
        guard start < buffer.count else { return .incomplete }
        switch buffer[start] {
        case 0: return simple()
        case 1: return enhanced()
        case 2: return frame()
        default: return .unreadable(identifier: nil)
        }
    }

    private mutating func simple() -> Reading {
        guard let token = field(at: start + 1), let payload = field(at: token.upperBound) else { return .incomplete }
        start = payload.upperBound
        return .notification(
            BinaryNotification(command: 0, token: Array(buffer[token]), payload: Array(buffer[payload]))
        )
    }

    private mutating func enhanced() -> Reading {
        guard buffer.count - start >= 9, let token = field(at: start + 9), let payload = field(at: token.upperBound)
        else { return .incomplete }
        let notification = BinaryNotification(
            command: 1,
            identifier: number(at: start + 1),
            token: Array(buffer[token]),
            payload: Array(buffer[payload]),
            expiration: number(at: start + 5)
        )
        start = payload.upperBound
        return .notification(notification)
    }

    private mutating func frame() -> Reading {
        guard buffer.count - start >= 5 else { return .incomplete }
        let length = Int(number(at: start + 1))
        guard length <= Self.maxFrameLength else { return .unreadable(identifier: nil) }
        let end = start + 5 + length
        guard end <= buffer.count else { return .incomplete }
        var notification = BinaryNotification(command: 2)
        var isReadable = true
        var index = start + 5
        while index < end, isReadable {
            guard end - index >= 3 else { return .unreadable(identifier: notification.identifier) }
            let item = buffer[index]
            let range = index + 3..<index + 3 + Int(buffer[index + 1]) << 8 + Int(buffer[index + 2])
            guard range.upperBound <= end else { return .unreadable(identifier: notification.identifier) }
            isReadable = take(item, range, into: &notification)
            index = range.upperBound
        }
        guard isReadable else {
            return .unreadable(identifier: notification.identifier ?? identifier(from: index, to: end))
        }
        start = end
        return .notification(notification)
    }

    /// Stores an item; false if it is unknown, repeated, or of a wrong length.
    private func take(_ item: UInt8, _ range: Range<Int>, into notification: inout BinaryNotification) -> Bool {
        switch item {
        case 1 where notification.token == nil: notification.token = Array(buffer[range])
        case 2 where notification.payload == nil: notification.payload = Array(buffer[range])
        case 3 where notification.identifier == nil && range.count == 4:
            notification.identifier = number(at: range.lowerBound)
        case 4 where notification.expiration == nil && range.count == 4:
            notification.expiration = number(at: range.lowerBound)
        case 5 where notification.priority == nil && range.count == 1:
            let priority = buffer[range.lowerBound]
            guard priority == 10 || priority == 5 else { return false }
            notification.priority = priority
        default: return false
        }
        return true
    }

    /// The identifier among the items after the one that could not be parsed.
    private func identifier(from index: Int, to end: Int) -> UInt32? {
        var index = index
        while end - index >= 3 {
            let length = Int(buffer[index + 1]) << 8 + Int(buffer[index + 2])
            guard index + 3 + length <= end else { return nil }
            if buffer[index] == 3, length == 4 { return number(at: index + 3) }
            index += 3 + length
        }
        return nil
    }

    /// The range of the data after a two-byte length; nil if it is incomplete.
    private func field(at index: Int) -> Range<Int>? {
        guard index + 2 <= buffer.count else { return nil }
        let length = Int(buffer[index]) << 8 | Int(buffer[index + 1])
        guard index + 2 + length <= buffer.count else { return nil }
        return index + 2..<index + 2 + length
    }

    private func number(at index: Int) -> UInt32 {
        buffer[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// A notification as received.
struct BinaryNotification: Sendable, Hashable {
    /// 0, 1 or 2.
    var command: UInt8
    /// The sender's number; nil if there is none.
    var identifier: UInt32?
    /// The device token; nil if it is missing.
    var token: [UInt8]?
    /// The payload; nil if it is missing.
    var payload: [UInt8]?
    /// When the notification expires, in seconds since 1970.
    var expiration: UInt32?
    /// 10 or 5.
    var priority: UInt8?
}

/// A set of the model's messages: bit i stands for message i of at most 64.
public struct MessageSet: Sendable, Hashable {
    /// The bits.
    public var bits: UInt64

    /// The most messages that a set can hold.
    public static let capacity = 64
    /// The empty set.
    public static let empty = MessageSet(bits: 0)

    /// Makes a set of its bits.
    public init(bits: UInt64) {
        self.bits = bits
    }

    /// The set of the first messages, at most 64.
    public static func first(_ count: Int) -> MessageSet {
        MessageSet(bits: count >= capacity ? .max : (1 << UInt64(max(count, 0))) - 1)
    }

    /// Whether the set has no messages.
    public var isEmpty: Bool { bits == 0 }
    /// The number of messages.
    public var count: Int { bits.nonzeroBitCount }

    /// Whether all messages of this set are in the other.
    public func isSubset(of other: MessageSet) -> Bool { bits & ~other.bits == 0 }

    /// The messages of both sets together.
    public static func | (left: MessageSet, right: MessageSet) -> MessageSet {
        MessageSet(bits: left.bits | right.bits)
    }
    /// The messages that are in both sets.
    public static func & (left: MessageSet, right: MessageSet) -> MessageSet {
        MessageSet(bits: left.bits & right.bits)
    }
    /// The messages of the left set that are not in the right one.
    public static func - (left: MessageSet, right: MessageSet) -> MessageSet {
        MessageSet(bits: left.bits & ~right.bits)
    }
    /// Adds the right set's messages.
    public static func |= (left: inout MessageSet, right: MessageSet) { left.bits |= right.bits }
    /// Removes the right set's messages.
    public static func -= (left: inout MessageSet, right: MessageSet) { left.bits &= ~right.bits }

    /// This set's messages up to its `count`-th in sequence order.
    public func lowest(_ count: Int) -> MessageSet {
        var rest = bits
        for _ in 0..<max(count, 0) where rest != 0 { rest &= rest - 1 }
        return MessageSet(bits: bits & ~rest)
    }

    /// All numbers up to and including the highest message of this set.
    var prefix: MessageSet {
        bits == 0 ? .empty : .first(Self.capacity - bits.leadingZeroBitCount)
    }
}

extension MessageSet: CustomStringConvertible {
    /// The numbers of the messages.
    public var description: String {
        "{" + (0..<Self.capacity).filter { bits >> UInt64($0) & 1 == 1 }.map(String.init).joined(separator: " ") + "}"
    }
}

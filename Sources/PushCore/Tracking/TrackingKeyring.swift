import Crypto
import CryptoExtras

/// The tracking keys of all days that are kept: resolves the encrypted ids of messages without the database.
///
/// All deliveries of a day have one key, so there are as many keys as days, and an id under one of them says its delivery by
/// itself.
public struct TrackingKeyring: Sendable {
    public enum Resolution: Sendable, Hashable {
        /// A message of a delivery of a day.
        case message(delivery: Int64, sequence: Int32, logDay: Int32)
        /// A numbered message, by its number in the database: only that knows which message has it.
        case number(Int64)
        /// No key makes this id: it was invented, or its day's key is gone, or not here yet.
        case unknown
        /// The id is genuine, of another delivery than the request says.
        case foreign
    }

    private struct Entry {
        let logDay: Int32
        let key: SymmetricKey
    }

    /// The latest day first, since most hits come soon after their message.
    private let entries: [Entry]

    /// Days of keys that it has.
    public var days: [Int32] { entries.map(\.logDay) }

    /// The last day up to which every key that there will ever be is here; nil: that is not known.
    private let lastDay: Int32?
    private let numbers: NumberPermutation?

    /// Clocks of hosts differ; by an hour they do not.
    private static let clockDifference: Int64 = 3_600_000_000

    /// A keyring; keys of the wrong length are left out.
    ///
    /// - Parameters:
    ///   - lastDay: no key of a day up to this one, as days since 2000-01-01, will be made that is not among these.
    ///   - numbers: the permutation of numbered ids; nil if it is not known.
    public init(_ keys: [TrackingKey] = [], lastDay: Int32? = nil, numbers: NumberPermutation? = nil) {
        self.lastDay = lastDay
        self.numbers = numbers
        entries = keys.filter { $0.key.count == MessageIDCodec.keyLength }
            .sorted { $0.logDay > $1.logDay }
            .map { Entry(logDay: $0.logDay, key: SymmetricKey(data: $0.key)) }
    }

    /// Whether no key can be missing here that an id of a hit at this time, in microseconds of Unix time, was made with: an id is
    /// given out on the day of its delivery or later.
    public func isComplete(at microseconds: Int64) -> Bool {
        guard let lastDay else { return false }
        // 10,957 days from 1970 to 2000.
        return (microseconds &+ Self.clockDifference) / 86_400_000_000 - 10_957 <= Int64(lastDay)
    }

    /// What a tracking id stands for.
    public func resolve(_ id: TrackingID) -> Resolution {
        let uuid: MessageUUID
        switch id.message {
        case .uuid(let value): uuid = value
        case .number(let value):
            guard !id.deliveries.isEmpty, let number = numbers?.number(of: value) else { return .unknown }
            return .number(number)
        }
        for entry in entries {
            guard let opened = MessageIDCodec.open(uuid, key: entry.key) else { continue }
            guard id.deliveries.contains(opened.deliveryID) else {
                // By chance one of 2^33 wrong ids ends in zeros and positive numbers; it is none of ours either way.
                return .foreign
            }
            return .message(delivery: opened.deliveryID, sequence: opened.sequence, logDay: entry.logDay)
        }
        return .unknown
    }
}

/// The key under which the message ids of one day's deliveries are made.
public struct TrackingKey: Sendable, Hashable {
    /// The day of the deliveries, as days since 2000-01-01.
    public var logDay: Int32
    /// 16 bytes.
    public var key: [UInt8]

    public init(logDay: Int32, key: [UInt8]) {
        self.logDay = logDay
        self.key = key
    }
}

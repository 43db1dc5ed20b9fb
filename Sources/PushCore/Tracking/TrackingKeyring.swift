import Crypto
import CryptoExtras

/// The tracking keys of all retained days. It resolves encrypted message ids without the database.
///
/// All deliveries of a day share one key, so there are as many keys as days. The key of an id's day decrypts its
/// delivery id.
package struct TrackingKeyring: Sendable {
    package enum Resolution: Sendable, Hashable {
        /// A message of a delivery, and the day of that delivery.
        case message(delivery: Int64, sequence: Int32, logDay: Int32)
        /// A message with a numeric id, by its number in the database. Only the database knows its message.
        case number(Int64)
        /// No key made this id: it was invented, or the key of its day has been deleted or is not loaded yet.
        case unknown
        /// The id is genuine but belongs to another delivery than the request says.
        case foreign
    }

    private struct Entry {
        let logDay: Int32
        let key: SymmetricKey
    }

    /// The latest day first, as most hits come soon after their message.
    private let entries: [Entry]

    /// The days whose keys it has.
    package var days: [Int32] { entries.map(\.logDay) }

    /// The last day up to which the keyring is complete; nil if unknown.
    private let lastDay: Int32?
    private let numbers: NumberPermutation?

    /// The maximum difference between the clocks of hosts: an hour, in microseconds.
    private static let clockDifference: Int64 = 3_600_000_000

    /// Makes a keyring; keys of the wrong length are ignored.
    ///
    /// - Parameters:
    ///   - lastDay: the last day, as days since 2000-01-01, up to which `keys` has every key; no more keys will be made
    ///     for these days.
    ///   - numbers: the permutation of numeric ids; nil if unknown.
    package init(_ keys: [TrackingKey] = [], lastDay: Int32? = nil, numbers: NumberPermutation? = nil) {
        self.lastDay = lastDay
        self.numbers = numbers
        entries = keys.filter { $0.key.count == MessageIDCodec.keyLength }
            .sorted { $0.logDay > $1.logDay }
            .map { Entry(logDay: $0.logDay, key: SymmetricKey(data: $0.key)) }
    }

    /// Whether the keyring has every key that could have made the id of a hit at this time, in microseconds of Unix
    /// time. An id is given out on the day of its delivery or later.
    package func isComplete(at microseconds: Int64) -> Bool {
        guard let lastDay else { return false }
        // 10,957 days from 1970 to 2000.
        return (microseconds &+ Self.clockDifference) / 86_400_000_000 - 10_957 <= Int64(lastDay)
    }

    /// Resolves a tracking id.
    package func resolve(_ id: TrackingID) -> Resolution {
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
                // By chance one of 2^33 wrong ids decrypts to positive numbers and zeros; it is not ours either.
                return .foreign
            }
            return .message(delivery: opened.deliveryID, sequence: opened.sequence, logDay: entry.logDay)
        }
        return .unknown
    }
}

/// The key that encrypts the message ids of one day's deliveries.
package struct TrackingKey: Sendable, Hashable {
    /// The day of the deliveries, as days since 2000-01-01.
    package var logDay: Int32
    /// The 16 bytes of the key.
    package var key: [UInt8]

    package init(logDay: Int32, key: [UInt8]) {
        self.logDay = logDay
        self.key = key
    }
}

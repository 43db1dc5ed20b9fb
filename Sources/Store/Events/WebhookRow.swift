/// A webhook as operators see it.
package struct WebhookRow: Sendable, Hashable {
    package let consumer: String
    package let url: String
    package let host: String
    package let isActive: Bool
    /// Why it is not active; empty if an operator has disabled it.
    package let inactiveReason: String
    /// Batches that were accepted.
    package let accepted: Int64
    package let acceptedAt: DatabaseTime?
    /// How often the batch on its way was posted; nil if there is none.
    package let attempts: Int32?
    package let trouble: String?
    package let deadLetters: Int64

    /// How many events a request may have.
    package static let batchSizes: ClosedRange<Int32> = 1...1_000
    package static let usualBatch: Int32 = 100
    /// How many seconds an earlier secret may sign, too.
    package static let overlaps: ClosedRange<Int64> = 0...2_592_000
    package static let usualOverlap: Int64 = 86_400
}
